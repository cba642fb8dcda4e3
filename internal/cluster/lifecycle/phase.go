package lifecycle

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// PhaseOf is a test's state in a word, by its conditions.
func PhaseOf(status *v1alpha1.LoadTestStatus) v1alpha1.Phase {
	complete := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionComplete)
	scheduled := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionScheduled)
	switch {
	case complete == nil:
		return v1alpha1.PhaseWaiting
	case complete.Status == metav1.ConditionTrue:
		return endPhase(complete.Reason)
	case complete.Reason == v1alpha1.ReasonRunning:
		return v1alpha1.PhaseRunning
	case complete.Reason != v1alpha1.ReasonWaiting:
		return v1alpha1.PhaseEnding
	case scheduled == nil:
		return v1alpha1.PhaseWaiting
	case scheduled.Reason == v1alpha1.ReasonSuspended:
		return v1alpha1.PhaseSuspended
	case scheduled.Status == metav1.ConditionTrue:
		return v1alpha1.PhaseStarting
	}
	return v1alpha1.PhaseWaiting
}

func endPhase(reason string) v1alpha1.Phase {
	switch reason {
	case v1alpha1.ReasonMeasured:
		return v1alpha1.PhaseMeasured
	case v1alpha1.ReasonStopped:
		return v1alpha1.PhaseStopped
	}
	return v1alpha1.PhaseFailed
}

// WaitsFor are the reasons of the conditions that keep a test from running. While pods lack nodes, Scheduled has the
// only reason. Afterwards generators and DUT may each wait for something else. NotStarted is left out beside another
// reason, as it says that the other one comes first. There is always a reason.
func WaitsFor(status *v1alpha1.LoadTestStatus) []string {
	if reason := falseReason(status, v1alpha1.ConditionScheduled); reason != "" {
		return []string{reason}
	}
	var reasons []string
	for _, kind := range []string{v1alpha1.ConditionGeneratorsReady, v1alpha1.ConditionDUTReady} {
		if reason := falseReason(status, kind); reason != "" && !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) > 1 {
		reasons = slices.DeleteFunc(reasons, func(r string) bool { return r == v1alpha1.ReasonNotStarted })
	}
	if len(reasons) == 0 { // the operator hasn't reconciled it yet, or makes its runner right now
		return []string{v1alpha1.ReasonPending}
	}
	return reasons
}

// falseReason is the reason of a condition that is False. It is empty for any other one.
func falseReason(status *v1alpha1.LoadTestStatus, kind string) string {
	if c := meta.FindStatusCondition(status.Conditions, kind); c != nil && c.Status == metav1.ConditionFalse {
		return c.Reason
	}
	return ""
}

// SetPhase writes the phase and its reason, which follow from the rest of a status.
func SetPhase(st *v1alpha1.LoadTestStatus) {
	st.Phase, st.Reason = PhaseOf(st), ""
	switch st.Phase {
	case v1alpha1.PhaseWaiting, v1alpha1.PhaseStarting:
		st.Reason = strings.Join(WaitsFor(st), ", ")
	case v1alpha1.PhaseEnding, v1alpha1.PhaseMeasured, v1alpha1.PhaseStopped, v1alpha1.PhaseFailed:
		if st.Result != nil && st.Result.Reason != "" {
			st.Reason = st.Result.Reason
		}
		if c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionComplete); st.Reason == "" ||
			isFailure(c.Reason) {
			st.Reason = c.Reason
		}
	case v1alpha1.PhaseRunning, v1alpha1.PhaseSuspended:
	}
}
