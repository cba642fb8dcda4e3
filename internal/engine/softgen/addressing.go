package softgen

import (
	"fmt"
	"net"
	"net/netip"
)

// report returns "layer_cfg" of get_port_status.
func (a addressing) report(mac [6]byte) object {
	ether := object{"src": macText(mac), "dst": macText(a.nextHop), "state": "unconfigured"}
	if a.resolved {
		ether["state"] = "configured"
	}
	ipv4 := object{"state": "none"}
	if a.layer3 {
		ipv4 = object{"src": a.local4, "dst": a.remote4, "state": "unresolved"}
		if a.resolved {
			ipv4["state"] = "resolved"
		}
	}
	ipv6 := object{"enabled": a.ipv6}
	if a.ipv6 {
		ipv6["src"] = a.local6
	}
	return object{"ether": ether, "ipv4": ipv4, "ipv6": ipv6}
}

// readdress answers a command that changes the addressing. It gives the data path the addresses to answer for, and
// stores the addressing unless that fails.
func (port *port) readdress(command string, p *params, a addressing) (any, error) {
	if err := p.failed(); err != nil {
		return nil, err
	}
	if err := port.requireIdle(command); err != nil {
		return nil, err
	}
	var local []netip.Addr
	if a.layer3 {
		local = append(local, a.local4)
	}
	if a.ipv6 {
		local = append(local, a.local6)
	}
	vlan := uint16(0)
	if len(a.vlans) > 0 {
		vlan = a.vlans[0]
	}
	if err := port.path.Answer(local, vlan); err != nil {
		return nil, refusedBy(err)
	}
	port.addressing = a
	return object{}, nil
}

// setLayer2 answers set_l2. Frames go to the given MAC, and the port has no IPv4 address.
func (s *portSettings) setLayer2(port *port, p *params) (any, error) {
	next := port.addressing
	next.nextHop, next.resolved, next.layer3 = readMAC(p, "dst_mac"), true, false
	return port.readdress("set_l2_mode", p, next)
}

// setLayer3 answers set_l3. The port answers for src_addr, and frames go to resolved_mac, which the
// client has resolved. Without resolved_mac the port has no destination until the client sets one.
func (s *portSettings) setLayer3(port *port, p *params) (any, error) {
	local, remote := readIPv4(p, "src_addr"), readIPv4(p, "dst_addr")
	next := port.addressing
	next.layer3, next.local4, next.remote4, next.resolved = true, local, remote, p.has("resolved_mac")
	if next.resolved {
		next.nextHop = readMAC(p, "resolved_mac")
	}
	return port.readdress("set_l3_mode", p, next)
}

// configureIPv6 answers conf_ipv6. An empty src_ipv6 means the link-local address made from the MAC.
func (s *portSettings) configureIPv6(port *port, p *params) (any, error) {
	next := port.addressing
	next.ipv6, next.local6 = p.boolean("enabled"), netip.Addr{}
	if text := p.textOr("src_ipv6", ""); next.ipv6 && text != "" {
		next.local6 = readAddress(p, "src_ipv6", text, netip.Addr.Is6, "IPv6")
	} else if next.ipv6 {
		next.local6 = linkLocal(port.path.Info().MAC)
	}
	return port.readdress("conf_ipv6", p, next)
}

// setVLAN answers set_vlan. The port answers for its addresses under this tag. Streams bring their own tags in
// their frames.
func (s *portSettings) setVLAN(port *port, p *params) (any, error) {
	next := port.addressing
	next.vlans = nil
	for _, text := range p.list("vlan") {
		tag, negative, whole := wholeNumber(text)
		if !whole || negative || tag < 1 || tag > 4095 {
			p.fail("invalid VLAN tag %s: it must be 1 to 4095", text)
		}
		next.vlans = append(next.vlans, uint16(tag))
	}
	if len(next.vlans) > 1 && p.failed() == nil {
		return nil, refused("the software engine answers under one VLAN tag, and %d were given", len(next.vlans))
	}
	return port.readdress("set_vlan", p, next)
}

func readMAC(p *params, name string) (mac [6]byte) {
	text := p.text(name)
	parsed, err := net.ParseMAC(text)
	if err != nil || len(parsed) != len(mac) {
		p.fail("'%s': invalid MAC address '%s'", name, text)
		return mac
	}
	copy(mac[:], parsed)
	return mac
}

func readIPv4(p *params, name string) netip.Addr {
	return readAddress(p, name, p.text(name), netip.Addr.Is4, "IPv4")
}

func readAddress(p *params, name, text string, right func(netip.Addr) bool, kind string) netip.Addr {
	addr, err := netip.ParseAddr(text)
	if err != nil || !right(addr) {
		p.fail("%s", fmt.Sprintf("'%s': invalid %s address '%s'", name, kind, text))
	}
	return addr
}

// linkLocal is the address of RFC 4291, appendix A.
func linkLocal(mac [6]byte) netip.Addr {
	return netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 8: mac[0] ^ 2, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe,
		13: mac[3], 14: mac[4], 15: mac[5]})
}
