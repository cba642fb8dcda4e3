package path

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// objection is what a router said of a frame that it did not forward, by an ICMP or ICMPv6 error that quotes the frame.
type objection struct {
	source netip.Addr // who says so
	name   string     // the error's, as in RFC 792 and 4443
	reason objectionReason
	mtu    int        // of tooBig, or 0 where the error doesn't say
	hop    netip.Addr // of redirected
}

// objectionReason is what an error means to a test.
type objectionReason int

const (
	otherReason objectionReason = iota
	noRoute
	noNeighbour
	prohibited
	timeExceeded
	tooBig
	itsOwn
	badHeader
	redirected
)

const (
	protocolICMP   = 1
	protocolICMPv6 = 58
	icmpHeader     = 8 // before the quoted packet, in both versions
	leastQuote     = 8 // bytes behind the quoted IP header (RFC 792)
)

// objectionTo reads an error that quotes the probe. It returns false where the frame is no such error.
//
//	│ MACs │ IP: router → sender │ type, code, checksum, MTU or gateway │ IP: sender → destination │ its first 8 bytes or more │
func objectionTo(sent, frame []byte) (o objection, found bool) {
	l, err := layersOf(frame)
	if err != nil || len(frame) < l.transport+icmpHeader {
		return objection{}, false
	}
	ok := false
	switch header := frame[l.transport:]; {
	case l.version == 4 && l.protocol == protocolICMP:
		o, ok = readICMP(header)
	case l.version == 6 && l.protocol == protocolICMPv6:
		o, ok = readICMPv6(header)
	}
	if !ok || !quotes(frame[l.transport+icmpHeader:], sent) {
		return objection{}, false
	}
	addresses, _ := addressesOf(frame) // layersOf saw a whole header
	o.source = addresses[0]
	return o, true
}

// quotes says that an error's quote is of the packet that was sent, with the same addresses, protocol and first
// bytes behind the header. A router has changed the quoted TTL and header checksum, and a translator perhaps more,
// which then is no quote of this packet.
func quotes(quote, sent []byte) bool {
	l, err := layersOf(sent)
	if err != nil {
		return false
	}
	quoted := sent[l.network:l.end]
	header, protocol, source, target := l.transport-l.network, 9, 12, 20
	if l.version == 6 {
		protocol, source, target = 6, 8, 40
	}
	if len(quote) < header+leastQuote || len(quoted) < header+leastQuote || quote[0] != quoted[0] {
		return false
	}
	return quote[protocol] == quoted[protocol] && bytes.Equal(quote[source:target], quoted[source:target]) &&
		bytes.Equal(quote[header:header+leastQuote], quoted[header:header+leastQuote])
}

// readICMP reads an error's type and code (RFC 792, 1122, 1191, 1812).
func readICMP(header []byte) (o objection, ok bool) {
	code := header[1]
	switch header[0] {
	case 3:
		o = unreachable(code)
		if o.reason == tooBig {
			o.mtu = int(binary.BigEndian.Uint16(header[6:]))
		}
	case 4:
		o = objection{name: "source quench"}
	case 5:
		o = objection{name: "redirect", reason: redirected}
		o.hop, _ = netip.AddrFromSlice(header[4:8])
	case 11:
		o = objection{name: "time exceeded", reason: timeExceeded}
	case 12:
		o = objection{name: "parameter problem", reason: badHeader}
	default:
		return o, false
	}
	return o, true
}

func unreachable(code byte) objection {
	switch code {
	case 0, 6, 11:
		return objection{name: "network unreachable", reason: noRoute}
	case 1, 7, 12:
		return objection{name: "host unreachable", reason: noNeighbour}
	case 2:
		return objection{name: "protocol unreachable", reason: itsOwn}
	case 3:
		return objection{name: "port unreachable", reason: itsOwn}
	case 4:
		return objection{name: "fragmentation needed", reason: tooBig}
	case 9, 10, 13:
		return objection{name: "administratively prohibited", reason: prohibited}
	}
	return objection{name: fmt.Sprintf("destination unreachable (code %d)", code)}
}

