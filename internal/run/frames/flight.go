package frames

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// refuseLongFlight is the error of a device that frames take longer through than a load settles: after each change of load its windows would lose what is on its way, or have back what was sent before.
// It is asked before the second load. What has not come back of the first may as well be lost: then traffic is stopped, and the frames that come back after all tell.
//
//	sent     ├────────── first load ──────────┤ stop
//	back       flight ├────────── first load ──────────┤
//	                              missing here ↑        ↑ lost
func (r *run) refuseLongFlight(ctx context.Context, step procedure.Step, rates []units.PacketRate) error {
	if r.drive.flightJudged || !r.drive.flowing || step.Settle <= 0 || r.drive.flightKnown && r.drive.longestFlight <= step.Settle {
		return nil
	}
	r.drive.flightJudged = true
	before := r.missing(r.drive.last)
	if longest(before, rates) <= step.Settle {
		return nil
	}
	rest, err := r.endHeld(ctx, stillTwice)
	if err != nil {
		return err
	}
	came := before
	for i, lost := range r.missing(rest.readings) {
		came[i] -= lost
	}
	if flight := longest(came, rates); flight > step.Settle {
		return fmt.Errorf("frames take %s or more through the device, and each load settles for %s: what is on its way at a change of load would count as lost%s",
			flight.Round(10*time.Millisecond), step.Settle, r.Plan.Advice(fmt.Sprintf(". Set %%s to %s or more", (2*flight).Round(100*time.Millisecond)), "procedure.ramp.settle"))
	}
	return nil
}

// missing is how many frames of each direction, in the Plan's order, were sent since traffic began and have not come back.
func (r *run) missing(readings []engine.Reading) []int64 {
	all := make([]int64, len(r.setup.Directions))
	for i, d := range r.setup.Directions {
		t := between(d, r.drive.baseline, readings)
		all[i] = t.Sent.Packets - t.SendDrops - t.Returned.Packets - t.ReceiveErrors
	}
	return all
}

// longest is the longest time for which any direction sends so many frames at its rate.
func longest(packets []int64, rates []units.PacketRate) (most time.Duration) {
	for i, n := range packets {
		if rates[i] > 0 {
			most = max(most, time.Duration(float64(n)/rates[i].PerSecond()*float64(time.Second)))
		}
	}
	return most
}
