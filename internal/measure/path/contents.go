package path

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
)

// contentFault says what a device changed of a frame that no forwarding changes and that it wasn't declared to change:
// its length, its payload, and the correctness of its checksums. It is empty where the device changed nothing. The
// comparison begins with the IP header of the packet itself, as VLAN tags are each link's own.
//
//	sent     │ MACs │ tags │ IP │ UDP or TCP │ token, payload │ padding │
//	arrived  │ MACs │ tags │ IP │ UDP or TCP │ token, payload │ padding │
//	                       └─ checksums ─────┘ └─ the same ──┘
//	                       └───────────── as long ────────────────────┘
func contentFault(p Probe, arrived []byte, b layers, device plan.DUT) (text string, detail report.Detail) {
	sent, nested := p.Frame, nest(p.Frame)
	if len(nested) == 0 {
		return "", "" // mark refused it
	}
	a := nested[len(nested)-1]
	outer, err := layersOf(arrived)
	if err == nil && outer.version == 4 && nested[0].rightHeader(sent) && !outer.rightHeader(arrived) {
		return "a wrong IPv4 header checksum", report.ChecksumWrong
	}
	whole, piece := sent[a.payload:a.end], arrived[b.payload:b.end]
	if !device.MayChange(plan.Length) {
		text := lengthFault(sent, arrived, a, b)
		if text == "" && a.version != b.version {
			text = fmt.Sprintf("IPv%d packets instead of IPv%d, which have another length", b.version, a.version)
		}
		if text != "" {
			return text, report.FramesResized
		}
	} else {
		shorter := min(len(whole), len(piece))
		whole, piece = whole[:shorter], piece[:shorter]
	}
	if offset := differ(whole, piece); offset >= 0 {
		return fmt.Sprintf("another payload than was sent, from its byte %d on", offset+1), report.PayloadChanged
	}
	return checksumFault(sent, arrived, a, b)
}

// checksumFault says which checksum of a packet a device made wrong: of its IPv4 header, or of UDP or TCP.
func checksumFault(sent, arrived []byte, a, b layers) (text string, detail report.Detail) {
	if b.version == 4 && a.rightHeader(sent) && !b.rightHeader(arrived) {
		return "a wrong IPv4 header checksum", report.ChecksumWrong
	}
	if b.hasChecksum && a.rightChecksum(sent) && !b.rightChecksum(arrived) {
		return "a wrong " + map[byte]string{protocolUDP: "UDP", protocolTCP: "TCP"}[b.protocol] +
			" checksum, which may have been left to hardware that isn't there (TX checksum offload)", report.ChecksumWrong
	}
	return "", ""
}

// lengthFault says by how much a packet's length changed. What it is wrapped into, or out of, doesn't count.
func lengthFault(sent, arrived []byte, a, b layers) string {
	const minPayload = 46 // a shorter packet is padded
	outerSent, errSent := layersOf(sent)
	outer, err := layersOf(arrived)
	isPlain := err == nil && errSent == nil && outer.network == b.network && outerSent.network == a.network
	if sentBytes, arrivedBytes := len(sent)-a.network, len(arrived)-b.network; isPlain && a.version == b.version &&
		max(sentBytes, minPayload) != max(arrivedBytes, minPayload) {
		return fmt.Sprintf("%d bytes from the IP header on, instead of %d", arrivedBytes, sentBytes)
	}
	if sentBytes, arrivedBytes := a.length(sent), b.length(arrived); a.version == b.version &&
		sentBytes != arrivedBytes {
		return fmt.Sprintf("an IP packet of %d bytes instead of %d", arrivedBytes, sentBytes)
	}
	return ""
}

// fragmentUnit is what the offsets of fragments count in (RFC 791).
const fragmentUnit = 8

// pieceOf is how long an IPv4 packet is that a device made a fragment. It is 0 for a whole packet, or one that was
// sent as a fragment.
func pieceOf(sent, arrived []byte) int {
	a, errSent := layersOf(sent)
	b, err := layersOf(arrived)
	if errSent != nil || err != nil || a.version != 4 || b.version != 4 || a.fragment(sent) || !b.fragment(arrived) {
		return 0
	}
	return b.length(arrived)
}

// fragment says that an IPv4 packet is a part of one, because more fragments follow, or its offset isn't zero.
func (l layers) fragment(frame []byte) bool {
	return binary.BigEndian.Uint16(frame[l.network+6:])&0x3fff != 0
}

// differ is the first place at which two payloads differ, or -1 for none.
func differ(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// length is how long the IP packet says it is.
func (l layers) length(frame []byte) int {
	if l.version == 6 {
		return 40 + int(binary.BigEndian.Uint16(frame[l.network+4:]))
	}
	return int(binary.BigEndian.Uint16(frame[l.network+2:]))
}

// rightHeader says that the IPv4 header's checksum is right.
func (l layers) rightHeader(frame []byte) bool {
	return stream.FoldChecksum(stream.SumWords(frame[l.network:l.transport])) == 0xffff
}

// rightChecksum says that the UDP or TCP checksum is that of the frame, or none where UDP over IPv4 may have none.
func (l layers) rightChecksum(frame []byte) bool {
	if offset := l.transport + 6; l.protocol == protocolUDP && l.version == 4 && frame[offset] == 0 &&
		frame[offset+1] == 0 {
		return true
	}
	return stream.FoldChecksum(l.sumTransport(frame)) == 0xffff
}
