package frames_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// robbed is a generator on a virtual machine whose host takes of its processors what a function says, by the
// generator's clock.
type robbed struct {
	engine.Engine
	stolen func(elapsed time.Duration) time.Duration
}

func (r robbed) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	reading, err := r.Engine.Read(ctx, ports)
	if r.stolen != nil {
		reading.Stolen = engine.Stolen{Time: r.stolen(reading.Instant), Instant: reading.Instant}
	}
	return reading, err
}

func TestStolenTimeIsInTheReport(t *testing.T) {
	const earlier = time.Hour // what was taken before traffic is none of the run's
	for name, tt := range map[string]struct {
		stolen             func(elapsed time.Duration) time.Duration
		reported           bool
		percent, tolerance float64
		worst              float64
	}{
		"always a fiftieth": {func(elapsed time.Duration) time.Duration { return earlier + elapsed/50 }, true, 2, 0.01,
			2},
		"a fifth of two seconds": {func(elapsed time.Duration) time.Duration {
			return min(max(0, elapsed-20*time.Second), 2*time.Second) / 5
		}, true, 1, 1, 20},
		"nothing any more": {func(time.Duration) time.Duration { return earlier }, false, 0, 0, 0},
		"nobody says it":   {nil, false, 0, 0, 0},
		"a count that goes back": {func(elapsed time.Duration) time.Duration { return earlier - elapsed/50 }, false,
			0, 0, 0},
		"less than can be rounded ": {func(elapsed time.Duration) time.Duration { return elapsed / 100_000 }, false, 0,
			0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene()
			synctest.Test(t, func(t *testing.T) {
				e := robbed{sim.New(s.world).Generator(0), tt.stolen}
				got := s.runOn(t, e).Stolen
				if !tt.reported {
					if len(got) != 0 {
						t.Errorf("%+v", got)
					}
					return
				}
				if len(got) != 1 || got[0] != (report.Stolen{Generator: "g0", Percent: got[0].Percent,
					WorstPercent: tt.worst}) || math.Abs(got[0].Percent-tt.percent) > tt.tolerance {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}
