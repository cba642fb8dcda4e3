package loadtestsuite

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

var configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// storing calls store, and records for the status why the API server refuses to store something, or why it is
// too large.
func (r *Reconciler) storing(ctx context.Context, observed *observation, store func() error) error {
	err := store()
	if !refusedToStore(err) {
		return err
	}
	ctrl.LoggerFrom(ctx).Info("what was measured can't be stored", "why", err.Error())
	observed.notes.unstored = obstacle{reason: err.Error(), retryAt: observed.Now.Add(pass.TakenAgain)}
	return pass.Wait("what was measured can't be stored", time.Millisecond) // the next pass reports it
}

// unstorable is a permanent error.
type unstorable struct{ error }

// refusedToStore says that something wasn't stored, and that an immediate retry wouldn't help.
func refusedToStore(err error) bool {
	refused := apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
	_, permanent := errors.AsType[unstorable](err)
	return permanent || refused && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// storeRuns writes the next sheet of runs, and the next pass continues from there. The copy is written first,
// so that a quota of the suite's namespace bounds what the operator's own takes.
func (r *Reconciler) storeRuns(ctx context.Context, observed *observation) error {
	s, notes := observed.Suite, observed.notes
	sheet, err := observed.Matrix.NextSheet(observed.Runs, observed.Stored)
	if err != nil {
		return unstorable{err}
	}
	var digest suite.Sheets
	annotations := map[string]string{delivery.AnnotationDigest: digest.Record(0, sheet.Data)}
	if err := r.writeMap(ctx, observed, suite.CopyName(s.Name, sheet.Number), sheet.Data, annotations); err != nil {
		return err
	}
	if err := r.writeSheet(ctx, observed, suite.SheetMap(s, r.options.Namespace, sheet)); err != nil {
		return err
	}
	notes.sheets.Record(sheet.Number, sheet.Data)
	for _, name := range sheet.Added {
		notes.stored[name] = sheet.Number
	}
	if notes.unreported = true; notes.runs.AllIn(notes.stored) {
		notes.storedAt = observed.Now
	}
	return errMore
}

// writeSheet creates or updates a sheet in the operator's own namespace. If its success is unknown, or another
// process wrote the sheet, the suite is read again.
func (r *Reconciler) writeSheet(ctx context.Context, observed *observation, sheet *corev1.ConfigMap) error {
	sheet.ResourceVersion = observed.notes.versions[sheet.Name]
	write := func() error { return r.client.Create(ctx, sheet) }
	if sheet.ResourceVersion != "" {
		write = func() error { return r.client.Update(ctx, sheet) }
	}
	if err := write(); err != nil {
		if !refusedToStore(err) {
			r.memory.forget(client.ObjectKeyFromObject(observed.Suite))
		}
		return fmt.Errorf("write ConfigMap %s in namespace %s: %w", sheet.Name, sheet.Namespace, err)
	}
	observed.notes.versions[sheet.Name] = sheet.ResourceVersion
	return nil
}

// clearSheets deletes the sheets of deleted suites of this name. Garbage collection can't, since an object
// can't be owned by one in another namespace. When the operator starts, each sheet has its suite's name
// reconciled, so that nothing stays of a suite that was deleted while no operator ran.
func (r *Reconciler) clearSheets(ctx context.Context, name types.NamespacedName) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(configMapKind.GroupVersion().WithKind("ConfigMapList"))
	err := r.sheets.List(ctx, list, client.InNamespace(r.options.Namespace),
		client.MatchingLabels(suite.SheetLabels(name.Namespace, name.Name)))
	if err != nil {
		return fmt.Errorf("list the sheets of runs: %w", err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	s := &v1alpha1.LoadTestSuite{} // past the cache, which may not have the newest suite of this name yet
	if err := client.IgnoreNotFound(r.live.Get(ctx, name, s)); err != nil {
		return fmt.Errorf("get the LoadTestSuite: %w", err)
	}
	for i := range list.Items {
		sheet := &list.Items[i]
		if s.UID != "" && sheet.Labels[v1alpha1.LabelSuiteUID] == string(s.UID) {
			continue
		}
		sheet.SetGroupVersionKind(configMapKind)
		if err := r.deleteOwn(ctx, sheet); err != nil {
			return err
		}
	}
	return nil
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

// writeMap creates or updates a ConfigMap of the suite's. A ConfigMap that an earlier process wrote with the
// same digest isn't written again.
func (r *Reconciler) writeMap(ctx context.Context, observed *observation, name string, data map[string][]byte,
	annotations map[string]string) error {
	object := mapOf(observed.Suite, name, data, annotations)
	object.ResourceVersion = observed.notes.versions[name]
	if object.ResourceVersion == "" {
		existing, err := r.existingMap(ctx, observed, name)
		if err != nil {
			return err
		}
		if object.ResourceVersion = existing.ResourceVersion; isWritten(existing, annotations) {
			observed.notes.versions[name] = existing.ResourceVersion
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
		delete(observed.notes.versions, name) // the next write reads the version again
		return fmt.Errorf("write ConfigMap %s: %w", name, err)
	}
	observed.notes.versions[name] = object.ResourceVersion
	return nil
}

// isWritten says that a ConfigMap already holds what must be written, by its digest.
func isWritten(existing *metav1.PartialObjectMetadata, annotations map[string]string) bool {
	digest := annotations[delivery.AnnotationDigest]
	return digest != "" && existing.Annotations[delivery.AnnotationDigest] == digest
}

// existingMap is the metadata of a ConfigMap of the suite's. It has no resource version if there is none.
func (r *Reconciler) existingMap(ctx context.Context, observed *observation,
	name string) (*metav1.PartialObjectMetadata, error) {
	existing := caches.MetadataOf(configMapKind)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: observed.Suite.Namespace, Name: name}, existing)
	switch {
	case apierrors.IsNotFound(err):
		return &metav1.PartialObjectMetadata{}, nil
	case err != nil:
		return nil, fmt.Errorf("look for ConfigMap %s: %w", name, err)
	case ofEarlierSuite(existing, observed.Suite):
		return nil, pass.Wait("a ConfigMap of an earlier suite of this name is being deleted", time.Second)
	case !metav1.IsControlledBy(existing, observed.Suite):
		observed.notes.foreignMaps[name] = observed.Now.Add(pass.TakenAgain)
		return nil, pass.Wait("a ConfigMap's name is taken", time.Millisecond) // the next pass reports it
	}
	return existing, nil
}

func mapOf(s *v1alpha1.LoadTestSuite, name string, data map[string][]byte,
	annotations map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: name, Annotations: annotations,
			Labels: map[string]string{
				"app.kubernetes.io/managed-by": "linerate", v1alpha1.LabelSuite: s.Name,
				v1alpha1.LabelSuiteUID: string(s.UID),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestSuiteKind, Name: s.Name, UID: s.UID,
				Controller: new(true),
			}},
		},
		BinaryData: data,
	}
}
