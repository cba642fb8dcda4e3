package fieldengine

import (
	"encoding/binary"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// payloadEnd is where the IP packet ends, by its own length field, within the frame.
func payloadEnd(frame []byte, l2 int) int {
	if frame[l2]>>4 == 4 {
		return min(l2+int(binary.BigEndian.Uint16(frame[l2+2:])), len(frame))
	}
	return min(l2+40+int(binary.BigEndian.Uint16(frame[l2+4:])), len(frame))
}

// addresses are the bounds of the source and destination address, which follow each other.
func addresses(frame []byte, l2 int) (start, end int) {
	if frame[l2]>>4 == 4 {
		return l2 + 12, l2 + 20
	}
	return l2 + 8, l2 + 40
}

// sumTransport sets a transport checksum, summing the whole packet.
func sumTransport(frame []byte, l2, start, checksum int, protocol byte) {
	end := max(payloadEnd(frame, l2), start)
	if checksum+2 > end {
		return
	}
	low, high := addresses(frame, l2)
	frame[checksum], frame[checksum+1] = 0, 0
	total := stream.SumWords(frame[low:high]) + stream.SumWords(frame[start:end]) + uint64(protocol) + uint64(end-start)
	putChecksum(frame[checksum:], total, protocol == protocolUDP)
}

// transport returns the offset of the header behind the IP header at offset, and the offset of its protocol number.
func transport(frame []byte, offset int) (start, kind int) {
	if frame[offset]>>4 == 4 {
		return offset + int(frame[offset]&15)*4, offset + 9
	}
	return offset + 40, offset + 6
}

// FixIPv4Header sets the checksum of the IPv4 header at offset.
func FixIPv4Header(frame []byte, offset int) {
	end := min(offset+int(frame[offset]&15)*4, len(frame))
	if end < offset+20 {
		return
	}
	frame[offset+10], frame[offset+11] = 0, 0
	putChecksum(frame[offset+10:], stream.SumWords(frame[offset:end]), false)
}

// FixTransport sets the UDP, TCP or ICMPv6 checksum of the IP packet at offset, after its payload was changed. A
// UDP checksum of zero over IPv4 stays, because it means that there is none. Other protocols stay as they are.
func FixTransport(frame []byte, offset int) {
	start, kind := transport(frame, offset)
	protocol := frame[kind]
	field, ok := checksumOffset[protocol]
	checksum := start + field
	if !ok || checksum+2 > len(frame) {
		return
	}
	if protocol == protocolUDP && frame[offset]>>4 == 4 && frame[checksum] == 0 && frame[checksum+1] == 0 {
		return
	}
	sumTransport(frame, offset, start, checksum, protocol)
}
