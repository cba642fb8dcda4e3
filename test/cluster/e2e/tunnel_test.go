//go:build full

package e2e

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/hack/image/devices"
	"github.com/linerate-dev/linerate/internal/device/tunnel"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// strongSwanImage has this machine's strongSwan and all that it loads.
const strongSwanImage = "example.com/linerate/strongswan:e2e"

// TestATunnelInPods: what goes from link to link comes out of a second gateway, in a pod of its own (the path is proven), and all comes back; the cable between the two carries it encrypted, and nothing else.
func TestATunnelInPods(t *testing.T) {
	for name, kind := range map[string]struct {
		mode string
		port uint16
		data func(payload []byte) bool // a message that carries a packet
	}{
		"wireguard": {"mode: {tunnel: {kind: WireGuard, network: default/north}}", tunnel.Port, func(p []byte) bool { return p[0] == 4 }},
		"ipsec":     {"mode: {tunnel: {kind: IPsec, cipher: AES-128-GCM, network: default/north}}, image: " + strongSwanImage, 4500, func(p []byte) bool { return !bytes.HasPrefix(p, make([]byte, 4)) }}, // ESP has an SPI there, IKE zeros
	} {
		t.Run(name, func(t *testing.T) {
			if name == "ipsec" {
				loadDevice(t, strongSwanImage, devices.StrongSwan)
			}
			s := begin(t)
			wires, cable := lab.Listen(t.Context(), "west", "east"), lab.Listen(t.Context(), "north")
			begun := time.Now()
			s.apply(name, links, gently, `
dut: {type: Reference, reference: {`+kind.mode+`}}
traffic: {profile: FixedSize, frameSize: 512}
`)
			s.running(name)
			heard := s.hear(overheard, "west", "east", "north")
			for _, pod := range []string{name + "-1-dut", name + "-1-dut-far"} {
				s.tellsNoKey(pod)
			}
			test := s.complete(name, patience)
			r := s.report(test)
			s.carried(test, gentlyPerSecond)
			s.addsUp(r, wires, begun)
			s.makes(r, heard, making{hops: 2})
			s.encrypts(heard["north"], kind.port, kind.data)
			var returned int64
			for _, total := range r.Totals {
				returned += total.Returned.Packets
			}
			if n := int64(cable.Between(begun, time.Now())); n < returned {
				t.Errorf("%d frames went over the cable, and %d came out of the tunnel", n, returned)
			}
			s.released(name)
		})
	}
}

// encrypts: what is between the gateways are packets of the tunnel's, at its port, and nearly all of them carry a whole one of the traffic's.
func (s *scene) encrypts(cable []packet, port uint16, carries func(payload []byte) bool) {
	s.Helper()
	const whole = 512 - 14 - 4 // a frame's without its Ethernet header and FCS
	carried, size := 0, 0
	for _, p := range cable {
		if p.from.Port() != port || p.to.Port() != port || !plan.BetweenTunnel.Contains(p.from.Addr()) || !plan.BetweenTunnel.Contains(p.to.Addr()) {
			s.Errorf("a packet from %s to %s is on the cable, which is none of the gateways' at port %d", p.from, p.to, port)
		}
		if len(p.payload) > whole && carries(p.payload) {
			carried, size = carried+1, size+len(p.payload)
		}
	}
	s.Logf("%d of %d packets on the cable carry one of the traffic's: %d bytes, for %d", carried, len(cable), size, carried*whole)
	if carried < overheard*9/10 {
		s.Errorf("%d of %d frames on the cable carry packets of the traffic's, want nearly all", carried, overheard)
	}
}

// tellsNoKey: neither what a gateway's pod was made from nor its log has a key, which is 64 hexadecimal digits.
func (s *scene) tellsNoKey(name string) {
	s.Helper()
	for _, what := range s.told(name) {
		if key := regexp.MustCompile(`\b[0-9a-f]{64}\b`).FindString(what); key != "" {
			s.Errorf("pod %s shows what may be a key: %s", name, key)
		}
	}
}

// told is what who may read a pod can see of it: what it was made from, and its log.
func (s *scene) told(pod string) (all []string) {
	s.Helper()
	for _, what := range [][]string{{"get", "pod", pod, "-o", "jsonpath={.spec}{.metadata.annotations}"}, {"logs", pod, "--all-containers"}} {
		out, err := lab.Cluster.Run(s.Context(), "", "kubectl", append([]string{"--", "-n", s.namespace}, what...)...)
		if err != nil {
			s.Fatalf("kubectl %v: %v", what, err)
		}
		all = append(all, out)
	}
	return all
}
