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
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// Place is where the end of a link answers, or the device's own end in a test whose device is an end.
type Place struct {
	// Link is its name, or plan.DeviceEnd.
	Link string
	// Server is host:port of the end's program.
	Server string
	// DUTMAC is the device's MAC on this link, if it is known beforehand; empty: the Plan's, else the kernel resolves it.
	DUTMAC string
}

// String is the place in sentences.
func (p Place) String() string {
	if p.Link == plan.DeviceEnd {
		return "the device's own end"
	}
	return "link " + p.Link
}

// Options change how a run is driven. The zero value works.
type Options struct {
	// Force takes ends from another driver.
	Force bool
	// Key is proved to the ends; zero: they don't ask.
	Key credential.Key
	// Machine reads how long the threads that carry the connections' frames ran and waited, on the machine of ends and device; nil: it can't be read. It is called before and after windows, and
	// never within one.
	Machine func(context.Context) (machine.Reading, error)
	// Limited reads what the Reference's limits counted so far, in the order of the Plan's directions; nil: there are no such counters. It is called with each reading of the ends if an observer needs it,
	// and counters that don't arrive in time are missing.
	Limited func(context.Context) ([]report.Limiter, error)
	// Whereabouts say which machines generators and device are on, for observers.
	observe.Whereabouts
}

const (
	// readEvery is how often counters are read while connections send: an end stops when its driver is silent.
	readEvery = 250 * time.Millisecond
	// stopTimeout is how long stopping may take, however the run ended: an end that hears nothing has stopped by itself before that. Beside other work on all processors its answer takes seconds.
	stopTimeout = DriverSilence + answerTimeout
)

// New is the driver of the ends at these places, for one run. There is a place for each link that a direction uses.
func New(places []Place, o Options) runner.Driver {
	return &run{places: places, opts: o, machine: observe.FollowDisturbance(o.Machine)}
}

// run is the state of one run. It is used by one goroutine; those it starts for calls in parallel end before the call returns.
type run struct {
	*runner.Journal
	opts   Options
	places []Place
	ends   []*remote // in the places' order; nil: the end was not reached

	machine  observe.DisturbanceWatch
	vitals   *observe.Log
	sending  bool
	latest   []Reading // of each end, at the last edge
	latestAt time.Time // when last was read
	samples  samples
	sent     []sentBy           // the latest readings, the oldest first
	links    []*runner.LinkSeen // of each end, at the latest reading while connections send; nil: unknown
	unread   []bool             // by end: the Report already notes that its drops are unknown
	frames   map[string]int64   // how many frames each datagram takes, by the link that it is sent from; 0: unknown, or no datagrams
}

// Prepare connects to the ends, gives them their addresses, and makes the test's connections, which don't send yet.
func (r *run) Prepare(ctx context.Context, journal *runner.Journal) error {
	r.Journal, r.ends, r.unread = journal, make([]*remote, len(r.places)), make([]bool, len(r.places))
	r.frames = map[string]int64{}
	if r.Plan.Sessions == nil {
		return errors.New("the plan has no sessions")
	}
	r.observers()
	for _, step := range []func(context.Context) error{r.meet, r.setUpNetworks, r.connect, func(ctx context.Context) error { return r.idle(ctx, false) }} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := r.machine.Begin(ctx); err != nil {
		r.Note("disturbances of this machine can't be read: %v", err)
	}
	return nil
}

// forEach calls fn for each place at the same time, and waits for all.
func (r *run) forEach(fn func(i int) error) error {
	errs := make([]error, len(r.places))
	var calls sync.WaitGroup
	for i := range r.places {
		calls.Go(func() { errs[i] = fn(i) })
	}
	calls.Wait()
	return errors.Join(errs...)
}

// Measure starts the connections with the first step, and measures the step's window.
func (r *run) Measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	if step.Kind != procedure.Hold {
		return nil, fmt.Errorf("the procedure asks for a step of kind %q, which sessions can't carry out: use ConstantLoad", step.Kind)
	}
	r.samples.step = step
	if !r.sending {
		if err := r.start(ctx); err != nil {
			return nil, err
		}
	}
	w, err := r.watch(ctx, step)
	if w != nil {
		w.Load, w.GeneratorCPUPercent = step.Load, -1
	}
	return w, err
}

// start makes all connections send, for at most as long as the procedure may take.
func (r *run) start(ctx context.Context) error {
	r.Driving, r.sending = true, true
	lasts := r.lasts()
	r.Note("connections send; even if the runner dies, they are dropped %s after its last request, and after %s at the latest", DriverSilence, lasts.Round(time.Second))
	return r.forEach(func(i int) error {
		if !slices.ContainsFunc(r.Plan.Directions, func(d plan.Direction) bool { return d.From == r.places[i].Link }) {
			return nil
		}
		_, err := r.ends[i].ask(ctx, answerTimeout, request{Verb: doSend, Send: &sendRequest{lasts}})
		if err != nil {
			err = fmt.Errorf("%s: %w", r.places[i], err)
		}
		return err
	})
}

