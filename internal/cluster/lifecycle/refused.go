package lifecycle

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Refused replaces a status that the API server refuses, which it would refuse again and again. The new status holds
// only what is known to be valid, and ends the test, since its progress can't be reported. False means that the test
// was complete already, and its status stays.
func Refused(o Observed, d Decision, refusal string) (Decision, bool) {
	previous := &o.Test.Status
	if meta.IsStatusConditionTrue(previous.Conditions, v1alpha1.ConditionComplete) {
		return Decision{}, false
	}
	complete := meta.IsStatusConditionTrue(d.Status.Conditions, v1alpha1.ConditionComplete)
	st := v1alpha1.LoadTestStatus{
		ObservedGeneration: o.Test.Generation, Attempt: d.Status.Attempt,
		Operator:  v1alpha1.TestMemory{LostRuns: d.Status.Operator.LostRuns},
		StartTime: d.Status.StartTime, CompletionTime: d.Status.CompletionTime,
		Conditions: previous.DeepCopy().Conditions,
	}
	message := wording.Limited(wording.Printable(fmt.Sprintf("the API server refuses what is to be said of this test, "+
		"so it ends without a result: %s; is the CustomResourceDefinition of the manager's version installed? "+
		"The Report, if there is one, is in ConfigMap %s-report", wording.Limited(refusal, 1024), o.Test.Name)),
		maxMessage)
	set := func(kind string, status metav1.ConditionStatus, reason string) {
		meta.SetStatusCondition(&st.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message,
			LastTransitionTime: metav1.Time{Time: o.ObservedAt},
		})
	}
	for _, c := range d.Status.Conditions { // conditions that were never set
		if meta.FindStatusCondition(st.Conditions, c.Type) == nil {
			set(c.Type, c.Status, c.Reason)
		}
	}
	current, obsolete := v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled
	if complete {
		current, obsolete = obsolete, current
	}
	if complete {
		removeBeginning(&st)
	}
	set(v1alpha1.ConditionPassed, metav1.ConditionUnknown, v1alpha1.ReasonUndecided)
	set(v1alpha1.ConditionComplete, truth(complete), v1alpha1.ReasonStatusRefused)
	set(current, metav1.ConditionTrue, v1alpha1.ReasonStatusRefused)
	meta.RemoveStatusCondition(&st.Conditions, obsolete)
	SetPhase(&st)
	d.Rule, d.Reason, d.Message, d.Status, d.DeleteTest = "statusRefused", v1alpha1.ReasonStatusRefused, message, st,
		false
	d.Events = eventsOf(previous, &st)
	return d, true
}

func truth(b bool) metav1.ConditionStatus {
	if b {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
