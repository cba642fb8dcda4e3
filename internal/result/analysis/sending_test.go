package analysis_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/proceduretest"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// A load that was given counts the frames that its windows lost in a generator's bursts, those of all windows that the
// answer combines. A search asks for less instead.
func TestWhatAGivenLoadLostToSending(t *testing.T) {
	rate, trial := unitstest.Rate("20kpps"), plan.Duration(3*time.Second)
	constant := plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Rate: rate, Duration: 4 * trial, Window: trial}}
	curve := plan.Procedure{Type: plan.TypeFrameLoss, FrameLoss: &plan.FrameLoss{MaxRate: rate, MinRate: unitstest.Rate("16kpps"), Step: unitstest.Rate("2kpps"), TrialDuration: trial}}
	most := plan.Procedure{Type: plan.TypeMaximumOfferedLoad, MaximumOfferedLoad: &plan.MaximumOfferedLoad{Rate: rate, TrialDuration: trial, Trials: 3}}
	search := searched(t, 9000, 9000).Plan.Procedure
	for name, c := range map[string]struct {
		procedure plan.Procedure
		windows   int64 // of the answer, each of which lost 1600 frames so
	}{"a held load": {constant, 4}, "a curve's highest load": {curve, 1}, "trials of all that can be sent": {most, 3}, "a search": {search, 0}} {
		t.Run(name, func(t *testing.T) {
			c.procedure.MaxLossRatio = units.One / 1000
			r := &report.Report{Ending: report.Completed, Plan: &plan.Plan{Procedure: c.procedure, Directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}}}
			device := func(_ int, asked [2]float64) (offered, received [2]float64) {
				return asked, [2]float64{min(asked[0], 9000), asked[1]}
			}
			r.Windows, _ = proceduretest.CarryOutBoth(t, procedures.New(c.procedure), device, func(_ int, w *report.Window) {
				w.Evidence = &report.Evidence{Directions: []report.DirectionEvidence{{LostCalm: 2400, LostInBursts: 1000, LostInGaps: 600}, {}}}
			})
			result := analysis.Answer(r)
			if len(result.Directions) != 2 || result.Directions[0].LostToSending != c.windows*1600 || result.Directions[1].LostToSending != 0 {
				t.Errorf("%s of windows %v: %+v, want %d", result.Reason, result.Windows, result.Directions, c.windows*1600)
			}
		})
	}
}
