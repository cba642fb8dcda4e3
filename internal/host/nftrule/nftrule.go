// Package nftrule makes the parts of nftables rules that several packages use: comparisons, fields of headers, and whole rules about IP. It is pure.
package nftrule

import (
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Register is the nftables register in which rules compare.
const Register = unix.NFT_REG_1

// Equal matches if the register has this value.
func Equal(data []byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: Register, Data: data} }

// Load reads a field of a header into the register.
func Load(base expr.PayloadBase, offset, length uint32) expr.Any {
	return &expr.Payload{DestRegister: Register, Base: base, Offset: offset, Len: length}
}

// InterfaceName is an interface's name as rules compare it: padded with zeros.
func InterfaceName(name string) []byte {
	padded := make([]byte, unix.IFNAMSIZ)
	copy(padded, name)
	return padded
}

// EtherType matches frames of an Ethernet type.
func EtherType(etherType uint16) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyPROTOCOL, Register: Register}, Equal(binaryutil.BigEndian.PutUint16(etherType))}
}

// PassNeighbourDiscovery is the rule that accepts ICMPv6 types 133 to 137 (RFC 4861 §4).
func PassNeighbourDiscovery() []expr.Any {
	return append(EtherType(unix.ETH_P_IPV6),
		Load(expr.PayloadBaseNetworkHeader, 6, 1), Equal([]byte{unix.IPPROTO_ICMPV6}),
		Load(expr.PayloadBaseNetworkHeader, 40, 1),
		&expr.Range{Op: expr.CmpOpEq, Register: Register, FromData: []byte{133}, ToData: []byte{137}},
		&expr.Verdict{Kind: expr.VerdictAccept})
}

// DropIP are the rules that drop all IPv4 and IPv6.
func DropIP() [][]expr.Any {
	drop := &expr.Verdict{Kind: expr.VerdictDrop}
	return [][]expr.Any{append(EtherType(unix.ETH_P_IP), drop), append(EtherType(unix.ETH_P_IPV6), drop)}
}
