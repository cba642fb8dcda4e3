package search

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/units"
)

// A trial that was ended for a stricter goal is neither good nor bad for this one, unless it had lost more than
// this one allows by then.
func TestTrialsEndedForAnotherGoalAreNotGood(t *testing.T) {
	var c course
	for _, trialShown := range []goals.Trial{{}, {LossRatio: 0.001, Stopped: true}, {LossRatio: 0.001},
		{LossRatio: 0.006, Stopped: true}} {
		c.trials = append(c.trials, trial{trialShown, len(c.trials)})
	}
	v := verdict{course: &c, goal: plan.Goal{Name: "PDR", LossRatio: units.One / 200}}
	b := &goals.Bound{Load: 0.5, Trials: []int{0, 1, 2, 3}}
	if text, want := v.goodTrials(b).brief(), "2/3 + 1 ended early for another goal"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if text, want := v.goodTrialsText(b), "2 of 3 trials lost at most 0.5 %, 1 more ended early for another "+
		"goal"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
