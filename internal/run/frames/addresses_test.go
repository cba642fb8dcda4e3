package frames_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// wired is an engine whose ports find next hops as a device answers that is wired or tagged in some way.
type wired struct {
	engine.Engine
	answers func(port int, hop netip.Addr, vlan uint16) bool
}

// Address implements engine.Engine.
func (e wired) Address(ctx context.Context, port int, a engine.Addressing) (engine.MAC, error) {
	if !slices.ContainsFunc(a.NextHop, func(hop netip.Addr) bool { return e.answers(port, hop, a.VLAN) }) {
		time.Sleep(3 * time.Second) // as long as one asks
		return "", fmt.Errorf("port %d: %w", port, engine.ErrUnresolved)
	}
	return e.Engine.Address(ctx, port, a)
}

// tagged gives the scenario's links VLANs.
func tagged(vlans ...uint16) option {
	return func(s *scenario) {
		for g := range s.plan.Generators {
			for i := range s.plan.Generators[g].Ports {
				s.plan.Generators[g].Ports[i].VLAN = vlans[i]
			}
		}
	}
}

// Where nobody answers for the next hop, further questions tell swapped ports from a VLAN that one side doesn't have.
func TestWhoAnswersInstead(t *testing.T) {
	west, east := netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.1.1")
	for name, c := range map[string]struct {
		vlans    []uint16
		answers  func(port int, hop netip.Addr, vlan uint16) bool
		message  string
		sentence string
	}{
		"nobody": {[]uint16{0, 0}, func(int, netip.Addr, uint16) bool { return false },
			"on link west. If the device is a bridge, set dut.forwarding: L2; if it has another address, " +
				"links[].dut.address", "Nobody answers for 198.18.0.1, the device's address on link west. Is it a bridge? " +
				"Set dut.forwarding: L2. Another address? links[].dut.address."},
		"swapped ports": {[]uint16{0, 0}, func(port int, hop netip.Addr,
			_ uint16) bool {
			return hop == [...]netip.Addr{east, west}[port]
		}, "198.18.1.1, the device's address on link east, answers here: the generator's ports or their cables are " +
			"swapped", "Link west leads to the device's port for another link. Swap the cables, or the order of the " +
			"generator's ports."},
		"no tag": {[]uint16{100, 200}, func(port int, hop netip.Addr, vlan uint16) bool {
			return vlan == 0 && hop == [...]netip.Addr{west, east}[port]
		}, "it answers without a VLAN tag, and the link has vlan: 100", "The device answers on link west without a VLAN tag, though " +
			"the test has one. Tag the device's port, or remove links[].vlan."},
		"swapped VLANs": {[]uint16{100, 200}, func(port int, hop netip.Addr, vlan uint16) bool {
			return vlan == [...]uint16{200, 100}[port] && hop == [...]netip.Addr{west, east}[port]
		}, "it answers in VLAN 200, that of link east", "The device answers on link west in the VLAN of another link. Correct " +
			"the VLANs of the device's ports, or links[].vlan."},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene()
			tagged(c.vlans...)(s)
			s.engine = func(_ int, e engine.Engine) engine.Engine { return wired{e, c.answers} }
			rep := s.run(t)
			if !strings.Contains(rep.Message, c.message) || !strings.Contains(rep.Answer.EvidenceText(), c.message) {
				t.Errorf("%s\n%s\nwant …%s…", rep.Message, rep.Answer.EvidenceText(), c.message)
			}
			if rep.Answer.Message != c.sentence {
				t.Errorf("%s\nwant %s", rep.Answer.Message, c.sentence)
			}
		})
	}
}

// Addresses and paths are tried again until readyDelay is over, and no longer.
func TestADeviceThatIsNotReadyYet(t *testing.T) {
	silent := func(silence time.Duration) option {
		return func(s *scenario) {
			var began time.Time
			s.engine = func(_ int, e engine.Engine) engine.Engine {
				began = time.Now()
				return wired{e, func(int, netip.Addr, uint16) bool { return time.Since(began) >= silence }}
			}
		}
	}
	resolving := func(frames int) option { return onDevice(func(d *sim.Device) { d.Resolving = frames }) }
	ready := func(d time.Duration) option {
		return func(s *scenario) { s.plan.DUT.ReadyDelay = plan.Duration(d) }
	}
	for name, c := range map[string]struct {
		scene  *scenario
		proven bool
	}{
		"it answers after 30 s, of 60":             {scene(silent(30*time.Second), ready(time.Minute)), true},
		"it answers after 30 s, which nobody said": {scene(silent(30 * time.Second)), false},
		"it forwards after 10 attempts, of 60 s":   {scene(resolving(75), ready(time.Minute)), true},
		"it forwards after 10 attempts, of 6 s":    {scene(resolving(75), ready(6*time.Second)), false},
	} {
		t.Run(name, func(t *testing.T) {
			rep := c.scene.run(t)
			if proven := len(rep.Path) > 0 && rep.Path[0].Proven; proven != c.proven {
				t.Errorf("proven %v: %s", proven, rep.Message)
			}
		})
	}
}

// A fault that people meet first has a sentence of its own, which is never cut.
func TestAFaultBeforeTrafficHasASentenceOfItsOwn(t *testing.T) {
	rep := scene(onGenerator(func(g *sim.Generator) { g.Unresolved = true })).run(t)
	const want = "Nobody answers for 198.18.0.1, the device's address on link west. Is it a bridge? Set dut.forwarding: L2. " +
		"Another address? links[].dut.address."
	if rep.Answer.Message != want {
		t.Errorf("%q, want %q", rep.Answer.Message, want)
	}
}
