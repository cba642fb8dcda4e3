package compile

import (
	"math/bits"
	"net/netip"
)

// benchmarking are the networks for measuring. They are RFC 2544's (RFC 6890), the two that TRex's own profiles use,
// and RFC 5180's for IPv6.
func benchmarking() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("198.18.0.0/15"),
		netip.MustParsePrefix("16.0.0.0/8"),
		netip.MustParsePrefix("48.0.0.0/8"),
		netip.MustParsePrefix("2001:2::/48"),
	}
}

// contains says that all of inner lies in outer.
func contains(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// addressAfter is the n-th address after a, in the same network. It is invalid where the network ends before.
func addressAfter(a netip.Prefix, n int) netip.Prefix {
	addr := a.Addr()
	for range n {
		addr = addr.Next()
	}
	if !addr.IsValid() || !a.Contains(addr) {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(addr, a.Bits())
}

// isBroadcast says that an address is its IPv4 network's last, which reaches everybody in it.
func isBroadcast(a netip.Prefix) bool {
	return a.Addr().Is4() && a.Bits() < 31 && !a.Contains(a.Addr().Next())
}

// isNetwork says that an address is its network's first, which stands for the network itself (IPv4) or its
// routers (RFC 4291).
func isNetwork(a netip.Prefix) bool {
	return a.Bits() < a.Addr().BitLen()-1 && a == a.Masked()
}

// divide cuts a network into n equal parts. The number of parts is rounded up to a power of two, and the rest
// stays unused. It returns none where the network is too small.
func divide(network netip.Prefix, n int) []netip.Prefix {
	length := network.Bits() + bits.Len(uint(n-1))
	if length > network.Addr().BitLen() {
		return nil
	}
	part := netip.PrefixFrom(network.Masked().Addr(), length)
	parts := []netip.Prefix{part}
	for len(parts) < n {
		part = netip.PrefixFrom(lastAddress(part).Next(), length)
		parts = append(parts, part)
	}
	return parts
}

// lastAddress is a network's last address.
func lastAddress(network netip.Prefix) netip.Addr {
	bytes := network.Masked().Addr().AsSlice()
	for bit := network.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	addr, _ := netip.AddrFromSlice(bytes) // of 4 or 16 bytes
	return addr
}
