package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// Place is where the end of a link answers, or the device's own end in a test whose device is an end.
type Place struct {
	// Link is its name, or plan.DeviceEnd.
	Link string
	// Server is host:port of the end's program.
	Server string
	// DUTMAC is the device's MAC on this link, if the caller knows it. Otherwise the Plan's counts, and without one the
	// kernel resolves it.
	DUTMAC string
}

// String is the place in sentences.
func (p Place) String() string {
	if p.Link == plan.DeviceEnd {
		return "the device's own end"
	}
	return "link " + p.Link
}

// remotes calls the ends, all at the same time.
type remotes struct {
	places []Place
	ends   []*remote // in the places' order, nil where the end was not reached
}

// index is the index of a link's place, or -1 where it has none.
func (r *remotes) index(link string) int {
	return slices.IndexFunc(r.places, func(p Place) bool { return p.Link == link })
}

// forEach calls fn for each place at the same time, and waits for all.
func (r *remotes) forEach(fn func(i int) error) error {
	errs := make([]error, len(r.places))
	var calls sync.WaitGroup
	for i := range r.places {
		calls.Go(func() { errs[i] = fn(i) })
	}
	calls.Wait()
	return errors.Join(errs...)
}

// meet connects to all ends, and becomes their driver.
func (r *remotes) meet(ctx context.Context, key credential.Key, force bool) error {
	return r.forEach(func(i int) (err error) {
		r.ends[i], err = meet(ctx, r.places[i].Server, key, r.places[i].Link, force)
		return err
	})
}

// describe is what the ends of a generator's links reported of themselves and of their machine. A generator has
// one machine, because each link's end is a generator of its own, or all are on this machine. Ends that were
// not reached are left out.
func (r *remotes) describe(g plan.Generator, sockets string) report.Generator {
	described := report.Generator{Name: g.Name}
	for _, port := range g.Ports {
		i := r.index(port.Link)
		if i < 0 || r.ends[i] == nil {
			continue
		}
		w := r.ends[i].welcome
		m := w.Machine
		described = report.Generator{Name: g.Name, Product: w.Product, Hostname: w.Hostname, Server: r.places[i].Server,
			CPUModel: m.CPUModel, Processors: m.Processors, Kernel: m.Kernel, Hypervisor: m.Hypervisor,
			Tuning:  m.Tuning,
			Allowed: m.Allowed, Ports: append(described.Ports, report.GeneratorPort{Link: port.Link,
				Index: len(described.Ports), Name: w.Interface, Driver: w.Driver, NIC: w.NIC, Firmware: w.Firmware,
				Path: sockets, MAC: w.MAC})}
	}
	return described
}

// ask sends one end a request that needs no network, and names the end in an error.
func (r *remotes) ask(ctx context.Context, i int, q request) (answer, error) {
	a, err := r.ends[i].ask(ctx, answerTimeout, q)
	if err != nil {
		return a, fmt.Errorf("%s: %w", r.places[i], err)
	}
	return a, nil
}

// askLong sends one end a request that may take long, and the others a short request now and then, because an end
// whose driver is silent drops its connections.
func (r *remotes) askLong(ctx context.Context, end int, q request) (a answer, err error) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		a, err = r.ends[end].ask(ctx, answerTimeout+connectTimeout, q)
	}()
	ticker := time.NewTicker(DriverSilence / 5)
	defer ticker.Stop()
	for {
		select {
		case <-answered:
			return a, err
		case <-ticker.C:
			for i, e := range r.ends {
				if i != end {
					_, _ = e.ask(ctx, answerTimeout, request{Verb: doRead}) // the next request notices a lost end
				}
			}
		}
	}
}

// stopTimeout is how long stopping may take, however the run ended. An end that hears nothing has stopped by itself
// before that. Beside other work on all processors its answer takes seconds.
const stopTimeout = DriverSilence + answerTimeout

// halt drops the connections of all ends that can be reached, also when ctx has ended.
func (r *remotes) halt(ctx context.Context) error {
	ctx, cancel := runner.Afterwards(ctx, stopTimeout)
	defer cancel()
	return r.forEach(func(i int) error {
		if r.ends[i] == nil {
			return nil
		}
		if _, err := r.ends[i].ask(ctx, stopTimeout, request{Verb: doHalt}); err != nil {
			return fmt.Errorf("%s: no answer to the request to stop; it stops by itself %s after the last request: %w",
				r.places[i], DriverSilence, err)
		}
		return nil
	})
}

func (r *remotes) close() {
	for _, e := range r.ends {
		if e != nil {
			_ = e.conn.Close()
		}
	}
}
