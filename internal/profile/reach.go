package profile

import (
	"encoding/binary"
	"math"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/trex/stream"
)

// Reach is the smallest networks that hold every source and every destination address that a stream's frames can have, the field
// engine's writes included: source first, then destination. Where a program writes an address in a way that isn't plain (some of its
// bytes, under a mask, or to and fro over the end of its range), it can be any, and the network is all there is (0.0.0.0/0). A frame
// that isn't IP has none.
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

// reachAt is the smallest network of the address of so many bytes at offset.
func reachAt(s stream.Stream, offset, size int) netip.Prefix {
	low := append([]byte{}, s.Packet.Binary[offset:offset+size]...)
	high := append([]byte{}, low...)
	for _, i := range s.VM.Instructions {
		width, ok := writtenBytes(s, i)
		if !ok || i.PacketOffset >= offset+size || i.PacketOffset+width <= offset {
			continue
		}
		from, to, plain := writtenRange(s, i)
		if !plain || width != 4 || i.PacketOffset != offset+size-4 {
			return netip.PrefixFrom(addressOf(low), 0).Masked()
		}
		binary.BigEndian.PutUint32(low[size-4:], from)
		binary.BigEndian.PutUint32(high[size-4:], to)
	}
	return common(addressOf(low), addressOf(high))
}

// writtenBytes is how many bytes of the frame an instruction writes; ok is false where it writes none of a variable.
func writtenBytes(s stream.Stream, i stream.Instruction) (width int, ok bool) {
	switch i.Type {
	case "write_mask_flow_var":
		return i.CastSize, true
	case "write_flow_var":
		for _, v := range s.VM.Instructions {
			switch {
			case v.Type == "tuple_flow_var" && i.Name == v.Name+".ip":
				return 4, true
			case v.Type == "tuple_flow_var" && i.Name == v.Name+".port":
				return 2, true
			case v.Name == i.Name && v.Size > 0:
				return v.Size, true
			}
		}
	}
	return 0, false
}

// writtenRange is the smallest and the largest value that a write of 4 bytes gives; plain is false where that can't be said.
func writtenRange(s stream.Stream, i stream.Instruction) (low, high uint32, plain bool) {
	if i.Type != "write_flow_var" || !i.BigEndian {
		return 0, 0, false
	}
	for _, v := range s.VM.Instructions {
		var from, to int64
		switch {
		case v.Type == "tuple_flow_var" && i.Name == v.Name+".ip":
			from, to = int64(v.IPMin), int64(v.IPMax)
		case v.Name != i.Name || v.Size != 4:
			continue
		case v.Type == "flow_var" && v.Op != "random" && len(v.ValueList) == 0:
			l, h, _ := widened(v, math.MaxUint32)
			from, to = int64(l), int64(h)
		default:
			from, to = trimRange(v)
		}
		from, to = from+i.AddValue, to+i.AddValue
		return uint32(from), uint32(to), from >= 0 && to <= math.MaxUint32
	}
	return 0, 0, false
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
