package frames

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// traffic starts, changes and stops what generators send.
type traffic struct {
	journal    *runner.Journal
	topology   *topology
	fleet      *fleet
	demand     *demand
	timing     *timing
	silence    *silence
	totals     *totals
	standstill *standstill
	// orphansStopWithin is how long after the runner's death somebody else has stopped its traffic. 0 means that
	// nobody does.
	orphansStopWithin time.Duration

	endsAt   time.Time           // when the traffic of the latest start ends by itself
	latest   time.Time           // when all Held traffic ends by itself, as was logged before the first frame
	flowing  bool                // Held traffic has been started and not stopped
	bursting bool                // ports have the streams of a burst instead of the Plan's
	loads    [][]engine.PortLoad // the present load of Held traffic, by generator
}

// load gives every sending port its streams.
func (t *traffic) load(ctx context.Context) error {
	t.timing.find()
	return t.fleet.callAll(ctx, callTimeout, "load streams on", func(ctx context.Context, g int) error {
		for i, d := range t.journal.Plan.Directions {
			if !t.topology.hasPort(g, d.From) {
				continue
			}
			if err := t.fleet.engines[g].Load(ctx, t.topology.index(g, d.From), t.timing.streamsOf(g, i)); err != nil {
				return fmt.Errorf("link %s: %w", d.From, err)
			}
		}
		return nil
	})
}

func sum(rates []units.PacketRate) units.PacketRate {
	var total units.PacketRate
	for _, rate := range rates {
		total += rate
	}
	return total
}

// hold starts traffic if none flows, at first, after a trial and from rest, and otherwise changes its rate. A
// direction whose load is zero sends nothing. Traffic that would end by itself within the step is an error, as its
// window would be wrong.
func (t *traffic) hold(ctx context.Context, step procedure.Step) error {
	loads := t.topology.loads(t.demand.rates)
	if err := t.loadAgain(ctx); err != nil {
		return err
	}
	if end := time.Now().Add(step.Settle + step.Judge); t.journal.Driving && end.After(t.latest) {
		return fmt.Errorf("the run takes longer than its traffic, which ends at %s: generators or runner answer too "+
			"slowly", t.latest.UTC().Format(time.TimeOnly))
	}
	counters := t.standstill.counters
	if (step.Rested || counters.mayStandStill()) && t.flowing {
		if _, err := t.endHeld(ctx, stillOnce); err != nil { // what comes back later all the same shows in the window
			return err
		}
	}
	counters.unheard = 0
	if !t.flowing {
		return t.begin(ctx, loads)
	}
	previous := t.loads
	t.loads = loads
	err := t.change(ctx, previous, loads)
	if !errors.Is(err, engine.ErrEnded) {
		return err
	}
	// A generator that heard nothing for too long has stopped by itself. The load begins again, and the pause voids the
	// window, as the device may have rested.
	t.journal.Note("held traffic begins again: %v", err)
	if _, err := t.endHeld(ctx, stillOnce); err != nil {
		return err
	}
	counters.unheard = measure.MaxSilence + 1
	return t.begin(ctx, loads)
}

// begin starts held traffic.
func (t *traffic) begin(ctx context.Context, loads [][]engine.PortLoad) error {
	t.loads, t.flowing = loads, true
	lasts := t.longestHeld()
	if bound := t.journal.Procedure.Bound().LongestHold; bound > 0 {
		lasts = min(lasts, bound)
	}
	if err := t.start(ctx, loads, lasts); err != nil {
		return err
	}
	return bounded.Pause(ctx, startDelay)
}

// longestHeld is how long Held traffic lasts if it isn't stopped. It is as long as the procedure may take, but no
// longer than the run may. Traffic that is started again after a trial ends when the traffic before it would have
// ended.
func (t *traffic) longestHeld() time.Duration {
	if t.journal.Driving {
		return time.Until(t.latest)
	}
	return t.journal.WithinDeadline(t.journal.Procedure.Bound().Whole(), stopTimeout)
}

