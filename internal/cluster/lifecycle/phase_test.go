package lifecycle_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// A person reads one reason, looks after it, and finds the test still waiting, unless both are named.
func TestATestNamesBothWhereItsGeneratorsAndItsDUTWait(t *testing.T) {
	for name, c := range map[string]struct {
		scheduled, generators, dut string // the reason; empty: True
		want                       []string
	}{
		"nothing":                          {"", "", "", []string{v1alpha1.ReasonPending}},
		"generators":                       {"", v1alpha1.ReasonStarting, "", []string{v1alpha1.ReasonStarting}},
		"the DUT":                          {"", "", v1alpha1.ReasonDelayed, []string{v1alpha1.ReasonDelayed}},
		"both, for different things":       {"", v1alpha1.ReasonStarting, v1alpha1.ReasonImage, []string{v1alpha1.ReasonStarting, v1alpha1.ReasonImage}},
		"both, for the same":               {"", v1alpha1.ReasonImage, v1alpha1.ReasonImage, []string{v1alpha1.ReasonImage}},
		"the DUT, and then the generators": {"", v1alpha1.ReasonNotStarted, v1alpha1.ReasonNoTunnel, []string{v1alpha1.ReasonNoTunnel}},
		"a node, before anything starts":   {v1alpha1.ReasonQueued, v1alpha1.ReasonNotStarted, v1alpha1.ReasonNotStarted, []string{v1alpha1.ReasonQueued}},
	} {
		t.Run(name, func(t *testing.T) {
			status := &v1alpha1.LoadTestStatus{}
			for kind, reason := range map[string]string{v1alpha1.ConditionScheduled: c.scheduled,
				v1alpha1.ConditionGeneratorsReady: c.generators, v1alpha1.ConditionDUTReady: c.dut} {
				condition := metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady}
				if reason != "" {
					condition.Status, condition.Reason = metav1.ConditionFalse, reason
				}
				status.Conditions = append(status.Conditions, condition)
			}
			if got := lifecycle.WaitsFor(status); !slices.Equal(got, c.want) {
				t.Errorf("it waits for %v, want %v", got, c.want)
			}
		})
	}
}
