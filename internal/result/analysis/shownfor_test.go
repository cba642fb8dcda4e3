package analysis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// A target that a bucket carried for as long as it was held is no rate that the device carries for longer: the
// figure, its sentence and the criterion that passes say for how long it was shown.
func TestALowerBoundSaysForHowLongItWasShown(t *testing.T) {
	r := searched(t, 1e9, 1e9)
	if r.Answer.Reason != report.TargetReached || r.Answer.ShownFor.Std() != 10*time.Second || !strings.HasSuffix(r.Answer.Message, " This load was held for 10 s.") {
		t.Errorf("%s, shown for %s: %s", r.Answer.Reason, r.Answer.ShownFor.Std(), r.Answer.Message)
	}
	if f := figureIn(t, r, report.AllDirections); f.ShownFor != r.Answer.ShownFor || !strings.HasSuffix(figures.Text(f), ", shown for 10s") {
		t.Errorf("%+v: %s", f, figures.Text(f))
	}
	v := analysis.Judge([]plan.Criterion{{Metric: string(figures.PacketsPerSecond), Min: "9000"}}, []*report.Report{r}, nil)
	if v.Outcome != report.Passed || !strings.Contains(v.Criteria[0].Message, "shown for 10s, at least 9,000 pps demanded") {
		t.Errorf("%+v", v)
	}
}

// A limit that is confirmed right after an overload holds for as long as one likes, and beside it the direction
// without a limit is shown for a while only.
func TestAConfirmedLimitHoldsForAsLongAsOneLikes(t *testing.T) {
	if r := searched(t, 10_000, 10_000); r.Answer.ShownFor != 0 || strings.Contains(r.Answer.Message, "This load was held for") {
		t.Errorf("shown for %s: %s", r.Answer.ShownFor.Std(), r.Answer.Message)
	}
	r := searched(t, 10_000, 4000)
	if !strings.HasSuffix(r.Answer.Message, " This load was held for 10 s.") {
		t.Error(r.Answer.Message)
	}
	if west, east := figureIn(t, r, "west→east"), figureIn(t, r, "east→west"); west.ShownFor.Std() != 10*time.Second || east.ShownFor != 0 {
		t.Errorf("west→east is shown for %s, east→west for %s", west.ShownFor.Std(), east.ShownFor.Std())
	}
}