// readICMPv6 reads an error's type and code (RFC 4443). A redirect (RFC 4861) quotes the packet in an option, and
// is not read.
func readICMPv6(header []byte) (o objection, ok bool) {
	switch header[0] {
	case 1:
		o = unreachable6(header[1])
	case 2:
		o = objection{name: "packet too big", reason: tooBig, mtu: int(binary.BigEndian.Uint32(header[4:]))}
	case 3:
		o = objection{name: "time exceeded", reason: timeExceeded}
	case 4:
		o = objection{name: "parameter problem", reason: badHeader}
	default:
		return o, false
	}
	return o, true
}

func unreachable6(code byte) objection {
	switch code {
	case 0, 6:
		return objection{name: "no route to destination", reason: noRoute}
	case 1, 5:
		return objection{name: "administratively prohibited", reason: prohibited}
	case 3:
		return objection{name: "address unreachable", reason: noNeighbour}
	case 4:
		return objection{name: "port unreachable", reason: itsOwn}
	}
	return objection{name: fmt.Sprintf("destination unreachable (code %d)", code)}
}

// fault explains what the error means for frames from one link to another, and what mends it.
func (o objection) fault(t *tally, p Probe, frames int) *fault {
	version, destination, ttl := "ICMP", netip.Addr{}, 0
	if l, err := layersOf(p.Frame); err == nil {
		addresses, _ := addressesOf(p.Frame)
		destination, ttl = addresses[1], int(p.Frame[l.ttlOffset()])
		if l.version == 6 {
			version = "ICMPv6"
		}
	}
	f := o.meaning(t, p, destination, ttl)
	f.message = fmt.Sprintf("%s answered %d with %s %q: %s", o.source, frames, version, o.name, f.message)
	f.cause.Address = destination.String()
	return f
}

func (o objection) meaning(t *tally, p Probe, destination netip.Addr, ttl int) *fault {
	from, to := t.direction.From, t.direction.To
	switch o.reason {
	case noRoute:
		return t.faultOf(report.NoRoute, "it has no route to %s; give it one that leads to link %s (linerate "+
			"routes FILE prints it)", destination, to).
			towards(to, p.packetBytes())
	case noNeighbour:
		return t.faultOf(report.NoNeighbour, "it has a route to %s, and nobody answers for the next hop; check that the "+
			"route's next hop is the generator's address on link %s", destination, to).towards(to, p.packetBytes())
	case prohibited:
		return t.faultOf(report.Prohibited, "a filter or a route of it forbids frames to %s; allow them from link %s to "+
			"link %s", destination, from, to)
	case timeExceeded:
		return t.faultOf(report.TTLTooSmall, "the frames leave with TTL %d, which ends there; send them with a larger "+
			"one, or check for a routing loop", ttl)
	case tooBig:
		limit := "less"
		if o.mtu > 0 {
			limit = fmt.Sprintf("at most %d bytes", o.mtu)
		}
		return t.faultOf(report.PacketTooBig, "an IP packet of %d bytes doesn't fit, its MTU towards %s takes %s; raise "+
			"it, or send smaller frames", p.packetBytes(), to, limit).towards(to, p.packetBytes())
	case itsOwn:
		return t.faultOf(report.OwnAddress, "%s is an address of its own, or a filter rejects the frames; send to hosts "+
			"behind link %s, or allow them", destination, to).towards(to, p.packetBytes())
	case badHeader:
		return t.faultOf(report.BadHeader, "it doesn't understand the frames' headers; check the streams")
	case redirected:
		return t.faultOf(report.RoutedBack, "its route to %s leads by %s, back to link %s where the frames come from; "+
			"check its routes, and that the generator's ports aren't swapped", destination, o.hop, from)
	case otherReason:
	}
	return t.faultOf(report.Refused, "it doesn't forward frames to %s", destination)
}

// packetBytes is how long the probe's IP packet is.
func (p Probe) packetBytes() int {
	l, err := layersOf(p.Frame)
	if err != nil {
		return 0
	}
	return l.length(p.Frame)
}
