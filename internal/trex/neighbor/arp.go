package neighbor

import (
	"bytes"
	"encoding/binary"
	"net"
)

const (
	arpSize      = 28
	arpRequestOp = 1
	arpReplyOp   = 2
)

// arpHead is the fixed part of ARP for IPv4 over Ethernet: hardware and protocol types and sizes.
var arpHead = [6]byte{0, 1, 8, 0, 6, 4}

var broadcast = net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

func (q Query) arpRequest() []byte {
	b := q.ethernet(broadcast, etherARP)
	b = append(b, arpHead[:]...)
	b = binary.BigEndian.AppendUint16(b, arpRequestOp)
	b = append(append(b, q.SourceMAC...), q.Source.AsSlice()...)
	return append(append(b, make([]byte, 6)...), q.Target.AsSlice()...)
}

// arpAnswer accepts replies and, as RFC 826 does, also requests from the target: both have its MAC.
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
