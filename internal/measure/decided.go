package measure

import (
	"cmp"
	"fmt"
	"math/bits"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Stop ends a trial before its time. More than Limit of all frames that a direction is to send in Planned are
// surely lost, so that the rest of the trial can't change that.
//
//	planned   ├──────────────────────────────────────────────────────────┤ 100 %
//	sent      ├──────────────────┤ ended
//	lost      ├─┤ more than Above of what was planned
type Stop struct {
	Planned time.Duration
	Limit   units.Ratio
}

// Decided says whether a running trial, whose span has a Stop, may be ended. It may where some judged direction
// surely lost more than the Stop's Limit, and neither the generator's way of sending nor the machine that plays the
// device explains the loss. Frames sent longer ago than flight count as back or lost. A generator that is too slow
// decides nothing, and nothing is decided while no frame comes back, because a slow path, or a device that pauses,
// shows silence too, even after traffic was stopped. Whether flight was long enough is known only when counters
// stand still after the stop.
//
//	sent      ├──────────────────────┤ flight ├ now     lost: what was sent until then, and has not come back until now
//	returned  ├────────── · · · · · · · · · · ┤
func (s Setup) Decided(span Span, flight time.Duration) bool {
	if span.fault(s.Directions) != "" {
		return false
	}
	var lossy []int
	for i, d := range s.Directions {
		if span.judges(d) && comesBack(d, span) && exceeds(s.lostInFlight(i, span, flight), framesIn(span.intended(i),
			span.Stopped.Planned), span.Stopped.Limit) {
			lossy = append(lossy, i)
		}
	}
	if len(lossy) == 0 {
		return false
	}
	judged := Judge(s.Window(span), Goal{MaxLossRatio: span.Stopped.Limit})
	for _, i := range lossy {
		if e := judged.Evidence.Directions[i]; judged.Directions[i].Quality == report.Lossy && !underOffered(e) {
			return true
		}
	}
	return false
}

// lostInFlight is how many frames of a direction the device surely lost of those that were sent longer ago than
// flight, by the latest readings. Later frames that came back are counted as if they were of these, so the number
// is lower than the true loss.
func (s Setup) lostInFlight(i int, span Span, flight time.Duration) int64 {
	var lost, drops int64
	for _, p := range s.Directions[i].Pairs {
		sender, receiver := span.Readings[p.Generator], span.Readings[p.Receiver]
		first, last := edgesOf(receiver)
		landed := sentBefore(sender, p.Send, flight+2*last.Uncertainty)
		lost += landed - last.Ports[p.Receive].Received.Sub(first.Ports[p.Receive].Received).Packets
		drops += last.Ports[p.Receive].ReceiveErrors - first.Ports[p.Receive].ReceiveErrors
		first, last = edgesOf(sender)
		drops += last.Ports[p.Send].SendDrops - first.Ports[p.Send].SendDrops
	}
	return surelyLostOf(lost, drops, s.figures(s.Directions[i], span, i, true).disturbed)
}

// comesBack says that frames of a direction came back between the latest two readings.
func comesBack(d Direction, span Span) bool {
	frames := int64(0)
	for _, p := range d.Pairs {
		if readings := span.Readings[p.Receiver]; len(readings) >= 2 {
			earlier, latest := readings[len(readings)-2].Ports[p.Receive], readings[len(readings)-1].Ports[p.Receive]
			frames += latest.Received.Sub(earlier.Received).Packets
		}
	}
	return frames > 0
}

// sentBefore is how many frames a port had sent by a moment so long before the latest reading, as if it sent evenly
// between two readings. Nothing is known of the time up to the second reading, in which traffic began.
func sentBefore(readings []engine.Reading, port int, ago time.Duration) int64 {
	first, last := edgesOf(readings)
	moment := last.Instant - last.Uncertainty - ago
	for i := len(readings) - 2; i > 0; i-- {
		a, b := readings[i], readings[i+1]
		if read := a.Instant + a.Uncertainty; read <= moment {
			sentLater := scale(b.Ports[port].Sent.Packets-a.Ports[port].Sent.Packets, int64(moment-read),
				int64(b.Instant+b.Uncertainty-read))
			return a.Ports[port].Sent.Packets - first.Ports[port].Sent.Packets + max(0, sentLater-1)
		}
	}
	return 0
}

// Flight is how long frames were on their way in a trial whose frames were counted until the counters stood still.
// It follows from the frames that were missing while traffic ran, less those that were lost in the end. ok is false
// where nothing came back in some direction, or the readings have a fault.
//
//	missing  ▁▁▂▃▄▅▅▆▆▇▇█▅▅▅▅   while traffic runs: on its way, or lost
//	                     ▔▔▔▔   in the end: lost; the difference was on its way
func (s Setup) Flight(span Span) (longest time.Duration, ok bool) {
	if span.fault(s.Directions) != "" {
		return 0, false
	}
	span.Sending = s.sending(span)
	for i, d := range s.Directions {
		f := s.figures(d, span, i, true)
		if f.sent.Packets == 0 {
			continue
		}
		if f.returned.Packets == 0 {
			return 0, false
		}
		for n := range span.Readings[d.Pairs[0].Generator] {
			flying := missing(d, span, n) - (f.lost() - f.receiveErrors)
			longest = max(longest, time.Duration(scale(flying, int64(time.Second)*int64(units.PacketPerSecond),
				int64(f.offered.packets))))
		}
		ok = true
	}
	return longest, ok
}

// missing is how many frames of a direction had been sent by reading n, and had neither come back by then nor been
// dropped by the generator itself.
func missing(d Direction, span Span, n int) (frames int64) {
	for _, p := range d.Pairs {
		sender, receiver := span.Readings[p.Generator], span.Readings[p.Receiver]
		if n >= len(sender) || n >= len(receiver) {
			return 0
		}
		first, last := receiver[0].Ports[p.Receive], receiver[n].Ports[p.Receive]
		frames += sender[n].Ports[p.Send].Sent.Sub(sender[0].Ports[p.Send].Sent).Packets
		frames -= last.Received.Sub(first.Received).Packets + last.ReceiveErrors - first.ReceiveErrors
	}
	return frames
}

// judges says whether a direction is to be judged.
func (s Span) judges(d Direction) bool { return s.Varied == "" || s.Varied == d.From+"→"+d.To }

func (s Span) intended(direction int) units.PacketRate {
	if direction < len(s.Intended) {
		return s.Intended[direction]
	}
	return 0
}

// sending is how long a trial sent. In a trial that ran to its end it is the caller's time, which generators keep
// to. In any other it is the longest time of the trial's ports.
func (s Setup) sending(span Span) time.Duration {
	if span.Stopped == nil {
		return span.Sending
	}
	longest := time.Duration(0)
	for i, d := range s.Directions {
		for n, asked := range parts(d.Pairs, span.intended(i)) {
			took, _ := span.seenSending(d.Pairs[n], asked, 0)
			longest = max(longest, took)
		}
	}
	return cmp.Or(longest, span.Sending)
}

// sendingOf is how long a pair's port sent in a trial that asked it for a rate, and how many more frames may have
// left in that time, as the readings' times are uncertain.
func (s Span) sendingOf(p Pair, asked units.PacketRate) (took time.Duration, unsure int64) {
	if s.Stopped != nil {
		if took, unsure := s.seenSending(p, asked, 0); took > 0 {
			return took, unsure
		}
		return s.Sending, 0
	}
	_, receiver := edgesOf(s.Readings[p.Generator])
	scheduled := cmp.Or(receiver.Ports[p.Send].RunDuration, s.Sending)
	if took, _ = s.seenSending(p, asked, uneven); took == 0 || !receiver.Ports[p.Send].EndsLate &&
		s.allowsSending(p, scheduled) {
		return scheduled, 0
	}
	return took, 0
}

// seenSending is how long a port sent that began and ended between readings, at the rate seen between the first
// reading after its first frame and the last reading before its last frame. Where the readings allow the rate that
// was asked for, it takes that rate, because frames may have left so much earlier or later than evenly. It is 0
// where the readings show no rate.
//
//	sent   ▁▁▁▁▂▂▃▃▄▄▅▅▆▆▇▇████
//	read   ·    ·    ·    ·    ·
//	            a ├─────┤ b        took = all × (b − a ± unsure) ÷ (sent by b − sent by a)
func (s Span) seenSending(p Pair, asked units.PacketRate, uneven time.Duration) (took time.Duration, unsure int64) {
	readings, a, b := s.whileSending(p)
	if a >= b {
		return 0, 0
	}
	interval, open := readings[b].Instant-readings[a].Instant, readings[a].Uncertainty+readings[b].Uncertainty+uneven
	between, total := sentBetween(readings[a], readings[b], p.Send), sentBetween(readings[0], readings[len(readings)-1],
		p.Send)
	if uneven > 0 { // and whole frames
		open += time.Duration(scale(int64(interval), 1, between))
	}
	if interval <= open || between <= 0 {
		return 0, 0
	}
	fewest, greatest := scale(total, int64(interval-open), between), scale(total, int64(interval+open), between)
	due := scale(total, int64(time.Second)*int64(units.PacketPerSecond), int64(asked+p.Extra))
	counted := min(max(due, fewest), greatest)
	return time.Duration(counted), scale(total, counted-fewest, fewest)
}

// allowsSending says that no reading shows that a port sent for longer or shorter than that.
func (s Span) allowsSending(p Pair, took time.Duration) bool {
	readings, a, b := s.whileSending(p)
	if a >= b {
		return true
	}
	shortest := readings[b].Instant - readings[a].Instant - readings[a].Uncertainty - readings[b].Uncertainty
	longest := readings[b+1].Instant - readings[a-1].Instant + readings[a-1].Uncertainty + readings[b+1].Uncertainty
	return took >= shortest && took <= longest
}

// whileSending are a generator's readings, the first of them after a port's first frame, and the last of them
// before the port's last frame. a is not below b where there are no two.
func (s Span) whileSending(p Pair) (readings []engine.Reading, a, b int) {
	if p.Generator >= len(s.Readings) || len(s.Readings[p.Generator]) < 2 {
		return nil, 0, 0
	}
	readings = s.Readings[p.Generator]
	first, last := edgesOf(readings)
	b = len(readings) - 1
	for a < b && sentBetween(first, readings[a], p.Send) <= 0 {
		a++
	}
	for b > a && sentBetween(readings[b], last, p.Send) <= 0 {
		b--
	}
	return readings, a, b
}

func sentBetween(earlier, later engine.Reading, port int) int64 {
	return later.Ports[port].Sent.Packets - earlier.Ports[port].Sent.Packets
}

// uneven is by how much earlier or later than evenly a trial's frames may leave that a reading counts.
const uneven = 5 * time.Millisecond

// framesIn is how many frames a rate makes in a time, rounded up.
func framesIn(rate units.PacketRate, span time.Duration) int64 {
	return scale(int64(rate), int64(span), int64(time.Second)*int64(units.PacketPerSecond))
}

// Planned is how many frames were planned for a direction of a window. A trial that was ended early planned more
// than it sent.
func Planned(w report.Window, direction int) int64 {
	m := w.Directions[direction]
	if w.Decided == nil {
		return m.Sent.Packets
	}
	// without evidence it is known to a whole packet
	rate := units.PacketRate(m.Intended.PacketsPerSecond+1) * units.PacketPerSecond
	if w.Evidence != nil && direction < len(w.Evidence.Directions) {
		rate = w.Evidence.Directions[direction].Intended
	}
	return max(m.Sent.Packets, framesIn(rate, w.Decided.Planned.Std()))
}

// LeastLossOfPlanned is the least share of the planned frames that a direction lost. In a trial that was ended
// early it is the part that the device surely lost by then, whatever the rest of the trial would have cost. In any
// other window it is the surely lost part of the frames sent. It is rounded down, and never below zero. SurelyAbove
// compares exactly.
func LeastLossOfPlanned(w report.Window, direction int) units.Ratio {
	lost, planned := SurelyLost(w.Directions[direction]), Planned(w, direction)
	if lost <= 0 || planned <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(lost), uint64(units.One))
	ratio, _ := bits.Div64(high, low, uint64(max(lost, planned)))
	return units.Ratio(ratio)
}

