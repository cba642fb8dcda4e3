package forwarder

import (
	"fmt"
	"net"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// tableName is the nftables table of everything here.
const tableName = "linerate"

// addRules writes, in one transaction, one chain per source link, at the earliest point that nftables has
// (netdev ingress).
//
//	ARP, neighbour discovery ─▶ pass     the next hop must be found at overload, too
//	over the packet limit    ─▶ drop     token bucket with rate and burst, and a counter
//	within it                ─▶ pass     and a counter
//	MACRewrite, IP to us     ─▶ set both MACs, send out of the other link
//
// Without limit and rewriting there is no table at all.
func addRules(spec Spec, info *Info) error {
	limited := spec.Limit != nil && spec.Limit.PacketsPerSecond > 0
	if !limited && spec.Forwarding != plan.MACRewrite {
		return nil
	}
	conn, err := nftables.New()
	if err != nil {
		return explain(fmt.Errorf("open nftables: %w", err), "nftables", "CONFIG_NF_TABLES_NETDEV")
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyNetdev, Name: tableName})
	for _, d := range spec.Directions {
		chain := conn.AddChain(&nftables.Chain{
			Table: table, Name: "from-" + d.From, Device: d.From, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookIngress, Priority: nftables.ChainPriorityFilter,
		})
		rules, err := directionRules(spec, d, limited, info)
		if err != nil {
			return fmt.Errorf("rules of %s to %s: %w", d.From, d.To, err)
		}
		for _, r := range rules {
			conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: r})
		}
	}
	if err := conn.Flush(); err != nil {
		return explain(fmt.Errorf("install nftables rules: %w", err), "nftables ingress chains and limits",
			"CONFIG_NF_TABLES_NETDEV, CONFIG_NFT_LIMIT, CONFIG_NFT_COUNTER, CONFIG_NFT_DUP_NETDEV")
	}
	return nil
}

func directionRules(spec Spec, d Direction, limited bool, info *Info) ([][]expr.Any, error) {
	rules := [][]expr.Any{passARP(), netif.RulePassNeighbourDiscovery()}
	if limited {
		burst := burstPackets(*spec.Limit)
		rules = append(rules, dropOverLimit(spec.Limit.PacketsPerSecond, burst), countPassed())
		info.applied("limit %s to %s: %d packets/s, burst %d packets, nftables at %s", d.From, d.To,
			spec.Limit.PacketsPerSecond, burst, d.From)
	}
	if spec.Forwarding != plan.MACRewrite {
		return rules, nil
	}
	from, err := netif.Find(d.From)
	if err != nil {
		return nil, fmt.Errorf("link %s: %w", d.From, err)
	}
	to, err := netif.Find(d.To)
	if err != nil {
		return nil, fmt.Errorf("link %s: %w", d.To, err)
	}
	info.applied("MAC rewriting %s to %s", d.From, d.To)
	return append(rules, rewrite(from.Attrs().HardwareAddr, net.HardwareAddr(spec.link(d.To).GeneratorMAC),
		to.Attrs().HardwareAddr, to.Attrs().Index)), nil
}

func passARP() []expr.Any {
	return append(netif.RuleEtherType(unix.ETH_P_ARP), &expr.Verdict{Kind: expr.VerdictAccept})
}

func dropOverLimit(packetsPerSecond int64, burst uint32) []expr.Any {
	return []expr.Any{
		&expr.Limit{Type: expr.LimitTypePkts, Rate: uint64(packetsPerSecond), Unit: expr.LimitTimeSecond, Burst: burst,
			Over: true},
		&expr.Counter{},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}

func countPassed() []expr.Any { return []expr.Any{&expr.Counter{}} }

// rewrite sends frames that are addressed to this interface on to the generator's MAC out of the other
// interface, from that interface's MAC. The frame goes out as a copy without payload of its own ("dup"), and
// the one that came in is dropped.
func rewrite(local, generator, source net.HardwareAddr, index int) []expr.Any {
	setMAC := func(offset uint32, mac net.HardwareAddr) []expr.Any {
		return []expr.Any{
			&expr.Immediate{Register: netif.RuleRegister, Data: mac},
			&expr.Payload{OperationType: expr.PayloadWrite, SourceRegister: netif.RuleRegister,
				Base: expr.PayloadBaseLLHeader, Offset: offset, Len: 6},
		}
	}
	rule := []expr.Any{netif.RuleLoad(expr.PayloadBaseLLHeader, 0, 6), netif.RuleEqual(local)}
	rule = append(rule, setMAC(0, generator)...)
	rule = append(rule, setMAC(6, source)...)
	return append(rule,
		&expr.Immediate{Register: netif.RuleRegister, Data: binaryutil.NativeEndian.PutUint32(uint32(index))},
		&expr.Dup{RegDev: netif.RuleRegister, IsRegDevSet: true},
		&expr.Verdict{Kind: expr.VerdictDrop})
}
