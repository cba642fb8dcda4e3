package aside

import (
	"fmt"
	"net"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// tableName is the nftables table of everything here.
const tableName = "linerate-aside"

// Shut drops TCP segments that come in by the links for this machine itself. It protects a program that listens on
// every address and can't have a filter of ours, such as TRex. Frames that a program receives by AF_PACKET aren't
// dropped. Shut needs NET_ADMIN, and nftables in the node's kernel. It skips links that are no interfaces here, and
// the loopback interface, which is no link under test. It returns the links that it shut.
func Shut(links []string) (shut []string, err error) {
	for _, name := range links {
		if i, err := net.InterfaceByName(name); err == nil && i.Flags&net.FlagLoopback == 0 {
			shut = append(shut, name)
		}
	}
	if len(shut) == 0 {
		return nil, nil
	}
	conn, err := nftables.New()
	if err != nil {
		return nil, fmt.Errorf("open nftables: %w", err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: tableName})
	conn.FlushTable(table)
	chain := conn.AddChain(&nftables.Chain{
		Table: table, Name: "links", Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookInput,
		Priority: nftables.ChainPriorityRaw,
	})
	for _, name := range shut {
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: netif.RuleRegister},
			netif.RuleEqual(netif.RuleInterfaceName(name)),
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: netif.RuleRegister},
			netif.RuleEqual([]byte{unix.IPPROTO_TCP}),
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
	}
	if err := conn.Flush(); err != nil {
		return nil, fmt.Errorf("install nftables rules: %w", err)
	}
	return shut, nil
}