// SurelyAbove says whether the device lost more than that share of the frames planned for the window, in any case.
func SurelyAbove(w report.Window, direction int, share units.Ratio) bool {
	return exceeds(SurelyLost(w.Directions[direction]), Planned(w, direction), share)
}

// planned is how many frames the direction's loss is a share of.
func (d direction) planned() int64 {
	if d.window.Decided == nil {
		return d.measured.Sent.Packets
	}
	return max(d.measured.Sent.Packets, framesIn(d.evidence.Intended, d.window.Decided.Planned.Std()))
}

// byPlanned is the quality in a trial that was ended early. The frames surely lost by then are the least that the
// whole trial would have lost, and are compared with the limit. A smaller loss doesn't show that the whole trial
// would have been clean. Nor does it show a weak generator, though fewer frames were sent than planned.
func (d direction) byPlanned() (report.Quality, string) {
	ended := d.window.Decided
	if exceeds(d.surelyLost(), d.planned(), d.limit) {
		return report.Lossy, fmt.Sprintf("%s; ended after %s of %s, as that is more of the %d frames planned than the limit of %s", CameBack(d.measured, 1),
			wording.Span(ended.Duration.Std()), ended.Planned.Std(), d.planned(), Percent(d.limit))
	}
	return report.Unjudged, CameBack(d.measured, 1)
}

