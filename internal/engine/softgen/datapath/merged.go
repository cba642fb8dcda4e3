package datapath

import (
	"encoding/binary"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// A kernel merges frames of one flow that come together into one buffer (GRO, also of UDP where rx-udp-gro-forwarding is on; LRO in network cards), and a device that forwards it over a
// virtual cable hands it on as one. On a wire they would have been frames of their own:
//
//	buffer   │ headers │ payload …                          size: how much of it each frame has
//	frames   │ headers │ size │  │ headers │ size │  │ headers │ rest │
//
// So the frames are counted one by one, each with its headers, and captured one by one.

// framesIn is how many frames a buffer of length bytes holds, and their bytes with FCS and padding. size is the payload of each but the last; 0: nothing was merged.
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

// headersOf is the length of the headers in front of the payload of UDP or TCP; 0 for other protocols, which no kernel merges.
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

// apart are the frames in a buffer, as they were on the wire except for the IP identification, which may not have been counted up.
func apart(buffer []byte, size int) [][]byte {
	header := headersOf(buffer)
	if size <= 0 || header <= 0 || len(buffer)-header <= size {
		return [][]byte{buffer}
	}
	var frames [][]byte
	for at := header; at < len(buffer); at += size {
		payload := buffer[at:min(at+size, len(buffer))]
		frame := append(append(make([]byte, 0, header+len(payload)), buffer[:header]...), payload...)
		mendPart(frame, at-header, len(frames), at+size >= len(buffer))
		frames = append(frames, frame)
	}
	return frames
}

// mendPart makes a part of a buffer a frame: it sets lengths, number and checksums, and leaves the flags that end a TCP segment to the last part only.
func mendPart(frame []byte, offset, number int, last bool) {
	be := binary.BigEndian
	network, version := networkHeader(frame)
	transport, protocol, addresses := network+40, frame[network+6], frame[network+8:network+40]
	if version == 4 {
		transport, protocol, addresses = network+int(frame[network]&0x0f)*4, frame[network+9], frame[network+12:network+20]
		be.PutUint16(frame[network+2:], uint16(len(frame)-network))
		be.PutUint16(frame[network+4:], be.Uint16(frame[network+4:])+uint16(number))
		be.PutUint16(frame[network+10:], 0)
		be.PutUint16(frame[network+10:], ^stream.FoldChecksum(stream.SumWords(frame[network:transport])))
	} else {
		be.PutUint16(frame[network+4:], uint16(len(frame)-transport))
	}
	at := transport + 6 // the checksum
	if protocol == protocolTCP {
		const finish, push = 0x01, 0x08
		at = transport + 16
		be.PutUint32(frame[transport+4:], be.Uint32(frame[transport+4:])+uint32(offset))
		if !last {
			frame[transport+13] &^= finish | push
		}
	} else {
		be.PutUint16(frame[transport+4:], uint16(len(frame)-transport))
	}
	be.PutUint16(frame[at:], 0)
	sum := ^stream.FoldChecksum(uint64(protocol) + uint64(len(frame)-transport) + stream.SumWords(addresses) + stream.SumWords(frame[transport:]))
	if sum == 0 && protocol == protocolUDP {
		sum = 0xffff // 0 would mean none
	}
	be.PutUint16(frame[at:], sum)
}
