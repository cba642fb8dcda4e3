// Package pause waits, and never longer than its context.
package pause

import (
	"context"
	"time"
)

// For waits so long; no time, or less, is no wait. Its error is the cause of ctx's end, and nil where ctx outlived the pause.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// Until is For until a moment.
func Until(ctx context.Context, moment time.Time) error { return For(ctx, time.Until(moment)) }
