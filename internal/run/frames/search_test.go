package frames_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// searching is a search for NDR and PDR up to 40 kpps, whose trials last so long.
func searching(classification string, trial, sum float64) option {
	return func(s *scenario) {
		goal := func(name string, loss units.Ratio) plan.Goal {
			return plan.Goal{Name: name, LossRatio: loss, FinalTrialDuration: seconds(trial), DurationSum: seconds(sum),
				ExceedRatio: units.One / 2, Width: units.One / 200}
		}
		s.plan.Procedure = plan.Procedure{Type: plan.TypeSearch, Search: &plan.Search{Classification: classification,
			MinRate: unitstest.Rate("40pps"), MaxRate: unitstest.Rate("40kpps"),
			WarmupDuration: seconds(2), Goals: []plan.Goal{goal("NDR", 0), goal("PDR", units.One/200)}}}
	}
}

// The device forwards 10 kpps a direction, with a queue of 10 ms, which a trial fills first. The device carries that
// much more than its limit without loss.
func TestASearchForTwoGoals(t *testing.T) {
	tier.Plain(t)
	for name, c := range map[string]struct {
		scene *scenario
		trial float64 // seconds
	}{
		"by the standard":   {scene(searching(plan.ClassifyRFC9971, 1, 21)), 1},
		"faster":            {scene(searching(plan.ClassifySequential, 1, 21)), 1},
		"of two generators": {scene(searching(plan.ClassifySequential, 60, 120), replicas(2)), 60},
		"in long trials":    {scene(searching(plan.ClassifySequential, 60, 120)), 60},
		"of a device that delays": {scene(searching(plan.ClassifySequential, 1, 21),
			onDevice(func(d *sim.Device) { d.Delay = 500 * time.Millisecond })), 1},
		"by a generator slow to read": {scene(searching(plan.ClassifySequential, 60, 120),
			onGenerator(func(g *sim.Generator) { g.ReadTakes = 40 * time.Millisecond })), 60},
		"delays, in long trials, faster": {scene(searching(plan.ClassifySequential, 10, 20),
			onDevice(func(d *sim.Device) { d.Delay = 900 * time.Millisecond })), 10},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.scene.run(t)
			if r.Ending != report.Completed || len(r.Answer.Goals) != 2 {
				t.Fatalf("%s: %+v", r.Ending, r.Answer)
			}
			for i, loss := range []float64{0, 0.005} {
				g := r.Answer.Goals[i]
				lowest, highest := 20_000/(1-loss), 20_000*(1+0.010/c.trial)/(1-loss)
				low, high, irregular := reporttest.Bounds(r, g.Name)
				if high < lowest-2 || low > highest+2 || high-low > 0.0052*high || !g.Answer.Saturated ||
					irregular {
					t.Errorf("%s is %.0f to %.0f, want %.0f to %.0f: %s", g.Name, low, high, lowest, highest,
						r.Answer.EvidenceText())
				}
			}
			decided := 0
			for _, w := range r.Windows {
				if w.Decided != nil {
					decided++
					if w.Quality != report.Lossy && w.Quality != report.Invalid ||
						w.Duration >= plan.Duration(time.Duration(c.trial*float64(time.Second))) {
						t.Errorf("window %d was ended early, and is %s after %s", w.Number, w.Quality, w.Duration.Std())
					}
					for _, d := range w.Directions {
						if d.Quality != report.Lossy {
							continue
						}
						deviation := float64(d.Offered.PacketsPerSecond)/float64(d.Intended.PacketsPerSecond) - 1
						if w.Quality == report.Lossy && math.Abs(deviation) > 0.01 {
							t.Errorf("window %d was ended early, and %d were offered of %d", w.Number,
								d.Offered.PacketsPerSecond, d.Intended.PacketsPerSecond)
						}
					}
				}
			}
			// a short trial is over before missing frames are known to be lost, because the device's queue fills
			// first
			if sequential := c.scene.plan.Procedure.Search.Classification == plan.ClassifySequential; decided > 0 &&
				!sequential || decided == 0 && sequential && c.trial > 1 && !strings.Contains(name, "delays") {
				t.Errorf("%d of %d trials were ended early", decided, len(r.Windows))
			}
		})
	}
}

// A path that is slow loses nothing. Frames on their way end no trial.
func TestASearchOnASlowPathLosesNothing(t *testing.T) {
	r := scene(searching(plan.ClassifySequential, 10, 20), deviceLimit(100*kpps),
		onDevice(func(d *sim.Device) { d.Delay = 700 * time.Millisecond })).run(t)
	for _, w := range r.Windows {
		if w.Quality != report.Good || w.Decided != nil {
			t.Errorf("window %d lost nothing, and is %s: %s", w.Number, w.Quality, w.Reason)
		}
	}
	if _, _, irregular := reporttest.Bounds(r, r.Answer.Goals[0].Name); !irregular ||
		r.Answer.Reason != report.TargetReached {
		t.Errorf("%+v", r.Answer)
	}
}
