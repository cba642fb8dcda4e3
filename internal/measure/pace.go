package measure

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
)

// Sending within these bounds is still even. A load that is a little fast shows in what is offered, and frames
// leave in batches.
const (
	faster      = units.One * 105 / 100 // of what was due
	batchTime   = 2 * time.Millisecond  // so much of the port's load may leave at once,
	batchFrames = 256                   // but no more frames than this,
	looseFrames = 8                     // and a few, as only whole ones leave
)

// burstSpan is the longest time in which a burst is looked for.
const burstSpan = time.Second

// Pace follows how evenly generators send within one window, from readings that are closer together than those that
// make the window.
//
//	due    ──────────────────────────────────────
//	sent   ─────────┐            ┌──┐   a burst: its frames came together, though the
//	                │   paused   │  └──────────   mean over all of it is what was asked for
//	                └────────────┘
//	read     ·   ·   ·   ·   ·   ·   ·   ·   ·
//
// A stall that lasts longer than readings are apart, and is caught up, is always seen, and a shorter one by chance.
// A generator that does not answer while it stalls makes a gap instead, in which anything may have happened. Pace
// is not safe for concurrent use.
type Pace struct {
	setup  Setup
	lanes  []*lane
	latest []engine.Reading
	took   []time.Duration // of all ticks
	even   evenness        // of those that are too short for a gap
	long   []tick          // those that may be gaps, since only the end shows what is usual
	fault  string          // why the readings are worth nothing from then on
}

// tick is the time between two readings.
type tick struct {
	took  time.Duration // of the generator that it took longest, of those that may catch up in bursts
	burst bool          // some port's burst was seen in it
	lost  []int64       // of each direction, the frames that did not come back
	loss  []units.Ratio // of each direction, the share that was surely lost, rounded up
}

// lane is one sending port.
type lane struct {
	generator, port int
	burst           report.Burst // the worst
	excess          int64        // of the worst, the frames that nothing explains
	asked           units.PacketRate
	streams         int64
	opened          time.Duration // on the generator's clock
	recent          []mark
	burstEnd        time.Duration // when the last counted burst ended
}

// mark is one reading of a sending port.
type mark struct {
	moment, unsure time.Duration
	sent           int64
}

// Pace begins to follow a window in which the directions are asked to send these rates.
func (s Setup) Pace(intended []units.PacketRate) *Pace {
	p := &Pace{setup: s, even: newEvenness(len(s.Directions))}
	for i, d := range s.Directions {
		for n, part := range parts(d.Pairs, intended[i]) {
			pair := d.Pairs[n]
			l := &lane{generator: pair.Generator, port: pair.Send, asked: part + pair.Extra,
				streams: int64(pair.Streams)}
			l.burst.Link, l.burst.Generator = d.From, s.name(pair.Generator)
			p.lanes = append(p.lanes, l)
		}
	}
	return p
}

// parts are the rates that the runner asks each pair's ports for, to the last unit.
func parts(pairs []Pair, rate units.PacketRate) []units.PacketRate {
	weights := make([]int64, len(pairs))
	for i, p := range pairs {
		weights[i] = p.Share
	}
	if !slices.ContainsFunc(weights, func(w int64) bool { return w > 0 }) {
		for i := range weights {
			weights[i] = 1
		}
	}
	return rate.Apportion(weights...)
}

// Add takes one reading of each generator, in order of time.
func (p *Pace) Add(readings []engine.Reading) {
	if p.latest != nil && p.fault == "" {
		p.fault = Span{Readings: Pairwise(p.latest, readings)}.fault(p.setup.Directions)
	}
	if p.latest != nil && p.fault == "" {
		p.addTick(p.tick(readings))
	}
	p.latest = readings
}

// addTick takes in a tick. It adds up a tick that is too short for a gap at once, and keeps only the tick's length,
// and the share it lost if it lost any.
func (p *Pace) addTick(t tick) {
	p.took = append(p.took, t.took)
	if t.took > gapAtLeast {
		p.long = append(p.long, t)
		return
	}
	p.even.add(t)
}

