package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// readBaseline reads what the test is compared with. That there is none, or none that can be read, is an answer too.
func (r *LoadTestReconciler) readBaseline(ctx context.Context, seen *observation) error {
	spec, found := seen.Test.Spec.Baseline, lifecycle.Baseline{}
	refs := spec.Reports
	if spec.LoadTest != "" {
		ref, fault, err := r.reportOf(ctx, seen.Test.Namespace, spec.LoadTest)
		if err != nil {
			return err
		}
		found.Fault = fault
		refs = []v1alpha1.ReportRef{ref}
	}
	for _, ref := range refs {
		if found.Fault != "" {
			break
		}
		source, err := r.keptReport(ctx, seen.Test.Namespace, ref)
		if err != nil {
			return err
		}
		found.Sources = append(found.Sources, source)
	}
	seen.Baseline = &found
	return nil
}

// reportOf finds the Report of a LoadTest that is measured; fault says why it isn't one.
func (r *LoadTestReconciler) reportOf(ctx context.Context, namespace, name string) (ref v1alpha1.ReportRef, fault string, err error) {
	var test v1alpha1.LoadTest
	switch err := r.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &test); {
	case apierrors.IsNotFound(err):
		return ref, "there is no such LoadTest in namespace " + namespace, nil
	case err != nil:
		return ref, "", fmt.Errorf("get the baseline: %w", err)
	}
	switch complete := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete); {
	case complete == nil:
		return ref, "it had not begun when this test began to measure", nil
	case complete.Status != metav1.ConditionTrue:
		return ref, fmt.Sprintf("it was not complete (%s) when this test began to measure", complete.Reason), nil
	case complete.Reason != v1alpha1.ReasonMeasured || test.Status.Report == nil:
		return ref, fmt.Sprintf("it ended without a measurement that counts (%s): %s", complete.Reason, complete.Message), nil
	}
	return v1alpha1.ReportRef{ConfigMap: test.Status.Report.ConfigMap, Digest: test.Status.Report.Digest}, "", nil
}

// keptReport reads a Report past the cache.
func (r *LoadTestReconciler) keptReport(ctx context.Context, namespace string, ref v1alpha1.ReportRef) (lifecycle.BaselineSource, error) {
	source := lifecycle.BaselineSource{Name: ref.ConfigMap}
	var kept corev1.ConfigMap
	switch err := r.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.ConfigMap}, &kept); {
	case apierrors.IsNotFound(err):
		source.Fault = "there is no such ConfigMap in namespace " + namespace
		return source, nil
	case err != nil:
		return source, fmt.Errorf("read the baseline's report: %w", err)
	}
	document, envelope, err := delivery.DecodeReport(kept.BinaryData, kept.Annotations)
	switch {
	case err != nil:
		source.Fault = err.Error()
	case ref.Digest != "" && ref.Digest != envelope.Digest:
		source.Fault = fmt.Sprintf("it holds the Report %s, and %s is asked for", envelope.Digest, ref.Digest)
	case !envelope.Final:
		source.Fault = "its Report is not final: the run may still be repeated"
	default:
		source.Report, source.Digest = document, envelope.Digest
	}
	return source, nil
}
