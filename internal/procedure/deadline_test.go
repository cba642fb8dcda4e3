package procedure_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// answered is a procedure that concludes what it is.
type answered struct {
	procedure.Procedure
	window int
}

func (a answered) Conclude([]report.Window) procedure.Conclusion {
	c := procedure.Unanswered()
	c.Window = a.window
	return c
}

func TestARunEndsBeforeAStepThatItsDeadlineCutsShort(t *testing.T) {
	second := plan.Duration(time.Second)
	history := []report.Window{{Start: 7 * second, Duration: second}}
	hold := procedure.Step{Kind: procedure.Hold, Settle: time.Second, Judge: 2 * time.Second, Narrows: true}
	trial, needed := hold, hold
	trial.Kind, needed.Narrows = procedure.Trial, false
	for name, c := range map[string]struct {
		step     procedure.Step
		history  []report.Window
		window   int
		elapsed  time.Duration
		deadline time.Duration
		want     bool
	}{
		"a step that would end after it": {hold, history, 0, 0, 11 * time.Second, true},
		"a step that ends in time":       {hold, history, 0, 0, 12 * time.Second, false},
		"a trial, which drains":          {trial, history, 0, 0, 12 * time.Second, true},
		"a step that other programs held up until the deadline": {hold, history, 0, 12 * time.Second, 12 * time.Second,
			true},
		"a held up step of a run that has found nothing": {hold, history, procedure.NoWindow, 12 * time.Second,
			12 * time.Second, false},
		"a run without a deadline":               {hold, history, 0, 0, 0, false},
		"a run that has found nothing":           {hold, history, procedure.NoWindow, 0, 11 * time.Second, false},
		"a step that is more than a closer look": {needed, history, 0, 0, 11 * time.Second, false},
		"the first step":                         {hold, nil, 0, 0, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := procedure.OutOfTime(answered{window: c.window}, c.step, c.history, c.elapsed, c.deadline); got != c.want {
				t.Error(got)
			}
		})
	}
}
