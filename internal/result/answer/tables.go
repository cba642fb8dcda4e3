package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// OfTable is the answer of a table of tests, such as a suite's.
func OfTable(t *report.Table) report.Lines {
	measured, outcomes := 0, map[report.Outcome]int{}
	for _, c := range t.Cells {
		if c.Figures != nil {
			measured++
		}
		outcomes[c.Verdict]++
	}
	values := map[string]string{}
	message := besideSentence(causeOfTable(t, measured, values), values)
	if len(t.Cells) == 1 {
		return report.Lines{Summary: summaryOfCell(t.Cells[0]), Message: message}
	}
	figure := wording.ShareOf(measured, len(t.Cells)) + " " + wording.Verb(len(t.Cells), "test has", "tests have") +
		" a figure"
	if len(t.Cells) > outcomes[""] {
		figure += fmt.Sprintf(": %d passed, %d failed, %d undecided", outcomes[report.Passed], outcomes[report.DidFail],
			outcomes[report.Undecided])
	}
	return report.Lines{Summary: figure + ".", Message: message}
}

// summaryOfCell is the first line of a table with one row, such as "VPP 64b: 1.78 Mpps, the median of 2 runs. Failed."
func summaryOfCell(c report.Cell) string {
	text := rowName(c.Product, c.Loadtest) + ": "
	if c.Figures == nil {
		return text + wording.NotMeasured + "."
	}
	text += figures.ThroughputText(c.Figures.Headline())
	if n := c.Figures.Runs; n > 1 {
		text += ", the median of " + wording.Counted(n, "run")
	}
	if c.Verdict != "" {
		text += ". " + string(c.Verdict)
	}
	return text + "."
}

func causeOfTable(t *report.Table, measured int, values map[string]string) besideCause {
	find := func(matches func(report.Cell) bool) *report.Cell {
		i := slices.IndexFunc(t.Cells, matches)
		if i < 0 {
			return nil
		}
		values["row"], values["reason"] = rowName(t.Cells[i].Product, t.Cells[i].Loadtest), reasonOf(t.Cells[i].Missing)
		return &t.Cells[i]
	}
	judged := func(o report.Outcome) func(report.Cell) bool {
		return func(c report.Cell) bool { return c.Verdict == o && c.Figures != nil }
	}
	failed := find(judged(report.DidFail))
	switch {
	case measured == 0 && find(func(c report.Cell) bool { return len(c.Missing) > 0 }) == nil:
		return nothingYet
	case failed != nil:
		values["criterion"], _, _ = strings.Cut(failed.Message, ":")
		if values["criterion"] == failed.Message {
			values["criterion"] = "its criteria"
		}
		return rowFailed
	case find(func(c report.Cell) bool { return c.Figures == nil }) != nil:
		return rowNotMeasured
	case find(judged(report.Undecided)) != nil:
		values["criterion"] = "its criteria"
		return rowUndecided
	case slices.ContainsFunc(t.Cells, judged(report.Passed)):
		return cellsPassed
	case find(func(c report.Cell) bool { return c.Figures.LowerBound }) != nil:
		return cellsBounded
	}
	return cellsMeasured
}

// OfTrend is a trend's answer.
func OfTrend(t *report.Trend) report.Lines {
	values, found, weight, unusual := map[string]string{}, latestUsual, 0, 0
	for i := range t.Series {
		cause, w := causeOfSeries(&t.Series[i])
		if w > 0 {
			unusual++
		}
		if w <= weight {
			continue
		}
		found, weight = cause, w
		final := t.Series[i].Points[len(t.Series[i].Points)-1]
		values["row"], values["changed"] = rowName(t.Series[i].Product, t.Series[i].Loadtest), changedIn(final)
		if final.Missing != nil {
			values["reason"] = final.Missing.Reason
		}
		if final.FromMedian != nil {
			values["change"] = signed(final.FromMedian)
		}
	}
	return report.Lines{Summary: fmt.Sprintf("%d series, %d as usual.", len(t.Series), len(t.Series)-unusual),
		Message: besideSentence(found, values)}
}

// causeOfSeries is what the latest run of a series shows, and how much that matters. The weight is 0 where the run is
// as the ones before.
func causeOfSeries(s *report.Series) (c besideCause, weight int) {
	if len(s.Points) == 0 {
		return latestUsual, 0
	}
	switch final := s.Points[len(s.Points)-1]; {
	case final.Figures == nil:
		return latestMissing, 2
	case final.Outlier:
		return latestOutlies, 3
	case len(s.Points) > 1 && changedIn(final) != "":
		return latestChanged, 1
	}
	return latestUsual, 0
}

// changedIn is what began a new median at a point. It is empty where nothing did.
func changedIn(p report.Point) string {
	switch {
	case len(p.PlanChange) > 0:
		return "plan"
	case len(p.DeviceChange) > 0:
		return "device"
	case len(p.EnvironmentChange) > 0:
		return "environment"
	}
	return ""
}
