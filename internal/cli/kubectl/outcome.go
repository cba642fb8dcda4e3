package kubectl

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// results reads the Reports of tests and suites that have ended. A test that ended without a Report is named on stderr, and counts for the exit code.
func (c *cluster) results(ctx context.Context, objects []client.Object) (report.Documents, error) {
	var all report.Documents
	var wrong []error
	for _, o := range objects {
		end := endOf(o)
		if reportOf(o) == nil {
			wrong = append(wrong, exit.WithCode(codeOfEnd(end), noReport(o)))
			continue
		}
		if err := c.read(ctx, o, &all); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", o.GetName(), err))
			continue
		}
		wrong = append(wrong, exit.WithCode(codeOfEnd(end), nil))
	}
	return all, exit.Worst(append(wrong, exit.WithCode(all.ExitCode(), nil))...)
}

// read adds the Report of a test or a suite to others.
func (c *cluster) read(ctx context.Context, o client.Object, to *report.Documents) error {
	switch o := o.(type) {
	case *v1alpha1.LoadTestSuite:
		s, err := c.suiteReport(ctx, o)
		if err != nil {
			return err
		}
		to.Suites = append(to.Suites, s)
		return nil
	case *v1alpha1.LoadTest:
		r, err := c.report(ctx, o)
		if err != nil {
			return err
		}
		to.Reports = append(to.Reports, withoutFigures(o, r))
		return nil
	}
	return fmt.Errorf("%T has no Report", o)
}

// codeOfEnd is the exit code of a test or a suite that is complete for this reason. The Report has the say on what was measured.
func codeOfEnd(end *metav1.Condition) int {
	if end == nil {
		return report.ExitNotMeasured
	}
	switch end.Reason {
	case v1alpha1.ReasonMeasured:
		return report.ExitOK
	case v1alpha1.ReasonInvalid:
		return report.ExitBadInput
	case v1alpha1.ReasonStopped:
		return report.ExitInterrupted
	}
	return report.ExitNotMeasured
}
