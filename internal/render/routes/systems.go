package routes

import (
	"fmt"
	"net/netip"
)

// system is the words of one operating system or router. name is of the interface that has a port's addresses.
type system struct {
	name string
	// makeBridge and join are for a host that bridges, all else for others.
	makeBridge func(bridge int) []string
	join       func(port) []string
	begin, end func(host) []string
	vlanName   func(p port, index int) string
	open       func(p port, name string) []string
	address    func(name string, a netip.Prefix) string
	shut       []string // after a port's addresses
	route      func(name string, r route) string
}

// systems are in the order in which help and errors list them.
func systems() []system { return []system{linux(), freeBSD(), openBSD(), vpp(), frr()} }

// configure is a host's configuration.
func (s system) configure(h host) (lines []string) {
	if h.bridges {
		for bridge := range h.bridgeCount() {
			lines = append(lines, s.makeBridge(bridge)...)
		}
		for _, p := range h.ports {
			lines = append(lines, s.join(p)...)
		}
		return lines
	}
	lines = s.begin(h)
	for i, p := range h.ports {
		name := p.name
		if p.vlan > 0 {
			name = s.vlanName(p, i)
		}
		lines = append(lines, s.open(p, name)...)
		for _, a := range p.addresses {
			lines = append(lines, s.address(name, a))
		}
		lines = append(lines, s.shut...)
		for _, r := range p.routes {
			lines = append(lines, s.route(name, r))
		}
	}
	return append(lines, s.end(h)...)
}

// dotted is a VLAN's interface as most systems name it.
func dotted(p port, _ int) string { return fmt.Sprintf("%s.%d", p.name, p.vlan) }

// forwarding are the lines for the IP versions that a router forwards.
func forwarding(h host, ipv4, ipv6 string) (lines []string) {
	four, six := h.families()
	if h.forwards && four {
		lines = append(lines, ipv4)
	}
	if h.forwards && six {
		lines = append(lines, ipv6)
	}
	return lines
}

// linux is in the words of ip(8). A route of type local makes the kernel answer for a whole network.
func linux() system {
	return system{
		name: "linux",
		makeBridge: func(bridge int) []string {
			return []string{fmt.Sprintf("ip link add name br%d up type bridge", bridge)}
		},
		join: func(p port) []string {
			return []string{fmt.Sprintf("ip link set dev %s master br%d up", p.name, p.bridge)}
		},
		begin: func(h host) []string {
			lines := forwarding(h, "sysctl -w net.ipv4.ip_forward=1", "sysctl -w net.ipv6.conf.all.forwarding=1")
			if len(h.local) > 0 {
				lines = append(lines, "ip link set dev lo up")
			}
			// so that programs may take any address of a network, as they may with IPv4
			if _, six := h.families(); six && len(h.local) > 0 {
				lines = append(lines, "sysctl -w net.ipv6.ip_nonlocal_bind=1")
			}
			return lines
		},
		vlanName: dotted,
		open: func(p port, name string) []string {
			up := fmt.Sprintf("ip link set dev %s up", p.name)
			if name == p.name {
				return []string{up}
			}
			return []string{up, fmt.Sprintf("ip link add link %s name %s type vlan id %d", p.name, name, p.vlan),
				fmt.Sprintf("ip link set dev %s up", name)}
		},
		address: func(name string, a netip.Prefix) string {
			nodad := ""
			if a.Addr().Is6() {
				nodad = " nodad"
			}
			return fmt.Sprintf("ip address add %s dev %s%s", a, name, nodad)
		},
		route: func(name string, r route) string {
			if r.via.IsValid() {
				return fmt.Sprintf("ip route add %s via %s dev %s", r.network, r.via, name)
			}
			return fmt.Sprintf("ip route add %s dev %s", r.network, name)
		},
		end: func(h host) (lines []string) {
			for _, network := range h.local {
				lines = append(lines, fmt.Sprintf("ip route add local %s dev lo", network))
			}
			return lines
		},
	}
}

// bsd is what FreeBSD and OpenBSD have in common. The loopback interface gets one address of each network for which the
// host answers.
func bsd(name string) system {
	return system{
		name: name,
		begin: func(h host) []string {
			return forwarding(h, "sysctl net.inet.ip.forwarding=1", "sysctl net.inet6.ip6.forwarding=1")
		},
		address: func(name string, a netip.Prefix) string {
			return fmt.Sprintf("ifconfig %s %s %s alias", name, family(a.Addr()), a)
		},
		end: func(h host) (lines []string) {
			for _, network := range h.local {
				lines = append(lines, fmt.Sprintf("ifconfig lo0 %s %s alias  # of %s this address alone answers",
					family(network.Addr()), first(network), network))
			}
			return lines
		},
	}
}