// lasts is how long connections send at most.
func (r *run) lasts() time.Duration {
	lasts := r.Procedure.Bound().Unattended()
	if deadline := r.Plan.ActiveDeadline.Std(); deadline > 0 {
		lasts = min(lasts, max(0, deadline-time.Since(r.Started))+DriverSilence)
	}
	return lasts
}

// watch waits until the step is over, and makes a window of its second part. The window of a step without a settling time begins where the one before ended.
//
//	──┤ settle ├──────── judge ────────┤
//	          read    …each 250 ms…   read      the last edge is the next window's first
func (r *run) watch(ctx context.Context, step procedure.Step) (*report.Window, error) {
	r.opts.Wanted.Judge(true)
	if r.latest == nil || step.Settle > 0 {
		edge := time.Now().Add(step.Settle)
		var looking sync.WaitGroup
		looking.Go(func() { r.machine.ReadBefore(ctx, edge) })
		_, err := r.readUntil(ctx, edge)
		if looking.Wait(); err != nil {
			return nil, err
		}
	}
	opened := r.latestAt
	readings := [][]Reading{r.latest}
	rest, err := r.readUntil(ctx, opened.Add(step.Judge))
	w := r.window(append(readings, rest...), opened, r.machine.ReadAfter(ctx))
	if err != nil {
		if len(rest) == 0 {
			return nil, err
		}
		for i := range w.Directions {
			w.Directions[i].Quality = report.Invalid
			w.Directions[i].Reason = fmt.Sprintf("cut short after %s of %s: %v", w.Duration.Std().Round(time.Millisecond), step.Judge, err)
		}
	}
	w.Quality, w.Reason = measure.Worst(w.Directions)
	if err == nil {
		err = r.readAfterwards(ctx)
	}
	w.Observed = r.vitals.Window(w.Start.Std(), w.Start.Std()+w.Duration.Std())
	w.Observed = append(w.Observed, observe.Derived(w)...)
	if w.Quality == report.Invalid && err == nil {
		err = r.broken()
	}
	return w, err
}

// readUntil reads all ends a few times a second until a moment, and once more at that moment.
func (r *run) readUntil(ctx context.Context, moment time.Time) (readings [][]Reading, err error) {
	began := time.Now()
	for {
		next := time.Now().Add(readEvery)
		if moment.Sub(next) < readEvery/2 {
			next = moment
		}
		if err := bounded.PauseUntil(ctx, next); err != nil {
			return readings, err
		}
		if err := r.read(ctx); err != nil {
			return readings, err
		}
		readings = append(readings, counters(r.latest))
		r.sample(moment)
		r.reportProgress(time.Since(began))
		if !next.Before(moment) {
			return readings, nil
		}
	}
}

// read takes a reading of all ends.
func (r *run) read(ctx context.Context) error {
	readings, moment := make([]Reading, len(r.places)), time.Now()
	limited := r.askLimits(ctx)
	err := r.forEach(func(i int) error {
		asked := r.opts.Wanted.OfGenerators()
		a, err := r.ends[i].ask(ctx, answerTimeout, request{Verb: doRead, Read: &readRequest{Processors: r.Plan.Observes(plan.ObserveProcessors), Signs: asked}})
		if err != nil {
			return fmt.Errorf("%s: %w", r.places[i], err)
		}
		if a.Reading != nil {
			readings[i] = *a.Reading
		}
		if err := readings[i].check(r.Plan.Sessions.Parallel); err != nil {
			return fmt.Errorf("%s: %w", r.places[i], err)
		}
		readings[i].Asked = asked
		return nil
	})
	counted := limited()
	if err != nil {
		return err
	}
	r.latest, r.latestAt = readings, moment
	r.overdue()
	r.watchLinks()
	r.observe(counted)
	r.noteUnknownDrops()
	return nil
}

// sentBy is how many datagrams the streams of each end had sent by a moment. All ends had answered by that moment, so all of these datagrams were sent before it.
type sentBy struct {
	moment time.Time
	sent   [][]int64
}

// overdue adds to each end's counters how many datagrams were sent so long ago that those that haven't arrived are lost.
func (r *run) overdue() {
	if s := r.Plan.Sessions; s != nil && s.Application == plan.ApplicationIperf2 {
		return // which reports late what it counted: datagrams that it hasn't reported yet may be lost, and only bound the loss (LostAtLeast)
	}
	current := sentBy{moment: time.Now(), sent: make([][]int64, len(r.latest))}
	for i, reading := range r.latest {
		if reading.Sending != nil {
			current.sent[i] = reading.Sending.Datagrams // nil for TCP
		}
	}
	r.sent = append(r.sent, current)
	for len(r.sent) > 1 && r.latestAt.Sub(r.sent[1].moment) >= measure.OverdueAfter {
		r.sent = r.sent[1:]
	}
	if earlier := r.sent[0]; r.latestAt.Sub(earlier.moment) >= measure.OverdueAfter {
		for i := range r.latest {
			if s := r.latest[i].Sending; s != nil {
				s.Overdue = earlier.sent[i]
			}
		}
	}
}

