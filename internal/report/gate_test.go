package report_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
)

func TestWhatAGateConcludes(t *testing.T) {
	rows := func(outcomes ...report.Outcome) *report.Gate {
		g := &report.Gate{}
		for _, o := range outcomes {
			g.Rows = append(g.Rows, report.GateRow{Outcome: o})
		}
		g.Conclude()
		return g
	}
	for name, c := range map[string]struct {
		gate    *report.Gate
		code    int
		outcome report.Outcome
		says    string
	}{
		"all met":                    {rows(report.Passed, report.Passed), report.ExitOK, report.Passed, "all criteria are met, in 2 tests"},
		"one missed":                 {rows(report.Passed, report.DidFail), report.ExitFailed, report.DidFail, "1 of 2 tests doesn't meet the criteria"},
		"a miss outweighs doubt":     {rows(report.Undecided, report.DidFail, report.DidFail), report.ExitFailed, report.DidFail, "2 of 3 tests don't meet the criteria, and 1 is undecided"},
		"doubt outweighs what's met": {rows(report.Passed, report.Undecided), report.ExitNotMeasured, report.Undecided, "1 of 2 tests is undecided"},
		"an outcome nobody set":      {rows(""), report.ExitNotMeasured, report.Undecided, "the test is undecided"},
		"nothing at all":             {rows(), report.ExitNotMeasured, report.Undecided, "nothing was measured"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.gate.ExitCode != c.code || c.gate.Outcome != c.outcome || !strings.Contains(c.gate.Message, c.says) {
				t.Errorf("%d %s %q, want %d %s %q", c.gate.ExitCode, c.gate.Outcome, c.gate.Message, c.code, c.outcome, c.says)
			}
		})
	}
}
