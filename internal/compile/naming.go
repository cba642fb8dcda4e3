package compile

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// naming says what the run is called, and where it stands in a table of many.
func naming(test *v1alpha1.LoadTest) plan.Test {
	return plan.Test{
		Name:      test.Name,
		Namespace: test.Namespace,
		UID:       string(test.UID),
		Attempt:   1,
		Product:   labelled(test, v1alpha1.LabelProduct, product(test.Spec.DUT.Type)),
		Loadtest:  labelled(test, v1alpha1.LabelLoadTest, loadtest(&test.Spec.Traffic)),
	}
}

func labelled(test *v1alpha1.LoadTest, label, otherwise string) string {
	if value := test.Labels[label]; value != "" {
		return value
	}
	return otherwise
}

func product(t v1alpha1.DUTType) string {
	if t == v1alpha1.DUTReference {
		return "Linux reference"
	}
	return strings.ToLower(string(t))
}

func loadtest(t *v1alpha1.TrafficSpec) string {
	if t.Profile == v1alpha1.ProfileFixedSize {
		return fmt.Sprintf("%db", t.FrameSize)
	}
	return strings.ToLower(string(t.Profile))
}
