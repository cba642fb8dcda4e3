package verify

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/analysis"
	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// result holds the result against what the windows show.
func (s *subject) result() Check {
	d := s.differ(CheckResult)
	switch {
	case !s.whole():
		s.anew.Result = s.partialResult()
		d.open("windows were given up so that the report fits where it is kept: of the result, what is of a window that was kept was verified, and not which window is the answer")
	case s.after == nil:
		s.anew.Result = s.partialResult()
		d.open("the procedure could not be replayed: of the result, what is of a window was verified, and not which window is the answer")
	default:
		s.anew.Result = analysis.Result(&s.anew)
		s.anew.Result.SharedPorts = s.Result.SharedPorts // who places pods knows them, and no counter
		if s.goalsOfOld() {
			d.open("the linerate that wrote it didn't write of goals how many trials were good, how long the shortest were, how often a load is on the wrong side, and a sentence of each goal's own")
		}
	}
	d.hold("result", s.Result, s.anew.Result)
	return d.done()
}

// goalsOfOld takes out of the goals made anew what an older linerate didn't write of them; false: this one did.
func (s *subject) goalsOfOld() bool {
	stands, anew := s.Result.Goals, s.anew.Result.Goals
	if len(stands) == 0 || slices.ContainsFunc(stands, func(g report.GoalResult) bool { return g.InitialTrialDuration > 0 }) {
		return false
	}
	for i := range anew {
		g := &anew[i]
		g.InitialTrialDuration, g.WrongClass = 0, 0
		for _, b := range []*report.GoalBound{g.Lower, g.Upper} {
			if b != nil {
				b.Good, b.Open = 0, 0
			}
		}
		if i < len(stands) {
			g.Result.Message = stands[i].Result.Message
		}
	}
	return true
}

// partialResult is the result as it stands, with each part made anew that is of a window that there is.
func (s *subject) partialResult() report.Result {
	result, line := s.Result, s.RateOfEachLink()
	of := map[int]report.Window{}
	for _, w := range s.anew.Windows {
		of[w.Number] = w
	}
	sum := func(stands *report.Sum) *report.Sum {
		if stands == nil {
			return nil
		}
		w, kept := of[stands.Window]
		if !kept {
			return stands
		}
		total := measure.Sum(w.Directions, line)
		total.Window = w.Number
		return &total
	}
	result.MaxReceived = sum(result.MaxReceived)
	if !result.Measured {
		return result
	}
	if s.Plan.Procedure.Type == plan.TypeConstantLoad { // whose answer is of several windows
		total := measure.Sum(result.Directions, line)
		total.Window = result.Window
		result.Total = &total
		return result
	}
	result.Total = sum(result.Total)
	result.Directions = append([]report.Direction{}, result.Directions...)
	for i, m := range result.Directions {
		number := result.Window
		if m.Limit != nil {
			number = m.Limit.Window
		}
		if w, kept := of[number]; kept && i < len(w.Directions) {
			result.Directions[i] = w.Directions[i]
			result.Directions[i].Limit, result.Directions[i].BackToBack, result.Directions[i].CriticalLoad = m.Limit, m.BackToBack, m.CriticalLoad
		}
	}
	return result
}

// figures holds the figures against the result.
func (s *subject) figures() Check {
	d := s.differ(CheckFigures)
	s.anew.Figures = figures.Of(&s.anew)
	if len(s.Figures) == 0 && !recent(s.Report) {
		d.open("the report has no figures: the linerate that wrote it had none yet")
		return d.done()
	}
	if len(s.Figures) != len(s.anew.Figures) {
		d.hold("figures", s.Figures, s.anew.Figures)
		return d.done()
	}
	for i, f := range s.anew.Figures {
		object := fmt.Sprintf("figure %s, %s", f.Metric, f.Direction)
		if f.Goal != "" {
			object += " of goal " + f.Goal
		}
		if f.Load != 0 {
			object += " at " + measure.Percent(f.Load) + " of the target"
		}
		d.hold(object, s.Figures[i], f)
	}
	return d.done()
}

// verdict holds the verdict against figures, criteria and baseline.
func (s *subject) verdict() Check {
	d := s.differ(CheckVerdict)
	s.anew.Verdict = analysis.Verdict(&s.anew)
	if len(s.Verdict.Criteria) != len(s.anew.Verdict.Criteria) {
		d.hold("verdict", s.Verdict, s.anew.Verdict)
		return d.done()
	}
	d.holdAt("verdict", "outcome", s.Verdict.Outcome, s.anew.Verdict.Outcome)
	for i, c := range s.anew.Verdict.Criteria {
		d.hold("criterion "+c.Name, s.Verdict.Criteria[i], c)
	}
	return d.done()
}