// start starts all generators at once, for a finite duration, and measures how far apart their starts were.
//
//	generator 0 ──── ready ─┐ ready ┌─ Start ├──call──┤
//	generator 1 ── ready ───┘       └─ Start  ├──call──┤
//	                                          ↔ skew of the calls' middles
func (t *traffic) start(ctx context.Context, loads [][]engine.PortLoad, lasts time.Duration) error {
	if !t.journal.Driving {
		t.latest = time.Now().Add(t.longestHeld())
		t.announceLatestEnd()
	}
	t.journal.Driving = true
	t.silence.awaitFirstFrames()
	t.endsAt = time.Now().Add(lasts + StartsWithin)
	middles := make([]time.Time, len(t.topology.names))
	var ready sync.WaitGroup // starts are held back until all generators are ready
	ready.Add(len(t.topology.names))
	err := t.fleet.callAll(ctx, callTimeout, "start", func(ctx context.Context, g int) error {
		ready.Done()
		ready.Wait()
		if len(loads[g]) == 0 {
			return nil
		}
		called := time.Now()
		err := t.fleet.engines[g].Start(ctx, loads[g], lasts)
		middles[g] = called.Add(time.Since(called) / 2)
		return err
	})
	t.reportSkew(middles)
	t.passOnRemarks()
	if err != nil {
		return &orderError{err}
	}
	return nil
}

// StartsWithin is the longest time by which a common start is put off, with all its tries.
const StartsWithin = 5 * time.Second

// Unattended is how long a generator sends on at most if its driver dies just before the common start.
func Unattended(p plan.Procedure) time.Duration {
	return procedures.New(p).Bound().Unattended() + StartsWithin
}

// announceLatestEnd logs, before the first frame, how long generators go on sending if the runner dies.
func (t *traffic) announceLatestEnd() {
	subject, ends := "traffic starts", fmt.Sprintf("it ends by itself after %s, at %s",
		(time.Until(t.latest)+StartsWithin).Round(time.Second), t.latest.Add(StartsWithin).UTC().Format(time.RFC3339))
	if b := t.journal.Procedure.Bound(); b.EndsByTrial() {
		bound := b.Unattended() + StartsWithin
		if procedures.TraitsOf(t.journal.Plan.Procedure).SendsBursts {
			bound += burstStart
		}
		subject, ends = "each trial is finite", fmt.Sprintf("its traffic ends by itself, after %s at most", bound)
	}
	words := fmt.Sprintf("%s; even if the runner dies, %s", subject, ends)
	switch late := endsLate(t.totals.baseline); {
	case late && t.orphansStopWithin > 0:
		words = fmt.Sprintf("%s; even if the runner dies, it is stopped within %s; if nothing can stop it, %s%s",
			subject, t.orphansStopWithin, ends, orLater)
	case late:
		words += orLater
	}
	t.journal.Note("%s", words)
	t.journal.Update(func(p *runner.Progress) { p.Message = words })
}

// orLater says of a promised end that TRex ends late where its schedule is late.
const orLater = ", or later where the generator can't keep up with the load: it sends all frames that it was asked for"

// passOnRemarks adds the generators' remarks on successful calls to the Report's notes.
func (t *traffic) passOnRemarks() {
	for g, e := range t.fleet.engines {
		if e, ok := e.(engine.Remarker); ok {
			for _, words := range e.Remarks() {
				t.journal.Note("generator %s: %s", t.topology.names[g], words)
			}
		}
	}
}

// reportSkew reports how much later than the first one each generator started. A generator that sends nothing has no
// start.
func (t *traffic) reportSkew(middles []time.Time) {
	var first time.Time
	for _, m := range middles {
		if !m.IsZero() && (first.IsZero() || m.Before(first)) {
			first = m
		}
	}
	for g, m := range middles {
		if !m.IsZero() { // of several starts the worst counts
			t.journal.Report.Generators[g].StartSkew = max(t.journal.Report.Generators[g].StartSkew,
				plan.Duration(m.Sub(first)))
		}
	}
}

// startDelay is how long it may take until all of the started ports send. An engine sets a common start a moment
// ahead. A window that began before it would have frames in flight at its last edge and none at its first, and count
// them as lost.
const startDelay = 500 * time.Millisecond

