package procedure

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// What the next step takes beside settling and its window, which is reading counters, and a drain after a trial.
const (
	aroundHold  = time.Second
	aroundTrial = betweenTrials
)

// OutOfTime reports whether a run ends before the step, with the answer that its windows show. The step only looks
// for a limit more closely, and would end after the run's deadline, or did not end before it. 0 is no deadline.
// Whoever replays a Report has the same windows and the same elapsed time, and comes to the same end.
//
//	├─ windows so far: an answer ─┤ the step ┄┄┄┄┄┄┄┤
//	├──────────────────────────────────────┤ deadline
func OutOfTime(p Procedure, s Step, history []report.Window, elapsed, deadline time.Duration) bool {
	if deadline <= 0 || !s.Narrows || len(history) == 0 {
		return false
	}
	return (elapsed >= deadline || probableEnd(s, history) > deadline) && p.Conclude(history).Window != NoWindow
}

// probableEnd is when the step will be over, from the run's start, where the machine is not held up by other programs.
func probableEnd(s Step, history []report.Window) time.Duration {
	latest := history[len(history)-1]
	around := aroundHold
	if s.Kind != Hold {
		around = aroundTrial
	}
	return (latest.Start + latest.Duration).Std() + s.Settle + s.Judge + around
}
