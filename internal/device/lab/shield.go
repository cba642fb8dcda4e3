package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// shield keeps the kernel's IP stack off the test's frames on the engine's interfaces. Frames that come back
// from the device are addressed to this machine's MAC, and a kernel that forwards would send them on, to
// wherever its default route leads. The engine sees frames before these rules do (packet sockets and XDP come
// first), so they only save work.
//
//	ARP, neighbour discovery ─▶ pass      own addresses ─▶ pass      other IPv4, IPv6 ─▶ drop
//
// The table is owned by the connection that made it and vanishes with it, so that nothing stays behind on a
// machine whose run was killed.
func shield(links []Link) (*nftables.Conn, error) {
	conn, table, err := ownedTable(fmt.Sprintf("linerate-%d", os.Getpid()))
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		addresses, err := ownAddresses(l.Interface)
		if err != nil {
			return nil, errors.Join(err, conn.CloseLasting())
		}
		chain := conn.AddChain(&nftables.Chain{
			Table: table, Name: l.Interface, Device: l.Interface, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookIngress, Priority: nftables.ChainPriorityFilter,
		})
		for _, rule := range shieldRules(addresses) {
			conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: rule})
		}
	}
	if err := conn.Flush(); err != nil {
		return nil, errors.Join(fmt.Errorf("install nftables rules: %w", err), conn.CloseLasting())
	}
	return conn, nil
}

func ownAddresses(name string) ([]netip.Addr, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", name, err)
	}
	list, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("addresses of %s: %w", name, err)
	}
	var addresses []netip.Addr
	for _, a := range list {
		if addr, ok := netip.AddrFromSlice(a.IP); ok {
			addresses = append(addresses, addr.Unmap())
		}
	}
	return addresses, nil
}

func shieldRules(addresses []netip.Addr) [][]expr.Any {
	rules := [][]expr.Any{netif.RulePassNeighbourDiscovery()}
	for _, a := range addresses {
		family, offset := uint16(unix.ETH_P_IP), uint32(16)
		if a.Is6() {
			family, offset = unix.ETH_P_IPV6, 24
		}
		rules = append(rules, append(netif.RuleEtherType(family), netif.RuleLoad(expr.PayloadBaseNetworkHeader, offset,
			uint32(a.BitLen()/8)), netif.RuleEqual(a.AsSlice()), &expr.Verdict{Kind: expr.VerdictAccept}))
	}
	return append(rules, netif.RuleDropIP()...)
}

// refuseLeaks refuses a test without a shield on a machine whose kernel would route the returning frames.
func refuseLeaks(links []Link, cause error) error {
	for _, path := range []string{"ipv4/ip_forward", "ipv6/conf/all/forwarding"} {
		value, err := os.ReadFile("/proc/sys/net/" + path)
		if err == nil && strings.TrimSpace(string(value)) != "0" {
			return &Fault{Unsupported, fmt.Sprintf("--ports: this machine forwards packets (net.%s is %s) and can't "+
				"be kept from forwarding the test's, received on %s, too (%v): set it to 0 for the test",
				strings.ReplaceAll(path, "/", "."), strings.TrimSpace(string(value)), links[0].Interface, cause)}
		}
	}
	return nil
}
