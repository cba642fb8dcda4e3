package neighbor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
)

const (
	arpSize      = 28
	arpRequestOp = 1
	arpReplyOp   = 2
)

// arpHead is the fixed part of ARP for IPv4 over Ethernet, with hardware and protocol types and sizes.
var arpHead = [6]byte{0, 1, 8, 0, 6, 4}

var broadcast = net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

func (q Query) arpRequest() []byte { return q.arp(broadcast, arpRequestOp, make([]byte, 6)) }

// Reply is an unrequested ARP reply, which tells the target at targetMAC that Source is at SourceMAC. A host that
// knows the source already takes the reply for an answer, and doesn't ask for as long as an answer holds. Linux does
// so where the reply comes to its own MAC.
func (q Query) Reply(targetMAC net.HardwareAddr) ([]byte, error) {
	if _, err := q.Frame(); err != nil {
		return nil, err
	}
	if len(targetMAC) != 6 || !q.Target.Is4() {
		return nil, fmt.Errorf("ARP to %s at %q: an IPv4 address and a MAC are needed", q.Target, targetMAC)
	}
	return q.arp(targetMAC, arpReplyOp, targetMAC), nil
}

func (q Query) arp(destination net.HardwareAddr, op uint16, target net.HardwareAddr) []byte {
	b := q.ethernet(destination, etherARP)
	b = append(b, arpHead[:]...)
	b = binary.BigEndian.AppendUint16(b, op)
	b = append(append(b, q.SourceMAC...), q.Source.AsSlice()...)
	return append(append(b, target...), q.Target.AsSlice()...)
}

// arpAnswer accepts replies and, as RFC 826 does, also requests from the target, as both have its MAC.
func (q Query) arpAnswer(b []byte) (net.HardwareAddr, bool) {
	if len(b) < arpSize || !bytes.Equal(b[:6], arpHead[:]) {
		return nil, false
	}
	op, sender, address := binary.BigEndian.Uint16(b[6:]), b[8:14], b[14:18]
	if op != arpRequestOp && op != arpReplyOp || !bytes.Equal(address, q.Target.AsSlice()) || !usable(sender) {
		return nil, false
	}
	return bytes.Clone(sender), true
}
