package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/disturbance"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// Place is where the end of a link answers, or the device's own end where that is one.
type Place struct {
	// Link is its name, or plan.DeviceEnd.
	Link string
	// Server is host:port of the end's program.
	Server string
	// DUTMAC is the device's on this link, where it is known beforehand; empty: the Plan's, else it is asked for.
	DUTMAC string
}

// String is the place in sentences.
func (p Place) String() string {
	if p.Link == plan.DeviceEnd {
		return "the device's own end"
	}
	return "link " + p.Link
}

// Options are what a caller may want otherwise. The zero value works.
type Options struct {
	// Force takes ends from another driver.
	Force bool
	// Machine reads how the threads fare that carry the connections' frames, on the machine of ends and device; nil: nobody can. It is asked before and after windows, and
	// never within one.
	Machine func(context.Context) (processors.Reading, error)
	// Limited reads what the Reference's limits counted so far, in the order of the Plan's directions; nil: nobody can. It is asked with the ends where an observer wants it,
	// and what it can't tell in time is missing.
	Limited func(context.Context) ([]report.Limiter, error)
	// Whereabouts are where generators and device are, for observers.
	observe.Whereabouts
}

const (
	// readEvery is how often counters are read while connections send: an end stops without a word from its driver.
	readEvery = 250 * time.Millisecond
	// stopTimeout is how long stopping may take, whatever became of the run: an end that can't be reached stops by itself after DriverSilence.
	stopTimeout = 5 * time.Second
)

// New is the driver of the ends at these places, for one run. There is a place for each link that a direction uses.
func New(places []Place, o Options) runner.Driver {
	return &run{places: places, opts: o, machine: disturbance.Follow(o.Machine)}
}

// run is the state of one run. It is used by one goroutine; those it starts for calls in parallel end before the call returns.
type run struct {
	*runner.Journal
	opts   Options
	places []Place
	ends   []*remote // in the places' order; nil: it was not reached

	machine disturbance.Machine
	vitals  *observe.Log
	sending bool
	last    []Reading // of each end, at the last edge
	at      time.Time // when that was
	kept    samples
	sent    []sentBy         // lately, the oldest first
	unread  []bool           // of each end: it was told that what it drops isn't known
	frames  map[string]int64 // in how many each datagram goes, by the link that it is sent from; 0: it is none, or nobody says
}

// Prepare reaches the ends, gives them their addresses, and makes the connections: none of them sends yet.
func (r *run) Prepare(ctx context.Context, journal *runner.Journal) error {
	r.Journal, r.ends, r.unread = journal, make([]*remote, len(r.places)), make([]bool, len(r.places))
	r.frames = map[string]int64{}
	if r.Plan.Sessions == nil {
		return errors.New("the plan says nothing of sessions")
	}
	r.observers()
	for _, step := range []func(context.Context) error{r.meet, r.lay, r.connect, func(ctx context.Context) error { return r.idle(ctx, false) }} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := r.machine.Begin(ctx); err != nil {
		r.Note("what disturbs this machine can't be told: %v", err)
	}
	return nil
}

// each calls fn for each place at the same time, and waits for all.
func (r *run) each(fn func(i int) error) error {
	errs := make([]error, len(r.places))
	var calls sync.WaitGroup
	for i := range r.places {
		calls.Go(func() { errs[i] = fn(i) })
	}
	calls.Wait()
	return errors.Join(errs...)
}

