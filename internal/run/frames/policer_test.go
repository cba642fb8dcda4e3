package frames_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// A policer passes more than its rate after a calm moment. Slow readings let a trial confirm, before which the bucket
// fills up. The confirmed rate is the committed rate all the same.
func TestARampFindsTheCommittedRateOfAPolicer(t *testing.T) {
	tier.Plain(t)
	short := onRamp(func(r *plan.Ramp) {
		r.RampDuration, r.StepDuration, r.SettleDuration, r.ConfirmDuration = seconds(10), seconds(1),
			plan.Duration(300*time.Millisecond), seconds(5)
	})
	for name, settings := range map[string]option{"usual": func(*scenario) {}, "short": short} {
		for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
			for _, reads := range []time.Duration{0, 8 * time.Millisecond} {
				s := scene(settings, target("40kpps"),
					onDevice(func(d *sim.Device) { d.Limit, d.Burst = 12_200*kpps/1000, depth }),
					onGenerator(func(g *sim.Generator) { g.ReadTakes = reads }))
				r := s.run(t)
				if r.Ending != report.Completed || !r.Answer.Saturated || !r.Answer.Confirmed {
					t.Errorf("%s settings, a bucket of %s, readings of %s: %s, %+v\n%s", name, depth, reads, r.Ending,
						r.Answer, trace(r))
					continue
				}
				for _, d := range r.Answer.Directions {
					if got := float64(d.Received.PacketsPerSecond); !isNear(got, 12_200, 122) {
						t.Errorf("%s settings, a bucket of %s, readings of %s: %s is %.0f packets/s, and the device "+
							"forwards 12 200\n%s", name, depth, reads, d.Name(), got, trace(r))
					}
				}
			}
		}
	}
}

// Trials follow pauses, in which the bucket fills up. The traffic that goes on after them shows what the
// policer forwards for as long as one likes.
func TestTrialsOfAPolicerAreFollowedByTrafficWithoutAPause(t *testing.T) {
	tier.Plain(t)
	for name, c := range map[string]struct {
		procedure option
		reason    report.Reason
	}{
		"a search by the standard": {searching(plan.ClassifyRFC9971, 1, 21), report.BurstsOnly},
		"a faster search":          {searching(plan.ClassifySequential, 1, 21), report.BurstsOnly},
		"the maximum offered load": {func(s *scenario) {
			s.plan.Procedure = plan.Procedure{Type: plan.TypeMaximumOfferedLoad,
				MaxLossRatio: s.plan.Procedure.MaxLossRatio,
				MaximumOfferedLoad: &plan.MaximumOfferedLoad{Rate: unitstest.Rate("40kpps"), WarmupDuration: seconds(2),
					TrialDuration: seconds(10), Trials: 1}}
		}, report.MaximumOffered},
	} {
		for _, depth := range []time.Duration{time.Second, 5 * time.Second} {
			r := scene(c.procedure, onDevice(func(d *sim.Device) { d.Limit, d.Burst = 12*kpps, depth })).run(t)
			if r.Ending != report.Completed || r.Answer.Reason != c.reason {
				t.Errorf("%s, a bucket of %s: %s, %s: %s\n%s", name, depth, r.Ending, r.Answer.Reason, r.Answer.EvidenceText(),
					trace(r))
				continue
			}
			for _, d := range r.Answer.Directions {
				if got := float64(d.Received.PacketsPerSecond); !isNear(got, 12_000, 120) {
					t.Errorf("%s, a bucket of %s: %s is %.0f packets/s, and the device forwards 12 000: %s", name,
						depth, d.Name(), got, r.Answer.EvidenceText())
				}
			}
		}
	}
}

// Where a bucket carries the highest load of a run, nothing shows the committed rate. Each figure above it says for
// how long it was shown, and so does the criterion that it meets.
func TestNoFigureThatABucketCarriedHoldsForLongerThanItWasShown(t *testing.T) {
	tier.Plain(t)
	const committed, depth = 10_000.0, 5 * time.Second
	atLeast := criterion(plan.Criterion{Name: "carries", Metric: "PacketsPerSecond", Direction: "Each", Min: "10500"})
	highest := func(rate string) map[string]option {
		highestRate := unitstest.Rate(rate)
		search := func(classification string) option {
			return func(s *scenario) {
				searching(classification, 1, 5)(s)
				s.plan.Procedure.Search.MaxRate = highestRate
			}
		}
		offered := func(trials int) option {
			return func(s *scenario) {
				maximumOfferedLoad(trials)(s)
				s.plan.Procedure.MaximumOfferedLoad.Rate = highestRate
			}
		}
		return map[string]option{
			"Ramp":                            target(rate),
			"Ramp, and a hold":                func(s *scenario) { target(rate)(s); hold(5)(s); toTheTop(s) },
			"Ramp of each direction":          func(s *scenario) { eachDirection(0)(s); target(rate)(s) },
			"Search by the standard":          search(plan.ClassifyRFC9971),
			"Search, a faster one":            search(plan.ClassifySequential),
			"MaximumOfferedLoad":              offered(1),
			"MaximumOfferedLoad, three times": offered(3),
			"ConstantLoad": func(s *scenario) {
				constantLoad(rate)(s)
				s.plan.Procedure.ConstantLoad.Duration, s.plan.Procedure.ConstantLoad.Window = seconds(8), seconds(2)
			},
			"FrameLoss":  func(s *scenario) { frameLoss(s); s.plan.Procedure.FrameLoss.MaxRate = highestRate },
			"Soak":       soaked(func(p *plan.Soak) { p.Duration, p.MaxRate = seconds(12), highestRate }),
			"BackToBack": backToBack(func(b *plan.BackToBack) { b.Rate = highestRate }),
		}
	}
	for _, rate := range []string{"11kpps", "13kpps", "16kpps", "25kpps"} {
		for name, procedure := range highest(rate) {
			r := scene(procedure, atLeast, onDevice(func(d *sim.Device) { d.Limit, d.Burst = 10*kpps, depth })).run(t)
			for _, f := range r.Figures {
				if f.Metric != figures.PacketsPerSecond || f.Low == "" {
					continue
				}
				deviation := f.Low.Float()/committed - 1
				if f.Direction == report.AllDirections {
					deviation = f.Low.Float()/committed/2 - 1
				}
				if deviation > 0.011 && (f.ShownFor == 0 ||
					f.ShownFor.Std().Seconds() > depth.Seconds()/deviation*1.01) {
					t.Errorf("%s up to %s, %s: %.1f %% above the committed rate, shown for %s: %s: %s", name, rate,
						f.Direction, 100*deviation, f.ShownFor.Std(), r.Answer.Reason, r.Answer.EvidenceText())
				}
			}
			for _, c := range r.Verdict.Criteria {
				if c.Outcome == report.Passed && !strings.Contains(c.Message, "shown for") {
					t.Errorf("%s up to %s: passed for good: %s\n%s", name, rate, c.Message, r.Answer.EvidenceText())
				}
			}
		}
	}
}
