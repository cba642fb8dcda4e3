package gate

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
)

// MeasuredSuite is a suite as it is when the gate stops waiting for it.
type MeasuredSuite struct {
	Suite *v1alpha1.LoadTestSuite
	// Name is what its file calls it.
	Name string
	// Test says that it was made of a LoadTest.
	Test bool
	// Witness says that it measures what comes back of an overload.
	Witness bool
	// Runs are the stored runs of it.
	Runs suite.Runs
	// Baseline is a baseline from outside of the suite. Nil means none.
	Baseline *suite.Reference
	// Anchor is an earlier baseline that doesn't move, with which it is compared, too. Nil means none.
	Anchor *suite.Reference
	// Message says why the gate didn't see the suite's end. Empty means that the gate saw it.
	Message string
}

// Judge judges all that was measured, as linerate of this version.
func Judge(suites []MeasuredSuite, version string) *report.Gate {
	g := &report.Gate{Version: report.GateVersion, Producer: "linerate " + version}
	var rows []report.GateRow
	isBaseline := map[int]bool{} // rows of baseline cells, which the rows compared with them cover
	for _, m := range suites {
		g.Namespace = cmp.Or(g.Namespace, m.Suite.Namespace)
		judged := suite.JudgeStored(suite.Expand(m.Suite.DeepCopy()), m.Runs, finished(m.Suite), version, m.Baseline)
		g.Suites = append(g.Suites, judged.Report)
		g.Notes = append(g.Notes, judged.Report.Notes...)
		for i := range judged.Cells {
			if judged.Report.Cells[i].Calibration {
				continue // it has no device, so there is nothing to release
			}
			row := rowOf(m, judged, i)
			judgeAgainstAnchor(&row, m, i)
			if isOwnBaseline := judged.Cells[i].IsBaseline; isOwnBaseline && (m.Test || row.Outcome == report.Passed) {
				isBaseline[len(rows)] = true // the rows compared with it say whether they could be
			}
			rows = append(rows, row)
		}
	}
	carryVoid(rows, isBaseline)
	pairWitnesses(rows)
	for i, row := range rows {
		if !isBaseline[i] {
			g.Rows = append(g.Rows, row)
		}
	}
	g.Conclude()
	return g
}

// finished is when a suite was complete. Zero means that the suite isn't.
func finished(s *v1alpha1.LoadTestSuite) time.Time {
	c := completion(s)
	switch {
	case c == nil:
		return time.Time{}
	case s.Status.CompletionTime != nil:
		return s.Status.CompletionTime.Time
	}
	return c.LastTransitionTime.Time
}

// completion is the condition that says that a suite is complete. Nil means that the suite isn't.
func completion(s *v1alpha1.LoadTestSuite) *metav1.Condition {
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete); c != nil &&
		c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

// rowOf is a cell's row. It passes only if each of its repetitions was measured, in a suite that ended by itself.
func rowOf(m MeasuredSuite, judged suite.Judged, number int) report.GateRow {
	c, cell := judged.Report.Cells[number], judged.Cells[number]
	row := report.GateRow{Test: m.Name, Suite: m.Suite.Name, Cell: c.Name, Product: c.Product, Loadtest: c.Loadtest,
		Outcome: report.Undecided, BaselineName: cell.BaselineName}
	nameRow(&row, m, cell)
	row.Candidate, row.Baseline = compare(c, cell, m.Suite.Spec.Criteria)
	if row.Baseline == nil && m.Baseline != nil {
		row.Baseline = &report.Compared{}
	}
	if c.Verdict != nil {
		row.Outcome, row.Criteria = cmp.Or(c.Verdict.Outcome, report.Undecided), c.Verdict.Criteria
	}
	reason := cmp.Or(m.Message, incompleteReason(m.Suite))
	measured := 0
	for _, r := range c.Runs {
		if r.Counts() {
			measured++
		}
	}
	switch wanted := int(max(m.Suite.Spec.Repetitions, 1)); {
	case row.Outcome == report.DidFail: // the runs that were measured suffice to show it
	case measured < wanted && reason == "":
		reason = fmt.Sprintf("%d of %d runs were measured", measured, wanted)
	}
	void := c.Void()
	row.Runs, row.Voided = void.Runs, void.Voided
	if row.Outcome == report.Passed && reason != "" {
		row.Outcome = report.Undecided
	}
	if row.Outcome != report.Passed {
		row.Message = reason
	}
	if c.Message != "" { // whatever the outcome
		row.Message = strings.TrimPrefix(row.Message+"; "+c.Message, "; ")
	}
	return row
}

