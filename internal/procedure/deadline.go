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
// for a limit more closely, and would end after the run's deadline. 0 is no deadline. It reads time from windows
// alone, so that whoever replays a Report comes to the same end.
//
//	├─ windows so far: an answer ─┤ the step ┄┄┄┄┄┄┄┤
//	├──────────────────────────────────────┤ deadline
func OutOfTime(p Procedure, s Step, history []report.Window, deadline time.Duration) bool {
	if deadline <= 0 || !s.Narrows || len(history) == 0 {
		return false
	}
	latest := history[len(history)-1]
	around := aroundHold
	if s.Kind != Hold {
		around = aroundTrial
	}
	end := (latest.Start + latest.Duration).Std() + s.Settle + s.Judge + around
	return end > deadline && p.Conclude(history).Window != NoWindow
}
