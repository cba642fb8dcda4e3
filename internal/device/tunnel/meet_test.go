package tunnel

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// ends are two gateways on a cable, which here is the loopback.
func ends(kind string) (first, second GatewayInPod) {
	first = GatewayInPod{Kind: kind, Local: netip.MustParsePrefix("127.192.2.1/32"),
		Peer: netip.MustParseAddr("127.192.2.2"), MTU: 1500,
		PeerNetworks: []netip.Prefix{netip.MustParsePrefix("48.0.0.0/24")}}
	second = GatewayInPod{Kind: kind, Local: netip.MustParsePrefix("127.192.2.2/32"),
		Peer: netip.MustParseAddr("127.192.2.1"), MTU: 1500, Connects: true,
		PeerNetworks: []netip.Prefix{netip.MustParsePrefix("16.0.0.0/24")}}
	return first, second
}

type met struct {
	gateway Gateway
	err     error
}

// meet lets a gateway look for the other one, and returns what came of that, and what it said until then.
func meet(ctx context.Context, e GatewayInPod, token string) (<-chan met, <-chan string) {
	results, reports := make(chan met, 1), make(chan string, 16)
	go func() {
		g, err := e.Meet(ctx, token, func(report string) { reports <- report })
		results <- met{g, err}
	}()
	return results, reports
}

// Each gateway ends up with a key of its own, the other's public key, and a secret that only these two gateways share.
func TestGatewaysMeet(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if secret := secretOf(ctx, t); secret == secretOf(ctx, t) {
		t.Error("two tunnels have one secret")
	}
}

// secretOf is the secret of two gateways that meet.
func secretOf(ctx context.Context, t *testing.T) string {
	t.Helper()
	first, second := ends(plan.TunnelIPsec)
	firstMet, _ := meet(ctx, first, "token")
	two, _ := meet(ctx, second, "token")
	a, b := <-firstMet, <-two
	if a.err != nil || b.err != nil {
		t.Fatalf("%v; %v", a.err, b.err)
	}
	if a.gateway.Secret != b.gateway.Secret || len(a.gateway.Secret) != 64 {
		t.Errorf("the secrets differ, or are none: %d and %d digits", len(a.gateway.Secret), len(b.gateway.Secret))
	}
	if a.gateway.PeerKey == b.gateway.PeerKey || a.gateway.PrivateKey == b.gateway.PrivateKey {
		t.Error("both have one key")
	}
	if a.gateway.Peer.String() != "127.192.2.2:51820" || !a.gateway.InPod || a.gateway.Asks || !b.gateway.Asks {
		t.Errorf("%v in a pod %v, asks %v and %v", a.gateway.Peer, a.gateway.InPod, a.gateway.Asks, b.gateway.Asks)
	}
	return a.gateway.Secret
}

// The gateway reports the stranger, and waits for the right gateway.
func TestAStrangerOnTheCableIsNotMet(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first, second := ends(plan.TunnelWireGuard)
	firstMet, reports := meet(ctx, first, "token")
	away, leave := context.WithCancel(ctx)
	stranger, _ := meet(away, second, "another test's")
	for report := range reports {
		if strings.Contains(report, "isn't a gateway of this test") {
			break
		}
	}
	leave()
	if got := <-stranger; got.err == nil {
		t.Error("the stranger has met it")
	}
	two, _ := meet(ctx, second, "token")
	if a, b := <-firstMet, <-two; a.err != nil || b.err != nil {
		t.Errorf("%v; %v", a.err, b.err)
	}
}

// The right gateway is met at once, although a silent stranger came first.
func TestASilentStrangerHoldsNobodyUp(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first, second := ends(plan.TunnelWireGuard)
	firstMet, reports := meet(ctx, first, "token")
	silent := call(ctx, t, second)
	if _, err := silent.Read(make([]byte, 1)); err != nil { // it is being greeted
		t.Fatal(err)
	}
	two, _ := meet(ctx, second, "token")
	if a, b := <-firstMet, <-two; a.err != nil || b.err != nil {
		t.Errorf("%v; %v", a.err, b.err)
	}
	if len(reports) > 0 {
		t.Errorf("it was met only after the stranger's time was over: %s", <-reports)
	}
}

// A peer that repeats a gateway's words, from another conversation or from this one, doesn't have its token.
func TestWhatIsRepeatedIsNotMet(t *testing.T) {
	first, second := ends(plan.TunnelWireGuard)
	old := second.helloOf(strings.Repeat("ab", 32), second.Local.Addr(), "token")
	for name, c := range map[string]struct {
		greets func(hello []byte) []byte // with what the gateway's hello is answered
		proves func(proof []byte) []byte // and with what its proof is
	}{
		"an old hello, with its proof": {func([]byte) []byte { return line(t, old) },
			func([]byte) []byte { return []byte(metProof(old.Key, strings.Repeat("cd", 32), "token") + "\n") }},
		"an old hello, with the gateway's proof": {func([]byte) []byte { return line(t, old) }, slices.Clone[[]byte]},
		"the gateway's own words":                {slices.Clone[[]byte], slices.Clone[[]byte]},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			firstMet, reports := meet(ctx, first, "token")
			conn := call(ctx, t, second)
			reader := bufio.NewReader(conn)
			for _, answer := range []func([]byte) []byte{c.greets, c.proves} {
				heard, err := reader.ReadBytes('\n')
				if err != nil {
					break // it has heard enough
				}
				if _, err := conn.Write(answer(heard)); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case report := <-reports:
				if !strings.Contains(report, "isn't a gateway of this test") {
					t.Error(report)
				}
			case got := <-firstMet:
				t.Fatalf("it was met: %v", got.err)
			}
			cancel()
			if got := <-firstMet; got.err == nil {
				t.Error("it was met")
			}
		})
	}
}

// No peer on the cable fills a gateway's memory.
func TestALongHelloIsNotHeardOut(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first, second := ends(plan.TunnelWireGuard)
	firstMet, _ := meet(ctx, first, "token")
	conn := call(ctx, t, second)
	if _, err := conn.Write(line(t, second.helloOf(strings.Repeat("ab", helloBytes), second.Local.Addr(),
		"token"))); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewScanner(conn)
	reader.Scan() // its hello
	if reader.Scan() {
		t.Errorf("a hello of %d bytes was heard, and answered: %s", 2*helloBytes, reader.Text())
	}
	cancel()
	if got := <-firstMet; got.err == nil {
		t.Error("it was met")
	}
}

// line is a hello as it is sent.
func line(t *testing.T, h hello) []byte {
	t.Helper()
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// call connects to the first gateway as the second one would, once that one listens.
func call(ctx context.Context, t *testing.T, e GatewayInPod) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: e.Local.Addr().AsSlice()}}
	for {
		conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(e.Peer, Port).String())
		if err == nil {
			t.Cleanup(func() { _ = conn.Close() })
			return conn
		}
		if bounded.Pause(ctx, time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
}

// TestACableWithoutRoomIsRefused, and not made to seem wider than its network.
func TestACableWithoutRoomIsRefused(t *testing.T) {
	if err := roomOn(1600, 1500); err != nil {
		t.Error(err)
	}
	if err := roomOn(1599, 1500); err == nil ||
		!strings.Contains(err.Error(), "dut.reference.mode.tunnel.network) an MTU of 1600") {
		t.Errorf("%v", err)
	}
}
