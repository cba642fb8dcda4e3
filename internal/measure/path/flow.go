package path

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Flow is what a device translates of a packet. Ports are 0 where the protocol has none.
type Flow struct {
	Protocol            byte
	Source, Destination netip.AddrPort
}

// FlowOf is the flow of the packet that a frame carries, the innermost of several. It is the zero Flow where the
// frame has no IP header.
func FlowOf(frame []byte) Flow {
	nested := nest(frame)
	if len(nested) == 0 {
		return Flow{}
	}
	return nested[len(nested)-1].flow(frame)
}

func (l layers) flow(frame []byte) Flow {
	offset, size := l.network+12, 4
	if l.version == 6 {
		offset, size = l.network+8, 16
	}
	f, ports := Flow{Protocol: l.protocol}, [2]uint16{}
	for i := range ports {
		if l.hasChecksum {
			ports[i] = binary.BigEndian.Uint16(frame[l.transport+2*i:])
		}
	}
	source, _ := netip.AddrFromSlice(frame[offset : offset+size]) // ipv4Layers and ipv6Layers saw a whole header
	destination, _ := netip.AddrFromSlice(frame[offset+size : offset+2*size])
	f.Source, f.Destination = netip.AddrPortFrom(source, ports[0]), netip.AddrPortFrom(destination, ports[1])
	return f
}

// Reversed is the flow of the answers.
func (f Flow) Reversed() Flow {
	return Flow{Protocol: f.Protocol, Source: f.Destination, Destination: f.Source}
}

// String is "16.0.0.1:1024 to 48.0.0.1:53".
func (f Flow) String() string { return end(f.Source) + " to " + end(f.Destination) }

// end is an end of a flow, without a port that the protocol doesn't have.
func end(a netip.AddrPort) string {
	if a.Port() == 0 {
		return a.Addr().String()
	}
	return a.String()
}

// Tunnels that are seen through.
const (
	protocolIPIP = 4
	protocolIPv6 = 41 // in another IP packet (RFC 2473, 4213)
	protocolGRE  = 47

	portVXLAN      = 4789
	portLinuxVXLAN = 8472 // of Linux, unless told
	vxlanHeader    = 8
)

// nest are the headers of a frame from the outermost packet to the innermost, through IPIP, GRE and VXLAN. It is
// empty where the frame has no IP header. What only looks like a tunnel isn't one: its packet has to fill it.
func nest(frame []byte) (nested []layers) {
	l, err := layersOf(frame)
	for err == nil && len(nested) < 4 {
		nested = append(nested, l)
		l, err = l.inside(frame)
	}
	return nested
}

// inside are the headers of the packet that a tunnel's packet carries.
func (l layers) inside(frame []byte) (inner layers, err error) {
	switch l.protocol {
	case protocolIPIP, protocolIPv6:
		inner, err = packetAt(frame, l.transport)
	case protocolGRE:
		inner, err = insideGRE(frame, l.transport)
	case protocolUDP:
		port := binary.BigEndian.Uint16(frame[l.transport+2:])
		isVXLAN := (port == portVXLAN || port == portLinuxVXLAN) && len(frame) > l.payload && frame[l.payload] == 8
		if !isVXLAN {
			return layers{}, errNoIP
		}
		inner, err = behindEthernet(frame, l.payload+vxlanHeader)
	default:
		return layers{}, errNoIP
	}
	if err == nil && inner.network+inner.length(frame) != l.end {
		return layers{}, errNoIP
	}
	return inner, err
}

// insideGRE reads a header of RFC 2784 and 2890.
func insideGRE(frame []byte, offset int) (layers, error) {
	if len(frame) < offset+4 {
		return layers{}, errNoIP
	}
	header := 4
	for _, flag := range []byte{0x80, 0x20, 0x10} { // checksum, key, sequence number
		if frame[offset]&flag != 0 {
			header += 4
		}
	}
	switch kind := binary.BigEndian.Uint16(frame[offset+2:]); kind {
	case 0x0800, 0x86dd:
		return packetAt(frame, offset+header)
	case 0x6558: // Ethernet
		return behindEthernet(frame, offset+header)
	}
	return layers{}, errNoIP
}

// behindEthernet finds the packet of a frame that begins at the offset.
func behindEthernet(frame []byte, offset int) (layers, error) {
	if len(frame) < offset+ethernetHeader {
		return layers{}, errNoIP
	}
	l, err := layersOf(frame[offset:])
	l.network, l.transport, l.payload, l.end = l.network+offset, l.transport+offset, l.payload+offset, l.end+offset
	return l, err
}

// packetAt are the headers of the IP packet that begins at the offset.
func packetAt(frame []byte, offset int) (layers, error) {
	if offset >= len(frame) {
		return layers{}, errNoIP
	}
	switch frame[offset] >> 4 {
	case 4:
		return ipv4Layers(frame, offset)
	case 6:
		return ipv6Layers(frame, offset)
	}
	return layers{}, errNoIP
}

// carrier are the headers of the packet that carries the probe's token in a frame that arrived, whatever is in front
// of it. The token stands where it stood in the probe, right behind the headers of the innermost packet, whose length
// and version a translator may have changed.
func (p Probe) carrier(frame []byte) (l layers, err error) {
	outer, errOuter := layersOf(frame)
	token := bytes.Index(frame, p.Token[:])
	if errOuter == nil && outer.payload == token {
		return outer, nil
	}
	nested := nest(p.Frame)
	if len(nested) == 0 || token < 0 {
		return outer, errOuter
	}
	sent := nested[len(nested)-1]
	for _, header := range []int{sent.transport - sent.network, 20, 40} {
		network := token - (sent.payload - sent.transport) - header
		if network < ethernetHeader {
			continue
		}
		if l, err := packetAt(frame, network); err == nil && l.payload == token {
			return l, nil
		}
	}
	return outer, errOuter
}

// tunnelName says what a packet is wrapped into, by the outermost header.
func tunnelName(frame []byte) string {
	l, err := layersOf(frame)
	if err != nil {
		kind := binary.BigEndian.Uint16(frame[12+4*tagsOf(frame):])
		if name, known := map[uint16]string{0x8847: "MPLS", 0x8864: "PPPoE"}[kind]; known {
			return name
		}
		return fmt.Sprintf("Ethernet type %#04x", kind)
	}
	if l.protocol == protocolUDP {
		port := binary.BigEndian.Uint16(frame[l.transport+2:])
		if name, known := map[uint16]string{portVXLAN: "VXLAN", portLinuxVXLAN: "VXLAN", 6081: "GENEVE",
			2152: "GTP-U"}[port]; known {
			return name
		}
		return fmt.Sprintf("UDP to port %d", port)
	}
	name, known := map[byte]string{protocolIPIP: "IPIP", protocolIPv6: "IPv6 in IP", protocolGRE: "GRE", 50: "ESP",
		115: "L2TP"}[l.protocol]
	if !known {
		return fmt.Sprintf("IP protocol %d", l.protocol)
	}
	return name
}

// tagsOf is how many VLAN tags a frame has.
func tagsOf(frame []byte) (n int) {
	for offset := 12; len(frame) >= offset+4 && isTag(binary.BigEndian.Uint16(frame[offset:])); offset += 4 {
		n++
	}
	return n
}

func isTag(kind uint16) bool { return kind == 0x8100 || kind == 0x88a8 }

// vlanOf is the outer VLAN of a frame, or 0 for untagged.
func vlanOf(frame []byte) uint16 {
	if tagsOf(frame) == 0 {
		return 0
	}
	return binary.BigEndian.Uint16(frame[14:]) & 0x0fff
}