// settleUndecided judges the directions of a trial that was ended early, and that did not lose enough to decide it.
// Beside a direction that lost enough they are not judged. If no direction did, frames came back that seemed lost,
// or another goal allows that loss, and the trial shows nothing.
func settleUndecided(w report.Window, g Goal) {
	decided := false
	for _, m := range w.Directions {
		decided = decided || m.Quality == report.Lossy
	}
	for i := range w.Directions {
		m := &w.Directions[i]
		switch {
		case m.Quality != report.Unjudged || w.Varied != "" && w.Varied != m.Name():
		case decided:
			m.Reason = fmt.Sprintf("not judged, as the trial was ended after %s of %s for what another direction lost: %s",
				wording.Span(w.Decided.Duration.Std()), w.Decided.Planned.Std(), m.Reason)
		default:
			m.Quality = report.Invalid
			m.Reason = fmt.Sprintf("the trial was ended after %s of %s, when more than %s of its frames seemed lost, which shows nothing for a limit of %s: %s",
				wording.Span(w.Decided.Duration.Std()), w.Decided.Planned.Std(), Percent(w.Decided.LossRatio),
				Percent(g.MaxLossRatio), m.Reason)
		}
	}
}

// underOffered says that less was offered than is needed, even if all that readings leave open is in the
// generator's favour.
func underOffered(e report.DirectionEvidence) bool { return e.MostOffered < e.Intended.Mul(minOffered) }
