package backtoback

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Conclude combines the searches of each direction. Window is the trial, whose rates are what the device forwards of
// the bursts' rate.
func (b BackToBack) Conclude(history []report.Window) procedure.Conclusion {
	replayed := b.replay(history)
	c := replayed.Conclusion()
	if replayed.trial == procedure.NoWindow {
		return c
	}
	w := history[replayed.trial]
	c.Window, c.Confirmed, c.Reason = replayed.trial, true, report.BurstsMeasured
	if !slices.ContainsFunc(replayed.sides, func(s side) bool { return s.searched }) {
		c.Reason = procedure.ClaimAsked(w.Directions, 0, report.TargetReached)
	}
	var clauses []string
	var shown []*bursts
	for _, s := range replayed.sides {
		frames := b.frames(s, w)
		shown = append(shown, frames)
		c.Own = append(c.Own, frames.figures())
		clauses = append(clauses, s.trial.Name()+": "+b.sentence(s, frames, w.Duration.Std()))
	}
	if replayed.givenUp > 0 {
		clauses = append(clauses, searches(replayed.givenUp)+" could not be finished, as bursts could not be judged")
		if procedure.TooMuchVoid(replayed.givenUp, b.repetitions()) {
			c.NotHeld = fmt.Sprintf("only %d of %s could be finished, as bursts could not be judged: see the windows "+
				"for why, then measure again", replayed.finished-replayed.givenUp, searches(b.repetitions()))
		}
	}
	c.Sentence, c.Sections = strings.Join(clauses, "; "), sections(replayed.sides, shown)
	return c
}

// bursts is what bursts show of a direction (RFC 9004).
type bursts struct {
	// Searches are the ends of each search, in the order in which they were made.
	Searches []ended
	// OfferedPacketsPerSecond is how fast the longest bursts were sent, and ForwardedPacketsPerSecond how fast the
	// device forwarded them, by the trial before, without what it had buffered, or by the throughput that the Plan has.
	// It is empty where that can't be told, nor what the device held.
	OfferedPacketsPerSecond, ForwardedPacketsPerSecond report.Number
	// Timed says that OfferedPacketsPerSecond was measured of the bursts themselves. Otherwise it is the trial's.
	Timed bool
	// Frames is the average of the searches' longest bursts without loss, and Deviation their standard deviation.
	Frames    interval
	Deviation report.Number
	// ImpliedMicroseconds is how long such a burst takes. Buffer is how many of its frames the device held at its end.
	// BufferMicroseconds is how long these take, RFC 9004's corrected buffer time, at the rate at which the bursts were
	// sent.
	ImpliedMicroseconds, Buffer, BufferMicroseconds interval
}

// interval is a figure of bursts. Low follows from the longest bursts without loss, High from the shortest with loss.
// High is empty where no burst lost frames.
type interval struct{ Low, High report.Number }

// ended is how a search for the longest burst without loss ended. Clean is how many frames that burst had, or 0 where
// each lost some. Lossy is how many the shortest above it with loss had, or 0 for none. Bursts is how many the search
// took.
type ended struct {
	Clean, Lossy int64
	Bursts       int
}

// Metrics are those of the figures of a direction.
var Metrics = []report.Metric{procedure.BackToBackFrames, procedure.BufferFrames, procedure.BufferMicroseconds}

// figures are what bursts show of a direction, or nil of nothing, as its own figures.
func (f *bursts) figures() []report.OwnFigure {
	own := make([]report.OwnFigure, len(Metrics))
	for i, metric := range Metrics {
		own[i].Metric = metric
	}
	if f == nil {
		for i := range own {
			own[i].Missing = "no burst of this direction shows a buffer"
		}
		return own
	}
	for i, found := range []interval{f.Frames, f.Buffer, f.BufferMicroseconds} {
		own[i].Low, own[i].High, own[i].OfLoss = found.Low, found.High, i > 0
		switch {
		case found.Low != "":
		case f.ForwardedPacketsPerSecond == "":
			own[i].Missing = "how many frames the device held is unknown"
		default:
			own[i].Missing = "the device forwards as fast as bursts were sent"
		}
	}
	return own
}

