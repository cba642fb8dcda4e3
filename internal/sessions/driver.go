package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// Place is where the end of a link answers.
type Place struct {
	Link string
	// Generator is the Plan's name of who has the link.
	Generator string
	// Server is host:port of the end's program.
	Server string
	// DUTMAC is the device's on this link, where it is known beforehand; empty: the Plan's, else it is asked for.
	DUTMAC string
}

// Options are what a caller may want otherwise. The zero value works.
type Options struct {
	// Force takes ends from another driver.
	Force bool
}

const (
	// readEvery is how often counters are read while connections send: an end stops without a word from its driver.
	readEvery = 250 * time.Millisecond
	// stopTimeout is how long stopping may take, whatever became of the run: an end that can't be reached stops by itself after DriverSilence.
	stopTimeout = 5 * time.Second
)

// New is the driver of the ends at these places, for one run. There is a place for each link that a direction uses.
func New(places []Place, o Options) runner.Driver { return &run{places: places, opts: o} }

// run is the state of one run. It is used by one goroutine; those it starts for calls in parallel end before the call returns.
type run struct {
	*runner.Journal
	opts   Options
	places []Place
	ends   []*remote // in the places' order; nil: it was not reached

	sending bool
	last    []Reading // of each end, at the last edge
	at      time.Time // when that was
}

