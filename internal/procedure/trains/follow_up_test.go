package trains

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// once is a procedure of one window, which is its answer where it is found.
type once struct {
	procedure.Procedure
	found bool
}

func (o once) Next(history []report.Window) procedure.Step {
	return procedure.Step{End: len(history) > 0, Phase: report.Hold, Reason: "held"}
}

func (once) Remaining(history []report.Window) time.Duration {
	return time.Duration(1-len(history)) * time.Minute
}

func (once) Usual() time.Duration { return time.Minute }

func (once) Bound() procedure.Bound {
	return procedure.Bound{Steps: 1, Time: time.Minute, Trial: 2 * time.Minute}
}

func (o once) Conclude(history []report.Window) procedure.Conclusion {
	c := procedure.Unanswered()
	if o.found && len(history) > 0 {
		c.Window, c.Finished = 0, true
		c.Goals = []procedure.GoalConclusion{{Name: "NDR"}, {Name: "PDR"}}
	}
	return c
}

var afterPlan = plan.Procedure{Trains: &plan.Trains{Directions: []string{"west→east"}, Count: 20,
	Pause: plan.Duration(time.Millisecond), SetUps: 6}}

// setUp are twenty trains whose frames came so many nanoseconds apart, and left ten times as close.
func setUp(nanoseconds int64) *report.Trains {
	t := &report.Trains{Count: 20, Frames: 192}
	for range t.Count {
		t.Spacings, t.Sendings = append(t.Spacings, 1000*nanoseconds), append(t.Sendings, 191*nanoseconds/10)
	}
	return t
}

func TestTrainsFollowAnAnswer(t *testing.T) {
	a := NewFollowUp(afterPlan, once{found: true})
	var history []report.Window
	for step := a.Next(history); !step.End; step = a.Next(history) {
		if c := a.Conclude(history); c.Finished {
			t.Fatalf("finished after %d windows", len(history))
		}
		w := report.Window{Phase: step.Phase, Varied: step.Varied, Quality: report.Good}
		if step.Phase == report.InTrains {
			w.Directions = []report.Direction{{From: "west", To: "east", Quality: report.Good, Trains: setUp(1000)}}
		}
		if history = append(history, w); len(history) > 20 {
			t.Fatal("it does not end")
		}
	}
	if len(history) != 7 || history[0].Phase != report.Hold || history[1].Phase != report.InTrains {
		t.Fatalf("%d windows, want one and six set-ups", len(history))
	}
	c := a.Conclude(history)
	if !c.Finished || c.Window != 0 || len(c.Own) != 1 || len(c.Goals[0].Own) != 1 || len(c.Goals[1].Own) != 0 {
		t.Errorf("%+v", c)
	}
	if own := c.Own[0]; len(own) != 1 || own[0].Metric != procedure.TimePerFrame || own[0].Low != "1000" {
		t.Errorf("%+v", own)
	}
	if a.Remaining(history) != 0 || a.Remaining(nil) <= time.Minute || a.Usual() <= time.Minute {
		t.Errorf("remaining %v of %v", a.Remaining(nil), a.Usual())
	}
	if b := a.Bound(); b.Steps != 1+6*(1+invalidSetUps) || b.Trial != 2*time.Minute || b.Time <= time.Minute {
		t.Errorf("%+v", b)
	}
}

func TestNoTrainsFollowWhereThereIsNoAnswer(t *testing.T) {
	a := NewFollowUp(afterPlan, once{})
	history := []report.Window{{Phase: report.Hold, Quality: report.Invalid}}
	if step := a.Next(history); !step.End {
		t.Errorf("%+v", step)
	}
	if c := a.Conclude(history); c.Window != procedure.NoWindow || c.Own != nil || a.Remaining(history) != 0 {
		t.Errorf("%+v", c)
	}
}
