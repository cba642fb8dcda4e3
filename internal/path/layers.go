package path

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/checksum"
)

// errNoIP: only IPv4 and IPv6 frames have a TTL to judge and a payload to mark.
var errNoIP = errors.New("it is neither IPv4 nor IPv6, or cut short: path checks need a whole IP header")

// layers are the offsets of a frame's headers.
type layers struct {
	version     int // 4 or 6
	network     int // the IP header
	transport   int
	protocol    byte
	payload     int
	end         int // of the IP packet; behind it is padding
	hasChecksum bool
}

const (
	protocolTCP = 6
	protocolUDP = 17
)

// layersOf finds the headers behind Ethernet and any VLAN tags (IEEE 802.1Q, 802.1ad).
func layersOf(frame []byte) (layers, error) {
	at := 12
	for {
		if len(frame) < at+2 {
			return layers{}, errNoIP
		}
		switch binary.BigEndian.Uint16(frame[at:]) {
		case 0x8100, 0x88a8:
			at += 4
		case 0x0800:
			return ipv4Layers(frame, at+2)
		case 0x86dd:
			return ipv6Layers(frame, at+2)
		default:
			return layers{}, errNoIP
		}
	}
}

func ipv4Layers(frame []byte, at int) (layers, error) {
	if len(frame) < at+20 {
		return layers{}, errNoIP
	}
	header := int(frame[at]&0x0f) * 4
	if header < 20 {
		return layers{}, errNoIP
	}
	l := layers{version: 4, network: at, transport: at + header, protocol: frame[at+9], end: at + int(binary.BigEndian.Uint16(frame[at+2:]))}
	return l.withTransport(frame)
}

func ipv6Layers(frame []byte, at int) (layers, error) {
	if len(frame) < at+40 {
		return layers{}, errNoIP
	}
	l := layers{version: 6, network: at, transport: at + 40, protocol: frame[at+6], end: at + 40 + int(binary.BigEndian.Uint16(frame[at+4:]))}
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
func addressesOf(frame []byte) (both [2]netip.Addr, err error) {
	l, err := layersOf(frame)
	if err != nil {
		return both, err
	}
	at, size := l.network+12, 4
	if l.version == 6 {
		at, size = l.network+8, 16
	}
	for i := range both {
		both[i], _ = netip.AddrFromSlice(frame[at+i*size : at+(i+1)*size]) // layersOf saw a whole header
	}
	return both, nil
}

func (l layers) setTTL(frame []byte, ttl byte) { frame[l.ttlOffset()] = ttl }

// mend writes the lengths that follow from the frame's end, and the checksums.
func (l layers) mend(frame []byte) {
	be := binary.BigEndian
	if l.version == 4 {
		be.PutUint16(frame[l.network+2:], uint16(l.end-l.network))
		be.PutUint16(frame[l.network+10:], 0)
		be.PutUint16(frame[l.network+10:], ^checksum.Fold(checksum.Sum(frame[l.network:l.transport])))
	} else {
		be.PutUint16(frame[l.network+4:], uint16(l.end-l.transport))
	}
	if l.protocol == protocolUDP {
		be.PutUint16(frame[l.transport+4:], uint16(l.end-l.transport))
	}
	if l.hasChecksum {
		l.mendTransport(frame)
	}
}

// mendTransport computes the UDP or TCP checksum over the pseudo header (RFC 768, RFC 9293, RFC 8200).
func (l layers) mendTransport(frame []byte) {
	at := l.transport + 6
	if l.protocol == protocolTCP {
		at = l.transport + 16
	}
	binary.BigEndian.PutUint16(frame[at:], 0)
	c := ^checksum.Fold(l.sumTransport(frame))
	if c == 0 && l.protocol == protocolUDP {
		c = 0xffff // zero would mean none
	}
	binary.BigEndian.PutUint16(frame[at:], c)
}

// sumTransport adds up the UDP or TCP packet, checksum and all, and its pseudo header.
func (l layers) sumTransport(frame []byte) uint64 {
	addresses := frame[l.network+12 : l.network+20]
	if l.version == 6 {
		addresses = frame[l.network+8 : l.network+40]
	}
	return checksum.Sum(addresses) + uint64(l.protocol) + uint64(l.end-l.transport) + checksum.Sum(frame[l.transport:l.end])
}
