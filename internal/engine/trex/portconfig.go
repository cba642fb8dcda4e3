package trex

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// SetService turns service mode on or off: in it received packets reach software, so that they can be captured and ARP is
// answered. It costs performance, and with hardware flow counters it excludes flow statistics.
func (c *Client) SetService(ctx context.Context, port int, on bool) error {
	return c.owned(ctx, port, "service", params{"enabled": on, "filtered": false}, nil)
}

// SetPromiscuous makes a port receive every frame, or only its own and broadcasts.
func (c *Client) SetPromiscuous(ctx context.Context, port int, on bool) error {
	return c.setAttribute(ctx, port, "promiscuous", params{"enabled": on})
}

// SetMulticast makes a port receive all multicast frames, or none.
func (c *Client) SetMulticast(ctx context.Context, port int, on bool) error {
	return c.setAttribute(ctx, port, "multicast", params{"enabled": on})
}

// SetFlowControl sets the pause-frame mode; 0 is off. Virtual ports refuse it.
func (c *Client) SetFlowControl(ctx context.Context, port, mode int) error {
	return c.setAttribute(ctx, port, "flow_ctrl_mode", params{"mode": mode})
}

func (c *Client) setAttribute(ctx context.Context, port int, name string, value params) error {
	err := c.owned(ctx, port, "set_port_attr", params{"attr": params{name: value}}, nil)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

// SetL2 gives the destination MAC of streams that carry none of their own. The port must not be sending.
func (c *Client) SetL2(ctx context.Context, port int, destination net.HardwareAddr) error {
	return c.owned(ctx, port, "set_l2", params{"dst_mac": destination.String(), "block": false}, nil)
}

// SetL3 gives a port its IPv4 address, for which it answers ARP, and its next hop with the MAC that was found for it. A nil MAC
// leaves the next hop unresolved: traffic then can't start.
func (c *Client) SetL3(ctx context.Context, port int, local, nextHop netip.Addr, resolved net.HardwareAddr) error {
	p := params{"src_addr": local.String(), "dst_addr": nextHop.String(), "block": false}
	if resolved != nil {
		p["resolved_mac"] = resolved.String()
	}
	return c.owned(ctx, port, "set_l3", p, nil)
}

// SetVLAN tags what the server itself sends and expects on a port (ARP, not streams); no tags: untagged.
func (c *Client) SetVLAN(ctx context.Context, port int, tags ...uint16) error {
	for _, tag := range tags {
		if tag < 1 || tag > 4095 {
			return fmt.Errorf("VLAN tag %d: must be 1 to 4095", tag)
		}
	}
	return c.owned(ctx, port, "set_vlan", params{"vlan": append([]uint16{}, tags...), "block": false}, nil)
}

// SetIPv6 gives a port its IPv6 address, for which it answers neighbour solicitations; the zero Addr turns IPv6 off. A server with the
// "legacy" stack refuses it.
func (c *Client) SetIPv6(ctx context.Context, port int, local netip.Addr) error {
	p := params{"enabled": local.IsValid(), "src_ipv6": "", "block": false}
	if local.IsValid() {
		p["src_ipv6"] = local.String()
	}
	return c.owned(ctx, port, "conf_ipv6", p, nil)
}
