package stream

// This file computes the Internet checksum (RFC 1071), which IPv4 headers, UDP, TCP and ICMPv6 carry.

import "encoding/binary"

// SumWords adds up the 16-bit words of b, the last byte of an odd number padded with zero. Sums of several parts
// add up if all but the last have an even length.
func SumWords(b []byte) uint64 {
	var sum uint64
	for ; len(b) >= 2; b = b[2:] {
		sum += uint64(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

// FoldChecksum turns a sum into a ones' complement sum of 16 bits. Its complement is the checksum. For bytes with
// their right checksum it is 0xffff.
func FoldChecksum(sum uint64) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
