package main

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
)

func TestCodeOf(t *testing.T) {
	measured := report.Result{Measured: true}
	for name, c := range map[string]struct {
		report report.Report
		want   int
	}{
		"measured":                         {report.Report{Ending: report.Completed, Result: measured}, exitOK},
		"measured, and a criterion failed": {report.Report{Ending: report.Completed, Result: measured, Verdict: report.Verdict{Outcome: report.DidFail}}, exitFailed},
		"carried out, and nothing to say":  {report.Report{Ending: report.Completed}, exitNotMeasured},
		"cut short":                        {report.Report{Ending: report.GeneratorLost, Result: measured}, exitNotMeasured},
	} {
		t.Run(name, func(t *testing.T) {
			if got := codeOf(&c.report); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	for _, args := range [][]string{nil, {"sideways"}, {"up", "now"}} {
		if code, err := command(t.Context(), args); code != exitBadInput || err == nil {
			t.Errorf("%q: exit code %d, %v", args, code, err)
		}
	}
}
