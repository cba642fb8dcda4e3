package trains

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// FollowUp is a procedure with trains after its answer. Where a weak generator or a busy machine leaves only a bound,
// the time per frame still says whether the device's work for a frame changed.
//
//	the procedure's own windows ─▶ its answer ─▶ set-ups of trains ─▶ the answer, with a time per frame
type FollowUp struct {
	procedure.Procedure
	trains Trains
}

// NewFollowUp adds the Plan's trains to a procedure.
func NewFollowUp(p plan.Procedure, first procedure.Procedure) FollowUp {
	return FollowUp{first, New(p)}
}

// answered says that the procedure has an answer for trains to follow.
func (f FollowUp) answered(main []report.Window) bool {
	return f.Procedure.Conclude(main).Window != procedure.NoWindow
}

// Next is the procedure's next step, and at its end the trains'.
func (f FollowUp) Next(history []report.Window) procedure.Step {
	main, setUps := procedure.SplitHistory(history, report.InTrains)
	step := f.Procedure.Next(main)
	if !step.End {
		return step
	}
	if !f.answered(main) {
		step.Reason += "; no trains were sent, as there is no answer that they could explain"
		return step
	}
	next := f.trains.Next(setUps)
	if len(setUps) == 0 {
		next.Reason = step.Reason + "; trains of frames follow"
	}
	return next
}

// Bound is the procedure's, and all trains.
func (f FollowUp) Bound() procedure.Bound {
	b, t := f.Procedure.Bound(), f.trains.Bound()
	b.Steps, b.Trials, b.Trial, b.Time = b.Steps+t.Steps, b.Trials+t.Trials, max(b.Trial, t.Trial), b.Time+t.Time
	return b
}

// Usual is the procedure's, and all trains.
func (f FollowUp) Usual() time.Duration { return f.Procedure.Usual() + f.trains.Usual() }

// Remaining is what is left of the procedure, and of the trains.
func (f FollowUp) Remaining(history []report.Window) time.Duration {
	main, setUps := procedure.SplitHistory(history, report.InTrains)
	switch {
	case !f.Procedure.Next(main).End:
		return f.Procedure.Remaining(main) + f.trains.Usual()
	case !f.answered(main):
		return 0
	}
	return f.trains.Remaining(setUps)
}

// Conclude is the procedure's own conclusion, with the time per frame.
func (f FollowUp) Conclude(history []report.Window) procedure.Conclusion {
	main, setUps := procedure.SplitHistory(history, report.InTrains)
	c, t := f.Procedure.Conclude(main), f.trains.Conclude(setUps)
	if c.Window == procedure.NoWindow {
		return c
	}
	c.Finished = c.Finished && t.Finished
	c.Sections = slices.Concat(c.Sections, t.Sections)
	for i := range c.Own {
		if i < len(t.Own) {
			c.Own[i] = append(c.Own[i], t.Own[i]...)
		}
	}
	if c.Own == nil {
		c.Own = t.Own
	}
	if len(c.Goals) > 0 { // the conclusion is the first goal's
		c.Goals = slices.Clone(c.Goals)
		c.Goals[0].Own = c.Own
	}
	return c
}

// Describe is the procedure's, with the trains.
func (f FollowUp) Describe() procedure.Description {
	d, t := f.Procedure.Describe(), f.trains.Describe()
	if d.Sentence != "" {
		d.Sentence += "; then " + t.Sentence
		d.Parts += ", and the set-ups of trains"
	}
	return d
}