// nameRow sets a row's product and load test. A LoadTest's are those of its runs or its labels, and a suite's those of
// its axes. A witness has a column of its own.
func nameRow(row *report.GateRow, m MeasuredSuite, cell suite.JudgedCell) {
	switch labels := m.Suite.Spec.Template.Metadata.Labels; {
	case m.Test && len(cell.Runs) > 0:
		row.Product, row.Loadtest = report.ProductAndLoadtest(cell.Runs[0].Report)
	case m.Test:
		row.Product, row.Loadtest = string(labels[v1alpha1.LabelProduct]), string(labels[v1alpha1.LabelLoadTest])
	}
	row.Loadtest = cmp.Or(row.Loadtest, "-")
	if !m.Witness {
		return
	}
	row.Witness = report.WitnessOverload
	if !m.Test {
		row.Loadtest += witnessEnd
	}
}

// incompleteReason says why a suite has no whole measurement. Empty means that the measurement is whole.
func incompleteReason(s *v1alpha1.LoadTestSuite) string {
	c := completion(s)
	switch {
	case c == nil:
		return "the suite has not ended"
	case c.Reason == v1alpha1.ReasonMeasured || c.Reason == v1alpha1.ReasonPartlyMeasured:
		return ""
	}
	return fmt.Sprintf("the suite ended as %s: %s", c.Reason, c.Message)
}

// allowanceOf is how much less than its baseline a cell may be, by the first of a suite's criteria that compares
// medians of throughput. False means that none does.
func allowanceOf(criteria []v1alpha1.Criterion) (allowed units.Ratio, compares bool) {
	read, _ := compile.Criteria(nil, criteria) // the schema keeps errors out
	for _, c := range read {
		metric, _ := figures.MetricOf(report.Metric(c.Metric))
		if c.Relative() && c.Latency == nil && !metric.Own && c.Statistic != plan.WorstOfRuns {
			return *c.MaxRegression, true
		}
	}
	return 0, false
}

// compare sets a cell beside its baseline, each run and all runs together.
func compare(
	c report.SuiteCell, cell suite.JudgedCell, criteria []v1alpha1.Criterion,
) (candidate report.Compared, baseline *report.Compared) {
	allowed, compares := allowanceOf(criteria)
	candidate = report.Compared{Figures: c.Figures, Outliers: c.Outliers,
		Each: history.ComparedRuns(records(cell.Runs))}
	candidate.Missing, candidate.Repeated = c.Gaps()
	if len(cell.Baseline) == 0 || len(cell.Runs) == 0 {
		return candidate, nil
	}
	compared := history.Compare([]history.Side{{Name: "baseline", Records: records(cell.Baseline)},
		{Name: "candidate", Records: records(cell.Runs)}}, nil, cell.AllowDifferent)
	if len(compared.Rows) != 1 {
		return candidate, nil
	}
	sides := compared.Rows[0].Sides
	candidate.Judgement, candidate.Change, candidate.Environment = sides[1].Judgement, sides[1].Change,
		sides[1].Environment
	candidate.TimePerFrame = sides[1].TimePerFrame
	if x := comparison.SmallestRegression(candidate.Change, allowed); x > 0 && compares {
		candidate.SmallestPercent = new(x.Percent())
	}
	if setAside := sides[1].SetAside; len(setAside) > 0 { // show the figures that were compared
		candidate.Figures, candidate.Outliers, candidate.SetAside = sides[1].Figures, sides[1].Outliers, setAside
	}
	baseline = &report.Compared{Figures: sides[0].Figures, Outliers: sides[0].Outliers,
		Each: history.ComparedRuns(records(cell.Baseline))}
	return candidate, baseline
}

// records are runs that were found comparable, without their generators, which stored runs lack.
func records(runs []analysis.KeptReport) []history.Record {
	var records []history.Record
	for _, k := range runs {
		r, p := *k.Report, *k.Report.Plan
		p.Generators = nil
		// the same for all, so that they make one row
		p.Test = plan.Test{Name: p.Test.Name, Product: "one", Loadtest: "place"}
		r.Plan = &p
		records = append(records, history.Record{Name: p.Test.Name, Report: &r})
	}
	return records
}
