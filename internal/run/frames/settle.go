package frames

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// The bounds of the drain: the wait for frames that are still in flight after the stop.
const (
	drainPoll  = 200 * time.Millisecond
	drainBound = 3 * time.Second
)

// The bounds of a drain in which no frame is missing: allBackPoll is how long the counters must stand still then; unsent is the largest part of a trial's traffic, as time at
// its rate, that may be unsent when the traffic counts as over.
const (
	allBackPoll = 50 * time.Millisecond
	unsent      = 10 * time.Millisecond
)

// For how many polls the counters must stand still: for one where traffic ended by itself or its result is known, for two where it was stopped because frames seemed lost. With one, a device
// that pauses for a moment would look like one that lost them.
const (
	stillOnce  = 1
	stillTwice = 2
)

// Stop ends the traffic of all generators that can be reached, also when ctx has ended, waits for the last frames, and writes the totals.
func (r *run) Stop(ctx context.Context) error {
	if !r.Driving {
		return nil
	}
	stopping, cancel := afterwards(ctx)
	defer cancel()
	err := r.stopAll(stopping)
	if err != nil {
		later := ""
		if endsLate(r.drive.baseline) {
			later = orLater
		}
		r.Note("not all traffic could be stopped; it ends by itself by %s%s: %v", r.drive.until.UTC().Format(time.RFC3339), later, err)
	}
	r.Update(func(p *runner.Progress) { p.Phase, p.Message = runner.Draining, "waiting for the last frames" })
	r.drain(ctx)
	r.observeIdleAgain(ctx)
	r.vitals.Complete(r.Report.Windows)
	r.Report.Observations = r.vitals.Observations()
	return err
}

// stopAll ends the traffic of all generators at once.
func (r *run) stopAll(ctx context.Context) error {
	return r.each(ctx, stopTimeout, "stop", func(ctx context.Context, g int) error { return r.gens[g].Engine.Stop(ctx, r.ports(g)) })
}

// observeIdleAgain lets observers read the idle machines after the traffic, for as long as before it. It doesn't keep a person waiting who interrupts the run.
func (r *run) observeIdleAgain(ctx context.Context) {
	if len(r.Plan.Observers) == 0 || ctx.Err() != nil {
		return
	}
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, silence+2*readTimeout)
	defer cancel()
	r.opts.Wanted.Judge(false)
	began := time.Since(r.Started)
	for i := range 2 {
		if i > 0 && r.keepSilence(ctx) != nil {
			return
		}
		readings, limited, err := r.readEdge(ctx)
		if err != nil {
			r.Log.Debug("observers' idle values after the traffic could not be read", "error", err)
			return
		}
		r.observe(readings, limited)
	}
	r.awaitReadings(whole, began)
	r.idle(began, true)
}

// awaitReadings waits for readings from the network of the time after the traffic, if the run has time left.
func (r *run) awaitReadings(ctx context.Context, began time.Duration) {
	until := r.Started.Add(began + r.Plan.IdleTime())
	if deadline, bounded := ctx.Deadline(); bounded && deadline.Before(until.Add(silence)) {
		return
	}
	for time.Now().Before(until) && r.keepSilence(ctx) == nil {
	}
}

// drain waits until the counters stand still, and writes the totals.
func (r *run) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainBound+readTimeout)
	defer cancel()
	rest, err := r.awaitStandstill(ctx, stillOnce, nil)
	if err != nil {
		r.Note("the totals are not final, they end with the last sample: %v", err)
		r.writeTotals(r.drive.last, nil, false)
		return
	}
	r.drive.unwatched = true
	r.observe(rest.readings, rest.limited)
	r.writeTotals(rest.readings, rest.limited.Each, rest.still)
	r.readNumbers(ctx)
}

