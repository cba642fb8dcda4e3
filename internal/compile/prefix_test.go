package compile

import (
	"fmt"
	"net/netip"
	"testing"
)

func TestAfter(t *testing.T) {
	for _, c := range []struct {
		first string
		n     int
		want  string
	}{
		{"198.18.0.2/24", 0, "198.18.0.2/24"},
		{"198.18.0.2/24", 5, "198.18.0.7/24"},
		{"198.18.0.250/24", 5, "198.18.0.255/24"},
		{"198.18.0.250/24", 6, "invalid Prefix"},
		{"255.255.255.255/24", 1, "invalid Prefix"},
		{"2001:2::ffff/64", 1, "2001:2::1:0/64"},
		{"198.18.0.0/31", 1, "198.18.0.1/31"},
	} {
		if got := addressAfter(netip.MustParsePrefix(c.first), c.n).String(); got != c.want {
			t.Errorf("%d after %s is %s, want %s", c.n, c.first, got, c.want)
		}
	}
}

func TestIsBroadcast(t *testing.T) {
	for text, want := range map[string]bool{
		"198.18.0.255/24": true, "198.18.0.254/24": false, "198.18.0.1/31": false, "198.18.0.1/32": false,
		"198.18.0.3/30": true, "255.255.255.255/8": true, "2001:2::ffff:ffff:ffff:ffff/64": false,
	} {
		if got := isBroadcast(netip.MustParsePrefix(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestIsNetwork(t *testing.T) {
	for text, want := range map[string]bool{
		"198.18.0.0/24": true, "198.18.0.1/24": false, "198.18.0.0/31": false, "198.18.0.0/32": false,
		"2001:2::/64": true, "2001:2::/127": false,
	} {
		if got := isNetwork(netip.MustParsePrefix(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestDivide(t *testing.T) {
	for _, c := range []struct {
		network string
		n       int
		want    string
	}{
		{"16.0.0.0/24", 1, "[16.0.0.0/24]"},
		{"16.0.0.0/24", 2, "[16.0.0.0/25 16.0.0.128/25]"},
		{"16.0.0.0/24", 3, "[16.0.0.0/26 16.0.0.64/26 16.0.0.128/26]"},
		{"255.255.255.0/24", 4, "[255.255.255.0/26 255.255.255.64/26 255.255.255.128/26 255.255.255.192/26]"},
		{"16.0.0.0/30", 4, "[16.0.0.0/32 16.0.0.1/32 16.0.0.2/32 16.0.0.3/32]"},
		{"16.0.0.0/30", 5, "[]"},
		{"2001:2::/48", 2, "[2001:2::/49 2001:2:0:8000::/49]"},
	} {
		if got := fmt.Sprint(divide(netip.MustParsePrefix(c.network), c.n)); got != c.want {
			t.Errorf("%s by %d is %s, want %s", c.network, c.n, got, c.want)
		}
	}
}

func TestThePartsOfANetworkAreApartAndInside(t *testing.T) {
	for _, text := range []string{"16.0.0.0/16", "2001:2:0:100::/56"} {
		network := netip.MustParsePrefix(text)
		for n := 1; n <= 64; n++ {
			parts := divide(network, n)
			if len(parts) != n {
				t.Fatalf("%s by %d has %d parts", text, n, len(parts))
			}
			for i, a := range parts {
				if !contains(network, a) || a != a.Masked() {
					t.Errorf("part %s is not in %s", a, network)
				}
				if i > 0 && parts[i-1].Overlaps(a) {
					t.Errorf("%s overlaps %s", parts[i-1], a)
				}
			}
		}
	}
}

func TestPartsAddUpAndAreEven(t *testing.T) {
	for _, count := range []int64{1, 7, 64, 254, 255, 16777216} {
		for n := 1; n <= 64; n++ {
			sum := int64(0)
			for r := range n {
				p := part(count, r, n)
				if p < count/int64(n) || p > count/int64(n)+1 {
					t.Errorf("part %d of %d in %d is %d", r, count, n, p)
				}
				sum += p
			}
			if sum != count {
				t.Errorf("%d parts of %d add up to %d", n, count, sum)
			}
		}
	}
}

func TestCutPort(t *testing.T) {
	for server, want := range map[string]string{
		"trex.lab": "trex.lab||false", "trex.lab:4501": "trex.lab|4501|true", "192.0.2.7:80": "192.0.2.7|80|true",
		"[2001:db8::7]": "[2001:db8::7]||false", "[2001:db8::7]:4501": "[2001:db8::7]|4501|true",
	} {
		host, number, found := cutPort(server)
		if got := fmt.Sprintf("%s|%s|%v", host, number, found); got != want {
			t.Errorf("%s is %s, want %s", server, got, want)
		}
	}
}

func TestNoTwoDefaultsCollide(t *testing.T) {
	for _, ipv6 := range []bool{false, true} {
		var networks []netip.Prefix
		links := &links{}
		for index := range 8 {
			d := defaultsOf(index, ipv6)
			if !contains(d.generator.Masked(), netip.PrefixFrom(d.dut.Addr(), d.dut.Addr().BitLen())) ||
				!addressAfter(d.generator, 63).IsValid() {
				t.Errorf("link %d: %s and %s don't suit each other", index, d.generator, d.dut)
			}
			networks = append(append(networks, d.generator.Masked()), d.networks(64)...)
		}
		for i, a := range networks {
			if !links.allowed(a) {
				t.Errorf("%s is outside the networks made for measuring", a)
			}
			for _, b := range networks[:i] {
				if a.Overlaps(b) {
					t.Errorf("%s overlaps %s", a, b)
				}
			}
		}
	}
}
