package netif

// This file makes the parts of nftables rules that several packages use, which are comparisons, fields of headers,
// and whole rules about IP. It is pure.

import (
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// RuleRegister is the nftables register in which rules compare.
const RuleRegister = unix.NFT_REG_1

// RuleEqual matches if the register has this value.
func RuleEqual(data []byte) expr.Any {
	return &expr.Cmp{Op: expr.CmpOpEq, Register: RuleRegister, Data: data}
}

// RuleLoad reads a field of a header into the register.
func RuleLoad(base expr.PayloadBase, offset, length uint32) expr.Any {
	return &expr.Payload{DestRegister: RuleRegister, Base: base, Offset: offset, Len: length}
}

// RuleInterfaceName is an interface's name as rules compare it, padded with zeros.
func RuleInterfaceName(name string) []byte {
	padded := make([]byte, unix.IFNAMSIZ)
	copy(padded, name)
	return padded
}

// RuleEtherType matches frames of an Ethernet type.
func RuleEtherType(etherType uint16) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyPROTOCOL, Register: RuleRegister},
		RuleEqual(binaryutil.BigEndian.PutUint16(etherType))}
}

// RulePassNeighbourDiscovery is the rule that accepts ICMPv6 types 133 to 137 (RFC 4861 §4).
func RulePassNeighbourDiscovery() []expr.Any {
	return append(RuleEtherType(unix.ETH_P_IPV6),
		RuleLoad(expr.PayloadBaseNetworkHeader, 6, 1), RuleEqual([]byte{unix.IPPROTO_ICMPV6}),
		RuleLoad(expr.PayloadBaseNetworkHeader, 40, 1),
		&expr.Range{Op: expr.CmpOpEq, Register: RuleRegister, FromData: []byte{133}, ToData: []byte{137}},
		&expr.Verdict{Kind: expr.VerdictAccept})
}

// RuleDropIP are the rules that drop all IPv4 and IPv6.
func RuleDropIP() [][]expr.Any {
	drop := &expr.Verdict{Kind: expr.VerdictDrop}
	return [][]expr.Any{append(RuleEtherType(unix.ETH_P_IP), drop), append(RuleEtherType(unix.ETH_P_IPV6), drop)}
}
