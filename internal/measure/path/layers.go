package path

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// errNoIP is the error of a frame without IP, as only IPv4 and IPv6 frames have a TTL to judge and a payload to
// mark.
var errNoIP = errors.New("it is neither IPv4 nor IPv6, or cut short: path checks need a whole IP header")

// layers are the offsets of a frame's headers.
type layers struct {
	version     int // 4 or 6
	network     int // the IP header
	transport   int
	protocol    byte
	payload     int
	end         int // of the IP packet, without padding
	hasChecksum bool
}

const (
	protocolTCP = 6
	protocolUDP = 17
)

// layersOf finds the headers behind Ethernet and any VLAN tags (IEEE 802.1Q, 802.1ad).
func layersOf(frame []byte) (layers, error) {
	offset := 12
	for {
		if len(frame) < offset+2 {
			return layers{}, errNoIP
		}
		switch binary.BigEndian.Uint16(frame[offset:]) {
		case 0x8100, 0x88a8:
			offset += 4
		case 0x0800:
			return ipv4Layers(frame, offset+2)
		case 0x86dd:
			return ipv6Layers(frame, offset+2)
		default:
			return layers{}, errNoIP
		}
	}
}

func ipv4Layers(frame []byte, offset int) (layers, error) {
	if len(frame) < offset+20 {
		return layers{}, errNoIP
	}
	header := int(frame[offset]&0x0f) * 4
	if header < 20 {
		return layers{}, errNoIP
	}
	l := layers{version: 4, network: offset, transport: offset + header, protocol: frame[offset+9], end: offset +
		int(binary.BigEndian.Uint16(frame[offset+2:]))}
	return l.withTransport(frame)
}

func ipv6Layers(frame []byte, offset int) (layers, error) {
	if len(frame) < offset+40 {
		return layers{}, errNoIP
	}
	l := layers{version: 6, network: offset, transport: offset + 40, protocol: frame[offset+6], end: offset + 40 +
		int(binary.BigEndian.Uint16(frame[offset+4:]))}
	return l.withTransport(frame)
}

// withTransport finds the payload. What is neither UDP nor TCP is marked right behind the IP header.
func (l layers) withTransport(frame []byte) (layers, error) {
	l.payload = l.transport
	switch l.protocol {
	case protocolUDP:
		l.payload += 8
		l.hasChecksum = true
	case protocolTCP:
		if len(frame) < l.transport+20 {
			return layers{}, errNoIP
		}
		header := int(frame[l.transport+12]>>4) * 4
		if header < 20 {
			return layers{}, errNoIP
		}
		l.payload += header
		l.hasChecksum = true
	}
	if l.payload > len(frame) {
		return layers{}, errNoIP
	}
	l.end = max(min(l.end, len(frame)), l.payload)
	return l, nil
}

func (l layers) ttlOffset() int {
	if l.version == 6 {
		return l.network + 7
	}
	return l.network + 8
}

// addressesOf are a frame's source and destination in its IP header.
func addressesOf(frame []byte) (addresses [2]netip.Addr, err error) {
	l, err := layersOf(frame)
	if err != nil {
		return addresses, err
	}
	offset, size := l.network+12, 4
	if l.version == 6 {
		offset, size = l.network+8, 16
	}
	for i := range addresses {
		addresses[i], _ = netip.AddrFromSlice(frame[offset+i*size : offset+(i+1)*size]) // layersOf saw a whole header
	}
	return addresses, nil
}

// sumErrors are the sums of a frame's checksums, 0xffff where they are right.
type sumErrors struct {
	header, transport uint16
	unset             bool // no UDP checksum, which IPv4 allows
}

// errors are those of the frame's IPv4 header and UDP or TCP checksum.
func (l layers) errors(frame []byte) sumErrors {
	e := sumErrors{header: stream.FoldChecksum(stream.SumWords(frame[l.network:l.transport]))}
	if l.hasChecksum {
		offset := l.checksumOffset()
		e.unset = l.protocol == protocolUDP && frame[offset] == 0 && frame[offset+1] == 0
		e.transport = stream.FoldChecksum(l.sumTransport(frame))
	}
	return e
}

// grow adds to the lengths that the headers say.
func (l layers) grow(frame []byte, bytes int) {
	longer := func(offset int) {
		binary.BigEndian.PutUint16(frame[offset:], binary.BigEndian.Uint16(frame[offset:])+uint16(bytes))
	}
	if l.version == 4 {
		longer(l.network + 2)
	} else {
		longer(l.network + 4)
	}
	if l.protocol == protocolUDP {
		longer(l.transport + 4)
	}
}

// keepErrors writes the checksums so that they add up to the same as before (RFC 1624).
func (l layers) keepErrors(frame []byte, errs sumErrors) {
	if l.version == 4 {
		putSum(frame[l.network+10:], errs.header,
			func() uint64 { return stream.SumWords(frame[l.network:l.transport]) })
	}
	if !l.hasChecksum || errs.unset {
		return
	}
	field := frame[l.checksumOffset():]
	putSum(field, errs.transport, func() uint64 { return l.sumTransport(frame) })
	if l.protocol == protocolUDP && field[0] == 0 && field[1] == 0 {
		field[0], field[1] = 0xff, 0xff // zero would mean none
	}
}

// putSum writes a checksum with which what it covers adds up to total.
func putSum(field []byte, total uint16, sum func() uint64) {
	binary.BigEndian.PutUint16(field, 0)
	rest := stream.FoldChecksum(sum())
	if total == 0xffff {
		binary.BigEndian.PutUint16(field, ^rest)
		return
	}
	binary.BigEndian.PutUint16(field, stream.FoldChecksum(uint64(total)+uint64(^rest)))
}

// checksumOffset is where the UDP or TCP checksum stands.
func (l layers) checksumOffset() int {
	if l.protocol == protocolTCP {
		return l.transport + 16
	}
	return l.transport + 6
}

// sumTransport adds up the UDP or TCP packet, checksum and all, and its pseudo header.
func (l layers) sumTransport(frame []byte) uint64 {
	addresses := frame[l.network+12 : l.network+20]
	if l.version == 6 {
		addresses = frame[l.network+8 : l.network+40]
	}
	return stream.SumWords(addresses) + uint64(l.protocol) + uint64(l.end-l.transport) +
		stream.SumWords(frame[l.transport:l.end])
}
