package controllers

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// What ends a pass is one of three: the user must act (then it is in the conditions, and no error), it is waited for (a waiting), or it is
// tried again, less and less often (any other error).

// waiting is no fault: what is waited for comes by a watch, or at the latest after a while.
type waiting struct {
	why    string
	atMost time.Duration
}

func (w waiting) Error() string { return w.why }

var (
	errUndecided = errors.New("the decision asks for a closer look again and again")
	errConflict  = waiting{"the LoadTest was changed since it was read", 200 * time.Millisecond}
	errNamespace = waiting{"the namespace is being deleted", time.Minute}
	errNetworks  = waiting{"the networks are being listed", 10 * time.Second}
)

// takenAgain is when it is looked again whether a name is still taken: objects of other people aren't watched.
const takenAgain = time.Minute

// outcome turns how a pass of a LoadTest ended into when the next one is due.
func (r *LoadTestReconciler) outcome(ctx context.Context, seen *observation, decision lifecycle.Decision, err error) (ctrl.Result, error) {
	due := decision.RequeueAt
	if seen != nil && len(seen.Children.Foreign) > 0 {
		due = earlier(due, r.options.Clock().Add(takenAgain))
	}
	if seen != nil && !due.IsZero() {
		due = due.Add(fraction(seen.Test.UID))
	}
	return nextPass(ctx, due, r.options.Clock(), err)
}

// fraction is a part of a second that is a test's own. What is decided upon are whole seconds, as the API server keeps them: without it all tests of a
// lab would be looked at in one moment, as each second begins, and wait for each other.
func fraction(test types.UID) time.Duration { return momentOf(string(test), time.Second) }

// nextPass turns how any pass ended into when the next one is due; a due moment of zero is never.
func nextPass(ctx context.Context, due, now time.Time, err error) (ctrl.Result, error) {
	if wait, ok := errors.AsType[waiting](classified(err)); ok {
		ctrl.LoggerFrom(ctx).V(1).Info("waiting", "why", wait.why)
		return ctrl.Result{RequeueAfter: wait.atMost}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if due.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: max(due.Sub(now), time.Millisecond)}, nil
}

// classified finds the errors of the API server that are no faults.
func classified(err error) error {
	switch {
	case apierrors.IsConflict(err):
		return errConflict
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return errNamespace
	}
	return err
}

// earlier is the earlier of two moments, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
