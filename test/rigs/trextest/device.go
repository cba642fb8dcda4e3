package trextest

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
)

// device is the device behind the ports, which returns frames by receive.
type device struct {
	ports   map[int]*port
	receive func(port int, frame []byte)
}

// handle answers a frame that asks for one of the device's addresses, or routes the frame. Where the neighbor is the
// port to which the frames go, there is no device.
func (d device) handle(p *port, frame []byte) {
	if p.linkDown || p.Neighbor == "" || len(frame) < 14 {
		return
	}
	if target, ok := d.ports[p.ForwardsTo]; ok && p.Neighbor == target.MAC { // a cable
		d.receive(target.Index, frame)
		return
	}
	mac, err := net.ParseMAC(p.Neighbor)
	if err != nil {
		return
	}
	switch binary.BigEndian.Uint16(frame[12:]) {
	case 0x0806:
		d.answerARP(p, frame, mac)
	case 0x86dd:
		d.answerSolicitation(p, frame, mac)
	case 0x0800:
		d.route(p, frame, mac)
	}
}

func (d device) answerARP(p *port, frame []byte, mac net.HardwareAddr) {
	if len(frame) < 42 || frame[21] != 1 || !slices.Contains(p.Addresses, netip.AddrFrom4([4]byte(frame[38:42]))) {
		return
	}
	reply := slices.Concat(frame[6:12], mac, []byte{8, 6, 0, 1, 8, 0, 6, 4, 0, 2}, mac, frame[38:42],
		frame[22:32])
	d.receive(p.Index, reply)
}

func (d device) answerSolicitation(p *port, frame []byte, mac net.HardwareAddr) {
	if len(frame) < 86 || frame[54] != 135 || !slices.Contains(p.Addresses, netip.AddrFrom16([16]byte(frame[62:78]))) {
		return
	}
	target, asker := frame[62:78], frame[22:38]
	message := slices.Concat([]byte{136, 0, 0, 0, 0x60, 0, 0, 0}, target, []byte{2, 1}, mac)
	header := slices.Concat([]byte{0x60, 0, 0, 0, 0, byte(len(message)), 58, 255}, target, asker)
	sum := onesComplement(slices.Concat(header[8:40], []byte{0, 0, 0, byte(len(message)), 0, 0, 0, 58}, message))
	binary.BigEndian.PutUint16(message[2:], sum)
	d.receive(p.Index, slices.Concat(frame[6:12], mac, []byte{0x86, 0xdd}, header, message))
}

// route returns the frame on the other link, if it was addressed to the device and has hops left.
func (d device) route(p *port, frame []byte, mac net.HardwareAddr) {
	target, ok := d.ports[p.ForwardsTo]
	if !ok || len(frame) < 34 || !slices.Equal(frame[:6], []byte(mac)) || frame[22] < 2 {
		return
	}
	forwarded := slices.Clone(frame)
	toMAC, err1 := net.ParseMAC(target.MAC)
	fromMAC, err2 := net.ParseMAC(target.Neighbor)
	if err1 != nil || err2 != nil {
		return
	}
	copy(forwarded, toMAC)
	copy(forwarded[6:], fromMAC)
	forwarded[22]--
	forwarded[24], forwarded[25] = 0, 0
	binary.BigEndian.PutUint16(forwarded[24:], onesComplement(forwarded[14:34]))
	d.receive(target.Index, forwarded)
}

// onesComplement is the Internet checksum (RFC 1071) of an even number of bytes.
func onesComplement(b []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
