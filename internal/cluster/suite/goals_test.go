package suite

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// searched is the run of a search for NDR and PDR. A PDR of 0 means that no load met it.
func searched(test string, ndr, pdr int64) Run {
	r := reporttest.Measured(reporttest.Limited(ndr))
	goals := []report.GoalAnswer{{Name: "NDR", Answer: r.Answer},
		{Name: "PDR", Answer: report.Answer{Reason: report.Inconclusive}}}
	if pdr > 0 {
		goals[1].Answer = reporttest.Measured(reporttest.Limited(pdr)).Answer
	}
	r.Answer.Goals = goals
	return LocalRun(Wanted{Name: test, Repetition: 1, Try: 1}, r, "sha256:0f")
}

func TestACellHasTheMediansOfEachGoal(t *testing.T) {
	runs := []Run{searched("a", 100_000, 200_000), searched("b", 110_000, 0), searched("c", 120_000, 300_000)}
	first, _ := medians(runs)
	goals := mediansOfGoals(runs)
	if len(goals) != 2 || goals[0].Goal != "NDR" || goals[1].Goal != "PDR" ||
		goals[0].Figures.PacketsPerSecond != first.PacketsPerSecond || goals[0].Figures.Runs != 3 {
		t.Fatalf("%+v", goals)
	}
	low, high := runs[0].Goals[1].Figures.PacketsPerSecond, runs[2].Goals[1].Figures.PacketsPerSecond
	if pdr := goals[1].Figures; pdr.Runs != 2 || pdr.PacketsPerSecond != (low+high)/2 ||
		low <= runs[2].Figures.PacketsPerSecond {
		t.Errorf("%+v of %d and %d", pdr, low, high)
	}
	if goals := mediansOfGoals([]Run{searched("b", 110_000, 0)}); goals[1].Figures != nil {
		t.Errorf("%+v", goals[1])
	}
}

func TestARunOfOneGoalHasNoMore(t *testing.T) {
	r := reporttest.Measured()
	r.Answer.Goals = []report.GoalAnswer{{Name: "NDR", Answer: r.Answer}}
	if run := LocalRun(Wanted{Name: "a", Repetition: 1, Try: 1}, r, "sha256:0f"); run.Goals != nil ||
		run.Figures == nil {
		t.Errorf("%+v", run.Goals)
	}
}
