package profile

import (
	"math"
	"math/bits"
	"net/netip"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// Reach is the smallest networks that hold every source and every destination address that a stream's frames can
// have, the field engine's writes included, source first, then destination. A program reaches what it can write. Of
// a byte that takes some values it reaches the values between the least and the most, and of one whose values can't
// be told, all. A frame that isn't IP has none.
func Reach(s stream.Stream) []netip.Prefix {
	ip, kind := networkOf(s.Packet.Binary)
	switch {
	case kind == etherIPv4 && len(s.Packet.Binary) >= ip+ipv4Bytes:
		return []netip.Prefix{reachAt(s, ip+12, 4), reachAt(s, ip+16, 4)}
	case kind == etherIPv6 && len(s.Packet.Binary) >= ip+ipv6Bytes:
		return []netip.Prefix{reachAt(s, ip+8, 16), reachAt(s, ip+24, 16)}
	}
	return nil
}

// reachAt is the smallest network of the address of so many bytes at offset, with all bits in front of the first
// one that can change.
func reachAt(s stream.Stream, offset, size int) netip.Prefix {
	address := s.Packet.Binary[offset : offset+size]
	low, high := append([]byte{}, address...), append([]byte{}, address...)
	for _, i := range s.VM.Instructions {
		for index, b := range writtenBytes(s, i) {
			if index < offset || index >= offset+size {
				continue
			}
			// An earlier write may be what a later one leaves, as of a mask.
			low[index-offset], high[index-offset] = b.apply(low[index-offset], high[index-offset])
		}
	}
	return common(addressOf(low), addressOf(high))
}

// octets are the values of a byte that a program writes, from one to another, in the bits of the mask alone.
type octets struct{ low, high, mask byte }

// apply is the least and the largest value of a byte after the write, where the byte was between two values before.
// The bits that stay and the bits that are written change independently of each other, so bits that both can have
// at once are those of both. It is exact where the byte had one value and is written whole.
func (o octets) apply(low, high byte) (lowest, highest byte) {
	if o.mask == 0xff {
		return o.low, o.high
	}
	changes := spread(low, high)&^o.mask | spread(o.low, o.high)&o.mask
	value := low&^o.mask | o.low&o.mask
	return value &^ changes, value | changes
}

// spread are the bits that can differ among the values from one to another.
func spread(low, high byte) byte {
	if low == high {
		return 0
	}
	return byte(1<<bits.Len8(low^high) - 1)
}

// writtenBytes are the bytes of the frame that an instruction writes, by their offset.
func writtenBytes(s stream.Stream, i stream.Instruction) map[int]octets {
	width := writtenWidth(s, i)
	written := make(map[int]octets, width)
	for _, offset := range checksumsOf(i) {
		written[offset], written[offset+1] = octets{0, 0xff, 0xff}, octets{0, 0xff, 0xff}
	}
	low, high, ok := writtenRange(s, i)
	for index := range width {
		place := index // of the value's byte, the most significant first
		if !i.BigEndian {
			place = width - 1 - index
		}
		shift := 8 * (width - 1 - place)
		o := octets{0, 0xff, 0xff}
		if i.Type == "write_mask_flow_var" {
			o.mask = byte(i.Mask >> shift)
		}
		// Below the first byte that changes, any value can follow.
		if ok && low>>shift>>8 == high>>shift>>8 {
			o.low, o.high = byte(low>>shift), byte(high>>shift)
		}
		written[i.PacketOffset+index] = o
	}
	return written
}

// checksumsOf are the offsets of the checksums that an instruction writes.
func checksumsOf(i stream.Instruction) []int {
	const inIPv4, inUDP, inTCP, inICMPv6 = 10, 6, 16, 2
	transport := i.L2Length + i.L3Length
	switch i.Type {
	case "fix_checksum_ipv4":
		return []int{i.PacketOffset + inIPv4}
	case "fix_checksum_icmpv6":
		return []int{transport + inICMPv6}
	case "fix_checksum_hw":
		switch i.L4Type {
		case checksumUDP:
			return []int{i.L2Length + inIPv4, transport + inUDP}
		case checksumTCP:
			return []int{i.L2Length + inIPv4, transport + inTCP}
		}
		return []int{i.L2Length + inIPv4}
	}
	return nil
}

// TTL is the time to live, or hop limit, of a stream's IP frames.
func TTL(s stream.Stream) int {
	ip, kind := networkOf(s.Packet.Binary)
	switch {
	case kind == etherIPv4 && len(s.Packet.Binary) >= ip+ipv4Bytes:
		return int(s.Packet.Binary[ip+8])
	case kind == etherIPv6 && len(s.Packet.Binary) >= ip+ipv6Bytes:
		return int(s.Packet.Binary[ip+7])
	}
	return 0
}

// WritesHeader is the first instruction of a stream's program that writes what decides where its frames go, the
// destination MAC, a VLAN tag or the TTL, and which of them. It is -1 where none does. A path is proven for frames
// that have one of each.
func WritesHeader(s stream.Stream) (instruction int, field string) {
	ip, kind := networkOf(s.Packet.Binary)
	ttl := ip + 8
	if kind == etherIPv6 {
		ttl = ip + 7
	}
	for index, i := range s.VM.Instructions {
		for offset := i.PacketOffset; offset < i.PacketOffset+writtenWidth(s, i); offset++ {
			switch {
			case offset < 6:
				return index, "the destination MAC"
			case offset >= 12 && offset < ip:
				return index, "a VLAN tag or the type"
			case offset == ttl && kind != 0:
				return index, "the TTL"
			}
		}
	}
	return -1, ""
}

// writtenWidth is how many bytes of the frame an instruction writes, or 0 for none.
func writtenWidth(s stream.Stream, i stream.Instruction) int {
	switch i.Type {
	case "write_mask_flow_var":
		return i.CastSize
	case "write_flow_var":
		for _, v := range s.VM.Instructions {
			switch {
			case v.Type == "tuple_flow_var" && i.Name == v.Name+".ip":
				return 4
			case v.Type == "tuple_flow_var" && i.Name == v.Name+".port":
				return 2
			case v.Name == i.Name && v.Size > 0:
				return v.Size
			}
		}
	}
	return 0
}

// writtenRange is the smallest and the largest value that a write gives, of as many bytes as it writes. ok is false
// where that can't be said, as where a sum goes over the end of the range.
func writtenRange(s stream.Stream, i stream.Instruction) (low, high uint64, ok bool) {
	for _, v := range s.VM.Instructions {
		lowest, highest, size, defined := valuesOf(v, i.Name)
		if !defined {
			continue
		}
		low, high = lowest+uint64(i.AddValue), highest+uint64(i.AddValue)
		limit := uint64(math.MaxUint64) >> (64 - 8*size)
		if low > high || high > limit || i.AddValue < 0 && low > lowest || i.AddValue > 0 && high < highest {
			return 0, 0, false
		}
		if i.Type != "write_mask_flow_var" {
			return low, high, true
		}
		return shifted(low, high, i)
	}
	return 0, 0, false
}

// shifted are the bounds of a value that a masked write moves to the left, or to the right where shift is negative.
// ok is false where bits are lost at the left end.
func shifted(low, high uint64, i stream.Instruction) (newLow, newHigh uint64, ok bool) {
	if i.Shift < 0 {
		low, high = low>>-i.Shift, high>>-i.Shift
	} else {
		if bits.Len64(high)+i.Shift > 8*i.CastSize {
			return 0, 0, false
		}
		low, high = low<<i.Shift, high<<i.Shift
	}
	return low, high, bits.Len64(high) <= 8*i.CastSize
}

// valuesOf are the smallest and the largest value of a variable that an instruction defines, and its size. defined
// is false where it defines another.
func valuesOf(v stream.Instruction, name string) (low, high uint64, size int, defined bool) {
	switch {
	case v.Type == "tuple_flow_var" && name == v.Name+".ip":
		return uint64(v.IPMin), uint64(v.IPMax), 4, true
	case v.Type == "tuple_flow_var" && name == v.Name+".port":
		return uint64(v.PortMin), uint64(v.PortMax), 2, true
	case v.Name != name || v.Type != "flow_var" && v.Type != "flow_var_rand_limit":
		return 0, 0, 0, false
	case len(v.ValueList) > 0:
		return slices.Min(v.ValueList), slices.Max(v.ValueList), v.Size, true
	case v.Type == "flow_var" && v.Op != "random":
		limit, err := largest(v.Size)
		low, high, fits := widened(v, limit)
		if err != nil || !fits {
			return 0, limit, v.Size, true
		}
		return low, high, v.Size, true
	}
	return v.MinValue, v.MaxValue, v.Size, true
}

// common is the smallest network that holds both.
func common(a, b netip.Addr) netip.Prefix {
	bits := a.BitLen()
	for bits > 0 && !netip.PrefixFrom(a, bits).Contains(b) {
		bits--
	}
	return netip.PrefixFrom(a, bits).Masked()
}

func addressOf(b []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(b) // always 4 or 16 bytes
	return a
}
