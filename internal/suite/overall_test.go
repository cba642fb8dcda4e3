package suite

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
)

func TestASuiteHasPassedOnlyWhereEachOfItsCellsHas(t *testing.T) {
	cells := func(outcomes ...report.Outcome) (all []report.SuiteCell) {
		for _, o := range outcomes {
			all = append(all, report.SuiteCell{Verdict: &report.Verdict{Outcome: o, Criteria: []report.CriterionResult{{Outcome: o}}}})
		}
		return all
	}
	for name, c := range map[string]struct {
		cells []report.SuiteCell
		want  report.Outcome
	}{
		"all met":                        {cells(report.Passed, report.Passed), report.Passed},
		"one undecided":                  {cells(report.Passed, report.Undecided), report.Undecided},
		"one not judged":                 {append(cells(report.Passed), report.SuiteCell{}), report.Undecided},
		"one failed, one undecided":      {cells(report.Undecided, report.DidFail, report.Passed), report.DidFail},
		"a calibration is no cell of it": {append(cells(report.Passed), report.SuiteCell{Calibration: true}), report.Passed},
	} {
		if got := overall(true, c.cells).Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := overall(false, cells(report.Passed)).Outcome; got != "" {
		t.Errorf("without a criterion: %s", got)
	}
}
