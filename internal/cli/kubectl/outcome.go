package kubectl

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// codeOfEnd is the exit code for the reason by which a test or a suite is complete. Its Report adds its own exit code.
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
