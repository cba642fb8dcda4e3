package kubectl

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// This file has what LoadTests and LoadTestSuites have in common. Elsewhere both are a client.Object.

// conditionsOf are the conditions of a test or a suite.
func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.LoadTest:
		return o.Status.Conditions
	case *v1alpha1.LoadTestSuite:
		return o.Status.Conditions
	}
	return nil
}

// completeOf is the condition Complete, whatever its status. Nil means that the operator hasn't written it yet.
func completeOf(o client.Object) *metav1.Condition {
	return meta.FindStatusCondition(conditionsOf(o), v1alpha1.ConditionComplete)
}

// endOf is the condition Complete once it is True.
func endOf(o client.Object) *metav1.Condition {
	if c := completeOf(o); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

// runs reports whether a test is being measured, or tests of a suite are.
func runs(o client.Object) bool {
	c := completeOf(o)
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason == v1alpha1.ReasonRunning
}

// stateOf is the state of a test or a suite in one word, and the reason for it, by its status.
func stateOf(o client.Object) (state, reason string) {
	switch o := o.(type) {
	case *v1alpha1.LoadTest:
		state, reason = string(o.Status.Phase), o.Status.Reason
	case *v1alpha1.LoadTestSuite:
		state, reason = string(o.Status.Phase), o.Status.Reason
	}
	return cmp.Or(state, stateNew), reason
}

// kindOf is the kind of a test or a suite.
func kindOf(o client.Object) string {
	if _, ok := o.(*v1alpha1.LoadTestSuite); ok {
		return v1alpha1.LoadTestSuiteKind
	}
	return v1alpha1.LoadTestKind
}

// reportOf is the reference to the report of a test or a suite. Nil means that there is none.
func reportOf(o client.Object) *v1alpha1.ReportReference {
	switch o := o.(type) {
	case *v1alpha1.LoadTest:
		return o.Status.Report
	case *v1alpha1.LoadTestSuite:
		return o.Status.Report
	}
	return nil
}

// momentOf is the state of a test or a suite by its own status.
func momentOf(o client.Object) moment {
	if s, ok := o.(*v1alpha1.LoadTestSuite); ok {
		return suiteMoment{suite: s}
	}
	test, _ := o.(*v1alpha1.LoadTest)
	return testMoment{test: test}
}
