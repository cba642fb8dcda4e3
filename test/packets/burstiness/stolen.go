package burstiness

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

const (
	// readEvery is how often the kernel is asked what the host took: as often as its counters have something new.
	readEvery = machine.Tick
	// aftermath is for how long frames may come late after the host gave a processor back.
	aftermath = 2 * machine.Tick
)

// reading is what the host had taken of all processors together by a moment.
type reading struct{ clock, stolen time.Duration }

// WatchStolen follows what the host of a virtual machine takes until stop is called, which says when that was.
// The kernel counts it in hundredths of a second: what is shorter shows when it has added up to one, and so may
// be said of a later moment.
func WatchStolen(ctx context.Context) (stop func() ([]Span, error)) {
	ctx, cancel := context.WithCancel(ctx)
	type outcome struct {
		spans []Span
		err   error
	}
	ended := make(chan outcome, 1)
	go func() {
		readings, err := readStolen(ctx)
		ended <- outcome{spans(readings), err}
	}()
	return func() ([]Span, error) {
		cancel()
		o := <-ended
		return o.spans, o.err
	}
}

// readStolen reads again and again until the context ends, and once more then.
func readStolen(ctx context.Context) (readings []reading, err error) {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for {
		processors, err := machine.AllProcessors()
		if err != nil {
			return nil, fmt.Errorf("what the host takes: %w", err)
		}
		r := reading{clock: monotonic()}
		for _, p := range processors {
			r.stolen += p.Stolen
		}
		readings = append(readings, r)
		if ctx.Err() != nil {
			return readings, nil
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// spans are the times between two readings of which the second one has more, from as long before as the
// counters may be late until frames come on time again.
func spans(readings []reading) (stolenSpans []Span) {
	for i := range max(0, len(readings)-1) {
		if earlier, later := readings[i], readings[i+1]; later.stolen > earlier.stolen {
			stolenSpans = append(stolenSpans, Span{earlier.clock - machine.Tick, later.clock + aftermath})
		}
	}
	return stolenSpans
}

// monotonic is the clock that programs in the kernel have.
func monotonic() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // fails for no clock that exists
	return time.Duration(ts.Nano())
}