// Prepare reaches the ends, gives them their addresses, and makes the connections: none of them sends yet.
func (r *run) Prepare(ctx context.Context, journal *runner.Journal) error {
	r.Journal, r.ends = journal, make([]*remote, len(r.places))
	if r.Plan.Sessions == nil {
		return errors.New("the plan says nothing of sessions")
	}
	for _, step := range []func(context.Context) error{r.meet, r.lay, r.connect} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// meet reaches all ends, and writes down what they say of themselves.
func (r *run) meet(ctx context.Context) error {
	r.Tell(func(p *runner.Progress) { p.Phase, p.Message = runner.Preparing, "reach the ends" })
	err := r.each(func(i int) (err error) {
		r.ends[i], err = meet(ctx, r.places[i].Server, r.places[i].Link, r.opts.Force)
		return err
	})
	for _, g := range r.Plan.Generators {
		if described := r.describe(g); len(described.Ports) > 0 {
			r.Report.Generators = append(r.Report.Generators, described)
		}
	}
	return err
}

// throughSockets is how an end's payload gets to the network card and back.
const throughSockets = "TCP sockets"

// describe is what the ends of a generator's links said of themselves and of their machine, which is one: each link's end is a
// generator of its own, or all are on this machine. Ends that were not reached are left out.
func (r *run) describe(g plan.Generator) report.Generator {
	described := report.Generator{Name: g.Name}
	for _, port := range g.Ports {
		i := r.placeOf(port.Link)
		if i < 0 || r.ends[i] == nil {
			continue
		}
		w := r.ends[i].welcome
		described.Product, described.Hostname, described.Server = w.Product, w.Hostname, r.places[i].Server
		described.CPUModel, described.Processors, described.Kernel, described.Hypervisor = w.Machine.CPUModel, w.Machine.Processors, w.Machine.Kernel, w.Machine.Hypervisor
		described.Ports = append(described.Ports, report.GeneratorPort{Link: port.Link, Index: len(described.Ports), Name: w.Interface, Driver: w.Driver, NIC: w.NIC, Firmware: w.Firmware,
			Path: throughSockets, MAC: w.MAC})
	}
	return described
}

// sendsBy writes down by which congestion control the connections from a link send: the kernel's own choice where the Plan makes none.
func (r *run) sendsBy(link, congestionControl string) {
	for g := range r.Report.Generators {
		for p := range r.Report.Generators[g].Ports {
			if port := &r.Report.Generators[g].Ports[p]; port.Link == link {
				port.CongestionControl = congestionControl
			}
		}
	}
}

// placeOf is the index of a link's place; -1 where it has none.
func (r *run) placeOf(link string) int {
	return slices.IndexFunc(r.places, func(p Place) bool { return p.Link == link })
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

// lay gives each end its network.
func (r *run) lay(ctx context.Context) error {
	remarks := make([][]string, len(r.places))
	err := r.each(func(i int) error {
		network, err := r.networkOf(i)
		if err != nil {
			return err
		}
		a, err := r.ends[i].ask(ctx, answerTimeout, request{Do: doLay, Lay: &network})
		if err != nil {
			return fmt.Errorf("link %s: %w", r.places[i].Link, err)
		}
		if a.Laid != nil {
			remarks[i] = a.Laid.Remarks
		}
		return nil
	})
	for i, all := range remarks {
		for _, words := range all {
			r.Note("link %s: %s", r.places[i].Link, words)
		}
	}
	return err
}

// networkOf is what the end of a place needs to reach the links that it has a direction with: by the device where that routes, else on the link itself.
func (r *run) networkOf(i int) (Network, error) {
	link := r.places[i].Link
	own, err := r.address(link)
	n := Network{Address: own}
	device := r.device(link)
	if r.Plan.DUT.Forwarding == plan.L3 {
		if !device.IsValid() {
			err = errors.Join(err, fmt.Errorf("link %s: the device's address is not known: set dut.address of the link", link))
		}
		at := slices.IndexFunc(r.Plan.Links, func(l plan.Link) bool { return l.Name == link })
		if mac := cmp.Or(r.places[i].DUTMAC, r.Plan.Links[at].DUT.MAC); mac != "" {
			n.Neighbours = append(n.Neighbours, Neighbour{Address: device, MAC: mac})
		}
	}
	for _, far := range r.farLinks(link) {
		address, farErr := r.address(far)
		err = errors.Join(err, farErr)
		if r.Plan.DUT.Forwarding == plan.L3 {
			n.Routes = append(n.Routes, Route{To: address.Masked(), Via: device})
			continue
		}
		n.Routes = append(n.Routes, Route{To: netip.PrefixFrom(address.Addr(), address.Addr().BitLen())})
		n.Neighbours = append(n.Neighbours, Neighbour{Address: address.Addr(), MAC: r.ends[r.placeOf(far)].welcome.MAC})
	}
	return n, err
}

// farLinks are the links that have a direction from or to this one, each once.
func (r *run) farLinks(link string) (far []string) {
	for _, d := range r.Plan.Directions {
		other := ""
		switch link {
		case d.From:
			other = d.To
		case d.To:
			other = d.From
		}
		if other != "" && !slices.Contains(far, other) {
			far = append(far, other)
		}
	}
	return far
}

// address is the end's on a link.
func (r *run) address(link string) (netip.Prefix, error) {
	for _, g := range r.Plan.Generators {
		if port, has := g.PortOn(link); has && len(port.Addresses) > 0 {
			return port.Addresses[0], nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("link %s: the plan has no address for its end", link)
}

// device is the device's address on a link, of the kind that the end's is; the zero Addr: there is none.
func (r *run) device(link string) netip.Addr {
	own, _ := r.address(link)
	for _, l := range r.Plan.Links {
		for _, a := range l.DUT.Addresses {
			if l.Name == link && a.Addr().Is4() == own.Addr().Is4() {
				return a.Addr()
			}
		}
	}
	return netip.Addr{}
}

// connect makes each direction's connections, and says what proves their path: the address and interface that they are made from, the kernel's route, and, where the
// device routes, the hop that it took off. A direction that can't be proven ends the run.
func (r *run) connect(ctx context.Context) error {
	r.Tell(func(p *runner.Progress) { p.Phase, p.Message = runner.Proving, "connect the ends through the device" })
	token := make([]byte, tokenBytes/2)
	if _, err := rand.Read(token); err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	for _, d := range r.Plan.Directions {
		check, err := r.open(ctx, d, hex.EncodeToString(token))
		if check == nil {
			return err
		}
		r.Report.Path = append(r.Report.Path, *check)
		if !check.Proven {
			return &pathError{*check}
		}
	}
	return nil
}

// open makes one direction's connections. Its check is nil where an end, and not the path, is at fault.
func (r *run) open(ctx context.Context, d plan.Direction, token string) (*report.PathCheck, error) {
	from, to := r.placeOf(d.From), r.placeOf(d.To)
	if from < 0 || to < 0 {
		return nil, fmt.Errorf("direction %s to %s: a link of it has no end", d.From, d.To)
	}
	s := r.Plan.Sessions
	shape := Shape{Connections: s.Parallel, WindowBytes: s.WindowBytes, MessageBytes: s.MessageBytes, CongestionControl: s.CongestionControl}
	address, err := r.address(d.To)
	if err != nil {
		return nil, err
	}
	if _, err := r.ends[to].ask(ctx, answerTimeout, request{Do: doListen, Listen: &listenRequest{Shape: shape, Token: token}}); err != nil {
		return nil, fmt.Errorf("link %s: %w", d.To, err)
	}
	check := &report.PathCheck{From: d.From, To: d.To, Sent: s.Parallel}
	went, err := r.askLong(ctx, from, request{Do: doConnect, Connect: &connectRequest{Shape: shape, Token: token, To: address.Addr()}})
	if err == nil {
		if went.Opened != nil {
			r.sendsBy(d.From, went.Opened.CongestionControl)
		}
		var came answer
		if came, err = r.askLong(ctx, to, request{Do: doCame}); err == nil {
			prove(check, r.Plan.DUT.Forwarding, went.Opened, came.Opened)
			return check, nil
		}
	}
	if ctx.Err() != nil || isLost(err) {
		return nil, fmt.Errorf("connect %s to %s: %w", d.From, d.To, err)
	}
	check.Message = err.Error() + ": check that the device forwards between the links, and TCP port " + fmt.Sprint(DataPort) + " with them"
	return check, nil
}

// askLong asks one end for what may take long, while the others hear a word now and then: an end that hears none drops its connections.
func (r *run) askLong(ctx context.Context, of int, q request) (a answer, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, err = r.ends[of].ask(ctx, answerTimeout+connectTimeout, q)
	}()
	ticker := time.NewTicker(DriverSilence / 5)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return a, err
		case <-ticker.C:
			for i, e := range r.ends {
				if i != of {
					_, _ = e.ask(ctx, answerTimeout, request{Do: doRead}) // whether it is lost is found out when it is needed
				}
			}
		}
	}
}

// Take starts the connections with the first step, and measures the step's window.
func (r *run) Take(ctx context.Context, step procedure.Step) (*report.Window, error) {
	if step.Kind != procedure.Held {
		return nil, fmt.Errorf("the procedure asks for a step of kind %q, which sessions can't carry out: use ConstantLoad", step.Kind)
	}
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
	lasts := r.Procedure.Bound().Unattended()
	if deadline := r.Plan.ActiveDeadline.Std(); deadline > 0 {
		lasts = min(lasts, max(0, deadline-time.Since(r.Started))+stopTimeout)
	}
	r.Note("connections send; whatever becomes of the runner, they are dropped %s after its last word, and after %s at the latest", DriverSilence, lasts.Round(time.Second))
	return r.each(func(i int) error {
		if !slices.ContainsFunc(r.Plan.Directions, func(d plan.Direction) bool { return d.From == r.places[i].Link }) {
			return nil
		}
		_, err := r.ends[i].ask(ctx, answerTimeout, request{Do: doSend, Send: &sendRequest{lasts}})
		if err != nil {
			err = fmt.Errorf("link %s: %w", r.places[i].Link, err)
		}
		return err
	})
}

// watch waits for the step to pass, and makes a window of its second part. A step without a settling time goes on where the one before ended.
//
//	──┤ settle ├──────── judge ────────┤
//	          read    …each 250 ms…   read      the last edge is the next window's first
func (r *run) watch(ctx context.Context, step procedure.Step) (*report.Window, error) {
	if r.last == nil || step.Settle > 0 {
		if _, err := r.readUntil(ctx, time.Now().Add(step.Settle)); err != nil {
			return nil, err
		}
	}
	opened := r.at
	readings := [][]Reading{r.last}
	more, err := r.readUntil(ctx, opened.Add(step.Judge))
	w := r.window(append(readings, more...), opened)
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
		before, since := r.last, r.at
		if err := r.read(ctx); err != nil {
			return all, err
		}
		all = append(all, r.last)
		r.tell(before, r.at.Sub(since), time.Since(began))
		if !next.Before(moment) {
			return all, nil
		}
	}
}

