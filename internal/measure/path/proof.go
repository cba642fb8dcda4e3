package path

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// Arrival is a captured frame and where it was captured.
type Arrival struct {
	Generator string
	Port      int
	Bytes     []byte
}

// Judge says what became of one direction's probes among all frames that were captured on all ports. Frames without
// a token of these probes are other people's and don't count. retry says that frames are missing and nothing else
// is wrong. A device that is still resolving addresses drops the first ones, so it is worth another try.
//
// The device decides what must have become of the frames. Each of its routers takes one from their TTL, and NAT
// translates their addresses.
func Judge(d plan.Direction, device plan.DUT, probes []Probe, arrivals []Arrival) (c report.PathCheck, retry bool) {
	t := tally{direction: d, device: device, forwarding: device.Forwarding, sent: len(probes)}
	errors, marked := sorted(arrivals)
	for _, p := range probes {
		t.count(p, slices.Concat(errors, marked[p.Token]))
	}
	c = report.PathCheck{From: d.From, To: d.To, Sent: t.sent, Received: t.arrived}
	if f := t.fault(); f != nil {
		c.Message, c.Fault = f.message, &f.cause
	} else {
		c.Proven = true
		if t.sent > 0 {
			c.Learned = t.learned(probes[0].Lane)
		}
		c.Message = fmt.Sprintf("%d of %d frames on %s, source MAC %s, TTL %d%s", t.arrived, t.sent, d.To, t.source, t.ttl,
			SayLearned(c.Learned))
	}
	return c, t.arrived < t.sent && t.wrong() == nil && t.mayPass()
}

// sorted are the arrivals that may be ICMP errors, and the others by their tokens.
func sorted(arrivals []Arrival) (errors []Arrival, marked map[Token][]Arrival) {
	marked = map[Token][]Arrival{}
	for _, a := range arrivals {
		if l, err := layersOf(a.Bytes); err == nil && (l.protocol == protocolICMP || l.protocol == protocolICMPv6) {
			errors = append(errors, a)
		} else if token, ok := tokenOf(a.Bytes); ok {
			marked[token] = append(marked[token], a)
		}
	}
	return errors, marked
}

// fault is why a path isn't proven. The message has all that was seen, and the cause has what a sentence needs.
type fault struct {
	message string
	cause   report.Cause
}

// fault makes a fault of this direction, with the link that frames come from.
func (t *tally) faultOf(detail report.Detail, format string, values ...any) *fault {
	return &fault{fmt.Sprintf(format, values...),
		report.Cause{Detail: detail, Link: t.direction.From, Direction: t.direction.Name()}}
}

// towards names the link that frames go to, with the length of a frame that this packet needs.
func (f *fault) towards(link string, packetBytes int) *fault {
	f.cause.Link, f.cause.FrameBytes = link, packetBytes+ethernetHeader+units.FCSBytes
	return f
}

// ethernetHeader is how long an untagged frame is before its packet.
const ethernetHeader = 14

// tally counts what became of a direction's probes.
type tally struct {
	direction  plan.Direction
	device     plan.DUT
	forwarding plan.Forwarding // the device's
	sent       int

	arrived    int // on the right port, once or more
	bounced    int // on the port that sent them
	elsewhere  int // on another port
	elsewhereP string
	repeated   int
	turned     int // of those that bounced, which a router had changed
	untouched  int // MACs and TTL as sent, where the device should have changed them
	wrongTTL   int
	sawTTL     int
	wantTTL    int
	wrongMAC   int
	example    string
	macDetail  report.Detail
	otherMAC   engine.MAC // from which the device sends, beside its own
	otherHosts int        // between other addresses than the device makes of theirs
	otherHow   string
	spoiled    int // changed where no forwarding changes anything
	spoiledHow string
	spoiledBy  report.Detail
	source     engine.MAC
	ttl        int

	pieces int // frames that came as fragments
	piece  int // how long the IP packet of such a fragment is
	whole  int // of what was sent

	quoted    int // in errors that routers sent
	objection objection
	objected  Probe // the first that an error quotes
	missing   *Probe

	seen changes
}

func (t *tally) count(p Probe, arrivals []Arrival) {
	right, quoted := 0, 0
	for _, s := range arrivals {
		if o, ok := objectionTo(p.Frame, s.Bytes); ok {
			if quoted++; t.quoted == 0 {
				t.objection, t.objected = o, p
			}
			continue
		}
		if !carries(s.Bytes, p.Token) {
			continue
		}
		switch {
		case s.Generator == p.Lane.Receiver && s.Port == p.Lane.Receive:
			right++
			if right == 1 {
				t.inspect(p, s.Bytes)
			}
		case s.Generator == p.Lane.Generator && s.Port == p.Lane.Send:
			t.bounced++
			if !bytes.Equal(s.Bytes[:min(12, len(s.Bytes))], p.Frame[:12]) {
				t.turned++
			}
		default:
			t.elsewhere++
			t.elsewhereP = fmt.Sprintf("port %d of generator %s", s.Port, s.Generator)
		}
	}
	t.quoted += min(quoted, 1)
	switch {
	case right > 1:
		t.repeated++
		fallthrough
	case right > 0:
		t.arrived++
	case t.missing == nil:
		t.missing = &p
	}
}

