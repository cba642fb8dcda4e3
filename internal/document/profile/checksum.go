package profile

import (
	"encoding/binary"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// fixIPv4Header writes the checksum of the IPv4 header at the start of b.
func fixIPv4Header(b []byte) {
	b[10], b[11] = 0, 0
	length := min(int(b[0]&0x0f)*4, len(b))
	binary.BigEndian.PutUint16(b[10:], ^stream.FoldChecksum(stream.SumWords(b[:length])))
}

// fixTransport writes the UDP, TCP or ICMPv6 checksum of the packet whose IP header is at ip and whose transport
// header is at l4. Padding behind the packet's own length is left out. Where the frame ends before its headers do,
// nothing is written.
func fixTransport(frame []byte, ip, l4 int, protocol byte) {
	if len(frame) < ip+ipv4Bytes || frame[ip]>>4 == 6 && len(frame) < ip+ipv6Bytes {
		return
	}
	offset, end := checksumOffset(protocol), min(packetEnd(frame, ip), len(frame))
	if l4+offset+2 > end {
		return // the header's own lengths leave no room for a checksum
	}
	segment := frame[l4:end]
	segment[offset], segment[offset+1] = 0, 0
	value := ^stream.FoldChecksum(uint64(protocol) + uint64(len(segment)) + stream.SumWords(addresses(frame[ip:])) +
		stream.SumWords(segment))
	if value == 0 && protocol == protocolUDP {
		value = 0xffff // 0 means "none" (RFC 768)
	}
	binary.BigEndian.PutUint16(segment[offset:], value)
}

// checksumOffset is where in its header a protocol keeps its checksum.
func checksumOffset(protocol byte) int {
	switch protocol {
	case protocolTCP:
		return 16
	case protocolICMPv6:
		return 2
	}
	return 6
}

// addresses are the source and destination in an IP header.
func addresses(header []byte) []byte {
	if header[0]>>4 == 6 {
		return header[8:ipv6Bytes]
	}
	return header[12:ipv4Bytes]
}

// packetEnd is where the packet of the IP header ends, as its length says.
func packetEnd(frame []byte, ip int) int {
	if frame[ip]>>4 == 6 {
		return ip + ipv6Bytes + int(binary.BigEndian.Uint16(frame[ip+4:]))
	}
	return ip + int(binary.BigEndian.Uint16(frame[ip+2:]))
}
