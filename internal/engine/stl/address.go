package stl

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
)

// Address gives a port its addresses and its next hop. Without addresses the port keeps those of the server's
// configuration, and their next hop is resolved unless the server has done so.
//
// With IPv4 the port works at layer 3, so that the server answers ARP for it. With IPv6 only, the port works at layer
// 2, with the server's IPv6 turned on. TRex's "legacy" stack refuses IPv6 and answers no solicitation. In that case
// reminders announce the port's address to the device again and again.
func (e *Engine) Address(ctx context.Context, port int, a engine.Addressing) (engine.MAC, error) {
	status, err := e.control.PortStatus(ctx, port)
	if err != nil {
		return "", e.explain(ctx, err)
	}
	if len(a.Local) == 0 && len(a.NextHop) == 0 && a.NextHopMAC == "" {
		mac, err := e.links.configured(ctx, port, status.Attributes)
		return mac, e.explain(ctx, err)
	}
	s, err := sidesOf(a, status.Attributes.Layer.Ether.Source)
	if err != nil {
		return "", e.explain(ctx, fmt.Errorf("port %d: %w", port, err))
	}
	mac, err := e.links.address(ctx, port, a, s)
	return engine.MAC(mac.String()), e.explain(ctx, err)
}

// side is one address family of a port's link.
type side struct {
	local, nextHop netip.Addr
	prefix         netip.Prefix
}

func (s side) complete() bool { return s.local.IsValid() && s.nextHop.IsValid() }

// sides are both families and the MACs of a port's link.
type sides struct {
	v4, v6  side
	portMAC net.HardwareAddr
	next    net.HardwareAddr // nil until resolved
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
	if s.portMAC, err = net.ParseMAC(ownMAC); err != nil {
		return s, fmt.Errorf("own MAC %q: %w", ownMAC, err)
	}
	if a.NextHopMAC != "" {
		if s.next, err = net.ParseMAC(string(a.NextHopMAC)); err != nil {
			return s, fmt.Errorf("next hop's MAC %q: %w", a.NextHopMAC, err)
		}
	} else if !s.v4.complete() && !s.v6.complete() {
		return s, fmt.Errorf("next hop %v can't be resolved from %v: an address of the same family is needed on "+
			"both sides, or the next hop's MAC", a.NextHop, a.Local)
	}
	return s, nil
}

func (l *links) address(ctx context.Context, port int, a engine.Addressing, s sides) (net.HardwareAddr, error) {
	if err := l.control.SetVLAN(ctx, port, tags(a.VLAN)...); err != nil {
		return nil, err
	}
	l.reminders.set(port, nil)
	answers, err := l.setAddresses(ctx, port, s)
	if err != nil {
		return nil, err
	}
	next := s.next
	for _, family := range []side{s.v4, s.v6} {
		if s.next != nil || !family.complete() {
			continue
		}
		found, err := l.control.Resolve(ctx, port, neighbor.Query{SourceMAC: s.portMAC, Source: family.local,
			Target: family.nextHop, VLAN: a.VLAN})
		if err != nil {
			return nil, err
		}
		if next != nil && next.String() != found.String() {
			return nil, fmt.Errorf("port %d: the next hop is %s by IPv4 and %s by IPv6: a port can send to one of "+
				"them only", port, next, found)
		}
		next = found
	}
	if err := l.setNextHop(ctx, port, s, next); err != nil || answers || !s.v6.complete() {
		return next, err
	}
	return next, l.announce(ctx, port, neighbor.Query{SourceMAC: s.portMAC, Source: s.v6.local, Target: s.v6.nextHop,
		VLAN: a.VLAN}, next)
}

// announce sends the device a neighbour solicitation, from which it learns the port's IPv6 address and MAC,
// where the server doesn't answer for them. What the device answers is the same MAC that is known already.
func (l *links) announce(ctx context.Context, port int, q neighbor.Query, device net.HardwareAddr) error {
	request, err := q.Frame()
	if err != nil {
		return fmt.Errorf("port %d: %w", port, err)
	}
	reminder, err := q.Advertisement(device)
	if err != nil {
		return fmt.Errorf("port %d: %w", port, err)
	}
	if err := l.control.PushFrames(ctx, port, [][]byte{request, reminder}); err != nil {
		return err
	}
	l.reminders.set(port, reminder)
	return nil
}

func tags(vlan uint16) []uint16 {
	if vlan == 0 {
		return nil
	}
	return []uint16{vlan}
}

// setAddresses gives the server the port's addresses before the next hop is resolved, as the device may send a
// request of its own before it answers. It returns whether the server will answer for these addresses.
func (l *links) setAddresses(ctx context.Context, port int, s sides) (answers bool, err error) {
	if s.v4.local.IsValid() && s.next == nil {
		if err := l.control.SetL3(ctx, port, s.v4.local, s.v4.hop(), nil); err != nil {
			return false, err
		}
	}
	if !s.v6.local.IsValid() {
		return true, nil
	}
	if err := ignoreRefusal(l.control.SetMulticast(ctx, port, true)); err != nil {
		return false, err
	}
	err = l.control.SetIPv6(ctx, port, s.v6.local)
	return err == nil, ignoreRefusal(err)
}

// setNextHop makes the port send its frames to the next hop's MAC.
func (l *links) setNextHop(ctx context.Context, port int, s sides, next net.HardwareAddr) error {
	d := destination{mac: next}
	if s.v4.local.IsValid() {
		d.local, d.hop = s.v4.local, s.v4.hop()
	}
	return l.setDestination(ctx, port, d)
}

// hop is the next hop's address. The server answers ARP for the port's address only if the port has a next hop. Where
// only the next hop's MAC is known, hop is the address next to the port's own, which nobody resolves.
func (s side) hop() netip.Addr {
	if s.nextHop.IsValid() {
		return s.nextHop
	}
	if next := s.local.Next(); s.prefix.Contains(next) {
		return next
	}
	return s.local.Prev()
}
