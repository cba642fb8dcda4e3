package loadtestsuite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

var configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// storing calls store, and records for the status why the API server refuses to store something, or why it is too large.
func (r *Reconciler) storing(ctx context.Context, observed *observation, store func() error) error {
	err := store()
	large, tooLarge := errors.AsType[unstorable](err)
	switch {
	case tooLarge:
		err = large.error
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err
	case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsRequestEntityTooLargeError(err):
		return err
	}
	ctrl.LoggerFrom(ctx).Info("what was measured can't be stored", "why", err.Error())
	observed.notes.unstored = obstacle{why: err.Error(), until: observed.Now.Add(pass.TakenAgain)}
	return pass.Wait("what was measured can't be stored", time.Millisecond) // the next pass says so
}

// unstorable is an error that doesn't go by itself.
type unstorable struct{ error }

// storePages writes pages of runs. Runs count as stored once all sheets that lead to them are written; the next pass goes on from there.
func (r *Reconciler) storePages(ctx context.Context, observed *observation, decision suite.Decision) error {
	for _, number := range decision.Store {
		sheets, placed, err := observed.Matrix.EncodePage(number, observed.Runs, observed.Stored)
		if err != nil {
			return unstorable{err}
		}
		for _, sheet := range sheets {
			if err := r.writeMap(ctx, observed, sheet.Name, sheet.Data, nil); err != nil {
				return err
			}
			observed.notes.sheets.Add(sheet.Name, sheet.Data)
		}
		maps.Copy(observed.notes.stored, placed)
		observed.notes.unreported = true
	}
	if decision.StoreEnds {
		observed.notes.storedAt = observed.Now
	}
	return errMore
}

// storeReport writes the suite's report, if that is due.
func (r *Reconciler) storeReport(ctx context.Context, observed *observation, due *suite.StoredReport) error {
	if due == nil {
		return nil
	}
	if due.Err != nil {
		return unstorable{fmt.Errorf("encode the suite's report: %w", due.Err)}
	}
	if err := r.writeMap(ctx, observed, suite.ReportName(observed.Suite.Name), due.Data, due.Annotations); err != nil {
		return err
	}
	observed.notes.unreported, observed.notes.reportAt = false, observed.Now
	return nil
}

// writeMap creates or updates a ConfigMap of the suite's; one that an earlier process wrote with the same digest stays.
func (r *Reconciler) writeMap(ctx context.Context, observed *observation, name string, data map[string][]byte, annotations map[string]string) error {
	object := mapOf(observed.Suite, name, data, annotations)
	object.ResourceVersion = observed.notes.versions[name]
	if object.ResourceVersion == "" {
		there, err := r.mapThere(ctx, observed, name)
		if err != nil {
			return err
		}
		if object.ResourceVersion = there.ResourceVersion; isWritten(there, annotations) {
			observed.notes.versions[name] = there.ResourceVersion
			return nil
		}
	}
	var err error
	if object.ResourceVersion == "" {
		err = r.client.Create(ctx, object)
	} else {
		err = r.client.Update(ctx, object)
	}
	if err != nil {
		delete(observed.notes.versions, name) // it is read again
		if undetermined(err) {
			r.memory.forget(client.ObjectKeyFromObject(observed.Suite)) // it is read again to find out what it holds: the next status must not vouch for less
		}
		return fmt.Errorf("write ConfigMap %s: %w", name, err)
	}
	observed.notes.versions[name] = object.ResourceVersion
	return nil
}

// undetermined says that a write may or may not have been done: there was no answer, or one of a server in trouble.
func undetermined(err error) bool {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonUnknown, metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout, metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable:
		return true
	default:
		return false
	}
}

// isWritten says whether a ConfigMap already holds what is to be written, by its digest.
func isWritten(there *metav1.PartialObjectMetadata, annotations map[string]string) bool {
	digest := annotations[delivery.AnnotationDigest]
	return digest != "" && there.Annotations[delivery.AnnotationDigest] == digest
}

// mapThere is the metadata of a ConfigMap of the suite's; without a resource version where there is none.
func (r *Reconciler) mapThere(ctx context.Context, observed *observation, name string) (*metav1.PartialObjectMetadata, error) {
	there := caches.MetadataOf(configMapKind)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: observed.Suite.Namespace, Name: name}, there)
	switch {
	case apierrors.IsNotFound(err):
		return &metav1.PartialObjectMetadata{}, nil
	case err != nil:
		return nil, fmt.Errorf("look for ConfigMap %s: %w", name, err)
	case ofFormer(there, observed.Suite):
		return nil, pass.Wait("a ConfigMap of an earlier suite of this name is being deleted", time.Second)
	case !metav1.IsControlledBy(there, observed.Suite):
		observed.notes.taken[name] = observed.Now.Add(pass.TakenAgain)
		return nil, pass.Wait("a ConfigMap's name is taken", time.Millisecond) // which is said by the next pass
	}
	return there, nil
}

func mapOf(s *v1alpha1.LoadTestSuite, name string, data map[string][]byte, annotations map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: name, Annotations: annotations,
			Labels: map[string]string{
				"app.kubernetes.io/managed-by": "linerate", v1alpha1.LabelSuite: s.Name, v1alpha1.LabelSuiteUID: string(s.UID),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestSuiteKind, Name: s.Name, UID: s.UID, Controller: new(true),
			}},
		},
		BinaryData: data,
	}
}
