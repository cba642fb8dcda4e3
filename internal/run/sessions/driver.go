package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/reception"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// Options change how a run is driven. The zero value works.
type Options struct {
	// Force takes ends from another driver.
	Force bool
	// Key is proved to the ends. It is zero where they don't ask.
	Key credential.Key
	// Machine reads how long the threads that carry the connections' frames ran and waited, on the machine of ends and
	// device. It is nil if nobody can read that. It is called before and after windows, and never within one.
	Machine func(context.Context) (machine.Reading, error)
	// Placement reads where the device on this machine receives frames, or is nil if it can't be read. It is called
	// beside Machine.
	Placement func(context.Context) (reception.Reading, error)
	// Limited reads what the Reference's limits counted so far, in the order of the Plan's directions. It is nil if
	// there are no such counters. It is called with each reading of the ends if an observer needs it, and counters that
	// don't arrive in time are missing.
	Limited func(context.Context) ([]report.Limiter, error)
	// HostNetwork says that the end of a test with a server uses its host's network, which stays as it is.
	HostNetwork bool
	// serverPatience is how long a test waits while somebody else uses its server, which is 2 minutes where 0.
	serverPatience time.Duration
	// Whereabouts say which machines generators and device are on, for observers.
	observe.Whereabouts
}

// readEvery is how often counters are read while connections send. An end stops when its driver is silent.
const readEvery = 250 * time.Millisecond

// New is the driver of the ends at these places, for one run. There is a place for each link that a direction uses.
func New(places []Place, o Options) runner.Driver {
	return &driver{opts: o, machine: observe.FollowDisturbance(o.Machine, o.Placement),
		remotes: &remotes{places: places, ends: make([]*remote, len(places))}}
}

// driver drives the ends of one run. Each of its parts answers one question. One goroutine uses the driver.
// Goroutines that it starts for calls in parallel end before the call returns.
type driver struct {
	journal *runner.Journal
	opts    Options
	remotes *remotes
	machine observe.DisturbanceWatch

	connector *connector
	client    *client // of a device's server
	meter     *meter
	observers *observers
	samples   *samples
}

// Prepare connects to the ends, gives them their addresses, and makes the test's connections, which don't send yet.
func (d *driver) Prepare(ctx context.Context, journal *runner.Journal) error {
	if journal.Plan.Sessions == nil {
		return errors.New("the plan has no sessions")
	}
	d.assemble(journal)
	steps := []func(context.Context) error{
		d.meet, d.connector.setUpNetworks, d.connector.connect, d.observers.idleBefore,
	}
	if journal.Plan.DUT.Server != nil { // where connecting begins the traffic
		steps = []func(context.Context) error{d.meet, d.connector.setUpNetworks, d.observers.idleBefore}
		if d.opts.HostNetwork {
			steps = slices.Delete(steps, 1, 2)
		}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	journal.WatchMachine(ctx, &d.machine)
	return nil
}

// assemble makes the driver's parts, and gives each what its question needs.
func (d *driver) assemble(journal *runner.Journal) {
	d.journal = journal
	d.connector = &connector{journal: journal, remotes: d.remotes, addressing: addressing{journal.Plan},
		framesEach: map[string]int64{}}
	d.client = &client{journal: journal, remotes: d.remotes, connector: d.connector,
		patience: cmp.Or(d.opts.serverPatience, serverPatience)}
	d.meter = &meter{journal: journal, remotes: d.remotes, framesEach: d.connector.framesEach,
		links: runner.Links{Journal: journal}, unread: make([]bool, len(d.remotes.places))}
	d.observers = newObservers(journal, d.remotes, d.meter, d.opts.Whereabouts, d.read)
	d.samples = &samples{journal: journal, meter: d.meter}
}

// meet connects to all ends, and adds their descriptions to the Report.
func (d *driver) meet(ctx context.Context) error {
	d.journal.Enter(runner.Preparing, "reach the ends")
	err := d.remotes.meet(ctx, d.opts.Key, d.opts.Force)
	if i := d.remotes.index(plan.DeviceEnd); i >= 0 && d.remotes.ends[i] != nil {
		w := d.remotes.ends[i].welcome
		d.journal.Note("the device's own end is %s on interface %s (%s) of %s, kernel %s", w.Product, w.Interface,
			cmp.Or(w.Driver, "driver unknown"), cmp.Or(w.Hostname, "an unnamed host"),
			cmp.Or(w.Machine.Kernel, "unknown"))
	}
	for _, g := range d.journal.Plan.Generators {
		described := d.remotes.describe(g, d.journal.Plan.Sessions.Protocol+" sockets")
		if len(described.Ports) > 0 {
			d.journal.Report.Generators = append(d.journal.Report.Generators, described)
		}
	}
	return err
}

// Measure starts the connections with the first step, and measures the step's window.
func (d *driver) Measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	if step.Kind != procedure.Hold {
		return nil, fmt.Errorf("the procedure asks for a step of kind %q, which sessions can't carry out: use one "+
			"that holds a load", step.Kind)
	}
	d.samples.step = step
	if err := d.begin(ctx, step); err != nil {
		return nil, err
	}
	w, err := d.watch(ctx, step)
	if w != nil {
		w.Load, w.GeneratorCPUPercent, d.journal.Placed = step.Load, -1, d.machine.Placement()
	}
	return w, err
}

