package routes

import "fmt"

// linux is in the words of ip(8). A route of type local makes the kernel answer for a whole network.
func linux(h host) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if h.bridges {
		for bridge := range h.bridgeCount() {
			say("ip link add name br%d up type bridge", bridge)
		}
		for _, p := range h.ports {
			say("ip link set dev %s master br%d up", p.name, p.bridge)
		}
		return lines
	}
	four, six := h.families()
	if h.forwards && four {
		say("sysctl -w net.ipv4.ip_forward=1")
	}
	if h.forwards && six {
		say("sysctl -w net.ipv6.conf.all.forwarding=1")
	}
	if len(h.local) > 0 {
		say("ip link set dev lo up")
	}
	if len(h.local) > 0 && six { // so that programs may take any address of a network, as they may with IPv4
		say("sysctl -w net.ipv6.ip_nonlocal_bind=1")
	}
	for _, p := range h.ports {
		linuxPort(p, say)
	}
	for _, network := range h.local {
		say("ip route add local %s dev lo", network)
	}
	return lines
}

// linuxPort says a port's own lines: its VLAN, addresses and routes.
func linuxPort(p port, say func(format string, args ...any)) {
	say("ip link set dev %s up", p.name)
	name := p.tagged(func(vlan uint16) string { return fmt.Sprintf("%s.%d", p.name, vlan) })
	if name != p.name {
		say("ip link add link %s name %s type vlan id %d", p.name, name, p.vlan)
		say("ip link set dev %s up", name)
	}
	for _, a := range p.addresses {
		nodad := ""
		if a.Addr().Is6() {
			nodad = " nodad"
		}
		say("ip address add %s dev %s%s", a, name, nodad)
	}
	for _, r := range p.routes {
		if r.via.IsValid() {
			say("ip route add %s via %s dev %s", r.network, r.via, name)
		} else {
			say("ip route add %s dev %s", r.network, name)
		}
	}
}

// bsdForwarding turns forwarding on, with the sysctls of FreeBSD and OpenBSD.
func bsdForwarding(h host, say func(format string, args ...any)) {
	four, six := h.families()
	if h.forwards && four {
		say("sysctl net.inet.ip.forwarding=1")
	}
	if h.forwards && six {
		say("sysctl net.inet6.ip6.forwarding=1")
	}
}

// bsdLocal gives the loopback interface one address of each network for which the host answers.
func bsdLocal(h host, say func(format string, args ...any)) {
	for _, network := range h.local {
		say("ifconfig lo0 %s %s alias  # of %s this address alone answers", family(network.Addr()), first(network),
			network)
	}
}

// freeBSD is in the words of ifconfig(8) and route(8).
func freeBSD(h host) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if h.bridges {
		for bridge := range h.bridgeCount() {
			say("ifconfig bridge%d create up", bridge)
		}
		for _, p := range h.ports {
			say("ifconfig bridge%d addm %s", p.bridge, p.name)
			say("ifconfig %s up", p.name)
		}
		return lines
	}
	bsdForwarding(h, say)
	for _, p := range h.ports {
		say("ifconfig %s up", p.name)
		name := p.tagged(func(vlan uint16) string { return fmt.Sprintf("%s.%d", p.name, vlan) })
		if name != p.name {
			say("ifconfig %s create", name)
		}
		for _, a := range p.addresses {
			say("ifconfig %s %s %s alias", name, family(a.Addr()), a)
		}
		for _, r := range p.routes {
			if r.via.IsValid() {
				say("route add -%s -net %s %s", family(r.via), r.network, r.via)
			} else {
				say("route add -%s -net %s -iface %s", family(r.network.Addr()), r.network, name)
			}
		}
	}
	bsdLocal(h, say)
	return lines
}

// openBSD is in the words of its ifconfig(8) and route(8).
func openBSD(h host) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if h.bridges {
		for bridge := range h.bridgeCount() {
			say("ifconfig bridge%d create", bridge)
			say("ifconfig bridge%d up", bridge)
		}
		for _, p := range h.ports {
			say("ifconfig bridge%d add %s", p.bridge, p.name)
			say("ifconfig %s up", p.name)
		}
		return lines
	}
	bsdForwarding(h, say)
	for i, p := range h.ports {
		say("ifconfig %s up", p.name)
		name := p.tagged(func(uint16) string { return fmt.Sprintf("vlan%d", i) })
		if name != p.name {
			say("ifconfig %s create", name)
			say("ifconfig %s parent %s vnetid %d up", name, p.name, p.vlan)
		}
		for _, a := range p.addresses {
			say("ifconfig %s %s %s alias", name, family(a.Addr()), a)
		}
		for _, r := range p.routes {
			if r.via.IsValid() {
				say("route add -%s %s %s", family(r.via), r.network, r.via)
			} else {
				say("route add -%s %s -llinfo -link -static -iface %s", family(r.network.Addr()), r.network, name)
			}
		}
	}
	bsdLocal(h, say)
	return lines
}

// vpp is in the words of VPP's command line (vppctl).
func vpp(h host) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, p := range h.ports {
		say("set interface state %s up", p.name)
		if h.bridges {
			say("set interface l2 bridge %s %d", p.name, p.bridge+1)
			continue
		}
		name := p.tagged(func(vlan uint16) string { return fmt.Sprintf("%s.%d", p.name, vlan) })
		if name != p.name {
			say("create sub-interfaces %s %d", p.name, p.vlan)
			say("set interface state %s up", name)
		}
		for _, a := range p.addresses {
			say("set interface ip address %s %s", name, a)
		}
		for _, r := range p.routes {
			if r.via.IsValid() {
				say("ip route add %s via %s %s", r.network, r.via, name)
			} else {
				say("ip route add %s via %s", r.network, name)
			}
		}
	}
	if len(h.local) > 0 {
		say("create loopback interface")
		say("set interface state loop0 up")
	}
	for _, network := range h.local {
		say("set interface ip address loop0 %s", first(network))
	}
	return lines
}

// frr is in the words of vtysh, in its configuration. A VLAN's interface is the kernel's.
func frr(h host) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, p := range h.ports {
		if p.vlan > 0 {
			say("! first, in a shell: ip link add link %s name %s.%d type vlan id %d; ip link set dev %s up", p.name,
				p.name,
				p.vlan, p.vlan, p.name)
		}
	}
	say("configure terminal")
	four, six := h.families()
	if h.forwards && four {
		say("ip forwarding")
	}
	if h.forwards && six {
		say("ipv6 forwarding")
	}
	words := map[bool]string{true: "ipv6", false: "ip"}
	for _, p := range h.ports {
		name := p.tagged(func(vlan uint16) string { return fmt.Sprintf("%s.%d", p.name, vlan) })
		say("interface %s", name)
		for _, a := range p.addresses {
			say(" %s address %s", words[a.Addr().Is6()], a)
		}
		say(" no shutdown")
		say("exit")
		for _, r := range p.routes {
			hop := name
			if r.via.IsValid() {
				hop = r.via.String() + " " + name
			}
			say("%s route %s %s", words[r.network.Addr().Is6()], r.network, hop)
		}
	}
	if len(h.local) > 0 {
		say("interface lo")
		for _, network := range h.local {
			say(" %s address %s", words[network.Addr().Is6()], first(network))
		}
		say("exit")
	}
	say("end")
	return lines
}

// bridgeCount is how many bridges join the host's ports.
func (h host) bridgeCount() (count int) {
	for _, p := range h.ports {
		count = max(count, p.bridge+1)
	}
	return count
}