// read takes a reading of all ends.
func (r *run) read(ctx context.Context) error {
	readings, at := make([]Reading, len(r.places)), time.Now()
	err := r.each(func(i int) error {
		a, err := r.ends[i].ask(ctx, answerTimeout, request{Do: doRead})
		if err != nil {
			return fmt.Errorf("link %s: %w", r.places[i].Link, err)
		}
		if a.Reading != nil {
			readings[i] = *a.Reading
		}
		return nil
	})
	if err == nil {
		r.last, r.at = readings, at
	}
	return err
}

// tell passes on how much payload comes.
func (r *run) tell(before []Reading, took, inStep time.Duration) {
	r.Estimate(inStep)
	r.Tell(func(p *runner.Progress) {
		if before == nil || took <= 0 {
			return
		}
		var bytes int64
		for i, now := range r.last {
			if now.Receiving != nil && before[i].Receiving != nil {
				bytes += now.Receiving.Bytes - before[i].Receiving.Bytes
			}
		}
		p.GoodputBitsPerSecond = int64(float64(8*bytes) / took.Seconds())
	})
}

// window is what the readings from a window's first edge to its last amount to.
func (r *run) window(readings [][]Reading, opened time.Time) *report.Window {
	w := &report.Window{Start: plan.Duration(opened.Sub(r.Started)), Duration: plan.Duration(r.at.Sub(opened))}
	for _, d := range r.Plan.Directions {
		span := measure.SessionSpan{From: d.From, To: d.To}
		for _, at := range readings {
			if s := at[r.placeOf(d.From)].Sending; s != nil {
				span.Sending = append(span.Sending, *s)
			}
			if c := at[r.placeOf(d.To)].Receiving; c != nil {
				span.Receiving = append(span.Receiving, *c)
			}
		}
		w.Directions = append(w.Directions, measure.Sessions(span))
	}
	return w
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
			return fmt.Errorf("link %s: a connection broke: %s; what was measured until then is kept", r.places[i].Link, words)
		}
	}
	return nil
}

// Stop drops all connections of all ends that can be reached, also when ctx has ended; those that can't be drop them by themselves.
func (r *run) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return r.each(func(i int) error {
		if r.ends[i] == nil {
			return nil
		}
		if _, err := r.ends[i].ask(ctx, answerTimeout, request{Do: doHalt}); err != nil {
			return fmt.Errorf("link %s: its end was told to stop, and did not say that it has; it stops by itself %s after the last word: %w", r.places[i].Link, DriverSilence, err)
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
