package stl

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// destination is where a port's frames go. A TRex whose port works at layer 3 forgets the destination whenever the
// port's link goes down or up, and then refuses to start. So the destination is checked before each start.
type destination struct {
	local, hop netip.Addr // IPv4, or the zero addresses where the port works at layer 2
	mac        net.HardwareAddr
}

// links are the addresses and next hops of the session's ports.
type links struct {
	control      *trex.Client
	reminders    *reminders
	reported     *reported
	remarks      *remarks
	destinations map[int]destination // as far as Address knows
}

// setDestination makes the port send its frames to d, and keep it.
func (l *links) setDestination(ctx context.Context, port int, d destination) error {
	l.destinations[port] = d
	if d.local.IsValid() {
		return l.control.SetL3(ctx, port, d.local, d.hop, d.mac)
	}
	return l.control.SetL2(ctx, port, d.mac)
}

// configured returns the MAC that the server's configuration, or an earlier client, gave a port as destination. ""
// means that there is none. An IPv4 next hop that the server has not resolved, or has forgotten, is resolved.
func (l *links) configured(ctx context.Context, port int, a trex.PortAttributes) (engine.MAC, error) {
	layer := a.Layer
	local, _ := netip.ParseAddr(layer.IPv4.Source)
	hop, _ := netip.ParseAddr(layer.IPv4.Destination)
	switch {
	case !forgotten(a):
		mac, err := net.ParseMAC(layer.Ether.Destination)
		if err == nil {
			l.destinations[port] = destination{local, hop, mac}
		}
		return engine.MAC(strings.ToLower(layer.Ether.Destination)), nil
	case !local.IsValid() || !hop.IsValid():
		return "", nil
	}
	resolved := engine.Addressing{Local: []netip.Prefix{netip.PrefixFrom(local, local.BitLen())},
		NextHop: []netip.Addr{hop}}
	if tags := a.VLAN.Tags; len(tags) == 1 {
		resolved.VLAN = tags[0]
	}
	s, err := sidesOf(resolved, layer.Ether.Source)
	if err != nil {
		return "", fmt.Errorf("port %d: %w", port, err)
	}
	mac, err := l.address(ctx, port, resolved, s)
	return engine.MAC(mac.String()), err
}

// forgotten says that the server has no destination for a port, or no longer uses the one that it shows.
func forgotten(a trex.PortAttributes) bool { return a.Layer.Ether.State == "unconfigured" }

// restoreDestinations sets the destinations that the server has forgotten, of ports that are about to start,
// and reminds the devices there of the ports' addresses. Those that it knows are left alone, as a port that is
// addressed announces itself to the device.
func (l *links) restoreDestinations(ctx context.Context, starts []trex.Start) error {
	ports := make([]int, len(starts))
	for i, s := range starts {
		ports[i] = s.Port
	}
	statuses, err := l.control.PortStatuses(ctx, ports)
	if err != nil {
		return err
	}
	for _, port := range ports {
		if d, ok := l.destinations[port]; ok && forgotten(statuses[port].Attributes) {
			if err := l.setDestination(ctx, port, d); err != nil {
				return err
			}
			l.remarks.add("the link of port %d changed its state, and the server forgot the device's MAC: it was "+
				"set again", port)
		}
	}
	return l.remindBeforeStart(ctx, statuses)
}

// forgotDestination says that a start was refused because a link changed its state after the destination was set.
func forgotDestination(err error) bool {
	return err != nil && strings.Contains(err.Error(), "dest MAC is invalid")
}
