package forwarder

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// applyMode makes the forwarder the real device that its mode names, on top of routes or bridges.
//
//	router     as many routes as it has, in place of one for each network (routesTo)
//	bridge     bridges that learn (bridgePort)
//	filter     a chain of rules before what is forwarded
//	nat        source and destination addresses of the inside link's hosts, and connections tracked
//	xdp        a program at each link, before the kernel sees a frame
func applyMode(spec Spec, info *Info) error {
	switch m := spec.Mode; {
	case m == nil:
		return nil
	case m.Filter != nil:
		return filter(spec, info)
	case m.NAT != nil:
		return translate(spec, info)
	}
	return nil
}

// routesTo is how many routes lead to network i of a link, at least one, or the network's part of all routes of
// the device.
func (s Spec) routesTo(l Link, i int) int {
	total, n := s.Mode.Routes(), len(l.Networks)
	return max(1, total*(i+1)/n-total*i/n)
}

// addRoutes adds n routes that together cover a network.
func addRoutes(link netlink.Link, network netip.Prefix, hop netip.Addr, n int) error {
	if room := int64(1) << min(network.Addr().BitLen()-network.Bits(), 32); int64(n) > room {
		return fmt.Errorf("network %s: %d routes to %d addresses: use fewer routes, or a wider network", network, n,
			room)
	}
	family, flags := unix.AF_INET, 0
	if network.Addr().Is6() {
		family = unix.AF_INET6
	}
	if hop.IsValid() {
		flags = unix.RTNH_F_ONLINK
	}
	index := binaryutil.NativeEndian.PutUint32(uint32(link.Attrs().Index))
	requests := func(yield func(*nl.NetlinkRequest) bool) {
		for part := range cut(network, n) {
			r := nl.NewNetlinkRequest(unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_REPLACE)
			r.AddData(&nl.RtMsg{RtMsg: unix.RtMsg{Family: uint8(family), Dst_len: uint8(part.Bits()),
				Table: unix.RT_TABLE_MAIN, Protocol: unix.RTPROT_BOOT,
				Scope: unix.RT_SCOPE_UNIVERSE, Type: unix.RTN_UNICAST, Flags: uint32(flags)}})
			r.AddData(nl.NewRtAttr(unix.RTA_DST, part.Addr().AsSlice()))
			if hop.IsValid() { // else the hosts are on the link
				r.AddData(nl.NewRtAttr(unix.RTA_GATEWAY, hop.AsSlice()))
			}
			r.AddData(nl.NewRtAttr(unix.RTA_OIF, index))
			if !yield(r) {
				return
			}
		}
	}
	if err := sendAll(unix.NETLINK_ROUTE, requests); err != nil {
		return fmt.Errorf("%d routes to %s via %s: %w", n, network, hop, err)
	}
	return nil
}

// rulesAtOnce is how many rules one nftables transaction adds, as the answers to more don't fit into a socket's buffer.
const rulesAtOnce = 100

// filter makes the kernel compare each forwarded packet with rules that don't match it. Each rule drops one
// source address of plan.FilteredIPv4 or plan.FilteredIPv6, which no test may use.
func filter(spec Spec, info *Info) error {
	conn, err := nftables.New()
	if err != nil {
		return explain(fmt.Errorf("open nftables: %w", err), "nftables", "CONFIG_NF_TABLES")
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: tableName})
	accept := nftables.ChainPolicyAccept
	chain := conn.AddChain(&nftables.Chain{
		Table: table, Name: "filter", Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward,
		Priority: nftables.ChainPriorityFilter, Policy: &accept,
	})
	rule := dropIPv4
	if anyIPv6(spec) {
		rule = dropIPv6
	}
	for i := range spec.Mode.Filter.Rules {
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: rule(uint32(i))})
		if i%rulesAtOnce == rulesAtOnce-1 {
			if err := conn.Flush(); err != nil {
				return fmt.Errorf("add rule %d of %d: %w", i+1, spec.Mode.Filter.Rules, err)
			}
		}
	}
	if err := conn.Flush(); err != nil {
		return explain(fmt.Errorf("install nftables rules: %w", err), "nftables' forward chains",
			"CONFIG_NF_TABLES, CONFIG_NF_TABLES_INET")
	}
	info.applied("filter: %d rules in nftables' forward chain, none of which is about the traffic",
		spec.Mode.Filter.Rules)
	return nil
}