// Take starts the connections with the first step, and measures the step's window.
func (r *run) Take(ctx context.Context, step procedure.Step) (*report.Window, error) {
	if step.Kind != procedure.Held {
		return nil, fmt.Errorf("the procedure asks for a step of kind %q, which sessions can't carry out: use ConstantLoad", step.Kind)
	}
	r.kept.step = step
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

// start has all connections send, for as long as the procedure may take and no longer.
func (r *run) start(ctx context.Context) error {
	r.Driving, r.sending = true, true
	lasts := r.lasts()
	r.Note("connections send; whatever becomes of the runner, they are dropped %s after its last word, and after %s at the latest", DriverSilence, lasts.Round(time.Second))
	return r.each(func(i int) error {
		if !slices.ContainsFunc(r.Plan.Directions, func(d plan.Direction) bool { return d.From == r.places[i].Link }) {
			return nil
		}
		_, err := r.ends[i].ask(ctx, answerTimeout, request{Do: doSend, Send: &sendRequest{lasts}})
		if err != nil {
			err = fmt.Errorf("%s: %w", r.places[i], err)
		}
		return err
	})
}

// lasts is for how long connections send at most.
func (r *run) lasts() time.Duration {
	lasts := r.Procedure.Bound().Unattended()
	if deadline := r.Plan.ActiveDeadline.Std(); deadline > 0 {
		lasts = min(lasts, max(0, deadline-time.Since(r.Started))+stopTimeout)
	}
	return lasts
}

// watch waits for the step to pass, and makes a window of its second part. A step without a settling time goes on where the one before ended.
//
//	──┤ settle ├──────── judge ────────┤
//	          read    …each 250 ms…   read      the last edge is the next window's first
func (r *run) watch(ctx context.Context, step procedure.Step) (*report.Window, error) {
	r.opts.Wanted.Judge(true)
	if r.last == nil || step.Settle > 0 {
		edge := time.Now().Add(step.Settle)
		var looking sync.WaitGroup
		looking.Go(func() { r.machine.Before(ctx, edge) })
		_, err := r.readUntil(ctx, edge)
		if looking.Wait(); err != nil {
			return nil, err
		}
	}
	opened := r.at
	readings := [][]Reading{r.last}
	more, err := r.readUntil(ctx, opened.Add(step.Judge))
	w := r.window(append(readings, more...), opened, r.machine.Since(ctx))
	if err != nil {
		if len(more) == 0 {
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

// readUntil reads all ends a few times a second until the moment, and then once more.
func (r *run) readUntil(ctx context.Context, moment time.Time) (all [][]Reading, err error) {
	began := time.Now()
	for {
		next := time.Now().Add(readEvery)
		if moment.Sub(next) < readEvery/2 {
			next = moment
		}
		if err := pause.Until(ctx, next); err != nil {
			return all, err
		}
		if err := r.read(ctx); err != nil {
			return all, err
		}
		all = append(all, r.last)
		r.sample(moment)
		r.tell(time.Since(began))
		if !next.Before(moment) {
			return all, nil
		}
	}
}

// read takes a reading of all ends.
func (r *run) read(ctx context.Context) error {
	readings, at := make([]Reading, len(r.places)), time.Now()
	limited := r.askLimits(ctx)
	err := r.each(func(i int) error {
		a, err := r.ends[i].ask(ctx, answerTimeout, request{Do: doRead, Read: &readRequest{Processors: r.Plan.Observes(plan.ObserveProcessors), Signs: r.opts.Wanted.OfGenerators()}})
		if err != nil {
			return fmt.Errorf("%s: %w", r.places[i], err)
		}
		if a.Reading != nil {
			readings[i] = *a.Reading
		}
		return nil
	})
	counted := limited()
	if err != nil {
		return err
	}
	r.last, r.at = readings, at
	r.overdue()
	r.observe(counted)
	r.tellUnread()
	return nil
}

// sentBy is how many datagrams the streams of each end had sent by a moment. All ends had answered by then, so none of these datagrams was sent later.
type sentBy struct {
	at   time.Time
	sent [][]int64
}

// overdue notes with each end's datagrams how many of them had been sent so long before that they are lost unless they have come.
func (r *run) overdue() {
	if s := r.Plan.Sessions; s != nil && s.Application == plan.ApplicationIperf2 {
		return // which tells late of what it counted: what it tells nothing of may be lost, and bounds the loss (LostAtLeast)
	}
	now := sentBy{at: time.Now(), sent: make([][]int64, len(r.last))}
	for i, reading := range r.last {
		if reading.Sending != nil {
			now.sent[i] = reading.Sending.Datagrams // none of TCP's
		}
	}
	r.sent = append(r.sent, now)
	for len(r.sent) > 1 && r.at.Sub(r.sent[1].at) >= measure.OverdueAfter {
		r.sent = r.sent[1:]
	}
	if then := r.sent[0]; r.at.Sub(then.at) >= measure.OverdueAfter {
		for i := range r.last {
			if s := r.last[i].Sending; s != nil {
				s.Overdue = then.sent[i]
			}
		}
	}
}

// tellUnread says once of each end that it can't be told what that drops.
func (r *run) tellUnread() {
	for i, reading := range r.last {
		if !r.unread[i] && (reading.Drops == nil || reading.Drops.Unread != "") {
			why := "it is of a linerate that doesn't look"
			if reading.Drops != nil {
				why = reading.Drops.Unread
			}
			r.Note("%s: what it drops itself is not known: %s", r.places[i], why)
			r.unread[i] = true
		}
	}
}

// tell passes on how much payload comes.
func (r *run) tell(inStep time.Duration) {
	goodput := r.kept.goodput()
	r.Estimate(inStep)
	r.Update(func(p *runner.Progress) { p.GoodputBitsPerSecond = goodput })
}

// window is what the readings from a window's first edge to its last amount to.
func (r *run) window(readings [][]Reading, opened time.Time, disturbance *report.Disturbance) *report.Window {
	w := &report.Window{Start: plan.Duration(opened.Sub(r.Started)), Duration: plan.Duration(r.at.Sub(opened))}
	for _, d := range r.Plan.Directions {
		span := measure.SessionSpan{From: d.From, To: d.To, Asked: r.Plan.Sessions.BitsPerSecond(r.Plan.Procedure), Window: w.Duration.Std(), Disturbance: disturbance, Ourselves: r.ourselves(),
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
			first, last := readings[0][i], readings[len(readings)-1][i]
			its := measure.EndSpan{Link: link, First: first.Drops, Last: last.Drops, WaitsFirst: first.Waits, WaitsLast: last.Waits, Directions: r.directionsOf(last.Waits)}
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

// directionsOf is how many directions the program has an end of that waited so; several ends may be of one program.
func (r *run) directionsOf(program *measure.Waits) (n int) {
	its := func(link string) bool {
		w := r.last[r.placeOf(link)].Waits
		return w != nil && program != nil && w.Program == program.Program
	}
	for _, d := range r.Plan.Directions {
		if its(d.From) || its(d.To) {
			n++
		}
	}
	return n
}

// ourselves says that the device is this machine's own kernel, whose figure is what the machine has left for it beside the ends: only strangers disturb it.
func (r *run) ourselves() bool {
	return r.Plan.DUT.Type == "Reference" && (r.Plan.DUT.Reference == nil || r.Plan.DUT.Reference.Limit == nil)
}

// broken is why nothing more can be measured; nil: all connections stand.
func (r *run) broken() error {
	for i, reading := range r.last {
		words := ""
		if reading.Sending != nil {
			words = reading.Sending.Broken
		}
		if reading.Receiving != nil {
			words = cmp.Or(words, reading.Receiving.Broken)
		}
		if words != "" {
			return fmt.Errorf("%s: a connection broke: %s; what was measured until then is kept", r.places[i], words)
		}
	}
	return nil
}

// Stop drops all connections of all ends that can be reached, also when ctx has ended; those that can't be drop them by themselves.
func (r *run) Stop(ctx context.Context) error {
	whole := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	defer r.observed(whole)
	return r.each(func(i int) error {
		if r.ends[i] == nil {
			return nil
		}
		if _, err := r.ends[i].ask(ctx, answerTimeout, request{Do: doHalt}); err != nil {
			return fmt.Errorf("%s: it was told to stop, and did not say that it has; it stops by itself %s after the last word: %w", r.places[i], DriverSilence, err)
		}
		return nil
	})
}

// Release lets go of the ends.
func (r *run) Release(context.Context) {
	for _, e := range r.ends {
		if e != nil {
			_ = e.conn.Close()
		}
	}
}
