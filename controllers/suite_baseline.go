package controllers

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/suite"
)

// readReference reads the earlier suite that a suite is compared with: its cells, and the runs that were stored of it. That there is none, or that it
// isn't over, is an answer too. It is looked at once, when all is measured.
func (r *LoadTestSuiteReconciler) readReference(ctx context.Context, seen *suiteObservation) error {
	name := seen.Suite.Spec.Baseline.Suite
	found := &suite.Reference{Kind: suite.KindSuite, Name: name}
	var earlier v1alpha1.LoadTestSuite
	switch err := r.client.Get(ctx, client.ObjectKey{Namespace: seen.Suite.Namespace, Name: name}, &earlier); {
	case apierrors.IsNotFound(err):
		found.Fault = "there is no such LoadTestSuite in namespace " + seen.Suite.Namespace
	case err != nil:
		return fmt.Errorf("get the suite to compare with: %w", err)
	default:
		found.Fault = whyNoBaseline(&earlier)
	}
	if found.Fault == "" {
		notes := newSuiteNotes(&earlier)
		if err := r.readPages(ctx, &earlier, notes); err != nil {
			return fmt.Errorf("read the suite to compare with: %w", err)
		}
		found = suite.ReferenceOf(notes.matrix, notes.runs)
	}
	seen.Reference = found
	return nil
}

// whyNoBaseline says why a suite can't be compared with; empty: it can, as far as it was measured.
func whyNoBaseline(s *v1alpha1.LoadTestSuite) string {
	switch c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete); {
	case c == nil:
		return "it had not begun when this suite was over"
	case c.Status != metav1.ConditionTrue:
		return fmt.Sprintf("it was not complete (%s) when this suite was over", c.Reason)
	case c.Reason == v1alpha1.ReasonInvalid:
		return "it was refused, so nothing of it was measured"
	}
	return ""
}
