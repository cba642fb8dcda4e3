package frames

import (
	"cmp"
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// holds measures windows of loads that are held.
type holds struct {
	journal   *runner.Journal
	topology  *topology
	demand    *demand
	setup     *measure.Setup
	counters  *counters
	pace      *pace
	observers *observers
	samples   *samples
	totals    *totals
	timing    *timing
	machine   *observe.DisturbanceWatch
	judge     *judge
}

// sampleEvery is how often readings are kept while traffic runs, for graphs and because generators stop without a
// heartbeat.
const sampleEvery = time.Second

// How often counters are read within a window, to see how evenly generators send, is at most 200 times a second for
// all generators together, and so seldom that reading takes a fifth of the time.
const (
	paceEvery     = 10 * time.Millisecond
	paceEveryEach = 5 * time.Millisecond
	paceOfReading = 5
)

// measure waits until the step is over, keeps about one reading a second, and judges the step's second part by the
// Plan's goal. When the run is cut short, measure returns what was read of the window until then as an Invalid
// window, with the error, or nil if nothing was read.
func (h *holds) measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	begin := time.Now()
	edge := begin.Add(step.Settle)
	span := measure.Span{Planned: step.Judge, Varied: step.Varied, Intended: h.demand.rates,
		Readings: make([][]engine.Reading, len(h.topology.names))}
	opened, pace, bursty := time.Time{}, h.setup.Pace(h.demand.rates), !paced(h.totals.latest)
	span.Pace = pace
	var first []report.Limiter
	var followed []map[uint32]engine.Followed
	readAt := func(moment time.Time) error {
		if err := h.pace.waitFor(ctx, moment, bursty && !opened.IsZero(), pace.Add); err != nil {
			return err
		}
		readings, limited, err := h.counters.readEdge(ctx)
		if err != nil {
			return err
		}
		h.samples.add(readings, time.Since(begin))
		h.observers.Observe(readings, limited)
		if moment.Before(edge) {
			return nil
		}
		if opened.IsZero() {
			opened, first, followed = time.Now(), limited.Limiters, h.timing.follow(ctx)
		}
		span.Limited = limitsBetween(first, limited.Limiters)
		pace.Add(readings)
		for g := range readings {
			span.Readings[g] = append(span.Readings[g], readings[g])
		}
		return nil
	}
	for _, moment := range moments(begin, step) {
		if moment.Equal(edge) {
			h.machine.ReadBefore(ctx, edge)
		}
		if err := readAt(moment); err != nil {
			return h.judge.cutShort(span, opened, step, err), err
		}
	}
	if measure.MayBeKept(measure.Judge(h.setup.Window(span), h.judge.goal()), measure.LookAgain) {
		span.Planned += measure.LookAgain
		if err := readAt(time.Now().Add(measure.LookAgain)); err != nil {
			return h.judge.cutShort(span, opened, step, err), err
		}
	}
	span.Latency = h.timing.latency(followed, h.timing.follow(ctx))
	span.Disturbance = h.machine.ReadAfter(ctx)
	counted := h.setup.Window(span)
	if h.counters.mayStandStill() {
		counted = counted.ReadTooLate(max(h.counters.unheard, h.counters.sinceAnswer()))
	}
	w := measure.Judge(counted, h.judge.goal())
	w.Start = plan.Duration(opened.Sub(h.journal.Started))
	h.observers.readAfterWindow(ctx)
	h.observers.addTo(&w, 0)
	return &w, nil
}

// paced says whether no generator ever catches up in a burst. Pace then needn't be watched, which saves readings on a
// busy machine.
func paced(readings []engine.Reading) bool {
	for _, r := range readings {
		for _, port := range r.Ports {
			if !port.Paced {
				return false
			}
		}
	}
	return true
}

// pace reads counters while a window lasts.
type pace struct {
	topology *topology
	counters *counters
	silence  *silence
	interval time.Duration // how often generators' pace is read; 0 means as often as their number allows
	quickest time.Duration // the shortest time that a reading of all counters took
}

// waitFor waits for a moment, and reads meanwhile to look for silence. With follow it passes on closely spaced
// readings, to watch the generators' pace.
func (p *pace) waitFor(ctx context.Context, moment time.Time, follow bool, see func([]engine.Reading)) error {
	pause := func() time.Duration {
		if follow {
			return cmp.Or(p.interval, max(paceEvery, time.Duration(len(p.topology.names))*paceEveryEach,
				paceOfReading*p.quickest))
		}
		return max(p.silence.interval(), paceOfReading*p.quickest)
	}
	for next := time.Now().Add(pause()); moment.Sub(next) >= pause(); {
		if err := bounded.PauseUntil(ctx, next); err != nil {
			return err
		}
		began := time.Now()
		readings, err := p.counters.read(ctx)
		if err != nil {
			return err
		}
		if follow {
			see(readings)
		}
		p.quickest = min(cmp.Or(p.quickest, time.Hour), time.Since(began))
		next = began.Add(pause())
	}
	return bounded.PauseUntil(ctx, moment)
}

// moments are when to read in a step, which is while it settles, at the window's first edge, in between, and at its
// last edge.
func moments(begin time.Time, step procedure.Step) []time.Time {
	var times []time.Time
	edge, end := begin.Add(step.Settle), begin.Add(step.Settle+step.Judge)
	for _, part := range [][2]time.Time{{begin, edge}, {edge, end}} {
		for t := part[0].Add(sampleEvery); part[1].Sub(t) > sampleEvery/4; t = t.Add(sampleEvery) {
			times = append(times, t)
		}
		times = append(times, part[1])
	}
	return times
}