func dropIPv4(i uint32) []expr.Any {
	first := binary.BigEndian.Uint32(plan.FilteredIPv4.Addr().AsSlice())
	return []expr.Any{netif.RuleLoad(expr.PayloadBaseNetworkHeader, 12, 4),
		netif.RuleEqual(binaryutil.BigEndian.PutUint32(first + 1 + i)), &expr.Verdict{Kind: expr.VerdictDrop}}
}

func dropIPv6(i uint32) []expr.Any {
	source := append(plan.FilteredIPv6.Addr().AsSlice()[:12], binaryutil.BigEndian.PutUint32(1+i)...)
	return []expr.Any{netif.RuleLoad(expr.PayloadBaseNetworkHeader, 8, 16), netif.RuleEqual(source),
		&expr.Verdict{Kind: expr.VerdictDrop}}
}

// translate replaces the addresses of the inside link's hosts by outside addresses in what they send to other
// links, and back in what they receive. Each host has one outside address, so that either side may be the first
// to send. The kernel tracks a connection for each pair of addresses and ports.
//
//	inside 16.0.0.7 ──▶ 48.0.0.9        198.19.0.7 ──▶ 48.0.0.9 outside
//	       16.0.0.7 ◀── 48.0.0.9        198.19.0.7 ◀── 48.0.0.9
func translate(spec Spec, info *Info) error {
	m := spec.Mode.NAT
	conn, err := nftables.New()
	if err != nil {
		return explain(fmt.Errorf("open nftables: %w", err), "nftables", "CONFIG_NF_TABLES")
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: tableName})
	prerouting := conn.AddChain(&nftables.Chain{Table: table, Name: "in", Type: nftables.ChainTypeNAT,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityNATDest})
	postrouting := conn.AddChain(&nftables.Chain{Table: table, Name: "out", Type: nftables.ChainTypeNAT,
		Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource})
	for _, t := range m.Translations {
		conn.AddRule(&nftables.Rule{Table: table, Chain: prerouting, Exprs: translateNetwork(expr.MetaKeyIIFNAME,
			m.Inside, 16, t.Outside, t.Inside, expr.NATTypeDestNAT)})
		conn.AddRule(&nftables.Rule{Table: table, Chain: postrouting, Exprs: translateNetwork(expr.MetaKeyOIFNAME,
			m.Inside, 12, t.Inside, t.Outside, expr.NATTypeSourceNAT)})
		info.applied("network address translation: %s behind %s is %s to others", t.Inside, m.Inside, t.Outside)
	}
	if err := conn.Flush(); err != nil {
		return explain(fmt.Errorf("install nftables rules: %w", err), "nftables' NAT of networks",
			"CONFIG_NFT_NAT, CONFIG_NF_CONNTRACK")
	}
	if err := trackIdle(m.Sessions); err != nil {
		return err
	}
	if m.Sessions > 0 {
		info.applied("network address translation: %d connections of silent hosts are tracked", m.Sessions)
	}
	return nil
}

// translateNetwork is a rule that replaces the network part of the address at an offset of the IP header, for
// frames that don't come in by the inside link, or don't leave by it.
func translateNetwork(key expr.MetaKey, inside string, offset uint32, network, replacement netip.Prefix,
	kind expr.NATType) []expr.Any {
	mask := netif.IPNet(network).Mask
	first, end := firstAndLast(replacement)
	rule := []expr.Any{
		&expr.Meta{Key: key, Register: netif.RuleRegister}, &expr.Cmp{Op: expr.CmpOpNeq, Register: netif.RuleRegister,
			Data: netif.RuleInterfaceName(inside)},
		netif.RuleLoad(expr.PayloadBaseNetworkHeader, offset, 4),
		&expr.Bitwise{SourceRegister: netif.RuleRegister, DestRegister: netif.RuleRegister, Len: 4, Mask: mask,
			Xor: make([]byte, 4)},
		netif.RuleEqual(network.Masked().Addr().AsSlice()),
		&expr.Immediate{Register: unix.NFT_REG_1, Data: first},
		&expr.Immediate{Register: unix.NFT_REG_2, Data: end},
	}
	return append(rule, &expr.NAT{Type: kind, Family: unix.NFPROTO_IPV4, RegAddrMin: unix.NFT_REG_1,
		RegAddrMax: unix.NFT_REG_2, Prefix: true})
}

