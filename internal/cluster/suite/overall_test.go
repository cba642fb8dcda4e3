package suite

import (
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestASuiteHasPassedOnlyWhereEachOfItsCellsHas(t *testing.T) {
	cells := func(outcomes ...report.Outcome) (results []report.SuiteCell) {
		for _, o := range outcomes {
			results = append(results, report.SuiteCell{Verdict: &report.Verdict{Outcome: o,
				Criteria: []report.CriterionResult{{Outcome: o}}}})
		}
		return results
	}
	for name, c := range map[string]struct {
		cells []report.SuiteCell
		want  report.Outcome
	}{
		"all met":                   {cells(report.Passed, report.Passed), report.Passed},
		"one undecided":             {cells(report.Passed, report.Undecided), report.Undecided},
		"one not judged":            {append(cells(report.Passed), report.SuiteCell{}), report.Undecided},
		"one failed, one undecided": {cells(report.Undecided, report.DidFail, report.Passed), report.DidFail},
		"a calibration is no cell of it": {append(cells(report.Passed), report.SuiteCell{Calibration: true}),
			report.Passed},
	} {
		if got := suiteVerdict(true, c.cells).Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := suiteVerdict(false, cells(report.Passed)).Outcome; got != "" {
		t.Errorf("without a criterion: %s", got)
	}
}

// A run has figures only if its test was measured, and its Report came to its end.
func TestOnlyARunThatWasMeasuredToItsEndHasFigures(t *testing.T) {
	for name, c := range map[string]struct {
		ended  string
		ending report.Ending
		want   bool
	}{
		"measured":                       {v1alpha1.ReasonMeasured, report.Completed, true},
		"a fault acted on the device":    {v1alpha1.ReasonDUTFailed, report.Completed, false},
		"the Report is cut short":        {v1alpha1.ReasonMeasured, report.Interrupted, false},
		"the Report lost its generators": {v1alpha1.ReasonMeasured, report.GeneratorLost, false},
	} {
		document := figureOf("test", 1000)
		document.Ending = c.ending
		run := Run{Ended: c.ended}
		if run.fillFrom(document); run.measured() != c.want {
			t.Errorf("%s: it has figures: %v", name, run.measured())
		}
	}
}
