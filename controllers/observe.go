package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// observation is what a decision is made from, and whose the objects in it are.
type observation struct {
	lifecycle.Observed
	family *family
}

// now is the time as the API server would store it.
func (r *LoadTestReconciler) now() time.Time { return asStored(r.options.Clock()) }

// asStored is a moment as the API server would store it: to the second.
func asStored(at time.Time) time.Time { return metav1.NewTime(at).Rfc3339Copy().Time }

// observe reads the caches; nil without an error where there is no such test any more.
func (r *LoadTestReconciler) observe(ctx context.Context, name types.NamespacedName) (*observation, error) {
	test := &v1alpha1.LoadTest{}
	if err := r.client.Get(ctx, name, test); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.memory.forget(name)
			return nil, r.giveBackOf(ctx, name) // nothing is there, and nothing is wrong
		}
		return nil, fmt.Errorf("get the LoadTest: %w", err)
	}
	family, err := r.children(ctx, test)
	if err != nil {
		return nil, err
	}
	now := r.now()
	if atMost := r.memory.behind(test, family.refs, now); atMost > 0 {
		return nil, waiting{"the caches lack what was written last", atMost}
	}
	if err := r.lookAtTakenNames(ctx, test, &family.children); err != nil {
		return nil, err
	}
	lab, labErr := r.lab(ctx, test)
	wires, wiresErr := r.wires(ctx, test, family.children.Pods)
	if err := errors.Join(labErr, wiresErr); err != nil {
		return nil, err
	}
	observed := lifecycle.Observed{
		Test: test, Now: now, Settings: r.options.Settings, Lab: lab, Children: family.children, Access: r.memory.accessOf(test), Wires: wires,
	}
	if placing(test) && len(lab.Networks) > 0 {
		hasPods := len(test.Status.Pods) > 0 // of this attempt: what is left of an earlier one is nobody's turn
		if observed.Turn, err = r.turns.of(ctx, test, hasPods, now); err != nil {
			return nil, err
		}
	}
	return &observation{Observed: observed, family: family}, nil
}
