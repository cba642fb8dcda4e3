package frames

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// observe lets the Plan's observers take their values from what was just read.
func (r *run) observe(readings []engine.Reading, limits runner.Limits) {
	r.vitals.Add(observe.Moment{At: time.Since(r.Started), Readings: readings, Limited: limits.Each, Asked: limits.Asked, Answered: limits.Answered, Device: r.opts.Told()})
}

// hearings are how often in a silence the device's node is heard: what it told last may be older than what generators are read for.
const hearings = 4

// keepSilence waits for the silence to pass, and lets observers hear the device's node meanwhile.
func (r *run) keepSilence(ctx context.Context) error {
	for range hearings {
		if err := pause.For(ctx, silence/hearings); err != nil {
			return err
		}
		if told := r.opts.Told(); told != nil {
			r.vitals.Add(observe.Moment{At: time.Since(r.Started), Device: told})
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

// observed is what they saw in a window.
func (r *run) observed(w *report.Window) {
	from := w.Start.Std()
	if to := from + w.Duration.Std(); w.Took > 0 { // a trial
		w.Observed = r.vitals.Trial(from, to, from+w.Took.Std())
	} else {
		w.Observed = r.vitals.Window(from, to)
	}
}
