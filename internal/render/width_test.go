package render

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// A reason in a cell made a table 250 columns wide. Whatever people call things, and whatever went wrong, text fits the
// terminal.
func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	reason := strings.TrimSpace(strings.Repeat("the counter was not read in time ", 12))
	name := strings.Repeat("a-long-name", 4)
	missing := []report.Missing{{Test: name, Reason: "DeadlineExceeded", Message: reason}}
	suite := reporttest.Night()
	suite.Name = name
	for i := range suite.Cells {
		suite.Cells[i].Product, suite.Cells[i].Loadtest, suite.Cells[i].Message = name, name, reason
	}
	side := report.Compared{Absent: "no common figure", Message: reason, Missing: missing, Doubts: []string{reason},
		Judgement: report.NotComparable, Verdict: report.Undecided}
	comparison := &report.Comparison{Sides: []string{name, name, name}, MaxRegressionPercent: new(units.Percent(1)), Notes: []string{reason},
		Rows: []report.ComparisonRow{{Product: name, Loadtest: name, Sides: []report.Compared{side, side, side}}}}
	gate := &report.Gate{Notes: []string{reason}, Rows: []report.GateRow{{Product: name, Loadtest: name, Candidate: side,
		Baseline: &side, Outcome: report.Undecided, Message: reason, Criteria: []report.CriterionResult{{Name: name,
			Outcome: report.Undecided, Message: reason}}}}}
	gate.Conclude()
	trend := &report.Trend{Title: name, Series: []report.Series{{Product: name, Loadtest: name, Points: []report.Point{{
		Test: name, Missing: &missing[0], PlanChange: []string{reason}, DeviceChange: []string{reason}}}}}}
	unread := observed()
	unread.Observations = []report.Observation{{Observer: "bmc", Missing: reason}}
	fault := reporttest.PathNotProven()
	fault.Message, fault.Path[0].Message = reason, reason
	documents := map[string]Document{"suite": OfTable(suite.Table()), "comparison": OfComparison(comparison),
		"gate": OfGate(gate), "trend": OfTrend(trend),
		"tests": OfTests(report.Documents{Reports: []*report.Report{unread, fault, reporttest.Doubtful()}})}
	for what, d := range documents {
		for _, width := range []int{80, 120} {
			for _, evidence := range []bool{false, true} {
				var out bytes.Buffer
				if err := Write(&out, "text", d, TextOptions{Width: width, Evidence: evidence}); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(out.String()) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%s, of %d columns, has %d: %s", what, width, n, line)
					}
				}
			}
		}
		var out bytes.Buffer
		if err := Write(&out, "markdown", d, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "|") && strings.Contains(line, reason) {
				t.Errorf("%s has a reason in a cell: %s", what, line)
			}
		}
	}
}
