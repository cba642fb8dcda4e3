package frames

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// fleet calls the generators, all at the same time.
type fleet struct {
	journal  *runner.Journal
	topology *topology
	engines  []engine.Engine // in the Plan's order
}

// stopAll ends the traffic of all generators at once, each within the time.
func (f *fleet) stopAll(ctx context.Context, timeout time.Duration) error {
	return f.callAll(ctx, timeout, "stop", func(ctx context.Context, g int) error {
		return f.engines[g].Stop(ctx, f.topology.allPorts(g))
	})
}

// The bounds of calls to a generator.
const (
	callTimeout    = 15 * time.Second // a call that changes something, which a busy machine answers late
	resolveTimeout = 20 * time.Second // addressing, which waits for answers of neighbours
	stopTimeout    = 5 * time.Second  // stopping and releasing after the run's context has ended
)

// callAll calls a function for every generator at the same time, each call with a deadline of its own, and joins the
// errors, with the generators' names. If calls take longer than a window may go without a reading, the traffic of the
// generators that have answered is stopped, and the others are awaited.
//
//	generator 0 ├ read ┤            ├ stop ┤      sends no longer than ten seconds after 1 fell silent
//	generator 1 ├ read ──────────────────────── … ┤ deadline: lost
//	            ↔ MaxSilence ───────↔
func (f *fleet) callAll(ctx context.Context, timeout time.Duration, action string,
	call func(ctx context.Context, g int) error) error {
	errs, answered := make([]error, len(f.topology.names)), make([]atomic.Bool, len(f.topology.names))
	var wg sync.WaitGroup
	for g := range f.topology.names {
		wg.Go(func() {
			defer answered[g].Store(true)
			timed, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			err := call(timed, g)
			if err != nil && timed.Err() != nil && ctx.Err() == nil {
				err = fmt.Errorf("%w within %s: %w", engine.ErrSilent, timeout, err)
			}
			if err != nil {
				errs[g] = fmt.Errorf("%s generator %s: %w", action, f.topology.names[g], err)
			}
		})
	}
	all := make(chan struct{})
	go func() {
		wg.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-time.After(measure.MaxSilence):
		if f.journal.Driving {
			f.stopAnswered(ctx, answered)
		}
		<-all
	}
	return errors.Join(errs...)
}

// stopAnswered stops the traffic of the generators that have answered, while the others are silent. The procedure's
// next load starts it again, as all traffic that stopped by itself.
func (f *fleet) stopAnswered(ctx context.Context, answered []atomic.Bool) {
	ctx, cancel := runner.Afterwards(ctx, stopTimeout)
	defer cancel()
	var stopped, silent []string
	var wg sync.WaitGroup
	for g, name := range f.topology.names {
		if !answered[g].Load() {
			silent = append(silent, name)
			continue
		}
		stopped = append(stopped, name)
		wg.Go(func() { _ = f.engines[g].Stop(ctx, f.topology.allPorts(g)) }) // the next call to it shows an error
	}
	wg.Wait()
	if len(stopped) > 0 && len(silent) > 0 {
		f.journal.Note("no answer from generator %s for %s: the traffic of %s was stopped", strings.Join(silent, ", "),
			measure.MaxSilence, strings.Join(stopped, ", "))
	}
}
