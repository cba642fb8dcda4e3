package forwarder

import (
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// leaveToProgram keeps the kernel's IP stack off the links of a program that forwards, as the kernel would
// answer frames, or route them to wherever its default route leads. The program sees frames before these rules
// do (packet sockets come first), and as they are on the wire.
//
//	ARP, neighbour discovery ─▶ pass      IPv4, IPv6 ─▶ drop
func leaveToProgram(spec Spec, info *Info) error {
	conn, err := nftables.New()
	if err != nil {
		return explain(fmt.Errorf("open nftables: %w", err), "nftables", "CONFIG_NF_TABLES_NETDEV")
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyNetdev, Name: tableName})
	for _, l := range spec.Links {
		for _, o := range []netif.Offload{netif.TransmitChecksum, netif.TCPSegmentation, netif.GenericSegmentation,
			netif.GenericReceive} {
			if err := netif.SetOffload(l.Interface, o, false); err != nil {
				info.missing("%v", err)
			}
		}
		chain := conn.AddChain(&nftables.Chain{
			Table: table, Name: "from-" + l.Interface, Device: l.Interface, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookIngress, Priority: nftables.ChainPriorityFilter,
		})
		for _, rule := range append([][]expr.Any{netif.RulePassNeighbourDiscovery()}, netif.RuleDropIP()...) {
			conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: rule})
		}
	}
	if err := conn.Flush(); err != nil {
		return explain(fmt.Errorf("install nftables rules: %w", err), "nftables ingress chains",
			"CONFIG_NF_TABLES_NETDEV")
	}
	return nil
}