// change changes the load of running traffic. A port that goes on sending changes its rate without a gap. A port
// whose new load is zero is stopped, since a rate of zero doesn't stop every generator. TRex refuses a multiplier of
// 0, and keeps latency streams at their own rate whatever the multiplier. The port is started again when it gets a
// load again, for as long as the other ports still send.
//
//	west→east ─────┐updated┌──────────┐stopped
//	               └───────┘          └──────────────
//	east→west             started ───────┐ startDelay ├ settle ┤ judge
func (t *traffic) change(ctx context.Context, previous, next [][]engine.PortLoad) error {
	woken := make([]bool, len(t.topology.names))
	err := t.fleet.callAll(ctx, callTimeout, "change the load of", func(ctx context.Context, g int) error {
		c := changesOf(previous[g], next[g])
		woken[g] = len(c.start) > 0
		if len(c.stop) > 0 {
			if err := t.fleet.engines[g].Stop(ctx, c.stop); err != nil {
				return err
			}
		}
		if len(c.update) > 0 {
			return t.fleet.engines[g].Update(ctx, c.update)
		}
		return nil
	})
	if err != nil {
		return &orderError{err}
	}
	if !slices.Contains(woken, true) {
		return nil
	}
	err = t.fleet.callAll(ctx, callTimeout, "start more ports of", func(ctx context.Context, g int) error {
		if !woken[g] {
			return nil
		}
		return t.fleet.engines[g].Start(ctx, changesOf(previous[g], next[g]).start, time.Until(t.endsAt))
	})
	t.passOnRemarks()
	if err != nil {
		return &orderError{err}
	}
	return bounded.Pause(ctx, startDelay)
}

// changes are which of one generator's ports to update, stop and start for another load.
type changes struct {
	stop          []int
	update, start []engine.PortLoad
}

// changesOf are the changes from one load to the next. There are none where both are the same.
func changesOf(previous, next []engine.PortLoad) (c changes) {
	if slices.Equal(previous, next) {
		return c
	}
	sends := func(loads []engine.PortLoad, port int) bool {
		return slices.ContainsFunc(loads, func(l engine.PortLoad) bool { return l.Port == port })
	}
	for _, l := range previous {
		if !sends(next, l.Port) {
			c.stop = append(c.stop, l.Port)
		}
	}
	for _, l := range next {
		if sends(previous, l.Port) {
			c.update = append(c.update, l)
		} else {
			c.start = append(c.start, l)
		}
	}
	return c
}

// endHeld stops the traffic that was held until now, and waits for its last frames, so that none of them counts in
// what comes next.
func (t *traffic) endHeld(ctx context.Context, polls int) (rest, error) {
	t.flowing = false
	if err := t.fleet.stopAll(ctx, callTimeout); err != nil {
		return rest{}, err
	}
	return t.standstill.await(ctx, polls, nil)
}

// loadBursts gives every sending port its share of its direction's burst, divided among the port's streams in
// proportion to their rates. Latency streams have a rate of their own and no end, so they are left out. Stamps are
// left out, too.
func (t *traffic) loadBursts(ctx context.Context, frames []int64) error {
	t.bursting = true
	return t.fleet.callAll(ctx, callTimeout, "load bursts on", func(ctx context.Context, g int) error {
		for i, d := range t.journal.Plan.Directions {
			if !t.topology.hasPort(g, d.From) {
				continue
			}
			streams, err := finiteStreams(t.topology.planned(g, d.From).Streams, t.topology.shareOf(g, d, frames[i]),
				t.demand.rates[i].Apportion(t.topology.weights(d)...)[g])
			if err == nil {
				err = t.fleet.engines[g].Load(ctx, t.topology.index(g, d.From), streams)
			}
			if err != nil {
				return fmt.Errorf("link %s: %w", d.From, err)
			}
		}
		return nil
	})
}

// loadAgain gives the ports the Plan's streams again after a burst.
func (t *traffic) loadAgain(ctx context.Context) error {
	if !t.bursting {
		return nil
	}
	t.bursting = false
	return t.load(ctx)
}
