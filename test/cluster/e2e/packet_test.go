//go:build full

package e2e

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"time"
)

// packet is a UDP packet over IPv4 that entered a wire, with its frame's addresses.
type packet struct {
	source, destination net.HardwareAddr
	from, to            netip.AddrPort
	ttl                 byte
	payload             []byte
}

// hear waits until a test's load is on the first of these wires, and then overhears so many frames of each, one wire after another. It returns the UDP packets among them.
func (s *scene) hear(frames int, wires ...string) map[string][]packet {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), 30*time.Second)
	defer stop()
	for flows := map[netip.AddrPort]bool{}; len(flows) < 50 && ctx.Err() == nil; { // those who prove the path speak to one host in each direction
		for _, p := range s.overhear(ctx, wires[0], 100) {
			flows[p.to] = true
		}
	}
	heard := map[string][]packet{}
	for _, wire := range wires {
		heard[wire] = s.overhear(ctx, wire, frames)
	}
	return heard
}

func (s *scene) overhear(ctx context.Context, wire string, frames int) (heard []packet) {
	s.Helper()
	if wire == "west" || wire == "east" {
		wire = s.on(wire)
	}
	all, err := lab.Fabric.Overhear(ctx, wire, frames)
	if err != nil {
		s.Error(err)
	}
	for _, frame := range all {
		if p, is := packetOf(frame); is {
			heard = append(heard, p)
		}
	}
	return heard
}

// packetOf reads a frame; false: it is none of UDP over IPv4, or a fragment.
func packetOf(frame []byte) (p packet, is bool) {
	const ethernet, header, udp = 14, 20, 8
	if len(frame) < ethernet+header+udp || binary.BigEndian.Uint16(frame[12:]) != 0x0800 || frame[ethernet] != 0x45 || frame[ethernet+9] != 17 || binary.BigEndian.Uint16(frame[ethernet+6:])&0x3fff != 0 {
		return packet{}, false
	}
	ip := frame[ethernet:]
	end := int(binary.BigEndian.Uint16(ip[2:]))
	if end < header+udp || end > len(ip) {
		return packet{}, false
	}
	address := func(at, port int) netip.AddrPort {
		a, _ := netip.AddrFromSlice(ip[at : at+4]) // it has four bytes
		return netip.AddrPortFrom(a, binary.BigEndian.Uint16(ip[port:]))
	}
	return packet{source: frame[6:12], destination: frame[:6], from: address(12, header), to: address(16, header+2), ttl: ip[8], payload: ip[header+udp : end]}, true
}
