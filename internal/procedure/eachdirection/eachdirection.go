package eachdirection

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Procedure is the procedure of a Plan.
type Procedure struct {
	plan plan.Procedure
	// warming is the ramp or search with the warm-up, which all directions have together. single is that of one
	// direction after the warm-up.
	warming, single procedure.Procedure
}

// New is the procedure that the Plan describes, which must have a member each. newSingle makes the ramp or search of
// one direction.
func New(p plan.Procedure, newSingle func(plan.Procedure) procedure.Procedure) Procedure {
	single := p.WithoutWarmUp()
	single.EachDirection = nil
	return Procedure{plan: p, warming: newSingle(p), single: newSingle(single)}
}

// Check refuses a procedure of other directions than the Plan's.
func Check(p plan.Procedure, directions []plan.Direction) error {
	if p.EachDirection == nil || len(p.EachDirection.Directions) == 0 {
		return nil
	}
	var names []string
	for _, d := range directions {
		names = append(names, d.Name())
	}
	if !slices.Equal(p.EachDirection.Directions, names) {
		return fmt.Errorf("procedure.eachDirection.directions %v are not the plan's directions, %v: take the file that "+
			"linerate wrote", p.EachDirection.Directions, names)
	}
	return nil
}

// Rates are target and warm-up.
func (e Procedure) Rates() procedure.Rates { return e.warming.Rates() }

// Next is the step after the windows measured so far.
func (e Procedure) Next(history []report.Window) procedure.Step {
	if s := e.warming.Next(warmUps(history)); s.Phase == report.WarmUp || s.End {
		return s
	}
	previous := ""
	for i := e.currentDirection(history); i < len(e.directions()); i++ {
		name := e.directions()[i]
		search := e.searchOf(history, name)
		s := e.single.Next(search.windows)
		if !s.End {
			return e.varying(i, s, len(search.windows) == 0, previous)
		}
		previous = name + ": " + s.Reason
	}
	return e.allAtOnce(history, previous)
}

// currentDirection is the index of the last window's direction. The directions before it are done, or they would still
// vary. It is the number of directions where all was held at once already, and 0 where nothing varied yet.
func (e Procedure) currentDirection(history []report.Window) int {
	for _, w := range slices.Backward(history) {
		switch {
		case w.Phase == report.WarmUp:
		case w.Varied == "":
			return len(e.directions())
		default:
			return max(0, slices.Index(e.directions(), w.Varied))
		}
	}
	return 0
}

// Bound is the most that warm-up, the ramps of all directions and what follows take.
func (e Procedure) Bound() procedure.Bound {
	single, n := e.single.Bound(), len(e.directions())
	bound := single
	warming := e.warming.Bound()
	bound.Steps = n*single.Steps + mostTogether + warming.Steps - single.Steps
	bound.Time = warming.Time - single.Time + time.Duration(n)*single.Time + mostTogether*e.holdTime()
	bound.Rests = warming.Rests - single.Rests + n*single.Rests
	if bound.Trials = n * single.Trials; bound.Trials > 0 { // all at once may be one, too
		bound.Trials += mostTogether + warming.Trials - single.Trials
		bound.Trial = warming.Trial
	}
	return bound
}

// Usual is the warm-up, each direction's staircase, confirmation and hold, and all at once.
func (e Procedure) Usual() time.Duration {
	single := e.single.Usual()
	return e.warming.Usual() - single + time.Duration(len(e.directions()))*single + e.holdTime()
}

// Remaining is how much longer the procedure will probably take.
func (e Procedure) Remaining(history []report.Window) time.Duration {
	next := e.Next(history)
	single, following := e.single.Remaining(nil), len(e.directions())-1
	switch {
	case next.End:
		return 0
	case next.Phase == report.WarmUp:
		return e.warming.Remaining(warmUps(history)) + time.Duration(following)*single + e.holdTime()
	case next.Varied == "":
		return time.Duration(votesOf(allAtOnce(history)).remaining()) * e.holdTime()
	}
	following -= slices.Index(e.directions(), next.Varied)
	return e.single.Remaining(e.searchOf(history, next.Varied).windows) + time.Duration(following)*single + e.holdTime()
}

// Describe says what is varied, and what the other directions do meanwhile.
func (e Procedure) Describe() procedure.Description {
	d := e.warming.Describe()
	steps, lasts := "ramp, confirmation and hold", e.plan.Ramp.ConfirmDuration.Std()
	if e.findsByTrials() {
		steps, lasts = "trials", e.holdTime()
	}
	d.Parts = fmt.Sprintf("warm-up, %s of each of %d directions, and all of them together", steps, len(e.directions()))
	if d.Sentence != "" {
		d.Sentence += fmt.Sprintf(", one direction after another while %s, then all that was found at once for %s",
			e.othersText(), lasts)
	}
	return d
}

// othersText says what the directions do that don't vary.
func (e Procedure) othersText() string {
	if e.plan.EachDirection.OtherLoad == 0 {
		return "nothing is sent in the others"
	}
	return "the others are held at " + wording.Share(e.plan.EachDirection.OtherLoad) + " of the target"
}

func (e Procedure) directions() []string { return e.plan.EachDirection.Directions }

// varying is a step of direction i's ramp. The first step also says how the direction before ended.
func (e Procedure) varying(i int, s procedure.Step, first bool, previous string) procedure.Step {
	name := e.directions()[i]
	s.Varied, s.Loads = name, make([]units.Ratio, len(e.directions()))
	s.Optional, s.Narrows = false, false // all are held at once after it
	for j := range s.Loads {
		s.Loads[j] = e.plan.EachDirection.OtherLoad
	}
	s.Loads[i] = s.Load
	switch {
	case first:
		s.Reason = wording.JoinNonEmpty("; ", previous, fmt.Sprintf("varying %s, direction %d of %d, while %s", name, i+
			1, len(e.directions()), e.othersText()))
	case s.Reason != "":
		s.Reason = name + ": " + s.Reason
	}
	return s
}

// search is one direction's part of the history, as if there were no other direction.
type search struct {
	windows []report.Window
	indexes []int // where each of them is in the history
}

func (e Procedure) searchOf(history []report.Window, name string) (s search) {
	for i, w := range history {
		if w.Varied == name && w.Phase != report.WarmUp {
			w = oneDirection(w, name)
			s.windows, s.indexes = append(s.windows, w), append(s.indexes, i)
		}
	}
	return s
}

// oneDirection is a window with one of its directions, and the evidence of that direction.
func oneDirection(w report.Window, name string) report.Window {
	var directions []report.Direction
	var evidence []report.DirectionEvidence
	for i, d := range w.Directions {
		if d.Name() != name {
			continue
		}
		directions = append(directions, d)
		if w.Evidence != nil && i < len(w.Evidence.Directions) {
			evidence = append(evidence, w.Evidence.Directions[i])
		}
	}
	w.Directions = directions
	if w.Evidence != nil {
		narrowed := *w.Evidence
		narrowed.Directions = evidence
		w.Evidence = &narrowed
	}
	return w
}

// indexInHistory is where a window of the search is in the history.
func (s search) indexInHistory(window int) int {
	if window == procedure.NoWindow {
		return procedure.NoWindow
	}
	return s.indexes[window]
}

func warmUps(history []report.Window) []report.Window {
	return slices.DeleteFunc(slices.Clone(history), func(w report.Window) bool { return w.Phase != report.WarmUp })
}
