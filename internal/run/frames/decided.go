package frames

import (
	"context"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// A trial that has lost more frames than its procedure allows for the whole trial is decided, and is ended early: the rest of it would change nothing. While traffic runs, counters don't
// show whether a frame that hasn't come back is lost or in flight, so it counts as lost after a time. When the counters stand still, the truth is known: if the frames came back after all, the trial
// is Invalid, and later ones wait longer.
//
//	sent      ├──────────────────┤ stopped
//	returned   ├────────────────────┤ drain ├ counted: decided, or not
const (
	// unknownFlight is how long a frame may be in flight before any trial has shown how long frames are; no device's queue holds that much.
	unknownFlight = 750 * time.Millisecond
	// leastFlight is the least time that a frame may be in flight, where trials showed shorter times: a queue that was empty in them may fill.
	leastFlight = 100 * time.Millisecond
)

// How often counters are read in a trial that may be ended early: every twentieth of its duration, within these bounds, and so seldom that reading takes a fifth of the time at most.
const (
	decideEveryLeast = 100 * time.Millisecond
	decideEveryMost  = 250 * time.Millisecond
	decideParts      = 20
)

// flight is the time after which a frame that hasn't come back counts as lost: twice the longest time that frames have been in flight so far.
func (d *drive) flight() time.Duration {
	if !d.flightKnown {
		return unknownFlight
	}
	return min(max(leastFlight, 2*d.longestFlight), drainBound)
}

// learnFlight records how long frames were in flight in a trial whose counters stood still at its end.
func (d *drive) learnFlight(setup measure.Setup, span measure.Span) {
	if longest, known := setup.Flight(span); known {
		d.flightKnown, d.longestFlight = true, max(d.longestFlight, longest)
	}
}

// earlyStop watches a trial for the moment at which its result is decided.
type earlyStop struct {
	run   *run
	stop  measure.Stop
	begin time.Time
	span  *measure.Span // the trial so far
	keep  func([]engine.Reading)
	took  time.Duration // how long the latest reading took
	next  time.Time     // the earliest moment for the next thorough reading

	suspected bool // the latest readings said that the trial is decided
}

// newEarlyStop begins to watch a trial; nil: the trial may not be ended early.
func (r *run) newEarlyStop(step procedure.Step, begin time.Time, span *measure.Span, keep func([]engine.Reading)) *earlyStop {
	if step.StopAbove == nil {
		return nil
	}
	return &earlyStop{run: r, stop: measure.Stop{Planned: step.Judge, Limit: *step.StopAbove}, begin: begin, span: span, keep: keep}
}

// until waits for a moment, by wait, and says whether the trial was decided before that moment.
func (l *earlyStop) until(ctx context.Context, moment time.Time, wait func(time.Time) error) (decided bool, err error) {
	if l == nil {
		return false, wait(moment)
	}
	for {
		if decided, err := l.decided(ctx); decided || err != nil {
			return decided, err
		}
		every := l.every()
		next := time.Now().Add(every)
		if moment.Sub(next) < every/2 {
			return false, wait(moment)
		}
		if err := wait(next); err != nil {
			return false, err
		}
		began := time.Now()
		readings, err := l.run.read(ctx)
		if err != nil {
			return false, err
		}
		l.took = time.Since(began)
		l.keep(readings)
	}
}

// every is the time until counters are read again.
func (l *earlyStop) every() time.Duration {
	if l.suspected {
		return max(decideEveryLeast, paceOfReading*l.took)
	}
	every := min(max(l.stop.Planned/decideParts, decideEveryLeast), decideEveryMost)
	return max(every, time.Duration(len(l.run.gens))*paceEveryEach, paceOfReading*l.took)
}

// decided says whether the trial is decided, by the latest two readings: a device that pauses for a moment may show more missing frames than it loses in one reading, but not in the
// next one. Only if both readings say that the trial is decided, and at most about once a second, it asks the generators for all counters of missing frames, and the
// machine for threads that waited: both requests take processor time, which must not be taken from the device while no frame is lost.
func (l *earlyStop) decided(ctx context.Context) (bool, error) {
	if time.Now().Before(l.next) {
		return false, nil
	}
	so := *l.span
	so.Stopped, so.Sending = &l.stop, time.Since(l.begin)
	flight := l.run.drive.flight()
	suspected := l.suspected
	if l.suspected = l.run.setup.Decided(so, flight); !l.suspected || !suspected {
		return false, nil
	}
	l.next = time.Now().Add(sampleEvery)
	readings, err := l.run.readAll(ctx)
	if err != nil {
		return false, err
	}
	so.Readings = make([][]engine.Reading, len(readings)) // these readings replace the latest ones, and the generators' pace isn't judged by them
	for g := range readings {
		so.Readings[g] = slices.Clone(l.span.Readings[g])
		so.Readings[g][len(so.Readings[g])-1] = readings[g]
	}
	so.Disturbance = l.run.machine.SoFar(ctx)
	return l.run.setup.Decided(so, flight), nil
}

// end stops the trial's traffic on all generators, and records that in its span.
func (l *earlyStop) end(ctx context.Context) error {
	if err := l.run.stopAll(ctx); err != nil {
		return err
	}
	l.span.Stopped, l.span.Sending = &l.stop, time.Since(l.begin)
	l.run.drive.until = time.Now()
	return nil
}

// polls is for how many polls the counters must stand still after the trial.
func (l *earlyStop) polls() int {
	if l != nil && l.span.Stopped != nil {
		return stillTwice
	}
	return stillOnce
}
