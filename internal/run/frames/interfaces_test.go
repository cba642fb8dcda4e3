package frames_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// cached is a generator on the device's machine, which reads what the device's interfaces counted each 100 ms at most.
type cached struct {
	engine.Engine
	mu   *sync.Mutex
	told *signs.Reading
}

func (c cached) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reading, err := c.Engine.Read(ctx, ports)
	if err == nil && (len(c.told.Values) == 0 || reading.At-c.told.At >= 100*time.Millisecond) {
		sent := int64(0)
		for _, p := range reading.Ports {
			sent += p.Sent.Packets
		}
		*c.told = signs.Reading{Type: signs.Interfaces, At: reading.At, Values: []signs.Value{{Series: "received", Part: "west", Number: float64(sent)}}}
	}
	reading.Signs = append(reading.Signs, *c.told)
	return reading, err
}

// A device's counters are told from a moment before: of a trial they are those of when all had come to rest.
func TestADevicesInterfacesCountAWholeTrial(t *testing.T) {
	s := scene(frameLoss, func(s *scenario) {
		s.plan.Observers = []plan.Observer{{Name: "device", Of: plan.OfDUT, Type: plan.ObserveInterfaces}}
	})
	var rep *report.Report
	synctest.Test(t, func(t *testing.T) {
		s.frames.OneMachine, s.frames.Wanted = true, observe.Want(s.plan.Observers, true)
		gen := cached{sim.New(s.world).Generator(0), new(sync.Mutex), new(signs.Reading)}
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		go func() { // who reads the same machine at other times
			for bounded.Pause(ctx, 113*time.Millisecond) == nil {
				_, _ = gen.Read(ctx, []int{0, 1})
			}
		}()
		rep = runner.Run(t.Context(), &s.plan, frames.New([]frames.Generator{{Name: "g0", Engine: gen, PortOfLink: map[string]int{"west": 0, "east": 1}}}, s.frames), s.options)
	})
	if rep.Ending != report.Completed || len(rep.Windows) == 0 {
		t.Fatalf("%s: %s, %d windows", rep.Ending, rep.Message, len(rep.Windows))
	}
	for _, w := range rep.Windows {
		sent := int64(0)
		for _, d := range w.Directions {
			sent += d.Sent.Packets
		}
		got := w.Observed[0]
		if got.Mean == nil || math.Abs(*got.Mean*got.Over.Std().Seconds()-float64(sent)) > 0.5 {
			t.Errorf("window %d: %+v, want the %d frames that were sent", w.Number, got, sent)
		}
	}
}
