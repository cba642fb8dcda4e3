package kubectl

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
)

// results reads the Reports of tests that have ended. A test that ended without one is told of on stderr, and counts.
func (c *cluster) results(ctx context.Context, tests []*v1alpha1.LoadTest) ([]*report.Report, error) {
	var reports []*report.Report
	var wrong []error
	for _, test := range tests {
		end := endOf(test)
		if test.Status.Report == nil {
			wrong = append(wrong, &codeError{codeOfEnd(end), noReport(test)})
			continue
		}
		r, err := c.report(ctx, test)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", test.Name, err))
			continue
		}
		reports = append(reports, r)
		wrong = append(wrong, onlyCode(max(r.ExitCode(), codeOfEnd(end))))
	}
	return reports, worst(wrong...)
}

// codeOfEnd is the exit code of a test that is complete for this reason. The Report has the say on what was measured.
func codeOfEnd(end *metav1.Condition) int {
	if end == nil {
		return exitNotMeasured
	}
	switch end.Reason {
	case v1alpha1.ReasonMeasured:
		return exitOK
	case v1alpha1.ReasonInvalid:
		return exitBadInput
	case v1alpha1.ReasonStopped:
		return exitInterrupted
	}
	return exitNotMeasured
}
