package frames

import (
	"context"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// observers passes readings to the Plan's observers, and their values to windows.
type observers struct {
	runner.Observers
	counters *counters
}

// observeIdle lets observers read the idle machines after the traffic, for as long as before it. It doesn't keep a
// person waiting who interrupts the run.
func (o *observers) observeIdle(ctx context.Context) {
	if len(o.Journal.Plan.Observers) == 0 || ctx.Err() != nil {
		return
	}
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, listening+2*readTimeout)
	defer cancel()
	o.Whereabouts.Wanted.Judge(false)
	began := time.Since(o.Journal.Started)
	for i := range 2 {
		if i > 0 && o.keepSilence(ctx) != nil {
			return
		}
		readings, limited, err := o.counters.readEdge(ctx)
		if err != nil {
			o.Journal.Log.Debug("observers' idle values after the traffic could not be read", "error", err)
			return
		}
		o.Observe(readings, limited)
	}
	o.awaitReadings(whole, began)
	o.idle(began, true)
}

// awaitReadings waits for readings from the network of the time after the traffic, if the run has time left.
func (o *observers) awaitReadings(ctx context.Context, began time.Duration) {
	end := o.Journal.Started.Add(began + o.Journal.Plan.IdleTime())
	if deadline, bounded := ctx.Deadline(); bounded && deadline.Before(end.Add(listening)) {
		return
	}
	for time.Now().Before(end) && o.keepSilence(ctx) == nil {
	}
}

// read reads the generators' counters for observers.
func (o *observers) read(ctx context.Context) error {
	readings, err := o.counters.read(ctx)
	if err == nil {
		o.Observe(readings, runner.Limits{})
	}
	return err
}

// readAfterWindow reads for observers, right after a window while its load is still held, what would disturb the device
// within the window. What can't be read is missing.
func (o *observers) readAfterWindow(ctx context.Context) {
	if err := o.ReadAfterWindow(ctx, o.read); err != nil {
		o.Journal.Log.Debug("observers' values after a window could not be read", "error", err)
	}
}

// hearings is how many times in a silence the latest values of the device's node are taken, as they may be older than
// the generators' readings.
const hearings = 4

// keepSilence waits until the silence is over, and passes the values of the device's node and the collector to
// observers meanwhile.
func (o *observers) keepSilence(ctx context.Context) error {
	for range hearings {
		if err := bounded.Pause(ctx, listening/hearings); err != nil {
			return err
		}
		if m := o.Whereabouts.Moment(time.Since(o.Journal.Started)); m.Device != nil || m.Collected != nil {
			o.Log.Add(m)
			o.Journal.Hear(o.Log.Unread())
		}
	}
	return nil
}

// aged is how old a value may be. Generators read their processors every 100 ms at most. The silence begins that much
// after the last traffic.
const aged = 150 * time.Millisecond

// idle records what observers read without traffic since a moment, either before the traffic or after it.
func (o *observers) idle(began time.Duration, afterTraffic bool) {
	o.Log.Idle(began-aged, time.Since(o.Journal.Started), afterTraffic)
}

// readAtRest reads the counters of the device's interfaces for observers once the generators' counters stand still,
// and returns since when they do. Machines answer with values that they read a moment before, which may be from a
// time when frames were still in flight. What can't be read is missing.
func (o *observers) readAtRest(ctx context.Context, drained rest) (restSince time.Duration) {
	restSince = drained.stillSince.Sub(o.Journal.Started)
	ofDevice := func(o plan.Observer) bool { return o.Observed == plan.OfDUT && o.Type == plan.ObserveInterfaces }
	if !slices.ContainsFunc(o.Journal.Plan.Observers, ofDevice) || bounded.PauseUntil(ctx,
		drained.stillSince.Add(aged)) != nil {
		return restSince
	}
	o.Whereabouts.RefreshDevice(ctx)
	if err := o.read(ctx); err != nil {
		o.Journal.Log.Debug("what the device's interfaces counted could not be read after a trial", "error", err)
	}
	return restSince
}

// addTo adds observers' values to a window. restSince is the moment since which counters stand still after a trial,
// and 0 for a held load.
func (o *observers) addTo(w *report.Window, restSince time.Duration) {
	start := w.Start.Std()
	if end := start + w.Duration.Std(); restSince > 0 {
		w.Observed = o.Log.Trial(start, end, restSince)
	} else {
		w.Observed = o.Log.Window(start, end)
	}
	w.Observed = append(w.Observed, observe.Derived(w)...)
}
