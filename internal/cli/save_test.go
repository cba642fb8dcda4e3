package cli

import (
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

func named(name string, ending report.Ending) *report.Report {
	return &report.Report{Plan: &plan.Plan{Test: plan.Test{Name: name}}, Ending: ending}
}

func TestEveryReportHasAFileOfItsOwn(t *testing.T) {
	got := fileNames([]*report.Report{
		named("a", report.Completed), named("a", report.Completed), named("a-2", report.Completed), named("b", report.Interrupted),
	})
	if want := []string{"a", "a-2", "a-2-2", "b-interrupted"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTheExitCodeOfAReport(t *testing.T) {
	for name, c := range map[string]struct {
		report report.Report
		want   int
	}{
		"measured":                          {report.Report{Ending: report.Completed, Result: report.Result{Measured: true}}, ExitOK},
		"a criterion failed":                {report.Report{Ending: report.Completed, Result: report.Result{Measured: true}, Verdict: report.Verdict{Outcome: report.DidFail}}, ExitFailed},
		"no clean window, criterion failed": {report.Report{Ending: report.Completed, Verdict: report.Verdict{Outcome: report.DidFail}}, ExitFailed},
		"undecided":                         {report.Report{Ending: report.Completed, Result: report.Result{Measured: true}, Verdict: report.Verdict{Outcome: report.Undecided}}, ExitOK},
		"no figure":                         {report.Report{Ending: report.Completed}, ExitNotMeasured},
		"path not proven":                   {report.Report{Ending: report.PathNotProven}, ExitNotMeasured},
		"interrupted":                       {report.Report{Ending: report.Interrupted, Verdict: report.Verdict{Outcome: report.DidFail}}, ExitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			if got := codeOfReport(&c.report); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
		})
	}
}
