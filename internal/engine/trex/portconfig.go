package trex

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// Settings changes the settings of the session's ports.
type Settings struct{ session *Session }

// SetService turns service mode on or off. In service mode received packets reach software, so that they can be
// captured and ARP is answered. It costs performance, and with hardware flow counters it excludes flow statistics.
func (s Settings) SetService(ctx context.Context, port int, enabled bool) error {
	return s.session.owned(ctx, port, "service", params{"enabled": enabled, "filtered": false}, nil)
}

// SetPromiscuous makes a port receive every frame, or only its own and broadcasts.
func (s Settings) SetPromiscuous(ctx context.Context, port int, enabled bool) error {
	return s.setAttribute(ctx, port, "promiscuous", params{"enabled": enabled})
}

// SetMulticast makes a port receive all multicast frames, or none.
func (s Settings) SetMulticast(ctx context.Context, port int, enabled bool) error {
	return s.setAttribute(ctx, port, "multicast", params{"enabled": enabled})
}

// SetFlowControl sets the pause-frame mode, 0 for off. Virtual ports refuse it.
func (s Settings) SetFlowControl(ctx context.Context, port, mode int) error {
	return s.setAttribute(ctx, port, "flow_ctrl_mode", params{"mode": mode})
}

func (s Settings) setAttribute(ctx context.Context, port int, name string, value params) error {
	err := s.session.owned(ctx, port, "set_port_attr", params{"attr": params{name: value}}, nil)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

// SetL2 gives the destination MAC of streams that carry none of their own. The port must not be sending.
func (s Settings) SetL2(ctx context.Context, port int, destination net.HardwareAddr) error {
	return s.session.owned(ctx, port, "set_l2", params{"dst_mac": destination.String(), "block": false}, nil)
}

// SetL3 gives a port its IPv4 address, for which it answers ARP, and its next hop with the MAC that was found for it.
// A nil MAC leaves the next hop unresolved, and then traffic can't start.
func (s Settings) SetL3(ctx context.Context, port int, local, nextHop netip.Addr, resolved net.HardwareAddr) error {
	p := params{"src_addr": local.String(), "dst_addr": nextHop.String(), "block": false}
	if resolved != nil {
		p["resolved_mac"] = resolved.String()
	}
	return s.session.owned(ctx, port, "set_l3", p, nil)
}

// SetVLAN tags what the server itself sends and expects on a port (ARP, not streams). Without tags the port is
// untagged.
func (s Settings) SetVLAN(ctx context.Context, port int, tags ...uint16) error {
	for _, tag := range tags {
		if tag < 1 || tag > 4095 {
			return fmt.Errorf("VLAN tag %d: must be 1 to 4095", tag)
		}
	}
	return s.session.owned(ctx, port, "set_vlan", params{"vlan": append([]uint16{}, tags...), "block": false}, nil)
}

// SetIPv6 gives a port its IPv6 address, for which it answers neighbour solicitations. The zero Addr turns IPv6 off.
// A server with the "legacy" stack refuses it.
func (s Settings) SetIPv6(ctx context.Context, port int, local netip.Addr) error {
	p := params{"enabled": local.IsValid(), "src_ipv6": "", "block": false}
	if local.IsValid() {
		p["src_ipv6"] = local.String()
	}
	return s.session.owned(ctx, port, "conf_ipv6", p, nil)
}