// inspect judges a frame that arrived on the right port.
func (t *tally) inspect(p Probe, frame []byte) {
	destination, source := macs(frame)
	l, err := p.carrier(frame)
	if err != nil {
		t.wrongMAC++
		t.example = "no IP header any more; check what the device makes of them"
		t.macDetail = report.PayloadChanged
		return
	}
	t.source, t.ttl = source, int(frame[l.ttlOffset()])
	if t.forwarding == plan.AsConfigured {
		return
	}
	ttl := p.ttl()
	wasTo, wasFrom := macs(p.Frame)
	if t.forwarding != plan.L2 && source == wasFrom && destination == wasTo && t.ttl == ttl {
		t.untouched++
		return
	}
	t.learn(p, frame, l)
	if want := ttl - t.device.Routers(); t.ttl != want && !t.learnsTTL(ttl-t.ttl) {
		t.wrongTTL++
		t.sawTTL, t.wantTTL = t.ttl, want
	}
	if fault := t.macFault(p, destination, source); fault != "" {
		t.wrongMAC++
		t.example = fault
		if t.macDetail != report.UnknownSource {
			t.macDetail = report.OtherMACs
		}
	}
	if fault := t.translationFault(p.Frame, frame); fault != "" {
		t.otherHosts++
		t.otherHow = fault
	}
	if piece := pieceOf(p.Frame, frame); piece > 0 {
		t.pieces++
		t.piece, t.whole = piece, p.packetBytes()
		return
	}
	if fault, detail := contentFault(p, frame, l, t.device); fault != "" {
		t.spoiled++
		t.spoiledHow, t.spoiledBy = fault, detail
	}
}

// learnsTTL says that a device which changes frames may lower the TTL by so much. A router lowers it at least by one,
// unless it only wraps packets, and by dut.hops where that is written.
func (t *tally) learnsTTL(lower int) bool {
	return len(t.device.Changes) > 0 && t.forwarding == plan.L3 && t.device.Hops == 0 && (lower > 0 ||
		lower == 0 && t.device.MayChange(plan.Encapsulation))
}

// ttl is the time to live (hop limit) that the probe leaves with.
func (p Probe) ttl() int {
	nested := nest(p.Frame)
	if len(nested) == 0 {
		return 0
	}
	return int(p.Frame[nested[len(nested)-1].ttlOffset()])
}

// wrongHeader says that the probe's IPv4 header has a wrong checksum, as its stream's frames have.
func (p Probe) wrongHeader() bool {
	l, err := layersOf(p.Frame)
	return err == nil && l.version == 4 && !l.rightHeader(p.Frame)
}

// macFault says what is wrong with the addresses of a frame that arrived, or nothing.
func (t *tally) macFault(p Probe, destination, source engine.MAC) string {
	l := p.Lane
	wasTo, wasFrom := macs(p.Frame)
	switch {
	case t.forwarding == plan.L2 && t.seen.wrapped == 0 && (source != wasFrom || destination != wasTo):
		return fmt.Sprintf("source %s and destination %s instead of %s and %s; check which device forwards them",
			source, destination, wasFrom, wasTo)
	case t.forwarding == plan.L2 && t.seen.wrapped == 0:
		return ""
	case destination != l.ReceiverMAC:
		return fmt.Sprintf("destination MAC %s instead of the port's own %s; check which device forwards them",
			destination, l.ReceiverMAC)
	case source == wasFrom:
		return fmt.Sprintf("source MAC still the sender's %s; check which device forwards them", source)
	case t.forwarding == plan.L3 && l.DeviceMACAtEnd != "" && source != l.DeviceMACAtEnd &&
		!slices.Contains(l.OtherMACsAtEnd, source):
		t.macDetail, t.otherMAC = report.UnknownSource, source
		return fmt.Sprintf("source MAC %s instead of the device's %s; check which device forwards them: if it has both, as a VRRP router has, write dut.sourceMACs: [%s] of link %s", source, l.DeviceMACAtEnd, source, t.direction.To)
	}
	return ""
}

// translationFault says what is wrong with the IP addresses of a frame that arrived from a device that translates,
// or nothing.
func (t *tally) translationFault(sent, arrived []byte) string {
	if m := t.device.Mode(); m == nil || m.NAT == nil {
		return ""
	}
	sentPair, errWas := addressesOf(sent)
	arrivedPair, err := addressesOf(arrived)
	if errWas != nil || err != nil {
		return "no IP header"
	}
	if source, destination := t.device.Translated(t.direction, sentPair[0], sentPair[1]); source != arrivedPair[0] ||
		destination != arrivedPair[1] {
		return fmt.Sprintf("source %s and destination %s instead of %s and %s, of a frame sent from %s to %s",
			arrivedPair[0], arrivedPair[1], source, destination, sentPair[0], sentPair[1])
	}
	return ""
}
