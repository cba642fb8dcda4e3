package path

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// Seen is a captured frame and where it was captured.
type Seen struct {
	Generator string
	Port      int
	Bytes     []byte
}

// Judge says what became of one direction's probes among all frames that were captured on all ports meanwhile. Frames without a
// token of these probes are other people's and don't count. Again says that frames are missing and nothing else is wrong: a device
// that is still resolving addresses drops the first ones, so it is worth another try.
//
// The device says what must have become of the frames: each of its routers takes one from their TTL, and NAT translates their addresses.
func Judge(d plan.Direction, device plan.DUT, probes []Probe, seen []Seen) (c report.PathCheck, again bool) {
	t := tally{direction: d, device: device, forwarding: device.Forwarding, sent: len(probes)}
	for _, p := range probes {
		t.count(p, seen)
	}
	c = report.PathCheck{From: d.From, To: d.To, Sent: t.sent, Received: t.arrived}
	c.Message, c.Proven = t.verdict()
	return c, t.arrived < t.sent && t.wrong() == ""
}

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
	untouched  int // MACs and TTL as sent, where the device should have changed them
	wrongTTL   int
	sawTTL     int
	wrongMAC   int
	example    string
	otherHosts int // between other addresses than the device makes of theirs
	otherHow   string
	spoiled    int // changed where no forwarding changes anything
	spoiledHow string
	source     engine.MAC
	ttl        int
}

func (t *tally) count(p Probe, seen []Seen) {
	right := 0
	for _, s := range seen {
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
		default:
			t.elsewhere++
			t.elsewhereP = fmt.Sprintf("port %d of generator %s", s.Port, s.Generator)
		}
	}
	if right > 0 {
		t.arrived++
	}
	if right > 1 {
		t.repeated++
	}
}

// inspect judges a frame that arrived on the right port.
func (t *tally) inspect(p Probe, frame []byte) {
	destination, source := macs(frame)
	l, err := layersOf(frame)
	if err != nil {
		t.wrongMAC++
		t.example = "it is no IP frame any more"
		return
	}
	t.source, t.ttl = source, int(frame[l.ttlOffset()])
	if t.forwarding == plan.AsConfigured {
		return
	}
	if t.forwarding != plan.L2 && source == p.Lane.SenderMAC && destination == p.Lane.NextHopMAC && t.ttl == TTL {
		t.untouched++
		return
	}
	if t.ttl != t.expectedTTL() {
		t.wrongTTL++
		t.sawTTL = t.ttl
	}
	if why := t.macFault(p.Lane, destination, source); why != "" {
		t.wrongMAC++
		t.example = why
	}
	if why := t.translationFault(p.Frame, frame); why != "" {
		t.otherHosts++
		t.otherHow = why
	}
	if why := contentFault(p.Frame, frame); why != "" {
		t.spoiled++
		t.spoiledHow = why
	}
}

func (t *tally) expectedTTL() int { return TTL - t.device.Routers() }

// macFault says what is wrong with the addresses of a frame that arrived, or nothing.
func (t *tally) macFault(l Lane, destination, source engine.MAC) string {
	switch {
	case t.forwarding == plan.L2 && (source != l.SenderMAC || destination != l.NextHopMAC):
		return fmt.Sprintf("source %s and destination %s instead of %s and %s", source, destination, l.SenderMAC, l.NextHopMAC)
	case t.forwarding == plan.L2:
		return ""
	case destination != l.ReceiverMAC:
		return fmt.Sprintf("destination MAC %s instead of the port's own %s", destination, l.ReceiverMAC)
	case source == l.SenderMAC:
		return fmt.Sprintf("source MAC still the sender's %s", source)
	case t.forwarding == plan.L3 && l.DeviceMACAtEnd != "" && source != l.DeviceMACAtEnd:
		return fmt.Sprintf("source MAC %s instead of the device's %s", source, l.DeviceMACAtEnd)
	}
	return ""
}

// translationFault says what is wrong with the IP addresses of a frame that arrived from a device that translates, or nothing.
func (t *tally) translationFault(sent, arrived []byte) string {
	if m := t.device.Mode(); m == nil || m.NAT == nil {
		return ""
	}
	was, errWas := addressesOf(sent)
	is, err := addressesOf(arrived)
	if errWas != nil || err != nil {
		return "no IP header"
	}
	if source, destination := t.device.Translated(t.direction, was[0], was[1]); source != is[0] || destination != is[1] {
		return fmt.Sprintf("source %s and destination %s instead of %s and %s, of a frame sent from %s to %s", is[0], is[1], source, destination, was[0], was[1])
	}
	return ""
}

// verdict is the message with what was seen and what to check.
func (t *tally) verdict() (message string, proven bool) {
	if why := t.wrong(); why != "" {
		return why, false
	}
	from, to := t.direction.From, t.direction.To
	switch {
	case t.sent == 0:
		return fmt.Sprintf("no frame to send from %s: its streams hold no frame that can be marked", from), false
	case t.arrived == 0:
		return fmt.Sprintf("none of %d frames sent on %s arrived on %s or anywhere else; check that the device is up, forwards from %s to %s, "+
			"and has routes and neighbours for the networks behind %s", t.sent, from, to, from, to, to), false
	case t.arrived < t.sent:
		return fmt.Sprintf("%d of %d frames sent on %s arrived on %s; check the device's routes, filters and neighbours for all flows", t.arrived, t.sent, from, to), false
	}
	return fmt.Sprintf("%d of %d frames on %s, source MAC %s, TTL %d", t.arrived, t.sent, to, t.source, t.ttl), true
}

// wrong is the most telling thing that should not have been seen, or nothing.
func (t *tally) wrong() string {
	from, to := t.direction.From, t.direction.To
	switch {
	case t.bounced > 0:
		return fmt.Sprintf("%d of %d frames came back on %s, the port that sent them; check for a looped cable, or a device that sends back to where it came from",
			t.bounced, t.sent, from)
	case t.elsewhere > 0:
		return fmt.Sprintf("%d of %d frames sent on %s came out at %s instead of %s; check the cabling and the device's routes", t.elsewhere, t.sent, from, t.elsewhereP, to)
	case t.untouched > 0:
		return fmt.Sprintf("%d of %d frames arrived on %s with MACs and TTL untouched: they bypassed the device; check for a cable or a switch that joins %s and %s, or set forwarding: L2",
			t.untouched, t.sent, to, from, to)
	case t.repeated > 0:
		return fmt.Sprintf("%d of %d frames arrived on %s more than once; check for a loop or a second path between %s and %s", t.repeated, t.sent, to, from, to)
	case t.wrongTTL > 0:
		return fmt.Sprintf("%d of %d frames arrived on %s with TTL %d instead of %d (%s forwarding); check the device's mode, and that nothing else stands in the path",
			t.wrongTTL, t.sent, to, t.sawTTL, t.expectedTTL(), t.forwarding)
	case t.wrongMAC > 0:
		return fmt.Sprintf("%d of %d frames arrived on %s with %s; check which device forwards them", t.wrongMAC, t.sent, to, t.example)
	case t.otherHosts > 0:
		return fmt.Sprintf("%d of %d frames arrived on %s with %s; check how the device translates addresses", t.otherHosts, t.sent, to, t.otherHow)
	case t.spoiled > 0:
		return fmt.Sprintf("%d of %d frames arrived on %s with %s; check what the device makes of them: a LoadTest needs frames that come out as they went in (linerate ramp takes a device that changes them)", t.spoiled, t.sent, to, t.spoiledHow)
	}
	return ""
}
