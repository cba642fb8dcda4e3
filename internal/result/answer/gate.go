package answer

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// OfGate is a gate's answer. Its first line is the gate's own judgement.
func OfGate(g *report.Gate) report.Lines {
	values := map[string]string{}
	return report.Lines{Summary: g.Headline() + ".", Message: besideSentence(causeOfGate(g, values), values)}
}

func causeOfGate(g *report.Gate, values map[string]string) besideCause {
	decisive := func(outcome report.Outcome) *report.GateRow {
		i := slices.IndexFunc(g.Rows, func(r report.GateRow) bool { return r.Outcome == outcome && !r.Silent })
		if i < 0 {
			return nil
		}
		values["row"] = rowName(g.Rows[i].Product, g.Rows[i].Loadtest)
		values["criterion"] = criterionOf(g.Rows[i].Criteria, outcome)
		return &g.Rows[i]
	}
	if failed := decisive(report.DidFail); failed != nil {
		switch work := workOf(failed.Criteria, values["criterion"]); {
		case g.Outcome != report.DidFail:
			return gateByChance
		case work != nil:
			values["work"] = longerText(work)
			return rowWorksMore
		case comparesLess(failed, values["criterion"]):
			values["change"] = shareOf(failed.Candidate.Change)
			return rowFellBehind
		}
		return rowFailed
	}
	if open := decisive(report.Undecided); open != nil {
		switch {
		case open.Candidate.Figures == nil || len(open.Candidate.Missing) > 0:
			values["reason"] = reasonOf(open.Candidate.Missing)
			return rowNotMeasured
		case values["criterion"] != "":
			return rowUndecided
		}
		return rowNotJudged
	}
	switch {
	case len(g.Rows) == 0:
		return gateEmpty
	case g.Outcome != report.Passed:
		return gateDoubted
	}
	var smallest units.Percent
	for _, r := range g.Rows {
		if s := r.Candidate.SmallestPercent; s != nil {
			smallest = max(smallest, *s)
		}
	}
	if smallest > 0 {
		values["smallest"] = smallest.FormatFixed() + " %"
		return gateShows
	}
	return gatePassed
}

// criterionOf is the name of the first criterion with this outcome. It is empty for none.
func criterionOf(criteria []report.CriterionResult, o report.Outcome) string {
	for _, c := range criteria {
		if c.Outcome == o {
			return c.Name
		}
	}
	return ""
}

// workOf is the change of the time per frame by which a criterion failed. It is nil where it failed by its own figure.
func workOf(criteria []report.CriterionResult, name string) *report.TimeChange {
	for _, c := range criteria {
		if c.Name == name && c.Reason == report.MoreWorkPerFrame {
			return c.TimePerFrame
		}
	}
	return nil
}

// comparesLess says that a row failed a criterion that compares it with its baseline, and that it carries less.
func comparesLess(r *report.GateRow, criterion string) bool {
	compares := slices.ContainsFunc(r.Criteria,
		func(c report.CriterionResult) bool { return c.Name == criterion && c.Chance > 0 })
	return compares && r.Candidate.Judgement == report.Less && r.Candidate.Change != nil
}