// frames is what the searches of a direction show. Nil means nothing.
func (b BackToBack) frames(d side, trial report.Window) *bursts {
	if len(d.found) == 0 {
		return nil
	}
	result := &bursts{}
	clean, lossy, sending, open, timed := int64(0), int64(0), int64(0), false, true
	for _, f := range d.found {
		result.Searches = append(result.Searches, ended{Clean: f.clean, Lossy: f.lossy, Bursts: f.bursts})
		clean, lossy, sending = clean+f.clean, lossy+f.lossy-1, sending+f.sending
		open, timed = open || f.lossy == 0, timed && (f.sending > 0 || f.clean == 0)
	}
	n := int64(len(d.found))
	r := bufferModel{trial: d.trial, lasted: int64(cmp.Or(d.trial.Sending, trial.Duration)),
		sent: new(big.Rat).SetInt64(d.trial.Offered.PacketsPerSecond)}
	if timed = timed && sending > 0; timed {
		r.sent = big.NewRat(clean, sending)
		r.sent.Mul(r.sent, big.NewRat(1e9, 1))
	}
	if !b.plan.Throughput.IsZero() {
		r.throughput = big.NewRat(b.plan.Throughput.Micros, 1_000_000)
	}
	result.Timed, result.OfferedPacketsPerSecond = timed, report.NumberOf(r.sent)
	result.Deviation = deviation(d.found)
	low := big.NewRat(clean, n)
	if forwarded := r.forwarded(low); forwarded != nil {
		result.ForwardedPacketsPerSecond = report.NumberOf(forwarded)
	}
	result.Frames.Low, result.ImpliedMicroseconds.Low, result.Buffer.Low,
		result.BufferMicroseconds.Low = r.figuresOf(low)
	if !open {
		if !timed {
			r.squeezed = big.NewRat(int64(mostSqueezed), int64(time.Second))
		}
		result.Frames.High, result.ImpliedMicroseconds.High, result.Buffer.High,
			result.BufferMicroseconds.High = r.figuresOf(big.NewRat(lossy, n))
	}
	return result
}

// bufferModel is RFC 9004's calculation, section 5.4, at the rate at which bursts were sent instead of the rate that
// the line could carry.
type bufferModel struct {
	trial      report.Direction
	lasted     int64    // the trial, in ns
	sent       *big.Rat // frames a second of a burst
	throughput *big.Rat // nil: the trial shows how fast the device forwards
	squeezed   *big.Rat // seconds by which a burst may have been shorter than its frames at that rate
}

// mostSqueezed bounds by how much a generator that doesn't report the time of a burst may have sent the burst in less
// time than the load asks for. A TRex v3.08 on kernel interfaces begins late and sends at once what it missed. Its
// bursts of 380 to 1,600 frames at 15,000 a second were 0.6 to 1.4 ms shorter, by what a device of known depth lost of
// them.
const mostSqueezed = 2 * time.Millisecond

// forwarded is how many frames a second the device forwards while a burst of this length arrives, of which it just
// loses none. What came back of the trial is what the device forwarded in the trial's time, and what the device held at
// the end. The same is true of the burst. So the device forwarded the difference in the difference of their times:
//
//	came back of the trial = forwarded × trial's time + held
//	frames of the burst    = forwarded × burst's time + held
//
// Nil means that the rate is unknown, as the trial was no longer than the burst, or brought no more.
func (r bufferModel) forwarded(frames *big.Rat) *big.Rat {
	if r.throughput != nil {
		return r.throughput
	}
	came := new(big.Rat).SetInt64(r.trial.Returned.Packets + r.trial.ReceiveErrors)
	took := new(big.Rat).Sub(big.NewRat(r.lasted, 1e9), new(big.Rat).Quo(frames, r.sent))
	if took.Sign() <= 0 || came.Sub(came, frames).Sign() <= 0 {
		return nil
	}
	return came.Quo(came, took)
}

// figuresOf are the figures of a burst of this length. They are how many frames it has, how long they take, how many
// the device held at the end, and how long those take. The last two are empty where it is unknown how fast the device
// forwards, or where it forwards as fast as bursts are sent.
func (r bufferModel) figuresOf(frames *big.Rat) (n, implied, buffer, corrected report.Number) {
	if r.sent.Sign() <= 0 {
		return report.NumberOf(frames), "", "", ""
	}
	micros := func(frames *big.Rat) report.Number {
		v := new(big.Rat).Quo(frames, r.sent)
		return report.NumberOf(v.Mul(v, big.NewRat(1e6, 1)))
	}
	n, implied = report.NumberOf(frames), micros(frames)
	forwarded := r.forwarded(frames)
	if forwarded == nil || forwarded.Cmp(r.sent) >= 0 {
		return n, implied, "", ""
	}
	share := new(big.Rat).Quo(forwarded, r.sent)
	buffered := new(big.Rat).Mul(frames, share.Sub(big.NewRat(1, 1), share))
	if r.squeezed != nil {
		buffered.Add(buffered, new(big.Rat).Mul(forwarded, r.squeezed)) // the device had less time to forward
	}
	if buffered.Cmp(frames) > 0 {
		buffered = frames
	}
	return n, implied, report.NumberOf(buffered), micros(buffered)
}

