package frames

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// sampleEvery is how often readings are kept while traffic runs: for graphs, and because generators stop without a heartbeat.
const sampleEvery = time.Second

// How often counters are read within a window, to see how evenly generators send: all generators together at most 200 times a second, and so
// seldom that reading takes a fifth of the time.
const (
	paceEvery     = 10 * time.Millisecond
	paceEveryEach = 5 * time.Millisecond
	paceOfReading = 5
)

// watch waits until the step is over, keeps about one reading a second, and judges the step's second part by the Plan's goal. When the run is cut short, what was read
// of the window until then is returned as an Invalid window, with the error; nil if nothing was read.
func (r *run) watch(ctx context.Context, step procedure.Step) (*report.Window, error) {
	begin := time.Now()
	edge := begin.Add(step.Settle)
	span := measure.Span{Planned: step.Judge, Varied: step.Varied, Intended: r.drive.intended, Readings: make([][]engine.Reading, len(r.gens))}
	opened, pace, bursty := time.Time{}, r.setup.Pace(r.drive.intended), !paced(r.drive.last)
	span.Pace = pace
	var before []report.Limiter
	var followed []map[uint32]engine.Followed
	readAt := func(moment time.Time) error {
		if err := r.untilThen(ctx, moment, bursty && !opened.IsZero(), pace.Add); err != nil {
			return err
		}
		readings, limited, err := r.readEdge(ctx)
		if err != nil {
			return err
		}
		r.sample(readings, time.Since(begin))
		r.observe(readings, limited)
		if moment.Before(edge) {
			return nil
		}
		if opened.IsZero() {
			opened, before, followed = time.Now(), limited.Each, r.follow(ctx)
		}
		span.Limited = since(before, limited.Each)
		pace.Add(readings)
		for g := range readings {
			span.Readings[g] = append(span.Readings[g], readings[g])
		}
		return nil
	}
	for _, moment := range moments(begin, step) {
		if moment.Equal(edge) {
			r.machine.ReadBefore(ctx, edge)
		}
		if err := readAt(moment); err != nil {
			return r.cutShort(span, opened, step, err), err
		}
	}
	if measure.MayBeKept(measure.Judge(r.setup.Window(span), r.goal()), measure.LookAgain) {
		span.Planned += measure.LookAgain
		if err := readAt(time.Now().Add(measure.LookAgain)); err != nil {
			return r.cutShort(span, opened, step, err), err
		}
	}
	span.Latency = r.latency(followed, r.follow(ctx))
	span.Disturbance = r.machine.ReadAfter(ctx)
	w := measure.Judge(r.setup.Window(span), r.goal())
	w.Start = plan.Duration(opened.Sub(r.Started))
	r.readAfterwards(ctx)
	r.observed(&w, 0)
	return &w, nil
}

// paced says whether no generator ever catches up in a burst: then pace needn't be watched, which saves readings on a busy machine.
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

// untilThen waits for a moment, and reads meanwhile to look for silence; with follow it passes on closely spaced readings, to watch the generators' pace.
func (r *run) untilThen(ctx context.Context, moment time.Time, follow bool, see func([]engine.Reading)) error {
	every := func() time.Duration {
		if follow {
			return cmp.Or(r.opts.PaceEvery, max(paceEvery, time.Duration(len(r.gens))*paceEveryEach, paceOfReading*r.drive.quickest))
		}
		return max(r.lookEvery(), paceOfReading*r.drive.quickest)
	}
	for next := time.Now().Add(every()); moment.Sub(next) >= every(); {
		if err := bounded.PauseUntil(ctx, next); err != nil {
			return err
		}
		began := time.Now()
		readings, err := r.read(ctx)
		if err != nil {
			return err
		}
		if follow {
			see(readings)
		}
		r.drive.quickest = min(cmp.Or(r.drive.quickest, time.Hour), time.Since(began))
		next = began.Add(every())
	}
	return bounded.PauseUntil(ctx, moment)
}

