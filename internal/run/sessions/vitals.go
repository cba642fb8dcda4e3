package sessions

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// Vitals is how the processors of an end's machine have spent their time, at a moment of the end's clock.
type Vitals struct {
	Time       time.Duration       `json:"atNanoseconds"`
	Processors []machine.Processor `json:"each"`
}

// vitalsEvery is how often an end reads its machine's processors at most: often enough for the edges of short windows.
const vitalsEvery = 100 * time.Millisecond

// vitals are the latest times of this machine's processors; nil: the kernel doesn't report them.
func (p *program) vitals(clock func() time.Duration) *Vitals {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest == nil || clock()-p.latest.Time >= vitalsEvery {
		processors, err := machine.AllProcessors()
		if err != nil {
			return nil
		}
		p.latest = &Vitals{Time: clock(), Processors: processors}
	}
	return p.latest
}

// silence is how long observers read the idle machines, before the traffic and after it.
const silence = time.Second

// observers starts the log of the Plan's observers.
func (r *run) observers() {
	setup := observe.Setup{Directions: r.Plan.Directions, Whereabouts: r.opts.Whereabouts}
	for _, g := range r.machines() {
		setup.Generators = append(setup.Generators, g.Name)
	}
	r.vitals = observe.NewLog(r.Plan.Observers, setup)
}

// machines are the generators by whose ends each machine is read once: one for each program. In a lab one program holds all ends.
func (r *run) machines() []plan.Generator {
	var representatives []plan.Generator
	reached := map[string]bool{}
	for _, g := range r.Plan.Generators {
		i := slices.IndexFunc(r.places, func(p Place) bool { _, ok := g.PortOn(p.Link); return ok })
		if i < 0 || reached[r.places[i].Server] {
			continue
		}
		reached[r.places[i].Server] = true
		representatives = append(representatives, g)
	}
	return representatives
}

// observe passes the latest readings to the Plan's observers.
func (r *run) observe(limits runner.Limits) {
	if len(r.Plan.Observers) == 0 {
		return
	}
	m := r.opts.Moment(time.Since(r.Started))
	m.Limited, m.Asked, m.Answered = limits.Limiters, limits.Asked, limits.Answered
	for _, g := range r.machines() {
		m.Readings = append(m.Readings, r.machineOf(g))
	}
	r.vitals.Add(m)
	r.Hear(r.vitals.Unread())
}

// readAfterwards reads for observers, right after a window while the sessions still run, what would disturb the device within the window. The next window begins with this reading.
func (r *run) readAfterwards(ctx context.Context) error {
	if !r.opts.Wanted.Intrusive() {
		return nil
	}
	r.opts.Wanted.Judge(false)
	defer r.opts.Wanted.Judge(true)
	r.opts.RefreshDevice(ctx)
	return r.read(ctx)
}

// machineOf is the reading of a generator's machine by its ends; empty where they don't report it.
func (r *run) machineOf(g plan.Generator) (reading engine.Reading) {
	for _, port := range g.Ports {
		i := r.placeOf(port.Link)
		if i < 0 {
			continue
		}
		reading.Instant, reading.Signs, reading.RequestedSigns = r.latest[i].Time, r.latest[i].Signs, r.latest[i].Asked
		if v := r.latest[i].Vitals; v != nil {
			reading.Processors.Instant = v.Time
			for _, p := range v.Processors {
				reading.Processors.List = append(reading.Processors.List, engine.Processor(p))
			}
			return reading
		}
	}
	return reading
}

// askLimits begins to read the Reference's limits if an observer needs them; the function that it returns waits for the counters, which are empty if they don't arrive in time.
func (r *run) askLimits(ctx context.Context) func() runner.Limits {
	wanted := r.Plan.Observes(plan.ObserveLimiter)
	if r.opts.Limited == nil || !wanted {
		return func() runner.Limits { return runner.Limits{} }
	}
	var limited runner.Limits
	var asking sync.WaitGroup
	asking.Go(func() {
		limited = r.AskLimits(ctx, r.opts.Limited)
	})
	return func() runner.Limits { asking.Wait(); return limited }
}

// idle lets observers read the idle machines, before the traffic or after it. It doesn't keep a person waiting who interrupts the run.
func (r *run) idle(ctx context.Context, afterTraffic bool) error {
	if len(r.Plan.Observers) == 0 {
		return nil
	}
	r.opts.Wanted.Judge(false)
	began, lasts := time.Since(r.Started), silence
	if afterTraffic {
		lasts = r.idleAfter(ctx)
	}
	r.Update(func(p *runner.Progress) { p.Message = "observers read the idle machines" })
	for end := time.Now().Add(lasts); ; {
		if err := r.read(ctx); err != nil {
			return err
		}
		if !time.Now().Before(end) {
			break
		}
		if err := bounded.Pause(ctx, readEvery); err != nil {
			return err
		}
	}
	r.vitals.Idle(began-vitalsEvery/2, time.Since(r.Started), afterTraffic)
	r.latest = nil // an idle reading is no window's edge
	return nil
}

// idleAfter is how long observers read the idle machines after the traffic: until observers on the network have reported that time, if the run has time left.
func (r *run) idleAfter(ctx context.Context) time.Duration {
	lasts := max(silence, r.Plan.IdleTime())
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < lasts+silence {
		return silence
	}
	return lasts
}

// observed adds observers' values to the Report once the traffic has ended, with the idle values after it.
func (r *run) observed(ctx context.Context) {
	if ctx.Err() == nil && r.sending && len(r.Plan.Observers) > 0 {
		within, cancel := context.WithTimeout(ctx, r.idleAfter(ctx)+readEvery+2*answerTimeout)
		defer cancel()
		err := bounded.Pause(within, readEvery) // frames that the device still holds are traffic
		if err == nil {
			err = r.idle(within, true)
		}
		if err != nil {
			r.Log.Debug("observers' idle values after the traffic could not be read", "error", err)
		}
	}
	if r.vitals != nil {
		r.vitals.Complete(r.Report.Windows)
		r.Report.Observations = r.vitals.Observations()
	}
}
