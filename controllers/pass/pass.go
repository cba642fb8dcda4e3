// Package pass is what the passes of all controllers have in common: how they are begun, when the next one is due, and what the API server's answers
// mean to them.
//
//	watch ──▶ queue ──▶ a controller's pass ──▶ Next: when the time has come · when what it waits for must have come · again after an error · by a watch only
package pass

import (
	"context"
	"errors"
	"hash/fnv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// A failing pass is tried again after 200 ms, twice as long each time, and after 2 minutes at most.
	firstRetry, lastRetry = 200 * time.Millisecond, 2 * time.Minute
	// timeout is more than any pass takes: a dry run of 520 pods against a slow API server.
	timeout = 5 * time.Minute
)

// ControllerOptions are those of every controller that looks after users' objects; without a way to log it is controller-runtime's own.
func ControllerOptions(concurrency int, logOf func(*reconcile.Request) logr.Logger) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: concurrency,
		ReconciliationTimeout:   timeout,
		LogConstructor:          logOf,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	}
}

// What ends a pass is one of three: the user must act (then it is in the conditions, and no error), it is waited for (a waiting), or it is
// tried again, less and less often (any other error).

// waiting is no fault: what is waited for comes by a watch, or at the latest after a while.
type waiting struct {
	why    string
	atMost time.Duration
}

func (w waiting) Error() string { return w.why }

// Wait is the error of a pass that waits for something: it is no fault, and the next pass is due after a while at most.
func Wait(why string, atMost time.Duration) error { return waiting{why, atMost} }

// ErrUndecided is that a decision can't be had in one pass.
var ErrUndecided = errors.New("the decision asks for a closer look again and again")

var (
	errConflict  = waiting{"the LoadTest was changed since it was read", 200 * time.Millisecond}
	errNamespace = waiting{"the namespace is being deleted", time.Minute}
)

// TakenAgain is when it is looked again whether a name is still taken: objects of other people aren't watched.
const TakenAgain = time.Minute

// Next turns how any pass ended into when the next one is due; a due moment of zero is never.
func Next(ctx context.Context, due, now time.Time, err error) (ctrl.Result, error) {
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

// Earlier is the earlier of two moments, where zero means never.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// MomentOf is a moment in each span of time that is a test's own.
func MomentOf(uid string, span time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // it never fails
	return time.Duration(h.Sum64() % uint64(span))
}

// Hand gives an object to another controller; it waits no longer than until it is in that one's queue.
func Hand(ctx context.Context, whom chan<- event.GenericEvent, object client.Object) error {
	select {
	case whom <- event.GenericEvent{Object: object}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
