package frames_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// soaked asks up to 20 kpps, twice the limit of the scene's device, where one frame of ten thousand is lost.
func soaked(options ...func(*plan.Soak)) option {
	return func(s *scenario) {
		soak := plan.Soak{LossRatio: units.One / 10_000, Duration: seconds(60), FirstTrialDuration: seconds(3),
			TrialGrowth: seconds(0.2), MinRate: unitstest.Rate("1kpps"), MaxRate: unitstest.Rate("20kpps"),
			WarmupDuration: seconds(1)}
		for _, o := range options {
			o(&soak)
		}
		s.plan.Procedure = plan.Procedure{Type: plan.TypeSoak, Soak: &soak, MaxLossRatio: soak.LossRatio}
	}
}

// TestASoakEstimatesWhereADeviceLosesFrames, and each of its figures is recomputed from the counters (run verifies it).
func TestASoakEstimatesWhereADeviceLosesFrames(t *testing.T) {
	for name, s := range map[string]*scenario{
		"":                      scene(soaked()),
		"behind two generators": scene(soaked(), replicas(2)),
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run(t)
			if r.Ending != report.Completed || r.Answer.Reason != report.LoadEstimated || !r.Answer.Confirmed {
				t.Fatalf("%s: %s, %+v", r.Ending, r.Message, r.Answer)
			}
			trials := 0
			for _, f := range figures.Of(r) {
				if f.Metric != figures.PacketsPerSecond {
					continue
				}
				truth := 10_000.0
				if f.Direction == report.AllDirections {
					truth *= 2
				}
				if trials++; f.Low.Float() > truth*1.001 || f.High.Float() < truth*0.999 ||
					f.High.Float()-f.Low.Float() > truth*0.1 {
					t.Errorf("%s: %s to %s, want %.0f", f.Direction, f.Low, f.High, truth)
				}
			}
			if trials != 3 {
				t.Errorf("%d figures: %+v", trials, figures.Of(r))
			}
			if line := figures.Summary(r); !strings.Contains(line, "with 0.01 % lost; east→west: ") {
				t.Errorf("%s", line)
			}
		})
	}
}

// TestASoakBehindASlowGeneratorIsALowerBound.
func TestASoakBehindASlowGeneratorIsALowerBound(t *testing.T) {
	r := scene(soaked(), onGenerator(func(g *sim.Generator) { g.MaxRate = 8 * kpps })).run(t)
	if r.Answer.Reason != report.GeneratorLimited || !r.Answer.LowerBound() {
		t.Errorf("%+v", r.Answer)
	}
	for _, f := range figures.Of(r) {
		if f.Metric == figures.PacketsPerSecond && f.Direction != report.AllDirections &&
			(f.Low.Float() > 8000 || f.Low.Float() < 7900 || f.High != "") {
			t.Errorf("%+v", f)
		}
	}
}
