package gate

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// A user suspends each run that shows a fault until the remaining runs meet the criteria. The verdict says how many
// runs were void, and passes nothing once they are more than those that count.
func TestAGatePassesNothingOfRunsThatWereChosen(t *testing.T) {
	const criteria = router + "  criteria: [{name: fast, metric: PacketsPerSecond, min: \"90000\"}]\n"
	for name, c := range map[string]struct {
		voided   int // before the first of five runs
		outcome  report.Outcome
		messages []string
	}{
		"no run":                {0, report.Passed, nil},
		"a run":                 {1, report.Passed, []string{"; 1 of 6 runs were void"}},
		"as many as count":      {5, report.Passed, []string{"; 5 of 10 runs were void"}},
		"one more than count":   {6, report.Undecided, []string{"; 6 of 11 runs were void"}},
		"each until one is met": {60, report.Undecided, []string{"; 60 of 65 runs were void"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := measured(t, onlySubject(t, criteria, Options{Runs: 5}), steady(100_000))
			for test, run := range m.Runs {
				if run.Repetition == 1 {
					run.Voided = c.voided
					m.Runs[test] = run
				}
			}
			g := Judge([]MeasuredSuite{m}, "test")
			if g.Outcome != c.outcome || len(g.Rows) != 1 {
				t.Fatalf("%s: %s: %+v, want %s", g.Outcome, g.Message, g.Rows, c.outcome)
			}
			for _, words := range c.messages {
				if !strings.Contains(g.Message, words) {
					t.Errorf("no %q in %q", words, g.Message)
				}
			}
			if got := strings.Contains(g.Message, "void"); got != (c.voided > 0) {
				t.Errorf("the verdict is %q", g.Message)
			}
			if row := g.Rows[0]; c.voided > 0 &&
				!strings.Contains(row.Message, "suspended, deleted or lost while it measured") {
				t.Errorf("the row says %q", row.Message)
			}
		})
	}
}

// Runs of the baseline may be chosen, too. The baseline's row isn't shown, but its void runs are.
func TestAGateCountsTheVoidRunsOfABaselineThatHasNoRow(t *testing.T) {
	m := inTurns(t, 100_000, 5)
	for test, run := range m.Runs {
		if strings.Contains(test, baselineValue) && run.Repetition == 1 {
			run.Voided = 9
			m.Runs[test] = run
		}
	}
	g := Judge([]MeasuredSuite{m}, "test")
	if g.Outcome != report.Undecided || !strings.Contains(g.Message, "9 of 19 runs were void") || len(g.Rows) != 1 ||
		!strings.Contains(g.Rows[0].Message, "of the baseline") {
		t.Errorf("%s: %s: %+v", g.Outcome, g.Message, g.Rows)
	}
}