// readNumbers reports what became of frames with sequence numbers, where the profile has latency streams.
func (r *run) readNumbers(ctx context.Context) {
	all := make([]map[uint32]engine.LatencyStats, len(r.gens))
	err := r.each(ctx, callTimeout, "read the sequence numbers of", func(ctx context.Context, g int) (err error) {
		all[g], err = r.gens[g].Engine.Latency(ctx)
		return err
	})
	if err != nil {
		r.Note("whether frames came twice is not known: %v", err)
		return
	}
	for g, stats := range all {
		for _, id := range slices.Sorted(maps.Keys(stats)) {
			s := stats[id]
			r.Report.Numbered = append(r.Report.Numbered, report.Numbered{Generator: r.gens[g].Name, FlowID: id, Sent: s.Sent, Received: s.Received, Missing: s.Dropped, Twice: s.Duplicate,
				OutOfOrder: s.OutOfOrder})
		}
	}
}

// rest holds the counters after traffic.
type rest struct {
	readings []engine.Reading
	limited  runner.Limits
	still    bool      // the counters stood still; otherwise these are their values when the drain's time was over
	since    time.Time // when the poll before had ended: the counters have stood still since then
}

// awaitStandstill reads until nothing is sent and nothing comes back for that many polls in a row, within the drain's time. A poll is shorter where complete says that no frame is
// missing; a nil complete means that it can't be known.
func (r *run) awaitStandstill(ctx context.Context, polls int, complete func([]engine.Reading) bool) (rest, error) {
	before, err := r.read(ctx)
	if err != nil {
		return rest{}, err
	}
	r.observe(before, runner.Limits{})
	since := time.Now()
	for end, stood := since.Add(drainBound), 0; ; {
		poll := drainPoll
		if complete != nil && complete(before) {
			poll = allBackPoll
		}
		if err := bounded.Pause(ctx, poll); err != nil {
			return rest{}, err
		}
		after, limited, err := r.readEdge(ctx)
		if err != nil {
			return rest{}, err
		}
		if stood++; !r.still(before, after) {
			stood = 0
		}
		if stood >= polls || time.Now().After(end) {
			return rest{after, limited, stood >= polls, since}, nil
		}
		before, since = after, time.Now()
	}
}

// allBack says whether a trial's traffic is over, and every frame came back or was dropped by the generator itself. Traffic is over once the planned number of frames was sent: a
// generator that pauses for a moment has sent fewer. It is false where background traffic was heard, or where more came back than was sent, as from a device that sends frames twice: then one
// frame may be counted in place of another that is still in flight.
func (r *run) allBack(sending time.Duration, before, now []engine.Reading) bool {
	return r.sentAll(sending, before, now) && r.allReturned(before, now)
}

// still says whether nothing but background traffic came between two readings.
func (r *run) still(before, after []engine.Reading) bool {
	for _, d := range r.setup.Directions {
		t := between(d, before, after)
		if t.Sent.Packets != 0 || t.ReceiveErrors != 0 || t.Returned.Packets > backgroundIn(d, drainPoll) {
			return false
		}
	}
	return true
}

// backgroundIn is how many frames of background traffic may come in a time span.
func backgroundIn(d measure.Direction, span time.Duration) int64 {
	rate := d.Background + d.Strays
	if rate == 0 {
		return 0
	}
	return 1 + 2*int64(rate.PerSecond()*span.Seconds())
}

// writeTotals writes, per direction, all that was sent and came back since the first start.
func (r *run) writeTotals(last []engine.Reading, limited []report.Limiter, still bool) {
	r.Report.Totals = nil
	taken := since(r.drive.limited, limited)
	for i, d := range r.setup.Directions {
		t := between(d, r.drive.baseline, last)
		t.Drained = still
		if i < len(taken) {
			t.Limiter = &taken[i]
		}
		r.Report.Totals = append(r.Report.Totals, t)
	}
}

// Release gives the ports back, whatever became of the run.
func (r *run) Release(ctx context.Context) {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	err := r.each(ctx, stopTimeout, "release the ports of", func(ctx context.Context, g int) error {
		if g >= len(r.claimed) || !r.claimed[g] {
			return nil
		}
		return r.gens[g].Engine.Release(ctx)
	})
	if err != nil {
		r.Note("not all ports could be given back: %v", err)
	}
}
