package frames

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// The bounds of the drain: frames that are still on their way after the stop come back, or never will.
const (
	drainPoll  = 200 * time.Millisecond
	drainBound = 3 * time.Second
)

// The bounds of a drain in which nothing is missing: allBackPoll is for how long the counters have to stand still then, and unsent how much of a trial's traffic may not have been sent, as a
// share of its rate, for the traffic to be over.
const (
	allBackPoll = 50 * time.Millisecond
	unsent      = 10 * time.Millisecond
)

// For how many polls the counters have to stand still: for one where traffic ended by itself or its result is settled, for two where it was stopped since frames seemed lost, as just then a device
// that pauses for a moment would be taken for one that lost them.
const (
	stillOnce  = 1
	stillTwice = 2
)

// Stop ends the traffic of all generators that can be reached, also when ctx has ended, drains, and settles the totals.
func (r *run) Stop(ctx context.Context) error {
	if !r.Driving {
		return nil
	}
	stopping, cancel := afterwards(ctx)
	defer cancel()
	err := r.stopAll(stopping)
	if err != nil {
		r.Note("not all traffic could be stopped; it stops by itself by %s: %v", r.drive.until.UTC().Format(time.RFC3339), err)
	}
	r.Update(func(p *runner.Progress) { p.Phase, p.Message = runner.Draining, "waiting for the last frames" })
	r.drain(ctx)
	r.listenAgain(ctx)
	r.Report.Observations = r.vitals.Observations()
	return err
}

// stopAll ends the traffic of all generators at once.
func (r *run) stopAll(ctx context.Context) error {
	return r.each(ctx, stopTimeout, "stop", func(ctx context.Context, g int) error { return r.gens[g].Engine.Stop(ctx, r.ports(g)) })
}

// listenAgain lets observers see what is idle after the traffic, for as long as they saw it before. Who interrupts a run doesn't wait for that.
func (r *run) listenAgain(ctx context.Context) {
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
			r.Log.Debug("what is idle after the traffic could not be read", "error", err)
			return
		}
		r.observe(readings, limited)
	}
	r.awaitReadings(whole, began)
	r.idle(began, true)
}

// awaitReadings waits for what those who are asked over the network tell of the time after the traffic, where the run has that time.
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
		r.Note("the totals are not settled, they end with the last sample: %v", err)
		r.settle(r.drive.last, nil, false)
		return
	}
	r.observe(rest.readings, rest.limited)
	r.settle(rest.readings, rest.limited.Each, rest.still)
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

// rest are the counters after traffic.
type rest struct {
	readings []engine.Reading
	limited  runner.Limits
	still    bool      // they stood still; else this is what they were when the drain's bound was over
	since    time.Time // when it was known what they were at the poll before: they have stood still since then
}

// awaitStandstill reads until nothing is sent and nothing comes back any more, for so many polls in a row, within the drain's bound. A poll is shorter where complete says that nothing is
// missing; nil: nobody can say.
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
		if err := pause.For(ctx, poll); err != nil {
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

// allBack says of a trial that its traffic is over, and that every frame came back or was dropped by the generator itself. Traffic is over where as much was sent as is planned, which is finite: a
// generator that stands still for a moment has sent less. Where somebody else's frames were heard before any load, or more came back than was sent, as of a device that sends frames twice, one
// frame may stand for another that is on its way, and nobody can say that all are back.
func (r *run) allBack(sending time.Duration, before, now []engine.Reading) bool {
	for i, d := range r.setup.Directions {
		t := between(d, before, now)
		due := r.drive.intended[i].PerSecond() * (sending - unsent).Seconds()
		if d.Background+d.Strays > 0 || t.Returned.Packets+t.ReceiveErrors != t.Sent.Packets || float64(t.Sent.Packets) < due {
			return false
		}
	}
	return true
}

// still says that nothing but background traffic came between two readings.
func (r *run) still(before, after []engine.Reading) bool {
	for _, d := range r.setup.Directions {
		t := between(d, before, after)
		if t.Sent.Packets != 0 || t.ReceiveErrors != 0 || t.Returned.Packets > backgroundIn(d, drainPoll) {
			return false
		}
	}
	return true
}

// backgroundIn is how many frames of other people's may come in so much time.
func backgroundIn(d measure.Direction, span time.Duration) int64 {
	rate := d.Background + d.Strays
	if rate == 0 {
		return 0
	}
	return 1 + 2*int64(rate.PerSecond()*span.Seconds())
}

// settle writes, per direction, all that was sent and came back since the first start.
func (r *run) settle(last []engine.Reading, limited []report.Limiter, still bool) {
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
