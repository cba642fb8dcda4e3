package trains

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// After is a procedure with trains after its answer. Where a weak generator or a busy machine leaves only a bound, the
// time per frame still says whether the device's work for a frame changed.
//
//	the procedure's own windows ─▶ its answer ─▶ set-ups of trains ─▶ the answer, with a time per frame
type After struct {
	procedure.Procedure
	trains Trains
}

// NewAfter adds the Plan's trains to a procedure.
func NewAfter(p plan.Procedure, first procedure.Procedure) After { return After{first, New(p)} }

// split returns the procedure's own windows, and those of trains, which come after them.
func split(history []report.Window) (own, trains []report.Window) {
	i := slices.IndexFunc(history, func(w report.Window) bool { return w.Phase == report.InTrains })
	if i < 0 {
		return history, nil
	}
	return history[:i], history[i:]
}

// answered says that the procedure has an answer for trains to follow.
func (a After) answered(own []report.Window) bool {
	return a.Procedure.Conclude(own).Window != procedure.NoWindow
}

// Next is the procedure's next step, and at its end the trains'.
func (a After) Next(history []report.Window) procedure.Step {
	own, trains := split(history)
	last := a.Procedure.Next(own)
	if !last.End {
		return last
	}
	if !a.answered(own) {
		last.Reason += "; no trains were sent, as there is no answer that they could explain"
		return last
	}
	next := a.trains.Next(trains)
	if len(trains) == 0 {
		next.Reason = last.Reason + "; trains of frames follow"
	}
	return next
}

// Bound is the procedure's, and all trains.
func (a After) Bound() procedure.Bound {
	b, t := a.Procedure.Bound(), a.trains.Bound()
	b.Steps, b.Trials, b.Trial, b.Time = b.Steps+t.Steps, b.Trials+t.Trials, max(b.Trial, t.Trial), b.Time+t.Time
	return b
}

// Usual is the procedure's, and all trains.
func (a After) Usual() time.Duration { return a.Procedure.Usual() + a.trains.Usual() }

// Remaining is what is left of the procedure, and of the trains.
func (a After) Remaining(history []report.Window) time.Duration {
	own, trains := split(history)
	switch {
	case !a.Procedure.Next(own).End:
		return a.Procedure.Remaining(own) + a.trains.Usual()
	case !a.answered(own):
		return 0
	}
	return a.trains.Remaining(trains)
}

// Conclude is the procedure's own conclusion, with the time per frame.
func (a After) Conclude(history []report.Window) procedure.Conclusion {
	own, trains := split(history)
	c, t := a.Procedure.Conclude(own), a.trains.Conclude(trains)
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
func (a After) Describe() procedure.Description {
	d, t := a.Procedure.Describe(), a.trains.Describe()
	if d.Sentence != "" {
		d.Sentence += "; then " + t.Sentence
		d.Parts += ", and the set-ups of trains"
	}
	return d
}
