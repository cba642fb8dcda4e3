package report_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
)

func TestTheExitCodeOfAReport(t *testing.T) {
	measured, failed := report.Result{Measured: true}, report.Verdict{Outcome: report.DidFail}
	for name, c := range map[string]struct {
		report report.Report
		want   int
	}{
		"measured":                            {report.Report{Ending: report.Completed, Result: measured}, report.ExitOK},
		"a criterion failed":                  {report.Report{Ending: report.Completed, Result: measured, Verdict: failed}, report.ExitFailed},
		"no clean window, criterion failed":   {report.Report{Ending: report.Completed, Verdict: failed}, report.ExitFailed},
		"undecided":                           {report.Report{Ending: report.Completed, Result: measured, Verdict: report.Verdict{Outcome: report.Undecided}}, report.ExitOK},
		"no figure":                           {report.Report{Ending: report.Completed}, report.ExitNotMeasured},
		"path not proven":                     {report.Report{Ending: report.PathNotProven}, report.ExitNotMeasured},
		"a generator was lost, judged anyway": {report.Report{Ending: report.GeneratorLost, Result: measured, Verdict: failed}, report.ExitNotMeasured},
		"interrupted":                         {report.Report{Ending: report.Interrupted, Verdict: failed}, report.ExitInterrupted},
		"an ending of a later version":        {report.Report{Ending: "Parked", Result: measured}, report.ExitNotMeasured},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.report.ExitCode(); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
		})
	}
}
