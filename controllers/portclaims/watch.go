package portclaims

import (
	"context"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
)

// Watch gives the Leases a cache of their own and the manager's, and has their changes wake tests. waiting
// lists by the manager's indexes.
func (l *Leases) Watch(mgr ctrl.Manager, b *builder.Builder, waiting func() []client.ListOption) error {
	l.live, l.waiting = mgr.GetAPIReader(), waiting
	if l.options.Namespace == "" {
		return nil
	}
	leases, err := caches.NewLeases(mgr, l.options.Namespace)
	if err != nil {
		return err
	}
	if err := leases.IndexField(context.Background(), &coordinationv1.Lease{}, indexHolder, holders); err != nil {
		return err
	}
	l.leases, l.ofHolder = leases, byHolder
	b.WatchesRawSource(source.Kind(leases, &coordinationv1.Lease{}, l.changes()))
	return nil
}

// indexHolder has the Leases by their holder's name, so that a test's pass doesn't go through all Leases.
const indexHolder = "holder"

func holders(object client.Object) []string {
	lease, isLease := object.(*coordinationv1.Lease)
	if !isLease {
		return nil
	}
	holder, ok := holderOf(lease)
	if !ok {
		return nil
	}
	return []string{nameOf(holder).String()}
}

func byHolder(holder types.NamespacedName) []client.ListOption {
	return []client.ListOption{client.MatchingFields{indexHolder: holder.String()}}
}

// changes wake a Lease's holder, so that a deleted holder leaves no Lease, and, when a port becomes free, the
// tests that wait for one.
func (l *Leases) changes() handler.TypedEventHandler[*coordinationv1.Lease, reconcile.Request] {
	return handler.TypedFuncs[*coordinationv1.Lease, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*coordinationv1.Lease], queue wakes) {
			l.wakeHolder(e.Object, queue)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*coordinationv1.Lease], queue wakes) {
			l.wakeHolder(e.ObjectNew, queue)
			l.wakeWaiting(ctx, queue)
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*coordinationv1.Lease], queue wakes) {
			l.wakeHolder(e.Object, queue)
			l.wakeWaiting(ctx, queue)
		},
	}
}

// wakes is the queue of tests to reconcile.
type wakes = workqueue.TypedRateLimitingInterface[reconcile.Request]

// wakeHolder wakes the test that holds a port, if the operator watches its namespace. Tests of a namespace that
// it once watched may have left Leases.
func (l *Leases) wakeHolder(lease *coordinationv1.Lease, queue wakes) {
	if holder, ok := holderOf(lease); ok && l.options.Namespaces.Contains(holder.Namespace) {
		queue.Add(reconcile.Request{NamespacedName: nameOf(holder)})
	}
}

// wakeWaiting wakes the tests that wait for a port, the oldest first.
func (l *Leases) wakeWaiting(ctx context.Context, queue wakes) {
	var tests v1alpha1.LoadTestList
	if err := l.client.List(ctx, &tests, append(l.waiting(), client.UnsafeDisableDeepCopy)...); err != nil {
		log.FromContext(ctx).Error(err, "the tests that wait for a physical port can't be listed")
		return
	}
	slices.SortFunc(tests.Items, func(a, b v1alpha1.LoadTest) int { return compareAge(&a, &b) })
	for i := range tests.Items {
		if waitsForPort(&tests.Items[i]) {
			queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&tests.Items[i])})
		}
	}
}

// waitsForPort says that a test waits until a physical port is free.
func waitsForPort(test *v1alpha1.LoadTest) bool {
	waits := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionScheduled)
	return waits != nil && waits.Reason == v1alpha1.ReasonPortHeld
}
