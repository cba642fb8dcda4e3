package neighbor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

const (
	etherARP  = 0x0806
	etherIPv6 = 0x86dd
	etherVLAN = 0x8100
)

// Query asks who has Target.
type Query struct {
	SourceMAC net.HardwareAddr // the sender's
	Source    netip.Addr       // the sender's, of Target's family
	Target    netip.Addr
	VLAN      uint16 // 0 if untagged
}

// Frame is the request to send, without FCS.
func (q Query) Frame() ([]byte, error) {
	switch {
	case len(q.SourceMAC) != 6:
		return nil, fmt.Errorf("source MAC %q: six bytes are needed", q.SourceMAC)
	case !q.Source.IsValid() || !q.Target.IsValid():
		return nil, errors.New("a source and a target address are needed")
	case q.Source.Is4() != q.Target.Is4():
		return nil, fmt.Errorf("source %s and target %s: one is IPv4, the other IPv6", q.Source, q.Target)
	case q.Target.Is4():
		return q.arpRequest(), nil
	}
	return q.solicitation(), nil
}

// Answer reads the target's MAC from a received frame, if it is the answer to the query.
func (q Query) Answer(frame []byte) (net.HardwareAddr, bool) {
	source, kind, vlan, payload, ok := parseEthernet(frame)
	if !ok || vlan != q.VLAN {
		return nil, false
	}
	switch {
	case kind == etherARP && q.Target.Is4():
		return q.arpAnswer(payload)
	case kind == etherIPv6 && q.Target.Is6():
		return q.advertised(source, payload)
	}
	return nil, false
}

// ethernet is the header of a frame from SourceMAC.
func (q Query) ethernet(destination net.HardwareAddr, kind uint16) []byte {
	b := append(bytes.Clone(destination), q.SourceMAC...)
	if q.VLAN != 0 {
		b = binary.BigEndian.AppendUint16(b, etherVLAN)
		b = binary.BigEndian.AppendUint16(b, q.VLAN)
	}
	return binary.BigEndian.AppendUint16(b, kind)
}

// parseEthernet parses a frame with at most one VLAN tag.
func parseEthernet(b []byte) (source net.HardwareAddr, kind, vlan uint16, payload []byte, ok bool) {
	if len(b) < 14 {
		return nil, 0, 0, nil, false
	}
	source, kind, payload = net.HardwareAddr(b[6:12]), binary.BigEndian.Uint16(b[12:]), b[14:]
	if kind == etherVLAN {
		if len(payload) < 4 {
			return nil, 0, 0, nil, false
		}
		vlan, kind, payload = binary.BigEndian.Uint16(payload)&0x0fff, binary.BigEndian.Uint16(payload[2:]), payload[4:]
	}
	return source, kind, vlan, payload, true
}

// usable says whether a MAC can be a neighbour's own, and is neither a group address nor zero.
func usable(mac []byte) bool {
	return len(mac) == 6 && mac[0]&1 == 0 && !bytes.Equal(mac, make([]byte, 6))
}
