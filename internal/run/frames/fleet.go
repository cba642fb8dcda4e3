package frames

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
)

// fleet calls the generators, all at the same time.
type fleet struct {
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
// errors, with the generators' names.
func (f *fleet) callAll(ctx context.Context, timeout time.Duration, action string,
	call func(ctx context.Context, g int) error) error {
	errs := make([]error, len(f.topology.names))
	var wg sync.WaitGroup
	for g := range f.topology.names {
		wg.Go(func() {
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
	wg.Wait()
	return errors.Join(errs...)
}
