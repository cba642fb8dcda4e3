package frames

import (
	"context"
	"sync"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// readEdge reads every generator, with all counters of its ports, and at the same time the Reference's limits where they can be read.
func (r *run) readEdge(ctx context.Context) ([]engine.Reading, runner.Limits, error) {
	var limited runner.Limits
	var asking sync.WaitGroup
	if r.opts.Limited != nil {
		asking.Go(func() { limited = r.AskLimits(ctx, r.opts.Limited) })
	}
	readings, err := r.readAll(ctx)
	asking.Wait()
	return readings, limited, err
}

// since is what limits counted between two readings; nil where one of the readings is unknown.
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
