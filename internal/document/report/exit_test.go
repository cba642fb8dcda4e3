package report_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestTheExitCodeOfAReport(t *testing.T) {
	measured, failed := report.Answer{Measured: true}, report.Verdict{Outcome: report.DidFail}
	judged := func(o report.Outcome) report.Verdict {
		return report.Verdict{Outcome: o, Criteria: []report.CriterionResult{{Outcome: o}}}
	}
	for name, c := range map[string]struct {
		report report.Report
		want   int
	}{
		"measured":                            {report.Report{Ending: report.Completed, Answer: measured}, report.ExitOK},
		"a criterion failed":                  {report.Report{Ending: report.Completed, Answer: measured, Verdict: failed}, report.ExitFailed},
		"no clean window, criterion failed":   {report.Report{Ending: report.Completed, Verdict: failed}, report.ExitFailed},
		"no criteria, so no verdict":          {report.Report{Ending: report.Completed, Answer: measured, Verdict: report.Verdict{Outcome: report.Undecided}}, report.ExitOK},
		"each criterion is met":               {report.Report{Ending: report.Completed, Answer: measured, Verdict: judged(report.Passed)}, report.ExitOK},
		"a criterion is undecided":            {report.Report{Ending: report.Completed, Answer: measured, Verdict: judged(report.Undecided)}, report.ExitNotMeasured},
		"not held, and no criteria":           {report.Report{Ending: report.Completed, Answer: report.Answer{Measured: true, NotHeld: "link west went down"}}, report.ExitNotMeasured},
		"not held, and a criterion failed":    {report.Report{Ending: report.Completed, Answer: report.Answer{Measured: true, NotHeld: "link west went down"}, Verdict: failed}, report.ExitFailed},
		"an outcome of a later version":       {report.Report{Ending: report.Completed, Answer: measured, Verdict: judged("Parked")}, report.ExitNotMeasured},
		"no figure":                           {report.Report{Ending: report.Completed}, report.ExitNotMeasured},
		"path not proven":                     {report.Report{Ending: report.PathNotProven}, report.ExitNotMeasured},
		"a generator was lost, judged anyway": {report.Report{Ending: report.GeneratorLost, Answer: measured, Verdict: failed}, report.ExitNotMeasured},
		"interrupted":                         {report.Report{Ending: report.Interrupted, Verdict: failed}, report.ExitInterrupted},
		"an ending of a later version":        {report.Report{Ending: "Parked", Answer: measured}, report.ExitNotMeasured},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.report.ExitCode(); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
		})
	}
}

// Who lets a pipeline go on with a warning at 3 must not miss what failed beside what is undecided; that something
// wasn't measured at all counts more than both.
func TestTheExitCodeOfSeveral(t *testing.T) {
	judged := func(o report.Outcome) *report.Report {
		return &report.Report{Ending: report.Completed, Answer: report.Answer{Measured: true}, Verdict: report.Verdict{Outcome: o, Criteria: []report.CriterionResult{{Outcome: o}}}}
	}
	cell := func(o report.Outcome) *report.Suite {
		return &report.Suite{Finished: time.Unix(1, 0), Cells: []report.SuiteCell{{Figures: &report.Figures{}, Verdict: &report.Verdict{Outcome: o}}}}
	}
	lost := &report.Report{Ending: report.GeneratorLost}
	for name, c := range map[string]struct {
		all  report.Documents
		want int
	}{
		"nothing":                           {report.Documents{}, report.ExitOK},
		"met and undecided":                 {report.Documents{Reports: []*report.Report{judged(report.Passed), judged(report.Undecided)}}, report.ExitNotMeasured},
		"failed and undecided":              {report.Documents{Reports: []*report.Report{judged(report.Undecided), judged(report.DidFail)}}, report.ExitFailed},
		"failed, and a suite undecided":     {report.Documents{Reports: []*report.Report{judged(report.DidFail)}, Suites: []*report.Suite{cell(report.Undecided)}}, report.ExitFailed},
		"undecided, and a suite failed":     {report.Documents{Reports: []*report.Report{judged(report.Undecided)}, Suites: []*report.Suite{cell(report.DidFail)}}, report.ExitFailed},
		"two suites, of which one is open":  {report.Documents{Suites: []*report.Suite{cell(report.Passed), cell(report.Undecided)}}, report.ExitNotMeasured},
		"failed, and one without a figure":  {report.Documents{Reports: []*report.Report{judged(report.DidFail), lost}}, report.ExitNotMeasured},
		"interrupted counts more than both": {report.Documents{Reports: []*report.Report{judged(report.DidFail), {Ending: report.Interrupted}, lost}}, report.ExitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.all.ExitCode(); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
		})
	}
}

func TestTheExitCodeOfAComparison(t *testing.T) {
	side := func(j report.Judgement, o report.Outcome) report.ComparisonRow {
		return report.ComparisonRow{Sides: []report.Compared{{}, {Judgement: j, Verdict: o}}}
	}
	for name, c := range map[string]struct {
		rows []report.ComparisonRow
		want int
	}{
		"nothing to compare":             {nil, report.ExitNotMeasured},
		"nothing that can be compared":   {[]report.ComparisonRow{side(report.NotComparable, "")}, report.ExitNotMeasured},
		"compared, and nothing demanded": {[]report.ComparisonRow{side(report.Less, "")}, report.ExitOK},
		"as much as is demanded":         {[]report.ComparisonRow{side(report.NotShown, report.Passed)}, report.ExitOK},
		"one is undecided":               {[]report.ComparisonRow{side(report.NotShown, report.Passed), side(report.NotShown, report.Undecided)}, report.ExitNotMeasured},
		"one failed, one is undecided":   {[]report.ComparisonRow{side(report.NotShown, report.Undecided), side(report.Less, report.DidFail)}, report.ExitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&report.Comparison{Rows: c.rows}).ExitCode(); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
		})
	}
}
