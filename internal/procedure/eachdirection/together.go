package eachdirection

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The bounds of what is held together.
const (
	repeats      = 2 // times that it is repeated because it can't be judged, or because less was sent than asked for
	bestOf       = 3 // windows that decide at most, once one has lost frames
	mostTogether = bestOf + repeats
)

// allAtOnce holds the loads of all answers, as often as it takes to believe what comes back. A direction without an answer has no load to hold.
func (e Each) allAtOnce(history []report.Window, before string) procedure.Step {
	loads, drained := make([]units.Ratio, len(e.directions())), false
	for i, name := range e.directions() {
		search := e.searchOf(history, name)
		c := e.alone.Conclude(search.windows)
		if c.Window == procedure.None {
			return procedure.Step{Done: true, Reason: wording.JoinNonEmpty("; ", before, "without a clean load of "+name+" there is nothing to hold at once")}
		}
		loads[i], drained = search.windows[c.Window].Load, drained || e.byTrial(search.windows[c.Window])
	}
	v := votesOf(allAtOnce(history))
	if v.decided {
		return procedure.Step{Done: true, Reason: v.reason}
	}
	lasts := e.together()
	s := procedure.Step{Kind: procedure.Held, Phase: report.AllAtOnce, Load: slices.Max(loads), Loads: loads, Settle: e.plan.Ramp.Settle.Std(), Reason: v.reason}
	s.Judge = lasts - s.Settle
	if drained || e.plan.Search != nil {
		s.Kind, s.Settle = procedure.Trial, 0
	}
	if v.windows == 0 {
		s.Reason = wording.JoinNonEmpty("; ", before, fmt.Sprintf("all that was found at once, for %s", s.Judge))
	}
	return s
}

// byTrial says that a direction's answer was confirmed by a trial, as the edges of a held window may hide or feign more than so small a loss limit: then all at once is a trial, too. Only a window
// without edges was one.
func (e Each) byTrial(answer report.Window) bool {
	return e.alone.Bound().Trial > 0 && answer.Phase == report.Confirm && !answer.HasEdges()
}

// together is how long all is held at once, with settling: as long as a confirmation, or as a step where nothing is to be confirmed; of a search as long as the trials that decide.
func (e Each) together() time.Duration {
	if s := e.plan.Search; s != nil && len(s.Goals) > 0 {
		return s.Goals[0].FinalTrialDuration.Std()
	}
	r := e.plan.Ramp
	if r.ConfirmDuration > 0 {
		return r.Settle.Std() + r.ConfirmDuration.Std()
	}
	return r.Settle.Std() + max(r.StepDuration.Std()-r.Settle.Std(), r.StepDuration.Std()/2)
}

// allAtOnce are the windows in which all was held at once, as indexes into the history.
func allAtOnce(history []report.Window) (all []report.Window, at []int) {
	for i, w := range history {
		if w.Varied == "" && w.Phase != report.WarmUp {
			all, at = append(all, w), append(at, i)
		}
	}
	return all, at
}

// votes are what the windows in which all was held at once show together. Loss is believed when it repeats: best of three, as in a ramp.
type votes struct {
	windows, clean, lossy, repeated int

	decided bool
	reason  string
	// window indexes the history, and is what says what came of it, which is the verdict; both are of what was seen so far.
	window  int
	verdict report.Quality
}

func votesOf(all []report.Window, at []int) votes {
	v := votes{window: procedure.None}
	for i, w := range all {
		if v.windows++; v.decided {
			break
		}
		switch {
		case slices.ContainsFunc(w.Directions, func(d report.Direction) bool { return d.Quality == report.Lossy }):
			v.lossy++
			if v.lossy == 1 || receivedPacketsPerSecond(w) > receivedPacketsPerSecond(all[slices.Index(at, v.window)]) { // a disturbance adds to what the device loses
				v.window = at[i]
			}
			v.decided, v.reason = v.lossy > 1, fmt.Sprintf("window %d lost frames with all at once; tried again, as loss is believed when it repeats", w.Number)
			v.verdict = report.Lossy
		case w.Quality == report.Short && v.repeated < repeats:
			v.repeated++
			v.reason = fmt.Sprintf("window %d lost nothing, but less was sent than asked for; tried again", w.Number)
		case w.Counts():
			v.clean++
			v.decided, v.reason = v.clean > v.lossy, fmt.Sprintf("window %d lost none with all at once, the one before did; the next decides", w.Number)
			if v.decided {
				v.window, v.verdict = at[i], w.Quality
			}
		default:
			v.repeated++
			v.decided, v.reason = v.repeated > repeats, procedure.Repeated(w)
			if v.lossy == 0 {
				v.window, v.verdict = at[i], report.Invalid
			}
		}
	}
	return v.withReason()
}

// withReason says in words what was decided, and doesn't believe loss that was seen once and could not be tried again.
func (v votes) withReason() votes {
	if !v.decided {
		return v
	}
	switch {
	case v.lossy > 1:
		v.reason = "all at once, frames were lost"
	case v.clean > v.lossy:
		v.reason = "all at once, none was lost above the limit"
	default:
		v.verdict, v.reason = report.Invalid, "all at once could not be judged"
	}
	return v
}

// left is how many more windows are probably needed.
func (v votes) left() int {
	switch {
	case v.decided:
		return 0
	case v.lossy == 1 && v.clean == 0:
		return 2
	}
	return 1
}

// receivedPacketsPerSecond is how much came back in all directions together.
func receivedPacketsPerSecond(w report.Window) int64 {
	return measure.Sum(w.Directions, nil).Received.PacketsPerSecond
}
