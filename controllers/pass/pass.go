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
	// A failing pass is tried again after 200 ms, then after twice as long each time, and after 2 minutes at
	// most.
	firstRetry, lastRetry = 200 * time.Millisecond, 2 * time.Minute
	// timeout is longer than any pass, even a dry run of 520 pods against a slow API server.
	timeout = 5 * time.Minute
)

// ControllerOptions are those of every controller of users' objects. A nil logOf means controller-runtime's own
// logger.
func ControllerOptions(concurrency int, logOf func(*reconcile.Request) logr.Logger) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: concurrency,
		ReconciliationTimeout:   timeout,
		LogConstructor:          logOf,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry,
			lastRetry),
		NewQueue: newQueue(concurrency),
	}
}

// A pass that can't continue ends in one of three ways. The user must act, and the conditions say so without an
// error. Or the operator waits for something (a waiting). Or it tries again, less and less often (any other
// error).

// waiting isn't a fault. A watch reports what the pass waits for, or the next pass comes after a while.
type waiting struct {
	reason string
	atMost time.Duration
}

func (w waiting) Error() string { return w.reason }

// Wait is the error of a pass that waits for something. It isn't logged as a fault, and the next pass is due
// after atMost.
func Wait(reason string, atMost time.Duration) error { return waiting{reason, atMost} }

// ErrUndecided means that the decision asked for more observations than one pass makes.
var ErrUndecided = errors.New("the decision asks for a closer look again and again")

var (
	errConflict  = waiting{"the LoadTest was changed since it was read", 200 * time.Millisecond}
	errNamespace = waiting{"the namespace is being deleted", time.Minute}
)

// TakenAgain is how often a taken name is checked again, since other people's objects aren't watched.
const TakenAgain = time.Minute

// Next turns the outcome of a pass into when the next one is due. A zero due means never.
func Next(ctx context.Context, due, now time.Time, err error) (ctrl.Result, error) {
	wait, ok := errors.AsType[waiting](err)
	switch {
	case apierrors.IsConflict(err):
		wait, ok = errConflict, true
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		wait, ok = errNamespace, true
	}
	if ok {
		ctrl.LoggerFrom(ctx).V(1).Info("waiting", "why", wait.reason)
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

// Earlier is the earlier of two moments, where zero means never.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// MomentOf is a test's own offset within each span of time, by its UID.
func MomentOf(uid string, span time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // it never fails
	return time.Duration(h.Sum64() % uint64(span))
}

// Hand passes an object to another controller, and waits until it is in that controller's queue.
func Hand(ctx context.Context, queue chan<- event.GenericEvent, object client.Object) error {
	select {
	case queue <- event.GenericEvent{Object: object}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
