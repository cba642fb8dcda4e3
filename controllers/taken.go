package controllers

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// Objects of other people bear no label of ours, so the caches don't know them. That one has a child's name shows when the child is made:
// then, and as long as it was so the last time, the API server is asked whose it is.

// lookAtTakenNames finds out which names are still taken.
func (r *LoadTestReconciler) lookAtTakenNames(ctx context.Context, test *v1alpha1.LoadTest, children *lifecycle.Children) error {
	for _, child := range r.memory.takenNames(test) {
		if err := client.IgnoreNotFound(r.lookAtName(ctx, test, children, child)); err != nil {
			return err
		}
	}
	return nil
}

// lookAtName finds out whether an object with a child's name is somebody else's, and keeps that in children. Where it is the test's own,
// it is in no cache yet. Where there is none, the error is the API server's.
func (r *LoadTestReconciler) lookAtName(ctx context.Context, test *v1alpha1.LoadTest, children *lifecycle.Children, child childRef) error {
	object := metadataOf(child.gvk)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: test.Namespace, Name: child.name}, object)
	if err == nil && !metav1.IsControlledBy(object, test) {
		r.memory.nameTaken(test, child)
		children.Foreign = append(children.Foreign, child.String())
		return nil
	}
	r.memory.nameFree(test, child)
	if err != nil {
		return fmt.Errorf("look whose %s is: %w", child, err)
	}
	child.uid = object.UID
	r.memory.childCreated(test, child, r.options.Clock())
	return nil
}
