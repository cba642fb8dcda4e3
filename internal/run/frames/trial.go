package frames

import (
	"context"
	"fmt"
	"slices"
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

// trials measures windows of finite traffic, whose last frame has come back before it is counted.
type trials struct {
	journal    *runner.Journal
	topology   *topology
	demand     *demand
	setup      *measure.Setup
	balance    *balance
	counters   *counters
	pace       *pace
	observers  *observers
	samples    *samples
	totals     *totals
	timing     *timing
	machine    *observe.DisturbanceWatch
	flight     *flight
	fleet      *fleet
	traffic    *traffic
	standstill *standstill
	resetter   *resetter
	judge      *judge
}

// measure carries out a finite trial as in RFC 2544, and counts frames after all that will come back have come back.
// Generators end a trial by themselves. A stop would cut short those that began a little later. They are stopped only
// where the trial is decided early, or where they still send when its time is over.
//
//	 counters stand still                              they stand still again
//	      │ start                     each ends by itself       │
//	──read┴──┬────────────── Judge ──────────────┬─── drain ───read──▶
//	          readings about once a second, and for the pace
//
// When the run is cut short, measure returns what was read until then as an Invalid window, with the error, or nil if
// nothing was read.
func (t *trials) measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	moving, err := t.resetter.comeToRest(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.traffic.loadAgain(ctx); err != nil {
		return nil, err
	}
	t.machine.ReadBefore(ctx, time.Now().Add(2*observe.Lead))
	first, limited, err := t.counters.readEdge(ctx)
	if err != nil {
		return nil, err
	}
	pace := t.setup.Pace(t.demand.rates)
	span := measure.Span{Sending: step.Judge, Varied: step.Varied, Intended: t.demand.rates,
		Readings: make([][]engine.Reading, len(t.topology.names)), Pace: pace}
	keep := func(readings []engine.Reading) {
		pace.Add(readings)
		for g := range readings {
			span.Readings[g] = append(span.Readings[g], readings[g])
		}
	}
	keep(first)
	followed := t.timing.follow(ctx)
	t.observers.Observe(first, limited)
	opened := time.Now()
	if err := t.traffic.start(ctx, t.topology.loads(t.demand.rates), step.Judge); err != nil {
		return nil, err
	}
	begin := time.Now()
	early := t.newEarlyStop(step, begin, &span, keep)
	if err := t.readTrial(ctx, step, begin, first, early, pace, keep); err != nil {
		return t.judge.cutShort(span, opened, step, err), err
	}
	rest, err := t.standstill.await(ctx, early.polls(),
		func(latest []engine.Reading) bool { return t.balance.allBack(step.Judge, first, latest) })
	if err != nil {
		return t.judge.cutShort(span, opened, step, err), err
	}
	keep(rest.readings)
	t.observers.Observe(rest.readings, rest.limited)
	t.samples.add(rest.readings, time.Since(begin)) // so that a graph shows the pause until the next trial
	span.Limited = limitsBetween(limited.Limiters, rest.limited.Limiters)
	span.Disturbance = t.machine.ReadAfter(ctx)
	span.Latency = t.timing.latency(followed, t.timing.follow(ctx))
	span.Unstamped = t.timing.unstamped(first, rest.readings, span.Latency)
	if rest.stable {
		t.flight.learn(t.setup, span)
	}
	counted := t.setup.Window(span)
	switch {
	case moving != "":
		counted = counted.Void(moving)
	case !rest.stable:
		counted = counted.Void(fmt.Sprintf("the counters did not stand still within %s after the trial: frames of it "+
			"may still be in flight, or something else sends", drainBound))
	}
	w := measure.Judge(counted, t.judge.goalOf(span))
	w.Start, w.Took = plan.Duration(opened.Sub(t.journal.Started)), plan.Duration(time.Since(opened))
	t.observers.addTo(&w, t.observers.readAtRest(ctx, rest))
	return &w, nil
}

// readTrial reads the counters of a trial that was started until its generators have ended, or it was decided.
func (t *trials) readTrial(ctx context.Context, step procedure.Step, begin time.Time, first []engine.Reading,
	early *earlyStop, pace *measure.Pace, keep func([]engine.Reading)) error {
	began := false
	see := func(latest []engine.Reading) {
		if began || !t.balance.allSend(first, latest) {
			pace.Add(latest)
			return
		}
		began = true // from this reading on it shows for how long each port sends
		keep(latest)
	}
	wait := func(moment time.Time) error { return t.pace.waitFor(ctx, moment, !paced(first), see) }
	for _, moment := range moments(begin, step)[1:] { // the first moment was read before the start
		decided, err := early.await(ctx, moment, wait)
		if err != nil {
			return err
		}
		if decided {
			return early.end(ctx)
		}
		readings, err := t.counters.read(ctx)
		if err != nil {
			return err
		}
		t.samples.add(readings, time.Since(begin))
		t.observers.Observe(readings, runner.Limits{})
		keep(readings)
	}
	if endsLate(first) {
		return t.awaitEnd(ctx, begin, first, keep)
	}
	return nil
}

const (
	// endPoll is how often counters are read until a trial's generators have ended.
	endPoll = 50 * time.Millisecond
	// endMargin is how much later than it should a generator may end a trial by itself. TRex ends a port at its next
	// timer, 10 to 20 ms late.
	endMargin = 100 * time.Millisecond
)

// awaitEnd waits until the generators have ended a trial by themselves, and stops them where they still send when its
// time is over. TRex sends all that it was asked for, however late, and would refuse the next start. It keeps its
// readings, which show for how long each port sent.
//
//	asked for  ├──────── Judge ────────┤ endMargin ├ stopped
//	sent       ▁▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇███▁▁▁          by the schedule
//	           ▁▁▁▁▁▁▁▂▂▂▂▂▂▂▃▃▃▃▃▃▃▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅ late
func (t *trials) awaitEnd(ctx context.Context, begin time.Time, first []engine.Reading,
	keep func([]engine.Reading)) error {
	end := begin.Add(startDelay + t.demand.step.Judge)
	for previous := t.totals.latest; ; {
		if err := bounded.Pause(ctx, endPoll); err != nil {
			return err
		}
		latest, err := t.counters.read(ctx)
		if err != nil {
			return err
		}
		keep(latest)
		switch late := time.Now().After(end); {
		case !t.balance.sends(previous, latest) && (late || t.balance.sentAll(t.demand.step.Judge, first, latest)):
			return nil
		case time.Now().After(end.Add(endMargin)):
			return t.fleet.stopAll(ctx, callTimeout)
		}
		previous = latest
	}
}

// endsLate says whether some port's traffic may end later than it was asked to.
func endsLate(readings []engine.Reading) bool {
	for _, r := range readings {
		for _, port := range r.Ports {
			if port.EndsLate {
				return true
			}
		}
	}
	return false
}

// A trial that has lost more frames than its procedure allows for the whole trial is decided, and is ended early, as
// the rest of it would change nothing. While traffic runs, counters don't show whether a frame that hasn't come back
// is lost or in flight, so it counts as lost after a time. When the counters stand still, the truth is known. If the
// frames came back after all, the trial is Invalid, and later ones wait longer.
//
//	sent      ├──────────────────┤ stopped
//	returned   ├────────────────────┤ drain ├ counted: decided, or not
const (
	// unknownFlight is how long a frame may be in flight before any trial has shown how long that is. No device's
	// queue holds that much.
	unknownFlight = 750 * time.Millisecond
	// minFlight is the least time that a frame may be in flight, where trials showed shorter times, as a queue that
	// was empty in them may fill.
	minFlight = 100 * time.Millisecond
)

// How often counters are read in a trial that may be ended early. It is every twentieth of its duration, within these
// bounds, and so seldom that reading takes a fifth of the time at most.
const (
	decideEveryLeast = 100 * time.Millisecond
	decideEveryMost  = 250 * time.Millisecond
	decideParts      = 20
)

// earlyStop watches a trial for the moment at which its result is decided.
type earlyStop struct {
	topology *topology
	setup    *measure.Setup
	counters *counters
	machine  *observe.DisturbanceWatch
	flight   *flight
	fleet    *fleet
	traffic  *traffic

	stop         measure.Stop
	begin        time.Time
	span         *measure.Span // the trial so far
	keep         func([]engine.Reading)
	readDuration time.Duration // how long the latest reading took
	next         time.Time     // the earliest moment for the next thorough reading

	suspected bool // the latest readings said that the trial is decided
}

// newEarlyStop begins to watch a trial, or is nil if the trial may not be ended early.
func (t *trials) newEarlyStop(step procedure.Step, begin time.Time, span *measure.Span,
	keep func([]engine.Reading)) *earlyStop {
	if step.StopAbove == nil {
		return nil
	}
	return &earlyStop{topology: t.topology, setup: t.setup, counters: t.counters, machine: t.machine, flight: t.flight,
		fleet: t.fleet, traffic: t.traffic,
		stop: measure.Stop{Planned: step.Judge, Limit: *step.StopAbove}, begin: begin, span: span, keep: keep}
}

// await waits for a moment, by wait, and says whether the trial was decided before that moment.
func (l *earlyStop) await(ctx context.Context, moment time.Time, wait func(time.Time) error) (decided bool, err error) {
	if l == nil {
		return false, wait(moment)
	}
	for {
		if decided, err := l.decided(ctx); decided || err != nil {
			return decided, err
		}
		pause := l.interval()
		next := time.Now().Add(pause)
		if moment.Sub(next) < pause/2 {
			return false, wait(moment)
		}
		if err := wait(next); err != nil {
			return false, err
		}
		began := time.Now()
		readings, err := l.counters.read(ctx)
		if err != nil {
			return false, err
		}
		l.readDuration = time.Since(began)
		l.keep(readings)
	}
}

// interval is the time until counters are read again.
func (l *earlyStop) interval() time.Duration {
	if l.suspected {
		return max(decideEveryLeast, paceOfReading*l.readDuration)
	}
	pause := min(max(l.stop.Planned/decideParts, decideEveryLeast), decideEveryMost)
	return max(pause, time.Duration(len(l.topology.names))*paceEveryEach, paceOfReading*l.readDuration)
}

// decided says whether the trial is decided, by the latest two readings, as a device that pauses for a moment may
// show more missing frames than it loses in one reading, but not in the next one. Only if both readings say that the
// trial is decided, and at most about once a second, it asks the generators for all counters of missing frames, and
// the machine for threads that waited. Both requests take processor time, which must not be taken from the device
// while no frame is lost.
func (l *earlyStop) decided(ctx context.Context) (bool, error) {
	if time.Now().Before(l.next) {
		return false, nil
	}
	current := *l.span
	current.Stopped, current.Sending = &l.stop, time.Since(l.begin)
	flight := l.flight.bound()
	suspected := l.suspected
	if l.suspected = l.setup.Decided(current, flight); !l.suspected || !suspected {
		return false, nil
	}
	l.next = time.Now().Add(sampleEvery)
	readings, err := l.counters.readAll(ctx)
	if err != nil {
		return false, err
	}
	// These readings replace the latest ones, and the generators' pace isn't judged by them.
	current.Readings = make([][]engine.Reading, len(readings))
	for g := range readings {
		current.Readings[g] = slices.Clone(l.span.Readings[g])
		current.Readings[g][len(current.Readings[g])-1] = readings[g]
	}
	current.Disturbance = l.machine.SoFar(ctx)
	return l.setup.Decided(current, flight), nil
}

// end stops the trial's traffic on all generators, and records that in its span.
func (l *earlyStop) end(ctx context.Context) error {
	if err := l.fleet.stopAll(ctx, callTimeout); err != nil {
		return err
	}
	l.span.Stopped, l.span.Sending = &l.stop, time.Since(l.begin)
	l.traffic.endsAt = time.Now()
	return nil
}

// polls is for how many polls the counters must stand still after the trial.
func (l *earlyStop) polls() int {
	if l != nil && l.span.Stopped != nil {
		return stillTwice
	}
	return stillOnce
}