// begin makes connections send for a step, unless they do so already.
func (d *driver) begin(ctx context.Context, step procedure.Step) error {
	if d.journal.Plan.DUT.Server == nil {
		if d.journal.Driving {
			return nil
		}
		return d.start(ctx)
	}
	began, err := d.client.start(ctx, step)
	if began {
		d.meter.links.Forget()
		d.meter.latest, d.meter.sent = nil, nil
	}
	return err
}

// start makes all connections send, for at most as long as the procedure may take.
func (d *driver) start(ctx context.Context) error {
	d.journal.Driving = true
	d.meter.links.Forget()
	duration := sendDuration(d.journal)
	d.journal.Note("connections send; even if the runner dies, they are dropped %s after its last request, and after "+
		"%s at the latest", DriverSilence, duration.Round(time.Second))
	return d.remotes.forEach(func(i int) error {
		sends := func(direction plan.Direction) bool { return direction.From == d.remotes.places[i].Link }
		if !slices.ContainsFunc(d.journal.Plan.Directions, sends) {
			return nil
		}
		_, err := d.remotes.ask(ctx, i, request{Verb: doSend, Send: &sendRequest{duration}})
		return err
	})
}

// sendDuration is how long connections send at most.
func sendDuration(j *runner.Journal) time.Duration {
	return j.WithinDeadline(j.Procedure.Bound().Unattended(), DriverSilence)
}

// watch waits until the step is over, and makes a window of its second part. The window of a step without a settling
// time begins where the window before ended.
//
//	──┤ settle ├──────── judge ────────┤
//	          read    …each 250 ms…   read      the last edge is the next window's first
func (d *driver) watch(ctx context.Context, step procedure.Step) (*report.Window, error) {
	d.opts.Wanted.Judge(true)
	if d.meter.latest == nil || step.Settle > 0 {
		edge := time.Now().Add(step.Settle)
		var reading sync.WaitGroup
		reading.Go(func() { d.machine.ReadBefore(ctx, edge) })
		_, err := d.readUntil(ctx, edge)
		if reading.Wait(); err != nil {
			return nil, err
		}
	}
	opened := d.meter.latestAt
	readings := [][]Reading{d.meter.latest}
	rest, err := d.readUntil(ctx, opened.Add(step.Judge))
	disturbance := d.machine.ReadAfter(ctx)
	var counted *Counted
	if err == nil && reportsAtEnd(d.journal.Plan) {
		counted, err = d.client.finish(ctx)
	}
	w := d.meter.window(append(readings, rest...), opened, disturbance, counted)
	if err != nil {
		if len(rest) == 0 {
			return nil, err
		}
		for i := range w.Directions {
			w.Directions[i].Quality = report.Invalid
			w.Directions[i].Reason = runner.CutShort(w.Duration.Std(), step.Judge, err)
		}
	}
	w.Quality, w.Reason = measure.Worst(w.Directions)
	if err == nil {
		// The next window begins with this reading.
		err = d.observers.ReadAfterWindow(ctx, d.read)
	}
	w.Observed = d.observers.Log.Window(w.Start.Std(), w.Start.Std()+w.Duration.Std())
	w.Observed = append(w.Observed, observe.Derived(w)...)
	if w.Quality == report.Invalid && err == nil {
		err = d.meter.broken()
	}
	return w, err
}

// readUntil reads all ends a few times a second until a moment, and once more at that moment.
func (d *driver) readUntil(ctx context.Context, moment time.Time) (readings [][]Reading, err error) {
	began := time.Now()
	for {
		next := time.Now().Add(readEvery)
		if moment.Sub(next) < readEvery/2 {
			next = moment
		}
		if err := bounded.PauseUntil(ctx, next); err != nil {
			return readings, err
		}
		if err := d.read(ctx); err != nil {
			return readings, err
		}
		readings = append(readings, counters(d.meter.latest))
		d.samples.add(d.meter.latest, d.meter.latestAt, moment)
		d.journal.Estimate(time.Since(began))
		goodput := d.samples.goodput()
		d.journal.Update(func(p *runner.Progress) { p.GoodputBitsPerSecond = goodput })
		if !next.Before(moment) {
			return readings, nil
		}
	}
}

// read reads all ends, and at the same time the Reference's limits if an observer needs them.
func (d *driver) read(ctx context.Context) error {
	limited := d.opts.Limited
	if !d.journal.Plan.Observes(plan.ObserveLimiter) {
		limited = nil
	}
	limits := d.journal.AskLimits(ctx, limited)
	err := d.meter.read(ctx, d.opts.Wanted.OfGenerators())
	answered := limits()
	if err != nil {
		return err
	}
	d.observers.observe(answered)
	d.meter.noteUnknownDrops()
	return nil
}

// Stop drops the connections of all ends that can be reached, also when ctx has ended. Other ends drop connections by
// themselves.
func (d *driver) Stop(ctx context.Context) error {
	if d.observers != nil {
		defer d.observers.complete(ctx)
	}
	if d.client != nil && d.client.stands && ctx.Err() == nil {
		if counted, err := d.client.finish(ctx); err == nil { // else the windows have all that is known
			d.client.note(counted)
		}
	}
	return d.remotes.halt(ctx)
}

// Release closes the connections to the ends.
func (d *driver) Release(context.Context) { d.remotes.close() }
