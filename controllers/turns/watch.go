package turns

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// drawPause is the shortest time between two drawings that no pass waits for, since changes come in bursts.
// longestDrawPause is the longest time.
const drawPause, longestDrawPause = 50 * time.Millisecond, time.Second

// Watch has the line drawn when something changes, as long as the manager runs, and the controller reconcile
// the tests whose turn that changes. notOver lists the tests that aren't complete, by the manager's index.
func (l *Line) Watch(mgr ctrl.Manager, b *builder.Builder, notOver func() []client.ListOption) error {
	called := make(chan event.GenericEvent)
	l.watched, l.notOver = true, notOver
	b.Watches(&v1alpha1.LoadTest{}, marking(l.mark), builder.WithPredicates(claimChanges())).
		Watches(&corev1.Pod{}, marking(l.mark), builder.WithPredicates(holdingChanges())).
		Watches(&corev1.Node{}, marking(l.nodesChanged), builder.WithPredicates(inventory.NodeChanges())).
		WatchesRawSource(source.Channel(called, &handler.EnqueueRequestForObject{}))
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return l.run(ctx, called) }))
}

// run draws the line whenever it is behind, and wakes the tests whose turn changed, until the context ends.
// Tests whose turns come in one moment are woken at the pace of beginning, and tests whose place in line
// changed at the moment that notices gives them.
func (l *Line) run(ctx context.Context, wake chan<- event.GenericEvent) error {
	start := time.Now()
	tell, pause := time.NewTicker(drawPause), time.NewTimer(drawPause)
	defer tell.Stop()
	defer pause.Stop()
	var behind <-chan struct{} // nil during a pause
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tell.C:
			wakeAll(ctx, wake, l.toBegin(time.Now()))
			wakeAll(ctx, wake, l.toNotify(time.Since(start)))
		case <-pause.C:
			behind = l.signal
		case <-behind:
			drawStart := time.Now()
			woken := l.woken(ctx)
			behind = nil
			pause.Reset(pauseAfter(time.Since(drawStart)))
			wakeAll(ctx, wake, woken)
			wakeAll(ctx, wake, l.toBegin(time.Now()))
		}
	}
}

// pauseAfter is the pause after a drawing of that duration. Drawings for which no pass waits take at most a
// fifth of a processor, however often a tenant of thousands of tests changes something.
func pauseAfter(drawing time.Duration) time.Duration {
	return min(max(drawPause, 4*drawing), longestDrawPause)
}

// wakeAll has each of these tests reconciled, until the context ends.
func wakeAll(ctx context.Context, wake chan<- event.GenericEvent, tests []types.NamespacedName) {
	for _, name := range tests {
		test := &v1alpha1.LoadTest{}
		test.Namespace, test.Name = name.Namespace, name.Name
		if pass.Hand(ctx, wake, test) != nil {
			return
		}
	}
}

// woken are the tests whose turn changed since the last call, without those that may begin.
func (l *Line) woken(ctx context.Context) []types.NamespacedName {
	if err := l.catchUp(ctx); err != nil {
		// The next test that asks draws the line again, and gets the error.
		log.FromContext(ctx).V(1).Info("the line isn't drawn", "why", err.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	names := slices.Collect(maps.Keys(l.changed))
	clear(l.changed)
	return names
}

// toBegin are the tests whose turn came that begin now.
func (l *Line) toBegin(now time.Time) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beginning.due(now)
}

// toNotify are the tests that write their new place in line now.
func (l *Line) toNotify(now time.Duration) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.notices.due(now)
}

// catchUp draws the line if it is behind.
func (l *Line) catchUp(ctx context.Context) error {
	return l.draw(ctx, nil, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.marked == l.drawn
	})
}

// marking is an event handler that marks the line, and wakes no test itself.
func marking(mark func()) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(context.Context, event.CreateEvent, workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			mark()
		},
		UpdateFunc: func(context.Context, event.UpdateEvent, workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			mark()
		},
		DeleteFunc: func(context.Context, event.DeleteEvent, workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			mark()
		},
	}
}

// claimChanges lets through changes of a test's claim, and drops those of its progress and messages.
func claimChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, isTest := e.ObjectOld.(*v1alpha1.LoadTest)
		updated, stillIs := e.ObjectNew.(*v1alpha1.LoadTest)
		return isTest && stillIs && !sameClaim(old, updated)
	}}
}

func sameClaim(a, b *v1alpha1.LoadTest) bool {
	claimA, _, claimsA := lifecycle.Claim(lifecycle.Observed{Test: a}, nil)
	claimB, _, claimsB := lifecycle.Claim(lifecycle.Observed{Test: b}, nil)
	return claimsA == claimsB && a.Status.Attempt == b.Status.Attempt && reflect.DeepEqual(claimA, claimB)
}

// holdingChanges lets through changes of which pod has which devices.
func holdingChanges() predicate.Predicate {
	matters := func(object client.Object) bool {
		pod, isPod := object.(*corev1.Pod)
		return isPod && len(lifecycle.Devices(pod)) > 0
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return matters(e.Object) },
		DeleteFunc: func(e event.DeleteEvent) bool { return matters(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			old, isPod := e.ObjectOld.(*corev1.Pod)
			updated, stillIs := e.ObjectNew.(*corev1.Pod)
			return isPod && stillIs && matters(updated) &&
				(old.Spec.NodeName != updated.Spec.NodeName || lifecycle.Ended(old) != lifecycle.Ended(updated) ||
					len(old.Spec.SchedulingGates) != len(updated.Spec.SchedulingGates))
		},
	}
}
