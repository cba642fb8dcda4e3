package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// A run that ended where nothing could be judged at the top, without a look below, isn't complete.
func TestARunThatEndedBelowATopThatCouldNotBeJudged(t *testing.T) {
	s := ramp()
	s.machine = &sceneMachine{alone: true}
	s.plan.Procedure.Ramp.TargetRate, s.plan.Procedure.Ramp.RampDuration = unitstest.Rate("8500pps"), seconds(4)
	r := s.run(t)
	if v := verify.Report(r, by); v.Outcome != verify.Verified {
		t.Fatalf("%s: %v", v, v.Findings())
	}
	look := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Phase == report.Refine })
	if look < 0 {
		t.Fatalf("nothing was looked for below the top: %s", r.Answer.Message)
	}
	r.Windows = r.Windows[:look]
	r.Answer = analysis.Answer(r)
	r.Figures = figures.Of(r)
	r.Verdict = analysis.Verdict(r)
	if !strings.HasPrefix(r.Answer.Message, "Lower bound: ") || r.Answer.Window != r.Windows[look-1].Number {
		t.Fatal(r.Answer.Message)
	}
	if found := verify.Report(stored(t, r), by).Findings(); len(found) != 1 || found[0].Field != "ending" {
		t.Errorf("%v", found)
	}
}
