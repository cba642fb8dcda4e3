package answer

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// OfComparison is a comparison's answer.
func OfComparison(c *report.Comparison) report.Lines {
	values := map[string]string{"first": "the first side"}
	if len(c.Sides) > 0 {
		values["first"] = c.Sides[0]
	}
	count, outcomes, found, weight, hidden := map[report.Judgement]int{}, map[report.Outcome]int{}, sidesAlike, 0, 0
	for _, r := range c.Rows {
		for i, s := range r.Sides[min(1, len(r.Sides)):] {
			count[s.Judgement]++
			outcomes[s.Verdict]++
			if s.Judgement == report.NotShown && s.Change == nil {
				hidden++
			}
			cause, w := causeOfSide(s, c.MaxRegressionPercent != nil)
			if w <= weight {
				continue
			}
			found, weight = cause, w
			values["row"], values["change"], values["reason"] = rowName(r.Product, r.Loadtest), shareOf(s.Change),
				reasonOf(s.Missing)
			if s.TimePerFrame != nil {
				values["work"] = longerText(s.TimePerFrame)
			}
			if i+1 < len(c.Sides) {
				values["side"] = c.Sides[i+1]
			}
		}
	}
	if c.MaxRegressionPercent != nil {
		values["allowed"] = c.MaxRegressionPercent.FormatFixed() + " %"
		return report.Lines{Summary: fmt.Sprintf("%s: %d passed, %d failed, %d undecided.", worstOf(outcomes),
			outcomes[report.Passed], outcomes[report.DidFail], outcomes[report.Undecided]),
			Message: besideSentence(found, values)}
	}
	unknown := count[report.TooFew] + count[report.NotComparable] + hidden
	slower, faster, equal := count[report.Less], count[report.More], count[report.NotShown]-hidden
	candidates := "Others"
	if len(c.Sides) == 2 {
		candidates = c.Sides[1]
	}
	summary := fmt.Sprintf("%s against %s: of %s %d %s slower, %d faster, %d equal, %d not comparable.", candidates,
		values["first"], wording.Counted(slower+faster+equal+unknown, "test"), slower,
		wording.Verb(slower, "is", "are"), faster, equal, unknown)
	return report.Lines{Summary: summary, Message: besideSentence(found, values)}
}

// worstOf is the outcome of all together.
func worstOf(outcomes map[report.Outcome]int) report.Outcome {
	switch {
	case outcomes[report.DidFail] > 0:
		return report.DidFail
	case outcomes[report.Undecided] > 0 || outcomes[report.Passed] == 0:
		return report.Undecided
	}
	return report.Passed
}

// causeOfSide is what a side shows, and how much that matters beside the other sides.
func causeOfSide(s report.Compared, demanded bool) (c besideCause, weight int) {
	measured := s.Change != nil
	slower := measured && s.Judgement == report.Less
	switch {
	case demanded && s.Verdict == report.DidFail && slower:
		return sideTooLow, 8
	case s.Reason == report.MoreWorkPerFrame:
		return sideWorksMore, 8
	case !demanded && slower:
		return sideLess, 7
	case s.Figures == nil:
		return causeOfAbsence(s.Judgement)
	case s.Judgement == report.NotComparable:
		return sideOtherwise, 5
	case s.Judgement == report.TooFew:
		return sideTooFew, 4
	case demanded && s.Verdict == report.Undecided:
		return sideUndecided, 3
	case slower:
		return sideKept, 2
	}
	return causeOfChange(s, measured)
}

// causeOfChange is what a side shows that leaves nothing to do.
func causeOfChange(s report.Compared, measured bool) (c besideCause, weight int) {
	hidden := s.Judgement == report.NotShown && !measured
	switch {
	case hidden && s.TimePerFrame != nil && s.TimePerFrame.LowNanoseconds.Float() > 0:
		return sideWorksMore, 3
	case hidden:
		return sideHidden, 2
	case s.Judgement == report.More && measured:
		return sideMore, 2
	}
	return sidesAlike, 1
}

// causeOfAbsence is why a side has no figure.
func causeOfAbsence(j report.Judgement) (c besideCause, weight int) {
	if j == report.Less {
		return sideBroken, 9
	}
	return sideNotMeasured, 6
}