// noteUnknownDrops notes once for each end whose drops can't be read.
func (r *run) noteUnknownDrops() {
	for i, reading := range r.latest {
		if !r.unread[i] && (reading.Drops == nil || reading.Drops.Unread != "") {
			reason := "its linerate is too old to count them"
			if reading.Drops != nil {
				reason = reading.Drops.Unread
			}
			r.Note("%s: its own drops are unknown: %s", r.places[i], reason)
			r.unread[i] = true
		}
	}
}

// reportProgress reports how much payload arrives at present.
func (r *run) reportProgress(inStep time.Duration) {
	goodput := r.samples.goodput()
	r.Estimate(inStep)
	r.Update(func(p *runner.Progress) { p.GoodputBitsPerSecond = goodput })
}

// window is the window that the readings from its first edge to its last make.
func (r *run) window(readings [][]Reading, opened time.Time, disturbance *report.Disturbance) *report.Window {
	w := &report.Window{Start: plan.Duration(opened.Sub(r.Started)), Duration: plan.Duration(r.latestAt.Sub(opened))}
	for _, d := range r.Plan.Directions {
		span := measure.SessionSpan{From: d.From, To: d.To, Asked: r.Plan.Sessions.BitsPerSecond(r.Plan.Procedure), Window: w.Duration.Std(), Disturbance: disturbance, SharesKernel: r.onlyThisKernel(),
			FramesEach: r.frames[d.From], LostAtLeast: r.Plan.Sessions.Application == plan.ApplicationIperf2}
		for _, at := range readings {
			if s := at[r.placeOf(d.From)].Sending; s != nil {
				span.Sending = append(span.Sending, *s)
			}
			if c := at[r.placeOf(d.To)].Receiving; c != nil {
				span.Receiving = append(span.Receiving, *c)
			}
		}
		for _, link := range []string{d.From, d.To} {
			i := r.placeOf(link)
			opening, closing := readings[0][i], readings[len(readings)-1][i]
			its := measure.EndSpan{Link: link, First: opening.Drops, Last: closing.Drops, WaitsFirst: opening.Waits, WaitsLast: closing.Waits, Directions: r.directionsOf(closing.Waits)}
			if link == plan.DeviceEnd {
				span.Device = &its
				continue
			}
			span.Ends = append(span.Ends, its)
		}
		w.Directions = append(w.Directions, measure.Sessions(span))
	}
	return w
}

// directionsOf is how many directions have an end in the program whose waits these are; one program may hold several ends.
func (r *run) directionsOf(program *measure.Waits) (n int) {
	inProgram := func(link string) bool {
		w := r.latest[r.placeOf(link)].Waits
		return w != nil && program != nil && w.Program == program.Program
	}
	for _, d := range r.Plan.Directions {
		if inProgram(d.From) || inProgram(d.To) {
			n++
		}
	}
	return n
}

// onlyThisKernel says whether the device is this machine's own kernel: then the ends' own processor time is part of what is measured, and only other programs disturb it.
func (r *run) onlyThisKernel() bool {
	return r.Plan.DUT.Type == "Reference" && (r.Plan.DUT.Reference == nil || r.Plan.DUT.Reference.Limit == nil)
}

// broken is the error of a broken connection; nil: all connections are open.
func (r *run) broken() error {
	for i, reading := range r.latest {
		words := ""
		if reading.Sending != nil {
			words = reading.Sending.Broken
		}
		if reading.Receiving != nil {
			words = cmp.Or(words, reading.Receiving.Broken)
		}
		if words != "" {
			return fmt.Errorf("%s: a connection broke: %s; windows measured before that are kept", r.places[i], words)
		}
	}
	return nil
}

// Stop drops the connections of all ends that can be reached, also when ctx has ended; other ends drop them by themselves.
func (r *run) Stop(ctx context.Context) error {
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), stopTimeout, engine.ErrSilent)
	defer cancel()
	defer r.observed(whole)
	return r.forEach(func(i int) error {
		if r.ends[i] == nil {
			return nil
		}
		if _, err := r.ends[i].ask(ctx, stopTimeout, request{Verb: doHalt}); err != nil {
			return fmt.Errorf("%s: no answer to the request to stop; it stops by itself %s after the last request: %w", r.places[i], DriverSilence, err)
		}
		return nil
	})
}

// Release closes the connections to the ends.
func (r *run) Release(context.Context) {
	for _, e := range r.ends {
		if e != nil {
			_ = e.conn.Close()
		}
	}
}