// freeBSD is in the words of ifconfig(8) and route(8).
func freeBSD() system {
	s := bsd("freebsd")
	s.makeBridge = func(bridge int) []string { return []string{fmt.Sprintf("ifconfig bridge%d create up", bridge)} }
	s.join = func(p port) []string {
		return []string{fmt.Sprintf("ifconfig bridge%d addm %s", p.bridge, p.name),
			fmt.Sprintf("ifconfig %s up", p.name)}
	}
	s.vlanName = dotted
	s.open = func(p port, name string) []string {
		lines := []string{fmt.Sprintf("ifconfig %s up", p.name)}
		if name != p.name {
			lines = append(lines, fmt.Sprintf("ifconfig %s create", name))
		}
		return lines
	}
	s.route = func(name string, r route) string {
		if r.via.IsValid() {
			return fmt.Sprintf("route add -%s -net %s %s", family(r.via), r.network, r.via)
		}
		return fmt.Sprintf("route add -%s -net %s -iface %s", family(r.network.Addr()), r.network, name)
	}
	return s
}

// openBSD is in the words of its ifconfig(8) and route(8).
func openBSD() system {
	s := bsd("openbsd")
	s.makeBridge = func(bridge int) []string {
		return []string{fmt.Sprintf("ifconfig bridge%d create", bridge), fmt.Sprintf("ifconfig bridge%d up", bridge)}
	}
	s.join = func(p port) []string {
		return []string{fmt.Sprintf("ifconfig bridge%d add %s", p.bridge, p.name),
			fmt.Sprintf("ifconfig %s up", p.name)}
	}
	s.vlanName = func(_ port, index int) string { return fmt.Sprintf("vlan%d", index) }
	s.open = func(p port, name string) []string {
		lines := []string{fmt.Sprintf("ifconfig %s up", p.name)}
		if name != p.name {
			lines = append(lines, fmt.Sprintf("ifconfig %s create", name),
				fmt.Sprintf("ifconfig %s parent %s vnetid %d up", name, p.name, p.vlan))
		}
		return lines
	}
	s.route = func(name string, r route) string {
		if r.via.IsValid() {
			return fmt.Sprintf("route add -%s %s %s", family(r.via), r.network, r.via)
		}
		return fmt.Sprintf("route add -%s %s -llinfo -link -static -iface %s", family(r.network.Addr()), r.network, name)
	}
	return s
}

// vpp is in the words of VPP's command line (vppctl).
func vpp() system {
	up := func(name string) string { return fmt.Sprintf("set interface state %s up", name) }
	return system{
		name:       "vpp",
		makeBridge: func(int) []string { return nil },
		join: func(p port) []string {
			return []string{up(p.name), fmt.Sprintf("set interface l2 bridge %s %d", p.name, p.bridge+1)}
		},
		begin:    func(host) []string { return nil },
		vlanName: dotted,
		open: func(p port, name string) []string {
			if name == p.name {
				return []string{up(name)}
			}
			return []string{up(p.name), fmt.Sprintf("create sub-interfaces %s %d", p.name, p.vlan), up(name)}
		},
		address: func(name string, a netip.Prefix) string {
			return fmt.Sprintf("set interface ip address %s %s", name, a)
		},
		route: func(name string, r route) string {
			if r.via.IsValid() {
				return fmt.Sprintf("ip route add %s via %s %s", r.network, r.via, name)
			}
			return fmt.Sprintf("ip route add %s via %s", r.network, name)
		},
		end: func(h host) (lines []string) {
			if len(h.local) > 0 {
				lines = append(lines, "create loopback interface", up("loop0"))
			}
			for _, network := range h.local {
				lines = append(lines, fmt.Sprintf("set interface ip address loop0 %s", first(network)))
			}
			return lines
		},
	}
}

// frr is in the words of vtysh, in its configuration. A VLAN's interface is the kernel's.
func frr() system {
	ip := func(a netip.Addr) string {
		if a.Is6() {
			return "ipv6"
		}
		return "ip"
	}
	address := func(_ string, a netip.Prefix) string { return fmt.Sprintf(" %s address %s", ip(a.Addr()), a) }
	return system{
		name: "frr",
		begin: func(h host) (lines []string) {
			for _, p := range h.ports {
				if p.vlan > 0 {
					lines = append(lines, fmt.Sprintf("! first, in a shell: ip link add link %s name %s type vlan id %d; "+
						"ip link set dev %s up", p.name, dotted(p, 0), p.vlan, p.name))
				}
			}
			return append(append(lines, "configure terminal"), forwarding(h, "ip forwarding", "ipv6 forwarding")...)
		},
		vlanName: dotted,
		open:     func(_ port, name string) []string { return []string{"interface " + name} },
		address:  address,
		shut:     []string{" no shutdown", "exit"},
		route: func(name string, r route) string {
			hop := name
			if r.via.IsValid() {
				hop = r.via.String() + " " + name
			}
			return fmt.Sprintf("%s route %s %s", ip(r.network.Addr()), r.network, hop)
		},
		end: func(h host) (lines []string) {
			if len(h.local) > 0 {
				lines = append(lines, "interface lo")
				for _, network := range h.local {
					lines = append(lines, address("", first(network)))
				}
				lines = append(lines, "exit")
			}
			return append(lines, "end")
		},
	}
}

// bridgeCount is how many bridges join the host's ports.
func (h host) bridgeCount() (count int) {
	for _, p := range h.ports {
		count = max(count, p.bridge+1)
	}
	return count
}
