package plan

import (
	"fmt"
	"net/netip"
	"strings"
)

// Mode is the kind of real device that a Reference becomes, made of Linux. Exactly one member is set.
type Mode struct {
	Router    *RouterMode    `json:"router,omitempty"`
	Bridge    *BridgeMode    `json:"bridge,omitempty"`
	Filter    *FilterMode    `json:"filter,omitempty"`
	NAT       *NATMode       `json:"nat,omitempty"`
	XDP       *XDPMode       `json:"xdp,omitempty"`
	Tunnel    *TunnelMode    `json:"tunnel,omitempty"`
	Userspace *UserspaceMode `json:"userspace,omitempty"`
}

// RouterMode is the kernel's router.
type RouterMode struct {
	Routes int `json:"routes"` // to the networks behind each link
}

// BridgeMode is the kernel's bridge, which learns.
type BridgeMode struct{}

// XDPMode is a router in the drivers' receive path.
type XDPMode struct {
	Routes int `json:"routes,omitempty"` // 0 for one
}

// FilterMode is a router that checks each frame against rules, none of which matches.
type FilterMode struct {
	Rules  int `json:"rules"`
	Routes int `json:"routes,omitempty"` // 0 for one
}

// NATMode is a router that translates the addresses of the hosts behind one link, one for one.
type NATMode struct {
	Inside       string        `json:"inside"` // the link behind which hosts' addresses are translated
	Translations []Translation `json:"translations"`
	// Sessions is how many connections of silent hosts are tracked from the beginning.
	Sessions int `json:"sessions,omitempty"`
}

// Translation is a network behind the inside link, and the network to which its addresses are translated, host by host.
type Translation struct {
	Inside  netip.Prefix `json:"inside"`
	Outside netip.Prefix `json:"outside"`
}

// UserspaceTestpmd is the only kind of UserspaceMode.
const UserspaceTestpmd = "Testpmd"

// UserspaceMode is a program that forwards.
type UserspaceMode struct {
	Kind string `json:"kind"`
}

// These are the addresses that modes use themselves, which no test may have. A filter's rules drop some, and others
// are the network between a tunnel's gateways (RFC 1112, 3849, 5737).
var (
	FilteredIPv4  = netip.MustParsePrefix("240.0.0.0/15")
	FilteredIPv6  = netip.MustParsePrefix("2001:db8::/96")
	BetweenTunnel = netip.MustParsePrefix("192.0.2.0/30")
)

// Mode is the device's mode, or nil where it has none.
func (d DUT) Mode() *Mode {
	if d.Reference == nil {
		return nil
	}
	return d.Reference.Mode
}

// Routes is how many routes lead to the networks behind each link. It is 1 for a device without a routing table.
func (m *Mode) Routes() int {
	switch {
	case m == nil:
	case m.Router != nil:
		return max(m.Router.Routes, 1)
	case m.Filter != nil:
		return max(m.Filter.Routes, 1)
	case m.XDP != nil:
		return max(m.XDP.Routes, 1)
	}
	return 1
}

// Routers is how many routers a frame passes in the device, each of which lowers its TTL by one.
func (d DUT) Routers() int {
	switch m := d.Mode(); {
	case d.Forwarding != L3:
		return 0
	case d.Hops > 0:
		return d.Hops
	case m != nil && m.Tunnel != nil:
		return 2
	}
	return 1
}

// ReachedAt is the address at which a host behind a link is reached from other links. It is the host's own, unless
// the device translates it.
func (d DUT) ReachedAt(link string, host netip.Addr) netip.Addr {
	m := d.Mode()
	if m == nil || m.NAT == nil || m.NAT.Inside != link {
		return host
	}
	for _, t := range m.NAT.Translations {
		if t.Inside.Contains(host) {
			return moved(host, t.Outside)
		}
	}
	return host
}

// Translated are the addresses of a packet after it has passed the device in a direction. NAT translates the source
// of a packet that leaves the inside, and the destination of one that enters it.
func (d DUT) Translated(direction Direction, source, destination netip.Addr) (newSource, newDestination netip.Addr) {
	source = d.ReachedAt(direction.From, source)
	if m := d.Mode(); m != nil && m.NAT != nil && m.NAT.Inside == direction.To {
		for _, t := range m.NAT.Translations {
			if t.Outside.Contains(destination) {
				return source, moved(destination, t.Inside)
			}
		}
	}
	return source, destination
}

// moved is the address with the same host part in another network.
func moved(host netip.Addr, target netip.Prefix) netip.Addr {
	a, network := host.AsSlice(), target.Masked().Addr().AsSlice()
	for bit := range target.Bits() {
		mask := byte(1) << (7 - bit%8)
		a[bit/8] = a[bit/8]&^mask | network[bit/8]&mask
	}
	translated, _ := netip.AddrFromSlice(a) // as long as it was
	return translated
}

// ForInterfaces is the mode with links' names replaced by their interfaces.
func (m *Mode) ForInterfaces(interfaces map[string]string) *Mode {
	if m == nil {
		return nil
	}
	copied := *m
	if m.NAT != nil {
		nat := *m.NAT
		nat.Inside, copied.NAT = interfaces[nat.Inside], &nat
	}
	if m.Tunnel != nil {
		tunnel := *m.Tunnel
		tunnel.FarLink, copied.Tunnel = interfaces[tunnel.FarLink], &tunnel
	}
	return &copied
}

// Forwarding is how a device of the mode forwards.
func (m *Mode) Forwarding() Forwarding {
	switch {
	case m.Bridge != nil:
		return L2
	case m.Userspace != nil:
		return MACRewrite
	}
	return L3
}

// String names the mode in a few words, such as "router, 1000 routes".
func (m *Mode) String() string {
	routes := ""
	if n := m.Routes(); n > 1 {
		routes = fmt.Sprintf(", %d routes", n)
	}
	switch {
	case m == nil:
		return ""
	case m.Router != nil:
		return "router" + routes
	case m.Bridge != nil:
		return "bridge"
	case m.Filter != nil:
		return fmt.Sprintf("filter, %d rules", m.Filter.Rules) + routes
	case m.NAT != nil && m.NAT.Sessions > 0:
		return fmt.Sprintf("NAT, %d sessions", m.NAT.Sessions)
	case m.NAT != nil:
		return "NAT"
	case m.XDP != nil:
		return "XDP" + routes
	case m.Tunnel != nil && m.Tunnel.Kind == TunnelIPsec:
		return "IPsec tunnel, " + m.Tunnel.Cipher
	case m.Tunnel != nil:
		return "WireGuard tunnel"
	case m.Userspace != nil:
		return strings.ToLower(m.Userspace.Kind)
	}
	return "unknown mode"
}
