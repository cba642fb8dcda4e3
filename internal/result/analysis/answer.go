package analysis

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/profile"
)

// Answer is what the windows measured so far show, of a whole run or of a part of one. The Report must carry its
// Plan, its windows in order, line rates and Ending. Answer changes nothing in it.
func Answer(r *report.Report) report.Answer {
	c := procedures.New(r.Plan.Procedure).Conclude(r.Windows)
	result := resultOf(r, c)
	for _, g := range c.Goals {
		result.Goals = append(result.Goals, report.GoalAnswer{Name: g.Name, Answer: resultOf(r, g.Conclusion)})
	}
	result.Figures = figures.OfLoads(r, c.Loads, result)
	if s, found := profile.Section(r); found {
		result.Sections = append(slices.Clone(result.Sections), s)
	}
	return result
}

// resultOf is a conclusion with the figures of the windows that it names.
func resultOf(r *report.Report, c procedure.Conclusion) report.Answer {
	unchecked := c
	c, reason := checkHeld(r, onlyInBursts(r, c))
	result := report.Answer{NotHeld: reason, Reason: c.Reason, NonMonotonic: c.NonMonotonic,
		MaxReceived: maxReceived(r, c), Outvoted: c.Outvoted, Sections: c.Sections,
		Claim: report.Claim{Saturated: c.Saturated, Confirmed: c.Confirmed, Resolution: c.Resolution}}
	if c.Window == procedure.NoWindow {
		if c.Lossy != procedure.NoWindow {
			result.Lossy = r.Windows[c.Lossy].Number
		}
		result.Evidence = evidenceOf(reason, c, evidenceWithoutFigure(r, c))
		return explained(r, unchecked, c, result)
	}
	w := r.Windows[c.Window]
	result.Measured, result.Window = true, w.Number
	if c.Whole != nil {
		w = *c.Whole
	}
	for _, i := range c.Windows {
		result.Windows = append(result.Windows, r.Windows[i].Number)
	}
	if reason == "" { // a load that was not held is claimed for no time at all
		result.ShownFor = plan.Duration(shownFor(r, c))
	}
	result.Directions = directionResults(r, w.Directions, c)
	if procedures.TraitsOf(r.Plan.Procedure).GivesLoad {
		result.Directions = withLossToSending(result.Directions, answerWindows(r, c))
	}
	if len(c.Own) == len(result.Directions) {
		result.Directions = slices.Clone(result.Directions)
		for i := range result.Directions {
			result.Directions[i].Own = c.Own[i]
		}
	}
	if len(c.Estimates) == len(result.Directions) {
		result.Directions = slices.Clone(result.Directions)
		for i := range result.Directions {
			result.Directions[i].Estimate = c.Estimates[i]
		}
	}
	total := measure.Sum(w.Directions, r.RateOfEachLink())
	total.Window = result.Window
	if slices.ContainsFunc(c.Directions, func(d procedure.DirectionConclusion) bool { return hasOwnWindow(d, c) }) {
		total.Directions = w.Directions
	}
	result.Total = &total
	result.Generators, result.Observed = generatorShares(r, w), w.Observed
	result.Evidence = evidenceOf(reason, c, answerEvidence(r, c))
	if text := wholeRunSentence(r, result); text != "" {
		result.Evidence = append(result.Evidence, report.EvidenceRow{Subject: "whole run",
			Text: "lost between the counters before and after: " + text})
	}
	result.Evidence = append(result.Evidence, contradictionEvidence(r)...)
	return explained(r, unchecked, c, result)
}

// explained is the result with its cause, and the sentence about that.
func explained(r *report.Report, unchecked, c procedure.Conclusion, result report.Answer) report.Answer {
	result.Cause = causeOf(r, unchecked, c, result)
	view := *r
	view.Answer = result
	result.Message = answer.Sentence(&view)
	return result
}

// evidenceOf puts first why a load was not held. A procedure's own words stand for the windows'.
func evidenceOf(fault string, c procedure.Conclusion, windows []report.EvidenceRow) (rows []report.EvidenceRow) {
	if fault != "" {
		rows = append(rows, report.EvidenceRow{Subject: "held", Text: fault})
	}
	if c.Sentence != "" {
		return append(rows, report.EvidenceRow{Subject: "answer", Text: c.Sentence})
	}
	return append(rows, windows...)
}

