package frames

import (
	"context"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// observe passes the latest readings to the Plan's observers.
func (r *run) observe(readings []engine.Reading, limits runner.Limits) {
	m := r.opts.Moment(time.Since(r.Started))
	m.Readings, m.Limited, m.Asked, m.Answered = readings, limits.Each, limits.Asked, limits.Answered
	r.vitals.Add(m)
	r.Hear(r.vitals.Unread())
}

// readAfterwards reads for observers, right after a window while its load is still held, what would disturb the device within the window. What can't be read is missing.
func (r *run) readAfterwards(ctx context.Context) {
	if !r.opts.Wanted.Intrusive() {
		return
	}
	r.opts.Wanted.Judge(false)
	defer r.opts.Wanted.Judge(true)
	r.opts.RefreshDevice(ctx)
	readings, err := r.read(ctx)
	if err != nil {
		r.Log.Debug("observers' values after a window could not be read", "error", err)
		return
	}
	r.observe(readings, runner.Limits{})
}

// hearings is how many times in a silence the latest values of the device's node are taken: they may be older than the generators' readings.
const hearings = 4

// keepSilence waits until the silence is over, and passes the values of the device's node and the collector to observers meanwhile.
func (r *run) keepSilence(ctx context.Context) error {
	for range hearings {
		if err := bounded.Pause(ctx, silence/hearings); err != nil {
			return err
		}
		if m := r.opts.Moment(time.Since(r.Started)); m.Device != nil || m.Collected != nil {
			r.vitals.Add(m)
			r.Hear(r.vitals.Unread())
		}
	}
	return nil
}

// observers starts the log of the Plan's observers.
func (r *run) observers() *observe.Log {
	return observe.NewLog(r.Plan.Observers, observe.Setup{Generators: r.setup.Generators, Links: r.links(), Directions: r.Plan.Directions, Whereabouts: r.opts.Whereabouts})
}

// aged is how old a value may be: generators read their processors every 100 ms at most. The silence begins that much after the last traffic.
const aged = 150 * time.Millisecond

// idle records what observers read without traffic since a moment: before the traffic, or after it.
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

// readAtRest reads the counters of the device's interfaces for observers once the generators' counters stand still, and returns since when they do: machines answer with values that they read a moment before, which
// may be from a time when frames were still in flight. What can't be read is missing.
func (r *run) readAtRest(ctx context.Context, drained rest) (still time.Duration) {
	still = drained.since.Sub(r.Started)
	ofDevice := func(o plan.Observer) bool { return o.Of == plan.OfDUT && o.Type == plan.ObserveInterfaces }
	if !slices.ContainsFunc(r.Plan.Observers, ofDevice) || bounded.PauseUntil(ctx, drained.since.Add(aged)) != nil {
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

// observed adds observers' values to a window; still is the moment since which counters stand still after a trial, and 0 for a held load.
func (r *run) observed(w *report.Window, still time.Duration) {
	from := w.Start.Std()
	if to := from + w.Duration.Std(); still > 0 {
		w.Observed = r.vitals.Trial(from, to, still)
	} else {
		w.Observed = r.vitals.Window(from, to)
	}
	w.Observed = append(w.Observed, observe.Derived(w)...)
}
