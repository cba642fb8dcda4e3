package report_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
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
		"a miss outweighs doubt":     {rows(report.Undecided, report.DidFail, report.DidFail), report.ExitFailed, report.DidFail, "2 of 3 tests don't meet the criteria, and 1 could not be decided"},
		"doubt outweighs what's met": {rows(report.Passed, report.Undecided), report.ExitNotMeasured, report.Undecided, "1 of 2 tests could not be decided"},
		"an outcome nobody set":      {rows(""), report.ExitNotMeasured, report.Undecided, "the test could not be decided"},
		"nothing at all":             {rows(), report.ExitNotMeasured, report.Undecided, "nothing was measured"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.gate.ExitCode != c.code || c.gate.Outcome != c.outcome || !strings.Contains(c.gate.Message, c.says) {
				t.Errorf("%d %s %q, want %d %s %q", c.gate.ExitCode, c.gate.Outcome, c.gate.Message, c.code, c.outcome, c.says)
			}
		})
	}
}

// What isn't seen to its end beside the measurement leaves a gate undecided that would have passed; what failed has
// failed.
func TestADoubtLeavesUndecidedWhatWouldHavePassed(t *testing.T) {
	for outcome, want := range map[report.Outcome]int{report.Passed: report.ExitNotMeasured, report.Undecided: report.ExitNotMeasured, report.DidFail: report.ExitFailed} {
		g := &report.Gate{Rows: []report.GateRow{{Outcome: outcome}}}
		g.Conclude()
		g.Doubt("a suite is gone")
		if passed := g.Outcome == report.Passed; passed || g.ExitCode != want || len(g.Notes) != 1 {
			t.Errorf("%s: %s, exit code %d, want %d", outcome, g.Outcome, g.ExitCode, want)
		}
	}
}

// A row beside another one that tells of the same says nothing for itself.
func TestASilentRowDecidesNothing(t *testing.T) {
	for beside, want := range map[report.Outcome]int{report.Passed: report.ExitOK, report.DidFail: report.ExitFailed} {
		g := &report.Gate{Rows: []report.GateRow{{Outcome: beside}, {Outcome: report.Undecided, Silent: true}}}
		if g.Conclude(); g.Outcome != beside || g.ExitCode != want || strings.Contains(g.Message, "decided") {
			t.Errorf("beside one that %s: exit code %d, %s", beside, g.ExitCode, g.Headline())
		}
	}
}

func TestWhatFailsAloneAmongManyComparisonsFailsNotAllOfThem(t *testing.T) {
	verdict := func(outcome report.Outcome, chances ...units.Ratio) *report.Verdict {
		v := &report.Verdict{Outcome: outcome}
		for _, chance := range chances {
			v.Criteria = append(v.Criteria, report.CriterionResult{Outcome: outcome, Chance: chance})
		}
		return v
	}
	share := func(perThousand units.Ratio) units.Ratio { return units.One * perThousand / 1000 }
	for name, c := range map[string]struct {
		verdicts []*report.Verdict
		want     bool
	}{
		"one, of one":                            {[]*report.Verdict{verdict(report.DidFail, share(20))}, true},
		"one, of two":                            {[]*report.Verdict{verdict(report.DidFail, share(20)), verdict(report.Passed, units.One)}, false},
		"one, of two, surely":                    {[]*report.Verdict{verdict(report.DidFail, share(12)), verdict(report.Passed, units.One)}, true},
		"two, of two, and none for both":         {[]*report.Verdict{verdict(report.DidFail, share(20)), verdict(report.DidFail, share(20))}, false},
		"an absolute criterion isn't chance":     {[]*report.Verdict{verdict(report.DidFail, 0), verdict(report.Passed, units.One)}, true},
		"one that passed for itself isn't there": {[]*report.Verdict{verdict(report.DidFail, share(20)), verdict(report.Passed, 0), nil}, true},
		"none":                                   {nil, false},
	} {
		if got := report.FailedTogether(c.verdicts); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	g := report.Gate{Rows: []report.GateRow{{Outcome: report.DidFail, Criteria: verdict(report.DidFail, share(20)).Criteria}, {Outcome: report.Passed, Criteria: verdict(report.Passed, units.One).Criteria}}}
	g.Conclude()
	if g.Outcome != report.Undecided || g.ExitCode != report.ExitNotMeasured || !strings.Contains(g.Message, "chance too often shows as much") {
		t.Errorf("%s, %d: %s", g.Outcome, g.ExitCode, g.Message)
	}
}
