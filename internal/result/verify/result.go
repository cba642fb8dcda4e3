package verify

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// result compares the result with what the windows show.
func (s *subject) result() Check {
	d := newDiffer(CheckResult)
	s.interruptions(d)
	switch {
	case !s.whole():
		s.recomputed.Answer = s.partialResult()
		d.notVerified("windows were left out to make the report fit where it is kept: of the result, only figures of windows that were kept were verified, but not which window is the answer")
	case s.next == nil:
		s.recomputed.Answer = s.partialResult()
		d.notVerified("the procedure could not be replayed: the result's figures were verified, but not which window is the answer")
	default:
		s.recomputed.Answer = analysis.Answer(&s.recomputed)
		s.recomputed.Answer.SharedPorts = s.Answer.SharedPorts // no counter shows them, only the pods' places
	}
	d.compare("result", s.Answer, s.recomputed.Answer)
	return d.done()
}

// interruptions compares the times in which nothing came back, and where the device contradicts itself, with what
// samples and windows show. That a link was down is in no counter.
func (s *subject) interruptions(d *differ) {
	if s.Thinned != nil {
		return
	}
	links := slices.DeleteFunc(slices.Clone(s.Interruptions),
		func(interruption report.Interruption) bool { return interruption.Link == "" })
	s.recomputed.Interruptions = append(links, analysis.Outages(&s.recomputed)...)
	if len(s.Interruptions)+len(s.recomputed.Interruptions) > 0 {
		d.compareAt("the report", "interruptions", s.Interruptions, s.recomputed.Interruptions)
	}
	s.recomputed.Contradictions = analysis.Contradictions(&s.recomputed)
	if len(s.Contradictions)+len(s.recomputed.Contradictions) > 0 {
		d.compareAt("the report", "contradictions", s.Contradictions, s.recomputed.Contradictions)
	}
}

// partialResult is the document's result, with each part recomputed whose window was kept.
func (s *subject) partialResult() report.Answer {
	result, line := s.Answer, s.RateOfEachLink()
	byNumber := map[int]report.Window{}
	for _, w := range s.recomputed.Windows {
		byNumber[w.Number] = w
	}
	sum := func(stands *report.Sum) *report.Sum {
		if stands == nil {
			return nil
		}
		w, ok := byNumber[stands.Window]
		if !ok {
			return stands
		}
		total := measure.Sum(w.Directions, line)
		if total.Window = w.Number; len(stands.Directions) > 0 {
			total.Directions = w.Directions
		}
		return &total
	}
	result.MaxReceived = sum(result.MaxReceived)
	if !result.Measured {
		return result
	}
	if len(result.Windows) > 0 {
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
		if w, ok := byNumber[number]; ok && i < len(w.Directions) {
			result.Directions[i] = w.Directions[i]
			kept := &result.Directions[i]
			kept.Limit, kept.Own, kept.Estimate, kept.LostToSending = m.Limit, m.Own, m.Estimate, m.LostToSending
		}
	}
	return result
}

// figures compares the figures with those that follow from the result.
func (s *subject) figures() Check {
	d := newDiffer(CheckFigures)
	s.recomputed.Figures = figures.Of(&s.recomputed)
	if len(s.Figures) != len(s.recomputed.Figures) {
		d.compare("figures", s.Figures, s.recomputed.Figures)
		return d.done()
	}
	for i, f := range s.recomputed.Figures {
		object := fmt.Sprintf("figure %s, %s", f.Metric, f.Direction)
		if f.Goal != "" {
			object += " of goal " + f.Goal
		}
		if f.Load != 0 {
			object += " at " + measure.Percent(f.Load) + " of the target"
		}
		d.compare(object, s.Figures[i], f)
	}
	return d.done()
}

// verdict compares the verdict with what figures, criteria and baseline give.
func (s *subject) verdict() Check {
	d := newDiffer(CheckVerdict)
	s.recomputed.Verdict = analysis.Verdict(&s.recomputed)
	if len(s.Verdict.Criteria) != len(s.recomputed.Verdict.Criteria) {
		d.compare("verdict", s.Verdict, s.recomputed.Verdict)
		return d.done()
	}
	d.compareAt("verdict", "outcome", s.Verdict.Outcome, s.recomputed.Verdict.Outcome)
	for i, c := range s.recomputed.Verdict.Criteria {
		d.compare("criterion "+c.Name, s.Verdict.Criteria[i], c)
	}
	return d.done()
}
