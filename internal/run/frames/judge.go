package frames

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// judge judges windows by the Plan's goal.
type judge struct {
	journal *runner.Journal
	setup   *measure.Setup
}

// goalOf is the loss that a trial may have. For a trial that was decided early, goalOf is the loss that decided it.
func (j *judge) goalOf(span measure.Span) measure.Goal {
	g := j.goal()
	if span.Stopped != nil {
		g.MaxLossRatio = min(g.MaxLossRatio, span.Stopped.Limit)
	}
	return g
}

// cutShort is an interrupted window, which keeps its figures and is Invalid.
func (j *judge) cutShort(span measure.Span, opened time.Time, step procedure.Step, cause error) *report.Window {
	if opened.IsZero() || len(span.Readings[0]) < 2 {
		return nil
	}
	span.Planned, span.Sending, span.Stopped = 0, 0, nil
	counted := j.setup.Window(span)
	counted = counted.Void(runner.CutShort(counted.Duration(), step.Judge, cause))
	w := measure.Judge(counted, j.goal())
	w.Start = plan.Duration(opened.Sub(j.journal.Started))
	return &w
}

// goal is the Plan's goal, by which windows are judged.
func (j *judge) goal() measure.Goal {
	return measure.Goal{MaxLossRatio: j.journal.Plan.Procedure.MaxLossRatio}
}
