package tunnel

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// A tunnel has a child for each family that both gateways have networks of.
func TestWhatCharonIsToldOfATunnel(t *testing.T) {
	prefixes := func(texts ...string) (parsed []netip.Prefix) {
		for _, p := range texts {
			parsed = append(parsed, netip.MustParsePrefix(p))
		}
		return parsed
	}
	g := Gateway{Kind: plan.TunnelIPsec, Secret: "c0ffee", Cipher: plan.CipherAES128GCM,
		Local: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddrPort("192.0.2.2:51820"),
		Behind: prefixes("16.0.0.0/24", "198.18.0.1/24", "2001:2:0:10::/64"), Networks: prefixes("48.0.0.0/24")}
	settings := g.tunnelSettings()
	for _, want := range []string{
		"local_addrs = 192.0.2.1\n", "remote_addrs = 192.0.2.2\n", "local_port = 4500\n", "remote_port = 4500\n",
		"esp_proposals = aes128gcm16\n", "local_ts = 0.0.0.0/0\n", "remote_ts = 0.0.0.0/0\n", "secret = 0xc0ffee\n",
	} {
		if !strings.Contains(settings, want) {
			t.Errorf("it lacks %q:\n%s", want, settings)
		}
	}
	if strings.Count(settings, "rekey_time = 0s\n") != 2 {
		t.Errorf("the connection and its child renew their keys:\n%s", settings)
	}
	if strings.Contains(settings, "ipv6") {
		t.Errorf("the other gateway has no network of IPv6, and yet:\n%s", settings)
	}
}

// A pod's gateway has no right to open ports below 1024, and strongSwan opens each that its settings name, or
// 500 where they name none.
func TestCharonOpensPortsThatTakeNoRight(t *testing.T) {
	ports := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^  (port\w*) = (\d+)$`).FindAllStringSubmatch(daemonSettings(), -1) {
		ports[m[1]], _ = strconv.Atoi(m[2])
	}
	for _, name := range []string{"port", "port_nat_t"} {
		if ports[name] < 1024 {
			t.Errorf("charon's %s is %d:\n%s", name, ports[name], daemonSettings())
		}
	}
}

func TestEachCipherHasAProposal(t *testing.T) {
	for _, cipher := range []string{plan.CipherAES128GCM, plan.CipherAES256GCM, plan.CipherAES256CBC,
		plan.CipherChaCha20} {
		if proposals[cipher] == "" {
			t.Errorf("%s has none", cipher)
		}
	}
}
