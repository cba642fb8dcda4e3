package loadtest

import (
	"context"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// deletesByUID deletes no object that has another UID than the requested one, as an API server does and the
// fake client doesn't.
var deletesByUID = interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object,
	options ...client.DeleteOption) error {
	var asked client.DeleteOptions
	asked.ApplyOptions(options)
	existing := object.DeepCopyObject().(client.Object)
	if err := c.Get(ctx, client.ObjectKeyFromObject(object), existing); err != nil {
		return err
	}
	if asked.Preconditions != nil && asked.Preconditions.UID != nil && *asked.Preconditions.UID != existing.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), nil)
	}
	return c.Delete(ctx, object)
}}

// Between the observation of an object and its deletion another object of its name may have been made. That one
// isn't deleted.
func TestAnotherObjectOfTheNameIsNotDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		stored client.Object
		delete func(r *Reconciler) error
	}{
		"a child": {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "child", UID: "another"}},
			func(r *Reconciler) error {
				return r.deleteObject(t.Context(), childRef{gvk: configMapKind, namespace: "lab", name: "child",
					uid: "seen"})
			}},
		"the test": {lonely("another"), func(r *Reconciler) error { return r.deleteTest(t.Context(), lonely("seen")) }},
		"a port's Lease": {&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace,
			Name: "port", UID: "another"}}, func(r *Reconciler) error {
			claim := lifecycle.PortClaim{Lease: operatorNamespace + "/port", UID: "seen"}
			return r.portClaims.Release(t.Context(), claim)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			scheme, err := caches.NewScheme()
			if err != nil {
				t.Fatal(err)
			}
			api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.stored).WithInterceptorFuncs(deletesByUID)
			r := NewReconciler(api.Build(), nil, Options{Namespace: operatorNamespace})
			if err := c.delete(r); err != nil {
				t.Error(err)
			}
			if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(c.stored), c.stored); err != nil {
				t.Error(err)
			}
		})
	}
}

// A status that was decided from an old version isn't written. The change is decided upon first.
func TestAStatusIsWrittenOverTheVersionThatItWasDecidedFrom(t *testing.T) {
	scheme, err := caches.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	stored := lonely("uid")
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored).WithStatusSubresource(stored)
	r := NewReconciler(api.Build(), nil, Options{Namespace: operatorNamespace})
	var current v1alpha1.LoadTest
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(stored), &current); err != nil {
		t.Fatal(err)
	}
	old := current.DeepCopy()
	old.ResourceVersion = "1"
	decision := lifecycle.Decision{Status: v1alpha1.LoadTestStatus{Summary: "decided"}}
	if err := r.patchStatus(t.Context(), old, decision); !apierrors.IsConflict(err) {
		t.Errorf("over a later version: %v", err)
	}
	if err := r.patchStatus(t.Context(), &current, decision); err != nil {
		t.Errorf("over the version that it was decided from: %v", err)
	}
}
