package search

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/units"
)

// FoundGoal is a goal's conclusion, with the bounds that it rests on.
type FoundGoal struct {
	procedure.GoalConclusion

	Irregular    string
	Lower, Upper *FoundBound
}

// FoundBound is a load that bounds a goal.
type FoundBound struct{ Load units.Ratio }

// Found is what the trials show of each goal.
func (s Search) Found(history []report.Window) (found []FoundGoal) {
	c := s.replay(history)
	conclusions := s.Conclude(history).Goals
	bound := func(b *goals.Bound) *FoundBound {
		if b == nil {
			return nil
		}
		return &FoundBound{loadOf(b.Load)}
	}
	for i, v := range s.verdicts(&c, history) {
		found = append(found, FoundGoal{conclusions[i], v.found.Irregular, bound(v.found.Lower), bound(v.found.Upper)})
	}
	return found
}

// Point is a trial in the plot.
func (s Search) Point(w report.Window) report.PlotPoint { return s.point(w) }