func (p *Pace) tick(readings []engine.Reading) tick {
	t := tick{}
	span := Span{Readings: Pairwise(p.latest, readings)}
	for i, d := range p.setup.Directions {
		f := p.setup.figures(d, span, i, true)
		t.lost = append(t.lost, f.lost())
		t.loss = append(t.loss, lowestLimit(f.surelyLost(), f.sent.Packets))
	}
	for _, l := range p.lanes {
		if len(l.recent) == 0 {
			l.add(markOf(p.latest[l.generator], l.port))
		}
		t.burst = l.add(markOf(readings[l.generator], l.port)) || t.burst
		if !readings[l.generator].Ports[l.port].Paced {
			t.took = max(t.took, readings[l.generator].Instant-p.latest[l.generator].Instant)
		}
	}
	return t
}

// Pairwise are two readings of each generator as a span.
func Pairwise(a, b []engine.Reading) [][]engine.Reading {
	spans := make([][]engine.Reading, len(a))
	for g := range a {
		spans[g] = []engine.Reading{a[g], b[g]}
	}
	return spans
}

func markOf(r engine.Reading, port int) mark {
	return mark{moment: r.Instant, unsure: r.Uncertainty, sent: r.Ports[port].Sent.Packets}
}

// faultOrNone is the fault that voids the window, or empty for none.
func (p *Pace) faultOrNone() string {
	if p == nil {
		return ""
	}
	return p.fault
}

// bursts are the worst burst of each port that sent in bursts, in the order of directions.
func (p *Pace) bursts() []report.Burst {
	var bursts []report.Burst
	for _, l := range p.lanes {
		if l.excess > 0 {
			bursts = append(bursts, l.burst)
		}
	}
	return bursts
}

// add takes a reading, and says whether it shows a burst.
func (l *lane) add(m mark) bool {
	if l.asked <= 0 || l.streams < 0 {
		return false
	}
	if len(l.recent) == 0 {
		l.opened = m.moment
	}
	for len(l.recent) > 0 && m.moment-l.recent[0].moment > burstSpan {
		l.recent = l.recent[1:]
	}
	start, excess := -1, int64(0)
	for i, earlier := range l.recent {
		if e := l.framesUnexplained(earlier, m); e > excess {
			start, excess = i, e
		}
	}
	if start >= 0 {
		l.sawBurst(start, m, excess)
	}
	l.recent = append(l.recent, m)
	return start >= 0
}

// framesUnexplained is how many more frames left between two readings than were due in the longest time that may
// lie between them, beyond what still counts as even. It is zero or less for none.
func (l *lane) framesUnexplained(a, b mark) int64 {
	longest := b.moment - a.moment + a.unsure + b.unsure
	due := l.due(longest)
	granted := scale(due, int64(faster), int64(units.One)) + min(l.due(batchTime), batchFrames) + l.streams +
		looseFrames
	return b.sent - a.sent - granted
}

// due is how many frames the port is asked to send in so much time, rounded up.
func (l *lane) due(t time.Duration) int64 {
	return scale(int64(l.asked), int64(t), int64(time.Second)*int64(units.PacketPerSecond))
}

// sawBurst keeps the worst burst, and counts those that don't overlap.
func (l *lane) sawBurst(start int, m mark, excess int64) {
	begin := l.recent[start]
	if l.burst.Count == 0 || begin.moment >= l.burstEnd {
		l.burst.Count++
		l.burstEnd = m.moment
	}
	if excess <= l.excess {
		return
	}
	l.excess = excess
	l.burst.Start, l.burst.Duration = plan.Duration(begin.moment-l.opened), plan.Duration(m.moment-begin.moment)
	l.burst.Sent, l.burst.Due = m.sent-begin.sent, l.due(m.moment-begin.moment)
	l.burst.Paused = plan.Duration(l.paused(start))
}

// paused is how long before a reading the port had surely sent less than half of what was due.
func (l *lane) paused(upTo int) time.Duration {
	start := upTo
	for start > 0 {
		a, b := l.recent[start-1], l.recent[start]
		shortest := b.moment - a.moment - a.unsure - b.unsure
		if shortest <= 0 || b.sent-a.sent >= l.due(shortest)/2 {
			break
		}
		start--
	}
	return l.recent[upTo].moment - l.recent[start].moment
}
