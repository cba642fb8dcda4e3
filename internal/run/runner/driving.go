package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// What drivers of frames and of sessions do alike: they read observers' values, bound the traffic's duration, and clean
// up after the run's context has ended.

// Observers passes a driver's readings to the Plan's observers.
type Observers struct {
	Journal     *Journal
	Whereabouts observe.Whereabouts
	Log         *observe.Log
}

// Observe passes the generators' readings of this moment to the observers, with what the Reference's limits counted.
func (o *Observers) Observe(readings []engine.Reading, limits Limits) {
	m := o.Whereabouts.Moment(time.Since(o.Journal.Started))
	m.Readings, m.Limited, m.Asked, m.Answered = readings, limits.Limiters, limits.Asked, limits.Answered
	o.Log.Add(m)
	o.Journal.Hear(o.Log.Unread())
}

// ReadAfterWindow reads, right after a window while its load is still held, the values whose reading would disturb the
// device within the window.
func (o *Observers) ReadAfterWindow(ctx context.Context, read func(context.Context) error) error {
	if !o.Whereabouts.Wanted.Intrusive() {
		return nil
	}
	o.Whereabouts.Wanted.Judge(false)
	defer o.Whereabouts.Wanted.Judge(true)
	o.Whereabouts.RefreshDevice(ctx)
	return read(ctx)
}

// Complete adds the observers' values to the Report when the run is over.
func (o *Observers) Complete() {
	o.Log.Complete(o.Journal.Report.Windows)
	o.Journal.Report.Observations = o.Log.Observations()
}

// WatchMachine begins to follow what disturbs the device on this machine.
func (j *Journal) WatchMachine(ctx context.Context, watch *observe.DisturbanceWatch) {
	if err := watch.Begin(ctx); err != nil {
		j.Note("disturbances of this machine can't be read: %v", err)
	}
}

// WithinDeadline shortens a duration of traffic to what the Plan's deadline leaves, and a grace for stopping.
func (j *Journal) WithinDeadline(duration, grace time.Duration) time.Duration {
	if deadline := j.Plan.ActiveDeadline.Std(); deadline > 0 {
		return min(duration, max(0, deadline-time.Since(j.Started))+grace)
	}
	return duration
}

// CutShort is the reason of a window that an error ended before its planned duration.
func CutShort(duration, planned time.Duration, cause error) string {
	return fmt.Sprintf("cut short after %s of %s: %v", duration.Round(time.Millisecond), planned, cause)
}

// Afterwards is a context for cleaning up, which goes on for a bounded time after ctx has ended. When that time
// is over, its cause is engine.ErrSilent.
func Afterwards(ctx context.Context, bound time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), bound, engine.ErrSilent)
}

// limitedTimeout is how long a Reference's limits may take to report their counters. They are on the same machine, and
// no window waits for them.
const limitedTimeout = 200 * time.Millisecond

// Limits are what a Reference's limits counted so far, at some moment between question and answer, both since the run
// started. Limiters are nil if nobody asked, or if no answer came in time.
type Limits struct {
	Limiters        []report.Limiter
	Asked, Answered time.Duration
}

// AskLimits begins to ask a Reference's limits what they counted, and returns a function that waits for the answer. An
// answer that doesn't come in time is only logged. A nil ask means that there are no limits.
func (j *Journal) AskLimits(ctx context.Context, ask func(context.Context) ([]report.Limiter, error)) func() Limits {
	if ask == nil {
		return func() Limits { return Limits{} }
	}
	var limits Limits
	var asking sync.WaitGroup
	asking.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, limitedTimeout)
		defer cancel()
		asked := time.Since(j.Started)
		limiters, err := ask(ctx)
		if err != nil {
			j.Log.Debug("the limits' counters could not be read", "error", err)
			return
		}
		limits = Limits{Limiters: limiters, Asked: asked, Answered: time.Since(j.Started)}
	})
	return func() Limits { asking.Wait(); return limits }
}
