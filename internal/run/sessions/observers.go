package sessions

import (
	"context"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// silence is how long observers read the idle machines, before the traffic and after it.
const silence = time.Second

// observers passes the ends' readings to the Plan's observers, and reads the idle machines for them.
type observers struct {
	runner.Observers
	remotes    *remotes
	meter      *meter
	generators []plan.Generator // one for each machine
	read       func(context.Context) error
}

// newObservers starts the log of the Plan's observers. read reads all ends, and passes readings to observe.
func newObservers(journal *runner.Journal, remotes *remotes, meter *meter, whereabouts observe.Whereabouts,
	read func(context.Context) error) *observers {
	o := &observers{Observers: runner.Observers{Journal: journal, Whereabouts: whereabouts}, remotes: remotes,
		meter: meter, read: read, generators: machines(remotes.places, journal.Plan.Generators)}
	setup := observe.Setup{Directions: journal.Plan.Directions, Whereabouts: whereabouts}
	for _, g := range o.generators {
		setup.Generators = append(setup.Generators, g.Name)
	}
	o.Log = observe.NewLog(journal.Plan.Observers, setup)
	return o
}

// machines are the generators by whose ends each machine is read once, which are one for each program. In a lab one
// program holds all ends.
func machines(places []Place, generators []plan.Generator) (representatives []plan.Generator) {
	reached := map[string]bool{}
	for _, g := range generators {
		i := slices.IndexFunc(places, func(p Place) bool { _, ok := g.PortOn(p.Link); return ok })
		if i < 0 || reached[places[i].Server] {
			continue
		}
		reached[places[i].Server] = true
		representatives = append(representatives, g)
	}
	return representatives
}

// observe passes the latest readings to the Plan's observers.
func (o *observers) observe(limits runner.Limits) {
	var readings []engine.Reading
	for _, g := range o.generators {
		readings = append(readings, o.machineOf(g))
	}
	o.Observe(readings, limits)
}

// machineOf is the reading of a generator's machine by its ends. It is empty where the ends don't report it.
func (o *observers) machineOf(g plan.Generator) (reading engine.Reading) {
	for _, port := range g.Ports {
		i := o.remotes.index(port.Link)
		if i < 0 {
			continue
		}
		latest := o.meter.latest[i]
		reading.Instant, reading.Signs, reading.RequestedSigns = latest.ReadAt, latest.Signs, latest.Asked
		if v := latest.Vitals; v != nil {
			reading.Processors.Instant = v.ReadAt
			for _, p := range v.Processors {
				reading.Processors.List = append(reading.Processors.List, engine.Processor(p))
			}
			return reading
		}
	}
	return reading
}

// idleBefore lets observers read the idle machines before the traffic.
func (o *observers) idleBefore(ctx context.Context) error { return o.idle(ctx, silence, false) }

// idle lets observers read the idle machines for a duration, before the traffic or after it. It doesn't keep a person
// waiting who interrupts the run.
func (o *observers) idle(ctx context.Context, duration time.Duration, afterTraffic bool) error {
	if len(o.Journal.Plan.Observers) == 0 {
		return nil
	}
	o.Whereabouts.Wanted.Judge(false)
	began := time.Since(o.Journal.Started)
	o.Journal.Update(func(p *runner.Progress) { p.Message = "observers read the idle machines" })
	for end := time.Now().Add(duration); ; {
		if err := o.read(ctx); err != nil {
			return err
		}
		if !time.Now().Before(end) {
			break
		}
		if err := bounded.Pause(ctx, readEvery); err != nil {
			return err
		}
	}
	o.Log.Idle(began-vitalsEvery/2, time.Since(o.Journal.Started), afterTraffic)
	o.meter.latest = nil // an idle reading is no window's edge
	return nil
}

// idleDuration is how long observers read the idle machines after the traffic. It lasts until observers on the network
// have reported that time, if the run has time left.
func (o *observers) idleDuration(ctx context.Context) time.Duration {
	duration := max(silence, o.Journal.Plan.IdleTime())
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < duration+silence {
		return silence
	}
	return duration
}

// complete adds observers' values to the Report once the traffic has ended, with the idle values after it. Frames that
// the device still holds are traffic, so it waits for them.
func (o *observers) complete(ctx context.Context) {
	if ctx.Err() == nil && o.Journal.Driving && len(o.Journal.Plan.Observers) > 0 {
		timed, cancel := context.WithTimeout(ctx, o.idleDuration(ctx)+readEvery+2*answerTimeout)
		defer cancel()
		err := bounded.Pause(timed, readEvery)
		if err == nil {
			err = o.idle(timed, o.idleDuration(timed), true)
		}
		if err != nil {
			o.Journal.Log.Debug("observers' idle values after the traffic could not be read", "error", err)
		}
	}
	o.Complete()
}
