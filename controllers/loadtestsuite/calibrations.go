package loadtestsuite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// maxEarlier is how many earlier suites' reports are read at most, the latest first.
const maxEarlier = 8

// takeCalibrations uses calibrations of the namespace's earlier suites instead of measuring again, as far as
// spec.calibration.maxAge allows it. A report is trusted if its digest is the one in the suite's status, which
// only the operator writes. It is called once, before the first test.
func (r *Reconciler) takeCalibrations(ctx context.Context, observed *observation) error {
	var suites v1alpha1.LoadTestSuiteList
	if err := r.client.List(ctx, &suites, client.InNamespace(observed.Suite.Namespace)); err != nil {
		return fmt.Errorf("list the earlier suites: %w", err)
	}
	oldest := observed.Now.Add(-observed.Matrix.MaxAge())
	earlier := slices.DeleteFunc(suites.Items, func(s v1alpha1.LoadTestSuite) bool {
		return s.UID == observed.Suite.UID || s.Spec.Calibration == nil || s.Status.Report == nil ||
			s.Status.CompletionTime == nil || s.Status.CompletionTime.Time.Before(oldest) ||
			!meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionComplete)
	})
	slices.SortFunc(earlier, func(a, b v1alpha1.LoadTestSuite) int {
		return b.Status.CompletionTime.Compare(a.Status.CompletionTime.Time)
	})
	var documents []*report.Suite
	for i := range earlier[:min(len(earlier), maxEarlier)] {
		document, err := r.readDocument(ctx, &earlier[i])
		if err != nil {
			return err
		}
		if document != nil {
			documents = append(documents, document)
		}
	}
	reused := observed.Matrix.ReuseCalibrations(documents, observed.notes.runs, observed.Now)
	maps.Copy(observed.notes.runs, reused)
	observed.Runs, observed.EarlierRead, observed.notes.earlierRead = observed.notes.runs, true, true
	if len(reused) > 0 {
		ctrl.LoggerFrom(ctx).Info("calibrations of earlier suites are taken", "runs", len(reused))
	}
	return nil
}

// readDocument reads an earlier suite's report, once there is memory for it. It is nil if the report is gone,
// or isn't the one in the suite's status.
func (r *Reconciler) readDocument(ctx context.Context, s *v1alpha1.LoadTestSuite) (*report.Suite, error) {
	var configMap corev1.ConfigMap
	switch err := r.live.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Status.Report.ConfigMap},
		&configMap); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the report of suite %s: %w", s.Name, err)
	case !metav1.IsControlledBy(&configMap, s):
		return nil, nil
	}
	// a document without a size can't be decoded either, and that error says why
	if size, err := delivery.SizeOf(configMap.BinaryData[delivery.KeySuite]); err == nil {
		giveBack, ok := r.options.Decoded.TryTake(size.Memory())
		if !ok {
			return nil, errBusy
		}
		defer giveBack()
	}
	document, err := delivery.DecodeSuite(configMap.BinaryData, configMap.Annotations)
	if err == nil && configMap.Annotations[delivery.AnnotationDigest] != s.Status.Report.Digest {
		err = fmt.Errorf("its digest is %s, and the suite's status says %s: somebody changed it",
			configMap.Annotations[delivery.AnnotationDigest], s.Status.Report.Digest)
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("an earlier suite's report isn't believed", "configMap", configMap.Name, "why",
			err.Error())
		return nil, nil
	}
	document.Cells = slices.DeleteFunc(document.Cells, func(c report.SuiteCell) bool { return !c.Calibration })
	return document, nil
}