// firstAndLast are the first and the last address of an IPv4 network.
func firstAndLast(p netip.Prefix) (first, end []byte) {
	network := netif.IPNet(p.Masked())
	end = make([]byte, len(network.IP))
	for i := range end {
		end[i] = network.IP[i] | ^network.Mask[i]
	}
	return network.IP, end
}

// idleSeconds is how long the kernel keeps the connections of silent hosts, which is longer than any test lasts.
const idleSeconds = 7 * 24 * 3600

// The attributes of a connection that are sent to ctnetlink (linux/netfilter/nfnetlink_conntrack.h).
const (
	ctaNATSource   = 6 // CTA_NAT_SRC
	ctaNATv4Lowest = 1 // CTA_NAT_V4_MINIP

	// established means that both sides have sent (IPS_SEEN_REPLY, IPS_ASSURED and IPS_CONFIRMED,
	// linux/netfilter/nf_conntrack_common.h). When the table is full, the kernel drops only connections that
	// aren't assured.
	established = 1<<1 | 1<<2 | 1<<3
)

// trackIdle makes the kernel track that many translated connections, of hosts in 100.64.0.0/10 (RFC 6598) with
// one in 192.0.2.0/24 (RFC 5737), as no test uses these networks.
func trackIdle(sessions int) error {
	requests := func(yield func(*nl.NetlinkRequest) bool) {
		for i := range uint32(sessions) {
			inside, far, outside := binaryutil.BigEndian.PutUint32(0x64400001+i), []byte{192, 0, 2, 1},
				[]byte{198, 51, 100, byte(1 + i/60_000)}
			port := binaryutil.BigEndian.PutUint16(uint16(1024 + i%60_000))
			r := nl.NewNetlinkRequest(unix.NFNL_SUBSYS_CTNETLINK<<8|nl.IPCTNL_MSG_CT_NEW,
				unix.NLM_F_CREATE|unix.NLM_F_EXCL)
			r.AddData(&nl.Nfgenmsg{NfgenFamily: unix.AF_INET, Version: nl.NFNETLINK_V0})
			r.AddData(tuple(nl.CTA_TUPLE_ORIG, inside, far, port, []byte{0x01, 0xbb}))
			r.AddData(tuple(nl.CTA_TUPLE_REPLY, far, inside, []byte{0x01, 0xbb}, port))
			r.AddData(nl.NewRtAttr(nl.CTA_STATUS, binaryutil.BigEndian.PutUint32(established)))
			r.AddData(nl.NewRtAttr(nl.CTA_TIMEOUT, binaryutil.BigEndian.PutUint32(idleSeconds)))
			source := nl.NewRtAttr(ctaNATSource|unix.NLA_F_NESTED, nil)
			source.AddRtAttr(ctaNATv4Lowest, outside)
			r.AddData(source)
			if !yield(r) {
				return
			}
		}
	}
	if err := sendAll(unix.NETLINK_NETFILTER, requests); err != nil {
		return fmt.Errorf("track %d connections of silent hosts: %w (this machine tracks as many as "+
			"net.netfilter.nf_conntrack_max says, in all network namespaces alike: raise it, or lower "+
			"mode.nat.sessions)", sessions, err)
	}
	return nil
}

// tuple is one direction of a UDP connection.
func tuple(kind int, source, destination, sourcePort, destinationPort []byte) *nl.RtAttr {
	t := nl.NewRtAttr(kind|unix.NLA_F_NESTED, nil)
	ip := t.AddRtAttr(nl.CTA_TUPLE_IP|unix.NLA_F_NESTED, nil)
	ip.AddRtAttr(nl.CTA_IP_V4_SRC, source)
	ip.AddRtAttr(nl.CTA_IP_V4_DST, destination)
	protocol := t.AddRtAttr(nl.CTA_TUPLE_PROTO|unix.NLA_F_NESTED, nil)
	protocol.AddRtAttr(nl.CTA_PROTO_NUM, []byte{unix.IPPROTO_UDP})
	protocol.AddRtAttr(nl.CTA_PROTO_SRC_PORT, sourcePort)
	protocol.AddRtAttr(nl.CTA_PROTO_DST_PORT, destinationPort)
	return t
}

// retrack makes the kernel track the connections of silent hosts again after a reset removed all. It returns
// what it did.
func retrack(m *plan.Mode) (string, error) {
	if m == nil || m.NAT == nil || m.NAT.Sessions == 0 {
		return "", nil
	}
	return fmt.Sprintf("; %d of silent hosts are tracked again", m.NAT.Sessions), trackIdle(m.NAT.Sessions)
}
