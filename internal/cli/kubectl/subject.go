package kubectl

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Verbs are typed for LoadTests and for LoadTestSuites. Here is what the two have in common; both are a client.Object elsewhere.

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

// completeOf is the condition Complete, whatever its status; nil: the operator hasn't looked yet.
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

// runs says that a test is being measured, or tests of a suite are.
func runs(o client.Object) bool {
	c := completeOf(o)
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason == v1alpha1.ReasonRunning
}

// stateWord is what a test or a suite is doing, or how it ended, in one word.
func stateWord(o client.Object) string {
	if c := completeOf(o); c != nil {
		return c.Reason
	}
	return stateNew
}

// kindOf is the kind as people write it.
func kindOf(o client.Object) string {
	if _, is := o.(*v1alpha1.LoadTestSuite); is {
		return v1alpha1.LoadTestSuiteKind
	}
	return v1alpha1.LoadTestKind
}

// reportOf is where a test's or a suite's report is; nil: there is none.
func reportOf(o client.Object) *v1alpha1.ReportReference {
	switch o := o.(type) {
	case *v1alpha1.LoadTest:
		return o.Status.Report
	case *v1alpha1.LoadTestSuite:
		return o.Status.Report
	}
	return nil
}

// momentOf is a test or a suite as its own status tells it.
func momentOf(o client.Object) moment {
	if s, is := o.(*v1alpha1.LoadTestSuite); is {
		return suiteMoment{suite: s}
	}
	test, _ := o.(*v1alpha1.LoadTest)
	return testMoment{test: test}
}
