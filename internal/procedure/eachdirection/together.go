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
	repeats      = 2 // times that all is held again because it can't be judged, or because less was sent than asked for
	bestOf       = 3 // windows that decide at most, once one has lost frames
	mostTogether = bestOf + repeats
)

// allAtOnce are the windows in which all was held at once, and their indexes in the history.
func (e Procedure) allAtOnce(history []report.Window, previous string) procedure.Step {
	loads, drained := make([]units.Ratio, len(e.directions())), false
	for i, name := range e.directions() {
		search := e.searchOf(history, name)
		c := e.single.Conclude(search.windows)
		if c.Window == procedure.NoWindow {
			return procedure.Step{End: true, Reason: wording.JoinNonEmpty("; ", previous, "without a clean load of "+
				name+" there is nothing to hold at once")}
		}
		loads[i], drained = search.windows[c.Window].Load, drained || e.byTrial(search.windows[c.Window])
	}
	v := votesOf(allAtOnce(history))
	if v.decided {
		return procedure.Step{End: true, Reason: v.reason}
	}
	lasts := e.holdTime()
	s := procedure.Step{Kind: procedure.Hold, Phase: report.AllAtOnce, Load: slices.Max(loads), Loads: loads,
		Settle: e.plan.Ramp.SettleDuration.Std(), Reason: v.reason}
	s.Judge = lasts - s.Settle
	if drained || e.findsByTrials() {
		s.Kind, s.Settle = procedure.Trial, 0
	}
	if v.windows == 0 {
		s.Reason = wording.JoinNonEmpty("; ", previous, fmt.Sprintf("all that was found at once, for %s", s.Judge))
	}
	return s
}

// byTrial reports whether a direction's answer was confirmed by a trial, as the edges of a held window may hide or
// feign more than so small a loss limit. All at once is a trial then, too. Only a window without edges was a trial.
func (e Procedure) byTrial(answer report.Window) bool {
	return e.single.Bound().Trial > 0 && answer.Phase == report.Confirm && !answer.HasEdges()
}

// findsByTrials reports whether each direction's answer is found by trials, and not by loads that are held.
func (e Procedure) findsByTrials() bool { return e.single.Bound().EndsByTrial() }

// holdTime is how long all is held at once, with settling. It is as long as the trials that decide, or as a
// confirmation, or as a step where nothing is to be confirmed.
func (e Procedure) holdTime() time.Duration {
	if trial := e.single.Describe().Trial; trial > 0 {
		return trial
	}
	r := e.plan.Ramp
	if r.ConfirmDuration > 0 {
		return r.SettleDuration.Std() + r.ConfirmDuration.Std()
	}
	return r.SettleDuration.Std() + max(r.StepDuration.Std()-r.SettleDuration.Std(), r.StepDuration.Std()/2)
}

// allAtOnce are the windows in which all was held at once, as indexes into the history.
func allAtOnce(history []report.Window) (windows []report.Window, indexes []int) {
	for i, w := range history {
		if w.Varied == "" && w.Phase != report.WarmUp {
			windows, indexes = append(windows, w), append(indexes, i)
		}
	}
	return windows, indexes
}

// votes are what the windows in which all was held at once show together. Loss is believed when it repeats, best of
// three, as in a ramp.
type votes struct {
	windows, clean, lossy, repeated int

	decided bool
	reason  string
	// window is the index in the history of the window that shows the verdict. Both are of the windows so far. The
	// verdict is Good or Short where the window lost nothing, Lossy where windows repeatedly lost frames, and Invalid
	// where no window could be judged.
	window  int
	verdict report.Quality
}

// judged reports whether the windows show what the device does with all answers at once.
func (v votes) judged() bool { return v.decided && v.verdict != report.Invalid }

func votesOf(windows []report.Window, indexes []int) votes {
	v := votes{window: procedure.NoWindow}
	for i, w := range windows {
		if v.windows++; v.decided {
			break
		}
		switch {
		case slices.ContainsFunc(w.Directions, func(d report.Direction) bool { return d.Quality == report.Lossy }):
			v.lossy++
			// a disturbance adds to what the device loses
			if v.lossy == 1 || receivedPacketsPerSecond(w) > receivedPacketsPerSecond(windows[slices.Index(indexes,
				v.window)]) {
				v.window = indexes[i]
			}
			v.decided, v.reason = v.lossy > 1,
				fmt.Sprintf("window %d lost frames with all at once; tried again, as loss is believed when it repeats",
					w.Number)
			v.verdict = report.Lossy
		case w.Quality == report.Short && v.repeated < repeats:
			v.repeated++
			v.reason = fmt.Sprintf("window %d lost nothing, but less was sent than asked for; tried again", w.Number)
		case w.Counts():
			v.clean++
			v.decided, v.reason = v.clean > v.lossy,
				fmt.Sprintf("window %d lost none with all at once, the one before did; the next decides", w.Number)
			if v.decided {
				v.window, v.verdict = indexes[i], w.Quality
			}
		default:
			v.repeated++
			v.decided, v.reason = v.repeated > repeats, procedure.Repeated(w)
			if v.lossy == 0 {
				v.window, v.verdict = indexes[i], report.Invalid
			}
		}
	}
	return v.withReason()
}

// withReason says in words what was decided. It doesn't believe loss that was seen once and could not be tried again.
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

// remaining is how many more windows are probably needed.
func (v votes) remaining() int {
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