// answerWindows are the windows that count of those that an answer combines, or the one that it is.
func answerWindows(r *report.Report, c procedure.Conclusion) (windows []report.Window) {
	if c.Windows == nil {
		return []report.Window{r.Windows[c.Window]}
	}
	for _, i := range c.Windows {
		if w := r.Windows[i]; w.Counts() {
			windows = append(windows, w)
		}
	}
	return windows
}

// withLossToSending are the directions of a load that was given, each with its frames that were lost in these windows
// while a generator sent in bursts, or nobody saw how. The windows count, as frames were lost in between, too. A search
// bounds a direction by the load that was asked for instead.
func withLossToSending(directions []report.Direction, windows []report.Window) []report.Direction {
	directions = slices.Clone(directions)
	for _, w := range windows {
		for i := range directions {
			if w.Evidence == nil || i >= len(w.Evidence.Directions) || w.Directions[i].Quality != report.Lossy {
				continue
			}
			e := w.Evidence.Directions[i]
			directions[i].LostToSending += max(0, e.LostInBursts) + max(0, e.LostInGaps)
		}
	}
	return directions
}

// generatorShares are the generators' parts of the window, with how well they started together.
func generatorShares(r *report.Report, w report.Window) []report.GeneratorShare {
	shares := slices.Clone(w.Generators)
	for i, s := range shares {
		for _, g := range r.Generators {
			if g.Name == s.Name {
				shares[i].StartSkew = g.StartSkew
			}
		}
	}
	return shares
}

// directionResults are the answer's directions, each with its own limit where the procedure concludes for each
// direction, and with the figures of its own window where it has one.
func directionResults(r *report.Report, directions []report.Direction, c procedure.Conclusion) []report.Direction {
	if len(c.Directions) != len(directions) {
		return directions
	}
	number := func(window int) int {
		if window == procedure.NoWindow {
			return 0
		}
		return r.Windows[window].Number
	}
	merged, limiting := slices.Clone(directions), limitedBy(r, c)
	for i, d := range c.Directions {
		if hasOwnWindow(d, c) {
			merged[i] = r.Windows[d.Window].Directions[i]
		}
		merged[i].Limit = &report.DirectionLimit{Reason: d.Reason, Saturated: d.Saturated, Confirmed: d.Confirmed,
			Window: number(d.Window), Lossy: number(d.Lossy), Resolution: d.Resolution,
			LimitsAll: slices.Contains(limiting, merged[i].Name())}
	}
	return merged
}

// hasOwnWindow reports whether a direction's answer is of another window than that of all directions, as the answers
// were found one after another.
func hasOwnWindow(d procedure.DirectionConclusion, c procedure.Conclusion) bool {
	return d.Window != procedure.NoWindow && d.Window != c.Window
}

// limitedBy are the directions whose loss ended the search. They are those at a limit of their own that lost frames at
// the lowest lossy load, or all that are at a limit, where a direction was tried again above that load.
func limitedBy(r *report.Report, c procedure.Conclusion) (first []string) {
	if c.Lossy == procedure.NoWindow {
		return nil
	}
	var limits []string
	for i, d := range c.Directions {
		if !d.Saturated {
			continue
		}
		direction := r.Windows[d.Window].Directions[i]
		limits = append(limits, direction.Name())
		if r.Windows[d.Lossy].Load <= r.Windows[c.Lossy].Load {
			first = append(first, direction.Name())
		}
	}
	if len(first) == 0 {
		return limits
	}
	return first
}

// maxReceived is the highest rate that came back at any loss, in a window that is not Invalid. It is nil where
// nothing came back. A warm-up at the load that is measured shows nothing new.
func maxReceived(r *report.Report, c procedure.Conclusion) *report.Sum {
	var largest *report.Sum
	for _, w := range r.Windows {
		if w.Quality == report.Invalid || w.Phase == report.Bursting || w.Phase.AfterAnswer() ||
			w.Phase == report.WarmUp && (c.Whole != nil || len(c.Loads) > 0 && c.Loads[0].LatencyLoad == nil) {
			continue
		}
		s := measure.Sum(w.Directions, r.RateOfEachLink())
		s.Window = w.Number
		if s.Sessions != nil {
			return nil // of which all is received
		}
		if s.Received.PacketsPerSecond > 0 &&
			(largest == nil || s.Received.PacketsPerSecond > largest.Received.PacketsPerSecond) {
			largest = &s
		}
	}
	return largest
}
