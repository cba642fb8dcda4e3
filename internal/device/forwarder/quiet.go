package forwarder

import (
	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// quieten keeps the namespace's kernel from sending by itself, and from dropping packets that are unusual
// outside of a lab.
//
// New interfaces take IPv6's "default" settings, so these come first. The settings of "all" count together with
// the interface's own (kernel, Documentation/networking/ip-sysctl.rst), so that a namespace's rp_filter=1 of
// its host is undone here. A bridge must not call iptables for each frame.
func quieten(spec Spec, info *Info) error {
	for _, s := range [][2]string{
		{"ipv4/conf/all/rp_filter", "0"},
		{"ipv4/conf/default/rp_filter", "0"},
		{"ipv4/conf/all/send_redirects", "0"},
		{"ipv4/conf/default/send_redirects", "0"},
		{"ipv6/conf/default/accept_ra", "0"},
		{"ipv6/conf/default/autoconf", "0"},
		{"ipv6/conf/default/dad_transmits", "0"},
		{"ipv6/conf/default/router_solicitations", "0"},
		{"bridge/bridge-nf-call-iptables", "0"},
		{"bridge/bridge-nf-call-ip6tables", "0"},
		{"bridge/bridge-nf-call-arptables", "0"},
	} {
		tune(info, s[0], s[1])
	}
	muteMulticast(spec, info)
	return nil
}

// muteMulticast drops, of the IPv6 messages that the kernel itself sends, group reports and router messages
// (ICMPv6 types 130 to 134, RFC 2710 and RFC 4861, and 143, RFC 3810). Every IPv6 address joins a group, and no
// sysctl keeps the kernel from reporting that. Forwarded packets don't pass here.
func muteMulticast(spec Spec, info *Info) {
	if !anyIPv6(spec) {
		return
	}
	conn, err := nftables.New()
	if err != nil {
		info.missing("mute IPv6 group reports: %v", err)
		return
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv6, Name: tableName})
	chain := conn.AddChain(&nftables.Chain{
		Table: table, Name: "own", Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookOutput,
		Priority: nftables.ChainPriorityFilter,
	})
	for _, types := range [][2]byte{{130, 134}, {143, 143}} {
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: netif.RuleRegister},
			netif.RuleEqual([]byte{unix.IPPROTO_ICMPV6}),
			netif.RuleLoad(expr.PayloadBaseTransportHeader, 0, 1),
			&expr.Range{Op: expr.CmpOpEq, Register: netif.RuleRegister, FromData: types[:1], ToData: types[1:]},
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
	}
	if err := conn.Flush(); err != nil {
		info.missing("mute IPv6 group reports: %v", err)
	}
}
