package procedure

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// Course is how far a procedure that plays one step after another has come by the windows of a history. Each procedure
// embeds Course in the state that its own rules lead to.
type Course struct {
	// Reason is why the next step comes next, where that is not obvious, or how the procedure ended.
	Reason string
	// Ended means that there is no next step.
	Ended bool

	repeats int // of the next step, because its windows could not be judged
}

// End ends the procedure.
func (c *Course) End(reason string) { c.Ended, c.Reason = true, reason }

// Repeat reports whether the step of a window that can't be judged is repeated, which happens at most limit times.
func (c *Course) Repeat(w report.Window, limit int) bool {
	if c.repeats >= limit {
		return false
	}
	c.repeats++
	c.Reason = Repeated(w)
	return true
}

// GoOn goes on to another step, which was not repeated yet.
func (c *Course) GoOn() { c.repeats = 0 }

// Conclusion is what there is before any window answers, or how the course ended.
func (c *Course) Conclusion() Conclusion {
	conclusion := Unanswered()
	if conclusion.Finished = c.Ended; c.Ended {
		conclusion.Ending = c.Reason
	}
	return conclusion
}

// Replay takes in the warm-up, and has observe take in each later window, by its index in the history, until the course
// ends.
func (c *Course) Replay(w WarmUp, history []report.Window, observe func(index int)) {
	if lost := w.NothingCameBack(history); lost != "" {
		c.End(lost)
		return
	}
	for i := w.Steps(); i < len(history) && !c.Ended; i++ {
		c.Reason = ""
		observe(i)
	}
}

// Next is the end, the warm-up, or the step that follows them.
func (c *Course) Next(w WarmUp, history []report.Window, step func() Step) Step {
	switch {
	case c.Ended:
		return Step{End: true, Reason: c.Reason}
	case w.Due(history):
		return w.Step()
	}
	return step()
}

// Remaining is the rest of the warm-up, and the time of all steps after it.
func (c *Course) Remaining(w WarmUp, history []report.Window, steps time.Duration) time.Duration {
	if c.Ended {
		return 0
	}
	return w.Remaining(history) + steps
}
