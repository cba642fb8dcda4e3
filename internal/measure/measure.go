package measure

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// Setup is what stays the same for all windows of a run. Its methods are safe for concurrent use.
type Setup struct {
	Directions []Direction
	// Limit is the limit of the Reference, the only device whose limit is known. It is nil for any other device.
	Limit *plan.Limit
	// SharesKernel says that the device is this machine's own kernel, whose figure is what the machine has left for
	// it beside the generator. So only other processes disturb it.
	SharesKernel bool
	// Generators are the generators' names, in the order of Span.Readings.
	Generators []string
}

// Direction is traffic from one link to another, and the ports whose counters are its own.
type Direction struct {
	From, To string
	Mix      units.Traffic
	// Sizes are the lengths of its frames. Reshapes says that the device may change them, as tunnels do.
	Sizes    Sizes
	Reshapes bool
	// LineRate is the layer-1 rate of the link To. It is 0 where it is unknown, and then no share of it is given.
	LineRate units.BitRate
	// Background is the rate at which the receiving ports got frames while nothing was sent. It can hide as much
	// loss.
	Background units.PacketRate
	// Strays is the rate of frames that are too few to be steady traffic. That many more may come back than were
	// sent.
	Strays units.PacketRate
	// Pairs are the direction's ports, one pair for each generator that takes part.
	Pairs []Pair
}

// mostStrays is how many frames of other people's a port may receive in the silence without being called background
// traffic. Neighbour discovery and the like come now and then and hide nothing.
const mostStrays = 2

// AddSilence charges the direction with the frames that one of its receiving ports got while nothing was sent, in
// so much time, as background traffic or as strays.
func (d *Direction) AddSilence(received units.Traffic, took time.Duration) {
	rate := units.PacketRateOver(received.Packets, int64(took))
	if received.Packets <= mostStrays {
		d.Strays += rate
		return
	}
	d.Background += rate
}

// Pair is a replica's two ports of a direction. Frames leave Generator by its port Send and come back to Receiver
// by its port Receive. Generator and Receiver index Span.Readings. They are the same, except where a replica's
// ports are on different machines.
type Pair struct {
	Generator, Send   int
	Receiver, Receive int
	// Share is the pair's part of what the direction is to send, in proportion to the other pairs' shares. Where no
	// pair has one, all parts are equal.
	Share int64
	// Streams is how many streams take turns on the port Send, below 0 where its pace can't be foretold. Extra is
	// what they send beyond Span.Intended.
	Streams int
	Extra   units.PacketRate
}

// Span is one stretch of constant load as it was read.
type Span struct {
	// Readings are each generator's, in order of time, from the window's first edge to its last edge.
	Readings [][]engine.Reading
	// Planned is how long the window was to be, or 0 for any length.
	Planned time.Duration
	// Sending is how long generators were to send, in a trial whose readings begin before its first frame and end
	// when the counters stood still. Rates are over the time in which each port sent, by its own readings, and no
	// frame is on the wrong side of an edge. It is 0 where they sent all the time.
	Sending time.Duration
	// Bursts are how many frames each direction was to send, in the order of Setup.Directions, in as much time as
	// its ports say, or else Sending. They are nil where the span is no burst.
	Bursts []int64
	// Stopped is why the trial was ended before its time, or may be. Then Sending is for how long it was sent, as
	// far as the caller knows, and each port's own readings say it better. Stopped is nil where the trial went to
	// its end.
	Stopped *Stop
	// Intended is what each direction was asked to send, all generators together, in the order of Setup.Directions.
	Intended []units.PacketRate
	// Varied is the only direction to be judged, such as "west→east". It is empty where all are judged.
	Varied string
	// Limited is what the device's limit counted during the span, in the order of Setup.Directions. It is nil where
	// the limit can't be asked.
	Limited []report.Limiter
	// Latency is how long frames were under way, and Unstamped which of the returned frames bear no stamp, in the
	// order of Setup.Directions. They are nil where frames bear no stamps.
	Latency   [][]report.Latency
	Unstamped []int64
	// Disturbance is what kept threads from running during the span. It is nil where nobody can tell.
	Disturbance *report.Disturbance
	// Pace followed the span, from readings in between. It is nil where nobody did.
	Pace *Pace
}

// Window is what a span shows. It always returns a window, which says why where the readings can't be judged.
func (s Setup) Window(span Span) Window {
	span.Sending = s.sending(span)
	fault := cmp.Or(span.fault(s.Directions), span.Pace.faultOrNone())
	even := span.Pace.evenness(len(s.Directions))
	w := report.Window{Varied: span.Varied, Disturbance: worthReporting(span.Disturbance),
		GeneratorCPUPercent: busiest(span.Readings), Bursts: even.bursts, Unwatched: plan.Duration(even.gap)}
	w.Evidence = &report.Evidence{Fault: fault, Calm: even.calm, Gaps: even.gaps}
	for i, d := range s.Directions {
		f := s.figures(d, span, i, fault == "")
		m := f.measured()
		m.Limiter = span.limiter(i)
		span.fillLatency(i, &m)
		switch {
		case !span.judges(d): // whatever is counted there decides nothing
			m.Quality, m.Reason = report.Unjudged, unjudgedSentence(m, span.Varied)
		case fault == "":
			w.Evidence.Fault = cmp.Or(w.Evidence.Fault, f.implausible(), span.heldUpFault(f.evidence()))
		}
		e := f.evidence()
		e.LostCalm, e.LostInBursts, e.LostInGaps, e.CalmLossRatio = even.lostCalm[i], even.lostInBursts[i],
			even.lostInGaps[i], even.calmLossRatio(i)
		w.Directions, w.Evidence.Directions = append(w.Directions, m), append(w.Evidence.Directions, e)
		w.Duration = max(w.Duration, f.length())
	}
	if slices.ContainsFunc(w.Directions, func(m report.Direction) bool { return m.DisturbedFrames > 0 }) {
		w.Disturbance = span.Disturbance
	}
	if span.Stopped != nil {
		w.Decided = &report.Decided{Duration: w.Duration, Planned: plan.Duration(span.Stopped.Planned),
			LossRatio: span.Stopped.Limit}
	}
	if w.Evidence.Fault != "" {
		w.ReadLate = plan.Duration(span.readLate())
	}
	if fault == "" {
		w.Generators = s.shares(span)
	}
	return Window{w}
}

// name is a generator's, for people.
func (s Setup) name(g int) string {
	if g < len(s.Generators) {
		return s.Generators[g]
	}
	return "number " + strconv.Itoa(g)
}

// busiest is the highest use of a generator's core in any reading, or -1 where none says.
func busiest(readings [][]engine.Reading) float64 {
	highest := -1.0
	for _, generator := range readings {
		for _, r := range generator {
			highest = max(highest, r.CPUPercent)
		}
	}
	return highest
}
