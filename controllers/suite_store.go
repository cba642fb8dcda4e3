package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/suite"
)

// store stores what is due. What the API server doesn't take, or what it couldn't hold, is kept to be said.
func (r *LoadTestSuiteReconciler) store(ctx context.Context, seen *suiteObservation, decision suite.Decision) error {
	err := r.storeAll(ctx, seen, decision)
	large, tooLarge := errors.AsType[unstorable](err)
	switch {
	case tooLarge:
		err = large.error
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err
	case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsRequestEntityTooLargeError(err):
		return err
	}
	seen.notes.unstored = obstacle{why: err.Error(), until: seen.Now.Add(takenAgain)}
	return waiting{"what was measured can't be stored", time.Millisecond} // which is said by the next pass
}

// unstorable is an error that doesn't go by itself.
type unstorable struct{ error }

// storeAll writes the pages of runs that are due, and the suite's report after them. What it was of is known to be stored then.
func (r *LoadTestSuiteReconciler) storeAll(ctx context.Context, seen *suiteObservation, decision suite.Decision) error {
	for _, number := range decision.Store {
		data, err := seen.Matrix.EncodePage(number, seen.Runs)
		if err != nil {
			return unstorable{err}
		}
		if err := r.writeMap(ctx, seen, suite.PageName(seen.Suite.Name, number), data, nil); err != nil {
			return err
		}
	}
	if len(decision.Store) > 0 { // all pages that aren't stored yet
		for name := range seen.Runs {
			seen.notes.stored[name] = true
		}
		seen.notes.storedAt = seen.Now
	}
	if decision.Report == nil {
		return nil
	}
	data, annotations, err := delivery.EncodeSuite(decision.Report)
	if err != nil {
		return unstorable{fmt.Errorf("encode the suite's report: %w", err)}
	}
	return r.writeMap(ctx, seen, suite.ReportName(seen.Suite.Name), data, annotations)
}

// writeMap makes a ConfigMap of the suite's, or writes it anew.
func (r *LoadTestSuiteReconciler) writeMap(ctx context.Context, seen *suiteObservation, name string, data map[string][]byte, annotations map[string]string) error {
	object := mapOf(seen.Suite, name, data, annotations)
	object.ResourceVersion = seen.notes.versions[name]
	if object.ResourceVersion == "" {
		there, err := r.mapThere(ctx, seen, name)
		if err != nil {
			return err
		}
		object.ResourceVersion = there
	}
	var err error
	if object.ResourceVersion == "" {
		err = r.client.Create(ctx, object)
	} else {
		err = r.client.Update(ctx, object)
	}
	if err != nil {
		delete(seen.notes.versions, name) // it is looked at anew
		return fmt.Errorf("write ConfigMap %s: %w", name, err)
	}
	seen.notes.versions[name] = object.ResourceVersion
	return nil
}

// mapThere is the version of a ConfigMap of the suite's; empty where there is none.
func (r *LoadTestSuiteReconciler) mapThere(ctx context.Context, seen *suiteObservation, name string) (string, error) {
	there := metadataOf(configMapKind)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: seen.Suite.Namespace, Name: name}, there)
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look for ConfigMap %s: %w", name, err)
	case ofFormer(there, seen.Suite):
		return "", waiting{"a ConfigMap of an earlier suite of this name is being deleted", time.Second}
	case !metav1.IsControlledBy(there, seen.Suite):
		seen.notes.taken[name] = seen.Now.Add(takenAgain)
		return "", waiting{"a ConfigMap's name is taken", time.Millisecond} // which is said by the next pass
	}
	return there.ResourceVersion, nil
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
