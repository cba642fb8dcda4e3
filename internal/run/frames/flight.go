package frames

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// flight is how long frames are on their way through the device.
type flight struct {
	journal *runner.Journal
	traffic *traffic
	totals  *totals

	judged   bool          // the first load has shown whether frames are in flight for longer than a load settles
	measured bool          // a trial has shown how long frames are in flight
	longest  time.Duration // the longest time so far
}

// bound is the time after which a frame that hasn't come back counts as lost, which is twice the longest time that
// frames have been in flight so far.
func (f *flight) bound() time.Duration {
	if !f.measured {
		return unknownFlight
	}
	return min(max(minFlight, 2*f.longest), drainBound)
}

// learn records how long frames were in flight in a trial whose counters stood still at its end.
func (f *flight) learn(setup *measure.Setup, span measure.Span) {
	if longest, measured := setup.Flight(span); measured {
		f.measured, f.longest = true, max(f.longest, longest)
	}
}

// refuseLong is the error of a device that frames take longer through than a load settles. After each change of load,
// windows would lose the frames that are on their way, or have back frames that were sent before. The driver asks
// before the second load. Frames of the first load that have not come back may also be lost. Traffic is then stopped,
// and the frames that come back after all tell which it is.
//
//	sent     ├────────── first load ──────────┤ stop
//	back       flight ├────────── first load ──────────┤
//	                              missing here ↑        ↑ lost
func (f *flight) refuseLong(ctx context.Context, step procedure.Step, rates []units.PacketRate) error {
	if f.judged || !f.traffic.flowing || step.Settle <= 0 || f.measured && f.longest <= step.Settle {
		return nil
	}
	f.judged = true
	missing := f.totals.missing(f.totals.latest)
	if longest(missing, rates) <= step.Settle {
		return nil
	}
	rest, err := f.traffic.endHeld(ctx, stillTwice)
	if err != nil {
		return err
	}
	returned := missing
	for i, lost := range f.totals.missing(rest.readings) {
		returned[i] -= lost
	}
	if flight := longest(returned, rates); flight > step.Settle {
		return runner.Explain(fmt.Errorf("frames take %s or more through the device, and each load settles for %s: what is on its "+
			"way at a change of load would count as lost%s",
			flight.Round(10*time.Millisecond), step.Settle, f.journal.Plan.Advice(fmt.Sprintf(". Set %%s to %s or more",
				(2*flight).Round(100*time.Millisecond)), "procedure.ramp.settleDuration")),
			report.Cause{Detail: report.FramesLinger, Lasted: plan.Duration(flight)})
	}
	return nil
}

// longest is the longest time for which any direction sends so many frames at its rate.
func longest(packets []int64, rates []units.PacketRate) (duration time.Duration) {
	for i, n := range packets {
		if rates[i] > 0 {
			duration = max(duration, time.Duration(float64(n)/rates[i].PerSecond()*float64(time.Second)))
		}
	}
	return duration
}
