package suite

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// suiteReport is the suite's report so far, with its verdict.
func (v *situation) suiteReport(complete bool) *report.Suite {
	document := &report.Suite{
		Version: report.SuiteVersion, Producer: "linerate " + v.Version, Name: v.Suite.Name,
		Namespace: v.Suite.Namespace, UID: string(v.Suite.UID),
		Generation: v.Suite.Generation, Started: v.Suite.CreationTimestamp.UTC(), Seed: seedOf(v.Suite),
	}
	if v.lastStatus.StartTime != nil {
		document.Started = v.lastStatus.StartTime.UTC()
	}
	if complete {
		document.Finished = v.Now.UTC()
	}
	for _, axis := range v.spec.Axes {
		a := report.Axis{Name: string(axis.Name)}
		for _, value := range axis.Values {
			a.Values = append(a.Values, string(value.Name))
		}
		document.Axes = append(document.Axes, a)
	}
	points := 0
	for i := range v.Matrix.Cells {
		cell := v.cell(i)
		if points += len(cell.Curve); points > maxCurvePoints {
			cell.Curve = nil
		}
		document.Cells = append(document.Cells, cell)
	}
	if points > maxCurvePoints {
		document.Notes = append(document.Notes,
			fmt.Sprintf("the cells' curves have %d loads, of which this document holds %d at most: the others are in "+
				"the runs' Reports", points, maxCurvePoints))
	}
	if ref := v.baselines.reference(); ref != nil {
		document.Baseline = &report.Baseline{Kind: ref.Kind, Name: ref.Name, Message: ref.Fault}
	}
	document.Verdict = suiteVerdict(len(v.spec.Criteria) > 0, document.Cells)
	if complete && document.Verdict.Outcome == report.Undecided && slices.ContainsFunc(document.Cells,
		func(c report.SuiteCell) bool { return c.Verdict != nil && c.Verdict.Outcome == report.DidFail }) {
		document.Notes = append(document.Notes, amongSoMany)
	}
	if n := v.retried - v.disturbed; n > 0 {
		document.Notes = append(document.Notes, testsWere(n)+" repeated after ending without a measurement")
	}
	if n := v.disturbed; n > 0 {
		document.Notes = append(document.Notes, testsWere(n)+" repeated after being disturbed")
	}
	return document
}

// maxCurvePoints bounds the loads of all cells' curves in a suite's document.
const maxCurvePoints = 4096

func testsWere(n int32) string {
	if n == 1 {
		return "1 test was"
	}
	return fmt.Sprintf("%d tests were", n)
}
