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

// Each is the procedure of a Plan.
type Each struct {
	plan plan.Procedure
	// warming is the ramp or search with its warm-up, which all directions have together, and alone that of one direction after it.
	warming, alone procedure.Procedure
}

// New is the procedure that the Plan describes, one with a member each; of makes the ramp or search of one direction.
func New(p plan.Procedure, of func(plan.Procedure) procedure.Procedure) Each {
	alone := p
	alone.Each, alone.Ramp.WarmupDuration = nil, 0
	if p.Search != nil {
		search := *p.Search
		search.WarmupDuration = 0
		alone.Search = &search
	}
	return Each{plan: p, warming: of(p), alone: of(alone)}
}

// Rates are target and warm-up.
func (e Each) Rates() procedure.Rates { return e.warming.Rates() }

// Next is the step after the windows measured so far.
func (e Each) Next(history []report.Window) procedure.Step {
	if s := e.warming.Next(warmUps(history)); s.Phase == report.WarmUp || s.Done {
		return s
	}
	before := ""
	for i := e.currentDirection(history); i < len(e.directions()); i++ {
		name := e.directions()[i]
		search := e.searchOf(history, name)
		s := e.alone.Next(search.windows)
		if !s.Done {
			return e.varying(i, s, len(search.windows) == 0, before)
		}
		before = name + ": " + s.Reason
	}
	return e.allAtOnce(history, before)
}

// currentDirection is the direction of the last window, by its place: those before it are done, or they would still vary. It is their number where all was held at once already, and 0 where
// nothing varied yet.
func (e Each) currentDirection(history []report.Window) int {
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
func (e Each) Bound() procedure.Bound {
	one, n := e.alone.Bound(), len(e.directions())
	all := one
	warming := e.warming.Bound()
	all.Steps = n*one.Steps + mostTogether + warming.Steps - one.Steps
	all.Time = warming.Time - one.Time + time.Duration(n)*one.Time + mostTogether*e.together()
	all.Rests = warming.Rests - one.Rests + n*one.Rests
	if all.Trials = n * one.Trials; all.Trials > 0 { // all at once may be one, too
		all.Trials += mostTogether + warming.Trials - one.Trials
		all.Trial = warming.Trial
	}
	return all
}

// Usual is the warm-up, each direction's staircase, confirmation and hold, and all at once.
func (e Each) Usual() time.Duration {
	one := e.alone.Usual()
	return e.warming.Usual() - one + time.Duration(len(e.directions()))*one + e.together()
}

// Remaining is how much longer the procedure will probably take.
func (e Each) Remaining(history []report.Window) time.Duration {
	next := e.Next(history)
	one, after := e.alone.Remaining(nil), len(e.directions())-1
	switch {
	case next.Done:
		return 0
	case next.Phase == report.WarmUp:
		return e.warming.Remaining(warmUps(history)) + time.Duration(after)*one + e.together()
	case next.Varied == "":
		return time.Duration(votesOf(allAtOnce(history)).left()) * e.together()
	}
	after -= slices.Index(e.directions(), next.Varied)
	return e.alone.Remaining(e.searchOf(history, next.Varied).windows) + time.Duration(after)*one + e.together()
}

// Describe says what is varied, and what the others do meanwhile.
func (e Each) Describe() procedure.Description {
	d := e.warming.Describe()
	of, lasts := "ramp, confirmation and hold", e.plan.Ramp.ConfirmDuration.Std()
	if e.plan.Search != nil {
		of, lasts = "trials", e.together()
	}
	d.Parts = fmt.Sprintf("warm-up, %s of each of %d directions, and all of them together", of, len(e.directions()))
	if d.Sentence != "" {
		d.Sentence += fmt.Sprintf(", one direction after another while %s, then all that was found at once for %s", e.others(), lasts)
	}
	return d
}

// others is what the directions do that don't vary.
func (e Each) others() string {
	if e.plan.Each.OthersAt == 0 {
		return "nothing is sent in the others"
	}
	return "the others are held at " + wording.Share(e.plan.Each.OthersAt) + " of the target"
}

func (e Each) directions() []string { return e.plan.Each.Directions }

// varying is a step of direction i's ramp. Its first step says what became of the direction before.
func (e Each) varying(i int, s procedure.Step, first bool, before string) procedure.Step {
	name := e.directions()[i]
	s.Varied, s.Loads = name, make([]units.Ratio, len(e.directions()))
	s.Optional = false // all are held at once after it
	for j := range s.Loads {
		s.Loads[j] = e.plan.Each.OthersAt
	}
	s.Loads[i] = s.Load
	switch {
	case first:
		s.Reason = wording.JoinNonEmpty("; ", before, fmt.Sprintf("varying %s, direction %d of %d, while %s", name, i+1, len(e.directions()), e.others()))
	case s.Reason != "":
		s.Reason = name + ": " + s.Reason
	}
	return s
}

// search is one direction's part of the history, as if there were no other direction.
type search struct {
	windows []report.Window
	at      []int // where each of them is in the history
}

func (e Each) searchOf(history []report.Window, name string) (s search) {
	for i, w := range history {
		if w.Varied == name && w.Phase != report.WarmUp {
			w = oneDirection(w, name)
			s.windows, s.at = append(s.windows, w), append(s.at, i)
		}
	}
	return s
}

// oneDirection is a window with one of its directions, and the evidence of that one.
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
		of := *w.Evidence
		of.Directions = evidence
		w.Evidence = &of
	}
	return w
}

// indexInHistory is where a window of the search is in the history.
func (s search) indexInHistory(window int) int {
	if window == procedure.None {
		return procedure.None
	}
	return s.at[window]
}

func warmUps(history []report.Window) []report.Window {
	return slices.DeleteFunc(slices.Clone(history), func(w report.Window) bool { return w.Phase != report.WarmUp })
}
