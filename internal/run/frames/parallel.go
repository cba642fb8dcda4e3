package frames

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
)

// The bounds of calls to a generator.
const (
	callTimeout    = 15 * time.Second // a call that changes something, before traffic flows
	updateTimeout  = 5 * time.Second  // a change of load: the other generators are not read meanwhile, and wait ten seconds at most
	resolveTimeout = 20 * time.Second // addressing, which waits for answers of neighbours
	stopTimeout    = 5 * time.Second  // stopping and releasing, also after the run's context has ended
)

// each calls f for every generator at the same time, each call with a deadline of its own, and joins the errors, with the generators' names.
func (r *run) each(ctx context.Context, timeout time.Duration, doing string, f func(ctx context.Context, g int) error) error {
	errs := make([]error, len(r.gens))
	var wg sync.WaitGroup
	for g := range r.gens {
		wg.Go(func() {
			call, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			err := f(call, g)
			if err != nil && call.Err() != nil && ctx.Err() == nil {
				err = fmt.Errorf("%w within %s: %w", engine.ErrSilent, timeout, err)
			}
			if err != nil {
				errs[g] = fmt.Errorf("%s generator %s: %w", doing, r.gens[g].Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// afterwards is a context for cleaning up: it goes on for a bounded time after ctx has ended.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
}
