package neighbor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

const (
	ipv6Header         = 40
	protocolICMPv6     = 58
	hopLimit           = 255 // a lower one comes from beyond the link (RFC 4861, 7.1)
	typeSolicitation   = 135
	typeAdvertisement  = 136
	optionSourceMAC    = 1
	optionTargetMAC    = 2
	flagSolicited      = 0x40
	flagOverride       = 0x20
	advertisementFixed = 24 // type, code, checksum, flags, target
)

// solicitation is sent to the target's solicited-node group (RFC 4291, 2.7.1), with the sender's MAC as option,
// so that the target needn't solicit it.
func (q Query) solicitation() []byte {
	target := q.Target.As16()
	group := netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 11: 1, 12: 0xff, 13: target[13], 14: target[14],
		15: target[15]})
	message := []byte{typeSolicitation, 0, 0, 0, 0, 0, 0, 0}
	message = append(message, target[:]...)
	message = append(append(message, optionSourceMAC, 1), q.SourceMAC...)
	binary.BigEndian.PutUint16(message[2:], checksumOf(q.Source, group, message))

	return q.icmpv6(net.HardwareAddr{0x33, 0x33, 0xff, target[13], target[14], target[15]}, group, message)
}

// Advertisement tells the target at targetMAC that the source address is at SourceMAC, without being asked, for IPv6
// only. It claims to be an answer (it is solicited), which renews the target's entry as an answer would. An
// unsolicited advertisement only makes the target probe (RFC 4861, 7.2.5).
func (q Query) Advertisement(targetMAC net.HardwareAddr) ([]byte, error) {
	if _, err := q.Frame(); err != nil {
		return nil, err
	}
	if q.Target.Is4() || !usable(targetMAC) {
		return nil, fmt.Errorf("advertise %s to %s at %s: IPv6 addresses and a MAC of one station are needed", q.Source,
			q.Target, targetMAC)
	}
	message := []byte{typeAdvertisement, 0, 0, 0, flagSolicited | flagOverride, 0, 0, 0}
	message = append(message, q.Source.AsSlice()...)
	message = append(append(message, optionTargetMAC, 1), q.SourceMAC...)
	binary.BigEndian.PutUint16(message[2:], checksumOf(q.Source, q.Target, message))
	return q.icmpv6(targetMAC, q.Target, message), nil
}

// icmpv6 is the frame around a message that has its checksum.
func (q Query) icmpv6(mac net.HardwareAddr, destination netip.Addr, message []byte) []byte {
	b := q.ethernet(mac, etherIPv6)
	b = append(b, 0x60, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(len(message)))
	b = append(b, protocolICMPv6, hopLimit)
	b = append(append(b, q.Source.AsSlice()...), destination.AsSlice()...)
	return append(b, message...)
}

// advertised reads the MAC from the target's advertisement. Without the option, it is the frame's Ethernet source.
func (q Query) advertised(source net.HardwareAddr, b []byte) (net.HardwareAddr, bool) {
	message, ok := icmpv6(b)
	if !ok || len(message) < advertisementFixed || message[0] != typeAdvertisement || message[1] != 0 {
		return nil, false
	}
	target := q.Target.As16()
	if !bytes.Equal(message[8:24], target[:]) {
		return nil, false
	}
	mac, ok := targetMAC(message[advertisementFixed:], source)
	if !ok || !usable(mac) {
		return nil, false
	}
	return bytes.Clone(mac), true
}

// icmpv6 checks an IPv6 packet as RFC 4861, 7.1.2 demands and returns its ICMPv6 message.
func icmpv6(b []byte) ([]byte, bool) {
	if len(b) < ipv6Header || b[0]>>4 != 6 || b[6] != protocolICMPv6 || b[7] != hopLimit {
		return nil, false
	}
	size := int(binary.BigEndian.Uint16(b[4:]))
	if len(b) < ipv6Header+size {
		return nil, false
	}
	message := b[ipv6Header : ipv6Header+size]
	source, destination := netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
	return message, checksumOf(source, destination, message) == 0
}

// targetMAC walks the options, whose lengths count in units of 8 bytes.
func targetMAC(options []byte, fallback net.HardwareAddr) (net.HardwareAddr, bool) {
	for len(options) > 0 {
		if len(options) < 8 {
			return nil, false
		}
		size := int(options[1]) * 8
		if size == 0 || size > len(options) {
			return nil, false
		}
		if options[0] == optionTargetMAC {
			return net.HardwareAddr(options[2:8]), true
		}
		options = options[size:]
	}
	return fallback, true
}

// checksumOf is ICMPv6's checksum over message and pseudo-header (RFC 4443, 2.3). It is 0 over a message that carries
// its own.
func checksumOf(source, destination netip.Addr, message []byte) uint16 {
	return ^stream.FoldChecksum(uint64(len(message)) + protocolICMPv6 + stream.SumWords(source.AsSlice()) +
		stream.SumWords(destination.AsSlice()) + stream.SumWords(message))
}
