package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// A run that ended where nothing could be judged at the top, as those of an older linerate did, is complete: what
// it claims verifies, and that it might have been looked further is told.
func TestARunThatEndedBelowATopThatCouldNotBeJudged(t *testing.T) {
	s := ramp()
	s.machine = &sceneMachine{alone: true}
	s.plan.Procedure.Ramp.TargetRate, s.plan.Procedure.Ramp.RampDuration = unitstest.Rate("8500pps"), seconds(4)
	r := s.run(t)
	if v := verify.Report(r, by); v.Outcome != verify.Verified {
		t.Fatalf("%s: %v", v, v.Findings())
	}
	procedure := procedures.Of(r.Plan.Procedure)
	last := slices.IndexFunc(r.Windows, func(w report.Window) bool { return procedure.Next(r.Windows[:w.Number]).Optional })
	if last < 0 {
		t.Fatalf("nothing was looked for below the top: %s", r.Result.Message)
	}
	r.Windows = r.Windows[:last+1]
	r.Result = analysis.Result(r)
	r.Figures = figures.Of(r)
	r.Verdict = analysis.Verdict(r)
	if !strings.Contains(r.Result.Message, "so this is a lower bound") || r.Result.Window != r.Windows[last].Number {
		t.Fatal(r.Result.Message)
	}
	verifiedBut(t, r, "the linerate that wrote it didn't look")
}
