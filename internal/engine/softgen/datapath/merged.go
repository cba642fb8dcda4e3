package datapath

import (
	"encoding/binary"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// A kernel merges frames of one flow that come together into one buffer (GRO, also of UDP where
// rx-udp-gro-forwarding is on, and LRO in network cards). A device that forwards the buffer over a virtual
// cable hands it on as one. On a wire these frames would have been several.
//
//	buffer   │ headers │ payload …                          size: how much of it each frame has
//	frames   │ headers │ size │  │ headers │ size │  │ headers │ rest │
//
// So the frames are counted and captured one by one, each with its headers.

// framesIn is how many frames a buffer of length bytes holds, and their bytes with FCS and padding. size is the
// payload of each frame but the last, or 0 for a buffer that wasn't merged.
func framesIn(length, header, size int) units.Traffic {
	if size <= 0 || header <= 0 || length-header <= size {
		return units.Traffic{Packets: 1, Bytes: wireLength(length)}
	}
	n := int64((length - header + size - 1) / size)
	bytes := int64(length) + (n-1)*int64(header) + n*units.FCSBytes
	return units.Traffic{Packets: n, Bytes: max(bytes, n*wireLength(0))}
}

const (
	protocolTCP = 6
	protocolUDP = 17
)

// headersOf is the length of the headers in front of the payload of UDP or TCP. It is 0 for other protocols,
// which no kernel merges.
func headersOf(frame []byte) int {
	network, version := networkHeader(frame)
	if version == 0 {
		return 0
	}
	transport, protocol := network+40, frame[network+6]
	if version == 4 {
		transport, protocol = network+int(frame[network]&15)*4, frame[network+9]
	}
	if transport+20 > len(frame) {
		return 0
	}
	switch protocol {
	case protocolTCP:
		return transport + int(frame[transport+12]>>4)*4
	case protocolUDP:
		return transport + 8
	}
	return 0
}

// splitMerged returns the frames in a buffer as they were on the wire. Only their IP identification may differ,
// if the sender didn't count it up.
func splitMerged(buffer []byte, size int) [][]byte {
	header := headersOf(buffer)
	if size <= 0 || header <= 0 || len(buffer)-header <= size {
		return [][]byte{buffer}
	}
	var frames [][]byte
	for offset := header; offset < len(buffer); offset += size {
		payload := buffer[offset:min(offset+size, len(buffer))]
		frame := append(append(make([]byte, 0, header+len(payload)), buffer[:header]...), payload...)
		fixSegment(frame, offset-header, len(frames), offset+size >= len(buffer))
		frames = append(frames, frame)
	}
	return frames
}

// fixSegment makes a part of a buffer a frame. It sets the lengths, the number and the checksums, and keeps the
// flags that end a TCP segment only in the last part.
func fixSegment(frame []byte, offset, number int, isLast bool) {
	bigEndian := binary.BigEndian
	network, version := networkHeader(frame)
	transport, protocol, addresses := network+40, frame[network+6], frame[network+8:network+40]
	if version == 4 {
		transport, protocol, addresses = network+int(frame[network]&0x0f)*4, frame[network+9],
			frame[network+12:network+20]
		bigEndian.PutUint16(frame[network+2:], uint16(len(frame)-network))
		bigEndian.PutUint16(frame[network+4:], bigEndian.Uint16(frame[network+4:])+uint16(number))
		bigEndian.PutUint16(frame[network+10:], 0)
		bigEndian.PutUint16(frame[network+10:], ^stream.FoldChecksum(stream.SumWords(frame[network:transport])))
	} else {
		bigEndian.PutUint16(frame[network+4:], uint16(len(frame)-transport))
	}
	checksum := transport + 6 // the checksum
	if protocol == protocolTCP {
		const finish, push = 0x01, 0x08
		checksum = transport + 16
		bigEndian.PutUint32(frame[transport+4:], bigEndian.Uint32(frame[transport+4:])+uint32(offset))
		if !isLast {
			frame[transport+13] &^= finish | push
		}
	} else {
		bigEndian.PutUint16(frame[transport+4:], uint16(len(frame)-transport))
	}
	bigEndian.PutUint16(frame[checksum:], 0)
	sum := ^stream.FoldChecksum(uint64(protocol) + uint64(len(frame)-transport) + stream.SumWords(addresses) +
		stream.SumWords(frame[transport:]))
	if sum == 0 && protocol == protocolUDP {
		sum = 0xffff // 0 would mean that there is no checksum
	}
	bigEndian.PutUint16(frame[checksum:], sum)
}
