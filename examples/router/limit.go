package main

import (
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

// restrict drops what is above so many packets/s of what comes in on each link: a token bucket, 20 ms deep.
func restrict(links []link, packetsPerSecond uint64) error {
	if packetsPerSecond == 0 {
		return nil
	}
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("limit the links: %w", err)
	}
	// What an earlier router left of it goes: a table must be there to be deleted.
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "router"})
	conn.DelTable(table)
	table = conn.AddTable(table)
	chain := conn.AddChain(&nftables.Chain{
		Name: "limit", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward,
		Priority: nftables.ChainPriorityFilter,
	})
	for _, l := range links {
		name := make([]byte, 16) // IFNAMSIZ
		copy(name, l.Interface)
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
			&expr.Limit{Type: expr.LimitTypePkts, Rate: packetsPerSecond, Unit: expr.LimitTimeSecond,
				Burst: uint32(max(1, packetsPerSecond/50)), Over: true},
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("limit the links: %w", err)
	}
	return nil
}
