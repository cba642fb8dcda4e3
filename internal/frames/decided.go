package frames

import (
	"context"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// A trial that has lost more than its procedure forgives in the whole of it is decided: it is ended, as the rest of it would change nothing. While traffic runs, a frame that
// isn't back is lost or on its way, and counters don't tell which. So it counts as lost after a time, and when the counters stand still it is known: if the frames came back after all, the trial
// says nothing, and later ones wait for longer.
//
//	sent      ├──────────────────┤ stopped
//	returned   ├────────────────────┤ drain ├ counted: decided, or not
const (
	// unknownFlight is how long a frame may be on its way before any trial has shown how long frames are; no device's queue holds so much.
	unknownFlight = 750 * time.Millisecond
	// leastFlight is that where trials showed less: a queue that was empty in them may fill.
	leastFlight = 100 * time.Millisecond
)

// How often counters are read in a trial that may be ended: a twentieth of what is to be sent, within these bounds, and so seldom that reading takes a fifth of the time.
const (
	decideEveryLeast = 100 * time.Millisecond
	decideEveryMost  = 250 * time.Millisecond
	decideParts      = 20
)

// flight is after what time a frame that isn't back counts as lost: twice as long as frames were seen to be on their way.
func (d *drive) flight() time.Duration {
	if !d.flightKnown {
		return unknownFlight
	}
	return min(max(leastFlight, 2*d.longestFlight), drainBound)
}

// learnFlight takes in for how long frames were on their way in a trial whose counters stood still in the end.
func (d *drive) learnFlight(setup measure.Setup, span measure.Span) {
	if longest, known := setup.Flight(span); known {
		d.flightKnown, d.longestFlight = true, max(d.longestFlight, longest)
	}
}

// lookout looks out for the moment at which a trial is decided.
type lookout struct {
	run   *run
	stop  measure.Stop
	begin time.Time
	span  *measure.Span // of the trial so far
	keep  func([]engine.Reading)
	took  time.Duration // the latest reading
	next  time.Time     // the earliest moment to look closely again

	suspected bool // the latest readings said that the trial is decided
}

// lookOut begins to; nil: the trial isn't to be ended before its time.
func (r *run) lookOut(step procedure.Step, begin time.Time, span *measure.Span, keep func([]engine.Reading)) *lookout {
	if step.StopAbove == nil {
		return nil
	}
	return &lookout{run: r, stop: measure.Stop{Planned: step.Judge, Above: *step.StopAbove}, begin: begin, span: span, keep: keep}
}

// until waits for a moment, by wait, and says whether the trial was decided before it. The last moment of a trial is no longer before its end.
func (l *lookout) until(ctx context.Context, moment time.Time, wait func(time.Time) error) (decided bool, err error) {
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

// every is how soon counters are read again.
func (l *lookout) every() time.Duration {
	if l.suspected {
		return max(decideEveryLeast, paceOfReading*l.took)
	}
	every := min(max(l.stop.Planned/decideParts, decideEveryLeast), decideEveryMost)
	return max(every, time.Duration(len(l.run.gens))*paceEveryEach, paceOfReading*l.took)
}

// decided says whether the trial is, by the latest readings and those before: a device that pauses for a moment shows frames that come back, and more that don't, in one reading, and none that come
// back in the next. Only where both say so, and about once a second, generators are asked for all that they tell of frames that are missing, and the
// machine for who waited in it: both take their time, and nobody is to be kept from carrying frames where none is lost.
func (l *lookout) decided(ctx context.Context) (bool, error) {
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
	so.Readings = make([][]engine.Reading, len(readings)) // they follow the latest ones at once and stand for them, and are none of those that pace is seen by
	for g := range readings {
		so.Readings[g] = slices.Clone(l.span.Readings[g])
		so.Readings[g][len(so.Readings[g])-1] = readings[g]
	}
	so.Disturbance = l.run.machine.SoFar(ctx)
	return l.run.setup.Decided(so, flight), nil
}

// end stops the trial's traffic on all generators, and says so in its span.
func (l *lookout) end(ctx context.Context) error {
	if err := l.run.stopAll(ctx); err != nil {
		return err
	}
	l.span.Stopped, l.span.Sending = &l.stop, time.Since(l.begin)
	l.run.drive.until = time.Now()
	return nil
}

// polls are for how many polls the counters have to stand still after the trial.
func (l *lookout) polls() int {
	if l != nil && l.span.Stopped != nil {
		return stillTwice
	}
	return stillOnce
}
