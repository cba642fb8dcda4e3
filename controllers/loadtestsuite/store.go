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
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/suite"
)

var configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// storing stores something. What the API server doesn't take, or what it couldn't hold, is kept to be said.
func (r *Reconciler) storing(ctx context.Context, seen *observation, store func() error) error {
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
	seen.notes.unstored = obstacle{why: err.Error(), until: seen.Now.Add(pass.TakenAgain)}
	return pass.Wait("what was measured can't be stored", time.Millisecond) // which is said by the next pass
}

// unstorable is an error that doesn't go by itself.
type unstorable struct{ error }

// storePages writes pages of runs. Runs are known to be stored when all sheets are written that they need to be found; the next pass goes on from there.
func (r *Reconciler) storePages(ctx context.Context, seen *observation, decision suite.Decision) error {
	for _, number := range decision.Store {
		sheets, placed, err := seen.Matrix.EncodePage(number, seen.Runs, seen.Stored)
		if err != nil {
			return unstorable{err}
		}
		for _, sheet := range sheets {
			if err := r.writeMap(ctx, seen, sheet.Name, sheet.Data, nil); err != nil {
				return err
			}
			seen.notes.sheets.Add(sheet.Name, sheet.Data)
		}
		maps.Copy(seen.notes.stored, placed)
		seen.notes.unreported = true
	}
	if decision.StoreEnds {
		seen.notes.storedAt = seen.Now
	}
	return errMore
}

// storeReport writes the suite's report, if that is due.
func (r *Reconciler) storeReport(ctx context.Context, seen *observation, due *suite.StoredReport) error {
	if due == nil {
		return nil
	}
	if due.Err != nil {
		return unstorable{fmt.Errorf("encode the suite's report: %w", due.Err)}
	}
	if err := r.writeMap(ctx, seen, suite.ReportName(seen.Suite.Name), due.Data, due.Annotations); err != nil {
		return err
	}
	seen.notes.unreported, seen.notes.reportAt = false, seen.Now
	return nil
}

// writeMap makes a ConfigMap of the suite's, or writes it anew; one that an earlier process wrote is let be where it has the same digest.
func (r *Reconciler) writeMap(ctx context.Context, seen *observation, name string, data map[string][]byte, annotations map[string]string) error {
	object := mapOf(seen.Suite, name, data, annotations)
	object.ResourceVersion = seen.notes.versions[name]
	if object.ResourceVersion == "" {
		there, err := r.mapThere(ctx, seen, name)
		if err != nil {
			return err
		}
		if object.ResourceVersion = there.ResourceVersion; isWritten(there, annotations) {
			seen.notes.versions[name] = there.ResourceVersion
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
		delete(seen.notes.versions, name) // it is looked at anew
		if undetermined(err) {
			r.memory.forget(client.ObjectKeyFromObject(seen.Suite)) // what it holds now is found out by reading it: the next status must not vouch for less
		}
		return fmt.Errorf("write ConfigMap %s: %w", name, err)
	}
	seen.notes.versions[name] = object.ResourceVersion
	return nil
}

// undetermined says that nobody knows whether a write was done: there was no answer, or one of a server in trouble.
func undetermined(err error) bool {
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonUnknown, metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout, metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable:
		return true
	default:
		return false
	}
}

// isWritten says that a ConfigMap holds what is to be written, by its digest.
func isWritten(there *metav1.PartialObjectMetadata, annotations map[string]string) bool {
	digest := annotations[delivery.AnnotationDigest]
	return digest != "" && there.Annotations[delivery.AnnotationDigest] == digest
}

// mapThere is a ConfigMap of the suite's in brief; without a version where there is none.
func (r *Reconciler) mapThere(ctx context.Context, seen *observation, name string) (*metav1.PartialObjectMetadata, error) {
	there := caches.MetadataOf(configMapKind)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: seen.Suite.Namespace, Name: name}, there)
	switch {
	case apierrors.IsNotFound(err):
		return &metav1.PartialObjectMetadata{}, nil
	case err != nil:
		return nil, fmt.Errorf("look for ConfigMap %s: %w", name, err)
	case ofFormer(there, seen.Suite):
		return nil, pass.Wait("a ConfigMap of an earlier suite of this name is being deleted", time.Second)
	case !metav1.IsControlledBy(there, seen.Suite):
		seen.notes.taken[name] = seen.Now.Add(pass.TakenAgain)
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
