package operator

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// lint fails unless the conditions are all there and well formed, and kstatus reads them as what they say.
func (l *lab) lint(name string) {
	l.t.Helper()
	test := l.get(name)
	beginning := []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionScheduled, v1alpha1.ConditionGeneratorsReady, v1alpha1.ConditionDUTReady}
	always := []string{v1alpha1.ConditionComplete, v1alpha1.ConditionPassed}
	if !meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		always = append(always, beginning...)
	}
	known := append(beginning, v1alpha1.ConditionComplete, v1alpha1.ConditionPassed, v1alpha1.ConditionPublished, v1alpha1.ConditionKept, v1alpha1.ConditionReconciling,
		v1alpha1.ConditionStalled)
	for _, kind := range always {
		if meta.FindStatusCondition(test.Status.Conditions, kind) == nil {
			l.t.Errorf("the condition %s is missing", kind)
		}
	}
	for _, c := range test.Status.Conditions {
		switch {
		case !slices.Contains(known, c.Type):
			l.t.Errorf("the condition %s is unknown", c.Type)
		case c.Reason == "" || c.Message == "":
			l.t.Errorf("%s=%s has the reason %q and the message %q", c.Type, c.Status, c.Reason, c.Message)
		case c.ObservedGeneration != 0:
			l.t.Errorf("%s repeats the generation %d, which the status has", c.Type, c.ObservedGeneration)
		case c.Status != "True" && (c.Type == v1alpha1.ConditionReconciling || c.Type == v1alpha1.ConditionStalled):
			l.t.Errorf("%s is there though it isn't true", c.Type)
		}
	}
	if test.Status.ObservedGeneration != test.Generation {
		l.t.Errorf("status is of generation %d, and the test of %d", test.Status.ObservedGeneration, test.Generation)
	}
	if got, want := l.kstatus(test), wantKstatus(test); got != want {
		l.t.Errorf("kstatus calls it %s, want %s; status:\n%s", got, want, l.describe(name))
	}
}

func (l *lab) kstatus(test *v1alpha1.LoadTest) status.Status {
	l.t.Helper()
	test = test.DeepCopy()
	test.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.LoadTestKind))
	text, err := json.Marshal(test)
	l.must(err)
	object := &unstructured.Unstructured{}
	l.must(object.UnmarshalJSON(text))
	result, err := status.Compute(object)
	l.must(err)
	return result.Status
}

// wantKstatus is what tools that wait for objects should see: in progress until the end, then current, or failed without a measurement. A
// suspended test is as it was asked to be, once its pods are gone.
func wantKstatus(test *v1alpha1.LoadTest) status.Status {
	complete := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete)
	switch {
	case test.DeletionTimestamp != nil:
		return status.TerminatingStatus
	case complete.Status != "True" && test.Spec.Suspend && !meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionReconciling):
		return status.CurrentStatus
	case complete.Status != "True":
		return status.InProgressStatus
	case complete.Reason == v1alpha1.ReasonMeasured || complete.Reason == v1alpha1.ReasonStopped:
		return status.CurrentStatus
	}
	return status.FailedStatus
}
