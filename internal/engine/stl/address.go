package stl

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
)

// Address gives a port its addresses and its next hop. Without addresses it keeps those of the server's configuration; a next hop of theirs that isn't resolved is resolved.
//
// With IPv4 the port works at layer 3, so that the server answers ARP for us; with IPv6 only, at layer 2 with the server's
// IPv6 turned on. TRex's "legacy" stack refuses that and answers no solicitation: then we announce our address to the device, again and again
// (reminders).
func (e *Engine) Address(ctx context.Context, port int, a engine.Addressing) (engine.MAC, error) {
	status, err := e.control.PortStatus(ctx, port)
	if err != nil {
		return "", e.explain(ctx, err)
	}
	if len(a.Local) == 0 && len(a.NextHop) == 0 && a.NextHopMAC == "" {
		mac, err := e.configured(ctx, port, status.Attributes)
		return mac, e.explain(ctx, err)
	}
	s, err := sidesOf(a, status.Attributes.Layer.Ether.Source)
	if err != nil {
		return "", e.explain(ctx, fmt.Errorf("port %d: %w", port, err))
	}
	mac, err := e.address(ctx, port, a, s)
	return engine.MAC(mac.String()), e.explain(ctx, err)
}

// side is one address family of a port's link.
type side struct {
	local, nextHop netip.Addr
	prefix         netip.Prefix
}

func (s side) known() bool { return s.local.IsValid() && s.nextHop.IsValid() }

// sides are both families and the MACs of a port's link.
type sides struct {
	v4, v6 side
	own    net.HardwareAddr
	next   net.HardwareAddr // nil: to be resolved
}

// sidesOf sorts an Addressing by family.
func sidesOf(a engine.Addressing, ownMAC string) (s sides, err error) {
	for _, p := range a.Local {
		if p.Addr().Is4() {
			s.v4.local, s.v4.prefix = p.Addr(), p
		} else {
			s.v6.local, s.v6.prefix = p.Addr(), p
		}
	}
	for _, hop := range a.NextHop {
		if hop.Is4() {
			s.v4.nextHop = hop
		} else {
			s.v6.nextHop = hop
		}
	}
	if s.own, err = net.ParseMAC(ownMAC); err != nil {
		return s, fmt.Errorf("own MAC %q: %w", ownMAC, err)
	}
	if a.NextHopMAC != "" {
		if s.next, err = net.ParseMAC(string(a.NextHopMAC)); err != nil {
			return s, fmt.Errorf("next hop's MAC %q: %w", a.NextHopMAC, err)
		}
	} else if !s.v4.known() && !s.v6.known() {
		return s, fmt.Errorf("next hop %v can't be resolved from %v: an address of the same family is needed on both sides, or the next hop's MAC", a.NextHop, a.Local)
	}
	return s, nil
}

func (e *Engine) address(ctx context.Context, port int, a engine.Addressing, s sides) (net.HardwareAddr, error) {
	if err := e.control.SetVLAN(ctx, port, tags(a.VLAN)...); err != nil {
		return nil, err
	}
	e.reminders.set(port, nil)
	answers, err := e.setAddresses(ctx, port, s)
	if err != nil {
		return nil, err
	}
	next := s.next
	for _, family := range []side{s.v4, s.v6} {
		if s.next != nil || !family.known() {
			continue
		}
		found, err := e.control.Resolve(ctx, port, neighbor.Query{SourceMAC: s.own, Source: family.local, Target: family.nextHop, VLAN: a.VLAN})
		if err != nil {
			return nil, err
		}
		if next != nil && next.String() != found.String() {
			return nil, fmt.Errorf("port %d: the next hop is %s by IPv4 and %s by IPv6: a port can send to one of them only", port, next, found)
		}
		next = found
	}
	if err := e.setNextHop(ctx, port, s, next); err != nil || answers || !s.v6.known() {
		return next, err
	}
	return next, e.introduce(ctx, port, neighbor.Query{SourceMAC: s.own, Source: s.v6.local, Target: s.v6.nextHop, VLAN: a.VLAN}, next)
}

// introduce sends the device a neighbour solicitation, from which it learns the port's IPv6 address and MAC, where the server doesn't answer for them. What the device
// answers is the same MAC that is known already.
func (e *Engine) introduce(ctx context.Context, port int, q neighbor.Query, device net.HardwareAddr) error {
	request, err := q.Frame()
	if err != nil {
		return fmt.Errorf("port %d: %w", port, err)
	}
	reminder, err := q.Advertisement(device)
	if err != nil {
		return fmt.Errorf("port %d: %w", port, err)
	}
	if err := e.control.PushFrames(ctx, port, [][]byte{request, reminder}); err != nil {
		return err
	}
	e.reminders.set(port, reminder)
	return nil
}

func tags(vlan uint16) []uint16 {
	if vlan == 0 {
		return nil
	}
	return []uint16{vlan}
}

// setAddresses gives the server the port's addresses before the next hop is resolved, as the device may send a request of its own before it answers. It returns whether the server will
// answer for these addresses.
func (e *Engine) setAddresses(ctx context.Context, port int, s sides) (answers bool, err error) {
	if s.v4.local.IsValid() && s.next == nil {
		if err := e.control.SetL3(ctx, port, s.v4.local, s.v4.hop(), nil); err != nil {
			return false, err
		}
	}
	if !s.v6.local.IsValid() {
		return true, nil
	}
	if err := unlessRefused(e.control.SetMulticast(ctx, port, true)); err != nil {
		return false, err
	}
	err = e.control.SetIPv6(ctx, port, s.v6.local)
	return err == nil, unlessRefused(err)
}

// setNextHop makes the port send its frames to the next hop's MAC.
func (e *Engine) setNextHop(ctx context.Context, port int, s sides, next net.HardwareAddr) error {
	d := destination{mac: next}
	if s.v4.local.IsValid() {
		d.local, d.hop = s.v4.local, s.v4.hop()
	}
	return e.setDestination(ctx, port, d)
}

// hop is the next hop's address. The server answers ARP for our address only if it has one. Where only the next hop's MAC is known, hop is the
// address next to ours, which nobody resolves.
func (s side) hop() netip.Addr {
	if s.nextHop.IsValid() {
		return s.nextHop
	}
	if next := s.local.Next(); s.prefix.Contains(next) {
		return next
	}
	return s.local.Prev()
}
