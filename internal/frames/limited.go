package frames

import (
	"context"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/report"
)

// limitedTimeout is how long limits may take to tell what they counted: they are next door, and a window doesn't wait for them.
const limitedTimeout = 200 * time.Millisecond

// readEdge takes a reading of every generator, and of the device's limits where they can be asked, at the same time.
func (r *run) readEdge(ctx context.Context) ([]engine.Reading, []report.Limiter, error) {
	var limited []report.Limiter
	var asking sync.WaitGroup
	if r.opts.Limited != nil {
		asking.Go(func() { limited = r.askLimits(ctx) })
	}
	readings, err := r.read(ctx)
	asking.Wait()
	return readings, limited, err
}

// askLimits is what the limits counted; nil: they did not tell in time, or there are none.
func (r *run) askLimits(ctx context.Context) []report.Limiter {
	ctx, cancel := context.WithTimeout(ctx, limitedTimeout)
	defer cancel()
	limited, err := r.opts.Limited(ctx)
	if err != nil {
		r.Log.Debug("the limits' counters could not be read", "error", err)
		return nil
	}
	return limited
}

// since is what limits counted between two readings; nil where either is unknown.
func since(before, after []report.Limiter) []report.Limiter {
	if len(before) != len(after) {
		return nil
	}
	var all []report.Limiter
	for i := range after {
		all = append(all, report.Limiter{Passed: after[i].Passed - before[i].Passed, Dropped: after[i].Dropped - before[i].Dropped})
	}
	return all
}