// deviation is the standard deviation of the longest bursts without loss. Empty means that there is one only.
func deviation(found []search) report.Number {
	if len(found) < 2 {
		return ""
	}
	sum, squares := 0.0, 0.0
	for _, f := range found {
		sum += float64(f.clean)
	}
	for _, f := range found {
		difference := float64(f.clean) - sum/float64(len(found))
		squares += difference * difference
	}
	return report.NumberOf(big.NewRat(int64(math.Round(math.Sqrt(squares/float64(len(found)-1))*1000)), 1000))
}

// sentence says what a direction's bursts show after a trial of this length.
func (b BackToBack) sentence(d side, f *bursts, trial time.Duration) string {
	offered := wording.PacketRate(d.trial.Offered.PacketsPerSecond)
	lossless := fmt.Sprintf("the device lost none of %s frames in a trial of %s, so that no burst up to that long at "+
		"this rate fills its buffer", wording.Count(d.trial.Sent.Packets), trial.Round(time.Millisecond))
	switch {
	case !d.searched && d.trial.UnderOffered():
		return fmt.Sprintf("no answer: the generators send %s of %s asked for, and %s: use generators that are "+
			"faster than the device", offered, wording.PacketRate(d.trial.Intended.PacketsPerSecond), lossless)
	case !d.searched:
		return fmt.Sprintf("at %s %s", offered, lossless)
	case f == nil:
		return "no search for the longest burst without loss was finished"
	}
	return longestWithoutLoss(d, f) + b.buffer(f)
}

// longestWithoutLoss says how long a direction's bursts were that lost nothing, and the rate that they were sent at.
func longestWithoutLoss(d side, f *bursts) string {
	shortest, longest := f.Searches[0].Clean, f.Searches[0].Clean
	for _, s := range f.Searches {
		shortest, longest = min(shortest, s.Clean), max(longest, s.Clean)
	}
	text := fmt.Sprintf("bursts of %s frames lose none (%s to %s in %s", rounded(f.Frames.Low), wording.Count(shortest),
		wording.Count(longest), searches(len(f.Searches)))
	if f.Deviation != "" {
		text += ", standard deviation " + rounded(f.Deviation)
	}
	text += ")"
	if i := slices.IndexFunc(f.Searches, func(s ended) bool { return s.Lossy == 0 }); i >= 0 {
		text += ", nor did the longest burst allowed: a lower bound"
	}
	text += fmt.Sprintf("; sent at %s", wording.RoundedPacketRate(f.OfferedPacketsPerSecond.Float()))
	if !f.Timed {
		text += " (the trial's rate, as the generators don't report that of a burst)"
	}
	if d.trial.UnderOffered() {
		text += fmt.Sprintf(" of %s asked for, so that at that rate shorter ones lose frames",
			wording.PacketRate(d.trial.Intended.PacketsPerSecond))
	}
	return text
}

// buffer says how much the device holds while it forwards, or why that is unknown.
func (b BackToBack) buffer(f *bursts) string {
	switch {
	case f.ForwardedPacketsPerSecond == "":
		return "; how fast the device forwards meanwhile, and so how much it holds, is unknown: the trial was no " +
			"longer than such a burst, or brought no more frames"
	case f.Buffer.Low == "" && !b.plan.Throughput.IsZero():
		return fmt.Sprintf("; the throughput given, %s, isn't below that, so what the device holds is unknown",
			b.plan.Throughput)
	case f.Buffer.Low == "":
		return "; what the device forwards meanwhile isn't below that, so what it holds is unknown"
	}
	frames, upTo := rounded(f.Buffer.Low), ""
	if high := rounded(f.Buffer.High); !f.Timed && f.Buffer.High != "" && high != frames {
		frames, upTo = frames+" to "+high, " to "+microsecondsText(f.BufferMicroseconds.High)
	}
	return fmt.Sprintf(", and forwarded at %s meanwhile: the device held %s frames, which come in %s",
		wording.RoundedPacketRate(f.ForwardedPacketsPerSecond.Float()), frames,
		microsecondsText(f.BufferMicroseconds.Low)+upTo)
}

func rounded(n report.Number) string { return wording.Count(int64(math.Round(n.Float()))) }

func microsecondsText(n report.Number) string {
	return wording.Microseconds(int64(math.Round(n.Float())))
}
