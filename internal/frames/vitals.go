package frames

import (
	"context"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// observe lets the Plan's observers take their values from what was just read.
func (r *run) observe(readings []engine.Reading, limits runner.Limits) {
	m := r.opts.Moment(time.Since(r.Started))
	m.Readings, m.Limited, m.Asked, m.Answered = readings, limits.Each, limits.Asked, limits.Answered
	r.vitals.Add(m)
}

// readAfterwards has observers see, while a window's load is still held, what takes too much from the device to be read within the window. What can't be read is missing.
func (r *run) readAfterwards(ctx context.Context) {
	if !r.opts.Wanted.Intrusive() {
		return
	}
	r.opts.Wanted.Judge(false)
	defer r.opts.Wanted.Judge(true)
	r.opts.RefreshDevice(ctx)
	readings, err := r.read(ctx)
	if err != nil {
		r.Log.Debug("what observers want to know after a window could not be read", "error", err)
		return
	}
	r.observe(readings, runner.Limits{})
}

// hearings are how often in a silence the device's node is heard: what it told last may be older than what generators are read for.
const hearings = 4

// keepSilence waits for the silence to pass, and lets observers hear the device's node and the collector meanwhile.
func (r *run) keepSilence(ctx context.Context) error {
	for range hearings {
		if err := pause.For(ctx, silence/hearings); err != nil {
			return err
		}
		if m := r.opts.Moment(time.Since(r.Started)); m.Device != nil || m.Collected != nil {
			r.vitals.Add(m)
		}
	}
	return nil
}

// observers begin with nothing read.
func (r *run) observers() *observe.Log {
	return observe.NewLog(r.Plan.Observers, observe.Setup{Generators: r.setup.Generators, Links: r.links(), Directions: r.Plan.Directions, Whereabouts: r.opts.Whereabouts})
}

// aged is how old a value may be when it is told: generators look at their processors each 100 ms at most. Nothing is sent in that time before it is listened.
const aged = 150 * time.Millisecond

// idle is what observers saw without traffic since then: before it, or after it.
func (r *run) idle(since time.Duration, after bool) {
	r.vitals.Idle(since-aged, time.Since(r.Started), after)
}

// links are the links that each generator's ports are on.
func (r *run) links() []map[int]string {
	all := make([]map[int]string, len(r.gens))
	for g := range r.gens {
		all[g] = map[int]string{}
		for _, planned := range r.Plan.Generators[g].Ports {
			all[g][r.gens[g].PortOfLink[planned.Link]] = planned.Link
		}
	}
	return all
}

// readAtRest has observers see what the device's interfaces counted when the counters stood still, and says since when they do: machines tell them from what they read a moment before, which
// may be from when frames were still on their way. What can't be read is missing.
func (r *run) readAtRest(ctx context.Context, drained rest) (still time.Duration) {
	still = drained.since.Sub(r.Started)
	ofDevice := func(o plan.Observer) bool { return o.Of == plan.OfDUT && o.Type == plan.ObserveInterfaces }
	if !slices.ContainsFunc(r.Plan.Observers, ofDevice) || pause.Until(ctx, drained.since.Add(aged)) != nil {
		return still
	}
	r.opts.RefreshDevice(ctx)
	readings, err := r.read(ctx)
	if err != nil {
		r.Log.Debug("what the device's interfaces counted could not be read after a trial", "error", err)
		return still
	}
	r.observe(readings, runner.Limits{})
	return still
}

// observed is what they saw in a window; still is since when counters stand still after a trial, and 0 of a load that was held.
func (r *run) observed(w *report.Window, still time.Duration) {
	from := w.Start.Std()
	if to := from + w.Duration.Std(); still > 0 {
		w.Observed = r.vitals.Trial(from, to, still)
	} else {
		w.Observed = r.vitals.Window(from, to)
	}
	w.Observed = append(w.Observed, observe.Derived(w)...)
}
