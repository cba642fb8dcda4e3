package cli

import (
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func named(name string, ending report.Ending) *report.Report {
	return &report.Report{Plan: &plan.Plan{Test: plan.Test{Name: name}}, Ending: ending}
}

func TestEveryReportHasAFileOfItsOwn(t *testing.T) {
	got := fileNames([]*report.Report{
		named("a", report.Completed), named("a", report.Completed), named("a-2", report.Completed),
		named("b", report.Interrupted),
	})
	if want := []string{"a", "a-2", "a-2-2", "b-interrupted"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
