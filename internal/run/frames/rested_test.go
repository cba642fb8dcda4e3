package frames_test

import (
	"context"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// resting has every fourth step begin from rest.
type resting struct {
	runner.Driver

	taken, rested int
}

func (r *resting) Take(ctx context.Context, s procedure.Step) (*report.Window, error) {
	if r.taken++; r.taken%4 == 0 && s.Kind == procedure.Held {
		s.Rested = true
		r.rested++
	}
	return r.Driver.Take(ctx, s)
}

// stops is an engine whose stops are counted.
type stops struct {
	engine.Engine

	counted *int
}

func (s stops) Stop(ctx context.Context, ports []int) error {
	*s.counted++
	return s.Engine.Stop(ctx, ports)
}

// Traffic that rests stops, waits for the frames that the device holds, and begins anew; what is measured is the same.
func TestTrafficThatRestsIsStoppedAndBeginsAnew(t *testing.T) {
	counted := 0
	var driver *resting
	s := scene(onDevice(func(d *sim.Device) { d.Delay = 300 * time.Millisecond }))
	s.engine = func(_ int, e engine.Engine) engine.Engine { return stops{e, &counted} }
	s.driver = func(d runner.Driver, _ *sim.World) runner.Driver {
		driver = &resting{Driver: d}
		return driver
	}
	r := s.run(t)
	if r.Ending != report.Completed || !r.Result.Saturated || !r.Result.Confirmed {
		t.Fatalf("%s, %+v\n%s", r.Ending, r.Result, trace(r))
	}
	for _, d := range r.Result.Directions {
		if got := float64(d.Received.PacketsPerSecond); !within(got, 10_000, 10) {
			t.Errorf("%s: %.0f packets/s, and the device forwards 10 000", d.Name(), got)
		}
	}
	if driver.rested < 3 || counted != driver.rested+1 {
		t.Errorf("traffic rested %d times, and was stopped %d times, at the end included", driver.rested, counted)
	}
	for _, total := range r.Totals {
		if total.Sent.Packets == 0 || !total.Drained {
			t.Errorf("%s→%s: %+v", total.From, total.To, total)
		}
	}
}