// moments are when to read in a step: while it settles, at the window's first edge, in between, and at its last edge.
func moments(begin time.Time, step procedure.Step) []time.Time {
	var at []time.Time
	edge, end := begin.Add(step.Settle), begin.Add(step.Settle+step.Judge)
	for _, part := range [][2]time.Time{{begin, edge}, {edge, end}} {
		for t := part[0].Add(sampleEvery); part[1].Sub(t) > sampleEvery/4; t = t.Add(sampleEvery) {
			at = append(at, t)
		}
		at = append(at, part[1])
	}
	return at
}

// cutShort is an interrupted window: it keeps its figures, and is Invalid.
func (r *run) cutShort(span measure.Span, opened time.Time, step procedure.Step, cause error) *report.Window {
	if opened.IsZero() || len(span.Readings[0]) < 2 {
		return nil
	}
	span.Planned, span.Sending, span.Stopped = 0, 0, nil
	counted := r.setup.Window(span)
	counted = counted.Void(fmt.Sprintf("cut short after %s of %s: %v", counted.Duration().Round(time.Millisecond), step.Judge, cause))
	w := measure.Judge(counted, r.goal())
	w.Start = plan.Duration(opened.Sub(r.Started))
	return &w
}

// goal is the Plan's goal, by which windows are judged.
func (r *run) goal() measure.Goal { return measure.Goal{MaxLossRatio: r.Plan.Procedure.MaxLossRatio} }

// sample keeps a reading for graphs, and reports progress.
func (r *run) sample(readings []engine.Reading, inStep time.Duration) {
	for g, reading := range readings {
		r.drive.thefts[g].add(reading.Stolen)
	}
	r.reportStolen()
	r.drive.quiet.keep(r.Report, readings, r.takeSample(readings))
	live := measure.Judge(r.setup.Window(measure.Span{Readings: measure.Pairwise(r.drive.last, readings), Intended: r.drive.intended}), r.goal())
	r.drive.last = readings
	r.Estimate(inStep)
	r.Update(func(p *runner.Progress) {
		total := measure.Sum(live.Directions, r.lineRates)
		p.OfferedPacketsPerSecond, p.ReceivedPacketsPerSecond = total.Offered.PacketsPerSecond, total.Received.PacketsPerSecond
		p.ReceivedLayer1BitsPerSecond, p.LossRatio = total.Received.Layer1BitsPerSecond, total.LossRatio
	})
}

// takeSample is what was sent and came back since the traffic began, until readings that were taken just now.
func (r *run) takeSample(readings []engine.Reading) report.Sample {
	s := report.Sample{At: plan.Duration(time.Since(r.Started)), Phase: r.drive.step.Phase, Load: r.drive.targetShare(), CPUPercent: -1}
	for g, reading := range readings {
		s.CPUPercent = max(s.CPUPercent, reading.CPUPercent)
		s.QueueFull += reading.QueueFull - r.drive.baseline[g].QueueFull
	}
	for i, d := range r.setup.Directions {
		total := between(d, r.drive.baseline, readings)
		one := report.SampleDirection{Sent: total.Sent, Returned: total.Returned, ReceiveErrors: total.ReceiveErrors}
		if r.drive.intended != nil { // else no load was asked for yet
			one.IntendedPacketsPerSecond = r.drive.intended[i].Whole()
		}
		s.Directions = append(s.Directions, one)
	}
	return s
}

// between is what a direction sent and received between two readings of all generators.
func between(d measure.Direction, a, b []engine.Reading) report.Total {
	t := report.Total{From: d.From, To: d.To}
	for _, p := range d.Pairs {
		first, last := a[p.Generator].Ports, b[p.Generator].Ports
		t.Sent = t.Sent.Add(d.OfLoad(last[p.Send].Sent.Sub(first[p.Send].Sent)))
		t.SendDrops += last[p.Send].SendDrops - first[p.Send].SendDrops
		first, last = a[p.Receiver].Ports, b[p.Receiver].Ports
		t.Returned = t.Returned.Add(d.OfLoad(last[p.Receive].Received.Sub(first[p.Receive].Received)))
		t.ReceiveErrors += last[p.Receive].ReceiveErrors - first[p.Receive].ReceiveErrors
		t.DamagedFrames += last[p.Receive].Damaged - first[p.Receive].Damaged
	}
	return t
}
