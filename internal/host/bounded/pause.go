package bounded

// This file waits, and never longer than its context.

import (
	"context"
	"time"
)

// Pause waits so long, and doesn't wait where d is 0 or less. Its error is the cause of ctx's end, and nil where
// ctx outlived the pause.
func Pause(ctx context.Context, d time.Duration) error {
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

// PauseUntil is Pause until a moment.
func PauseUntil(ctx context.Context, moment time.Time) error { return Pause(ctx, time.Until(moment)) }
