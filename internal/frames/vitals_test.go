package frames_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/sim"
	"github.com/linerate-dev/linerate/internal/frames"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// busy is a generator on a machine with one processor, which is busy for a fifth of the time, and for half of it while frames flow.
type busy struct {
	engine.Engine
	since, until *time.Time // frames flow
}

// Stop ends it: a curve's last trial has ended by then.
func (b busy) Stop(ctx context.Context, ports []int) error {
	*b.until = time.Now()
	return b.Engine.Stop(ctx, ports)
}

func (b busy) Start(ctx context.Context, loads []engine.PortLoad, lasts time.Duration) error {
	if b.since.IsZero() {
		*b.since = time.Now()
	}
	return b.Engine.Start(ctx, loads, lasts)
}

func (b busy) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	reading, err := b.Engine.Read(ctx, ports)
	used := reading.At / 5
	switch {
	case b.since.IsZero():
	case b.until.IsZero():
		used += time.Since(*b.since) * 3 / 10
	default:
		used += b.until.Sub(*b.since) * 3 / 10
	}
	reading.Processors = engine.Processors{At: reading.At, Each: []engine.Processor{{Number: 0, Busy: used}}}
	return reading, err
}

func TestObserversAreInTheReport(t *testing.T) {
	for name, procedure := range map[string]option{
		"of a ramp":  func(*scenario) {},
		"of a curve": frameLoss, "of a held load": constantLoad("8kpps"),
	} {
		t.Run(name, func(t *testing.T) {
			s := scene(procedure, func(s *scenario) {
				s.plan.Observers = []plan.Observer{{Name: "cpu", Of: plan.OfGenerator, Type: plan.ObserveProcessors}, {Name: "limit", Of: plan.OfDUT, Type: plan.ObserveLimiter}}
			})
			var rep *report.Report
			synctest.Test(t, func(t *testing.T) {
				gens := []frames.Generator{{Name: "g0", Engine: busy{sim.New(s.world).Generator(0), new(time.Time), new(time.Time)}, PortOfLink: map[string]int{"west": 0, "east": 1}}}
				rep = runner.Run(t.Context(), &s.plan, frames.New(gens, s.frames), s.options)
			})
			if len(rep.Observations) != 2 || len(rep.Windows) == 0 {
				t.Fatalf("%d observations, %d windows: %s", len(rep.Observations), len(rep.Windows), rep.Message)
			}
			if limit := rep.Observations[1]; limit.Missing == "" || len(limit.Series) != 0 {
				t.Errorf("of a limit that nobody can ask: %+v, want why it is missing", limit)
			}
			sign := rep.Observations[0].Series[0]
			if sign.Name != "busy" || sign.IdleBefore == nil || math.Abs(*sign.IdleBefore-0.2) > 0.01 || len(sign.Samples) < len(rep.Windows) {
				t.Errorf("%s was %v idle before, with %d samples; want busy, 0.2, and some a window", sign.Name, sign.IdleBefore, len(sign.Samples))
			}
			if sign.IdleAfter == nil || math.Abs(*sign.IdleAfter-0.2) > 0.01 {
				t.Errorf("%s was %v after the traffic, want 0.2", sign.Name, sign.IdleAfter)
			}
			for _, w := range rep.Windows {
				if len(w.Observed) == 0 || w.Observed[0].Mean == nil || math.Abs(*w.Observed[0].Mean-0.5) > 0.02 {
					t.Errorf("window %d of %s: %+v, want 0.5 s/s", w.Number, w.Duration.Std(), w.Observed)
				}
			}
		})
	}
}

func TestWithoutObserversNothingIsKept(t *testing.T) {
	rep := scene().run(t)
	if rep.Observations != nil {
		t.Errorf("%+v", rep.Observations)
	}
	for _, w := range rep.Windows {
		if w.Observed != nil {
			t.Errorf("window %d: %+v", w.Number, w.Observed)
		}
	}
}
