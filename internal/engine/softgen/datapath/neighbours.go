package datapath

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
)

// neighbours are the addresses that a port answers for, and the VLAN it does so in.
type neighbours struct {
	mac   [6]byte
	local []netip.Addr
	vlan  uint16
}

var broadcast = [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// ARP operations (RFC 826).
const (
	arpRequest = 1
	arpReply   = 2
)

// ICMPv6 flags and options of neighbour discovery (RFC 4861).
const (
	flagSolicited   = 0x40
	flagOverride    = 0x20
	optionTargetMAC = 2
)

// reply returns the answer to an ARP request or a neighbour solicitation for one of the addresses. It returns
// nil for any other frame.
func (n *neighbours) reply(frame []byte) []byte {
	vlan, payload, kind := untag(frame)
	if vlan != n.vlan {
		return nil
	}
	switch {
	case kind == etherARP && len(payload) >= 28 && binary.BigEndian.Uint16(payload[6:]) == arpRequest:
		target := netip.AddrFrom4([4]byte(payload[24:28]))
		if slices.Contains(n.local, target) {
			return n.arp(arpReply, [6]byte(payload[8:14]), target, netip.AddrFrom4([4]byte(payload[14:18])))
		}
	case kind == etherIPv6 && len(payload) >= 64 && payload[6] == icmpv6 && payload[40] == neighbourSolicitation:
		target := netip.AddrFrom16([16]byte(payload[48:64]))
		if slices.Contains(n.local, target) {
			return n.advertise([6]byte(frame[6:12]), target, netip.AddrFrom16([16]byte(payload[8:24])),
				flagSolicited|flagOverride)
		}
	}
	return nil
}

// announcements returns a gratuitous ARP request or an unsolicited neighbour advertisement for each address.
func (n *neighbours) announcements() [][]byte {
	var frames [][]byte
	for _, a := range n.local {
		if a.Is4() {
			frames = append(frames, n.arp(arpRequest, broadcast, a, a))
			continue
		}
		allNodes := [6]byte{0x33, 0x33, 0, 0, 0, 1}
		frames = append(frames, n.advertise(allNodes, a, netip.IPv6LinkLocalAllNodes(), flagOverride))
	}
	return frames
}

func (n *neighbours) arp(operation uint16, destination [6]byte, sender, target netip.Addr) []byte {
	b := n.header(destination, etherARP)
	b = append(b, 0, 1, 8, 0, 6, 4)
	b = binary.BigEndian.AppendUint16(b, operation)
	b = append(append(b, n.mac[:]...), sender.AsSlice()...)
	targetMAC := destination
	if operation == arpRequest {
		targetMAC = [6]byte{}
	}
	b = append(append(b, targetMAC[:]...), target.AsSlice()...)
	return padded(b)
}

// advertise returns a neighbour advertisement of the target. Duplicate address detection solicits from the
// unspecified address, and an advertisement to that address goes to all nodes.
func (n *neighbours) advertise(destination [6]byte, target, receiver netip.Addr, flags byte) []byte {
	if receiver.IsUnspecified() {
		destination, receiver, flags = [6]byte{0x33, 0x33, 0, 0, 0, 1}, netip.IPv6LinkLocalAllNodes(), flagOverride
	}
	b := n.header(destination, etherIPv6)
	network := len(b)
	b = append(b, 0x60, 0, 0, 0, 0, 32, icmpv6, 255)
	b = append(append(b, target.AsSlice()...), receiver.AsSlice()...)
	b = append(b, neighbourAdvertised, 0, 0, 0, flags, 0, 0, 0)
	b = append(append(b, target.AsSlice()...), optionTargetMAC, 1)
	b = append(b, n.mac[:]...)
	fieldengine.FixTransport(b, network)
	return padded(b)
}

func (n *neighbours) header(destination [6]byte, kind uint16) []byte {
	b := append(append(make([]byte, 0, 128), destination[:]...), n.mac[:]...)
	if n.vlan != 0 {
		b = binary.BigEndian.AppendUint16(b, etherVLAN)
		b = binary.BigEndian.AppendUint16(b, n.vlan)
	}
	return binary.BigEndian.AppendUint16(b, kind)
}

func padded(b []byte) []byte {
	for len(b) < fieldengine.MinFrame {
		b = append(b, 0)
	}
	return b
}

// untag returns the frame's VLAN (0 without a tag), its payload behind the Ethernet header, and its Ethernet type.
func untag(frame []byte) (vlan uint16, payload []byte, kind uint16) {
	if len(frame) < 18 {
		return 0, nil, 0
	}
	kind = binary.BigEndian.Uint16(frame[12:])
	if kind != etherVLAN {
		return 0, frame[14:], kind
	}
	return binary.BigEndian.Uint16(frame[14:]) & 0xfff, frame[18:], binary.BigEndian.Uint16(frame[16:])
}
