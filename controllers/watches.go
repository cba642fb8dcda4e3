package controllers

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

const (
	defaultConcurrency = 16
	// A failing pass is tried again after 200 ms, twice as long each time, and after 2 minutes at most.
	firstRetry, lastRetry = 200 * time.Millisecond, 2 * time.Minute
	// passTimeout is more than any pass takes: a dry run of 520 pods against a slow API server.
	passTimeout = 5 * time.Minute
)

// SetupWithManager gives the reconciler the manager's caches, and watches all that may change a decision. The manager must have been made
// with CacheOptions.
func (r *LoadTestReconciler) SetupWithManager(mgr ctrl.Manager) error {
	wake := make(chan event.GenericEvent, 1)
	progress, progressErr := r.addCache(mgr, progressCache(r.options.Namespaces))
	networks, networksErr := r.addCache(mgr, baseCache(r.options.Namespaces))
	if err := errors.Join(progressErr, networksErr); err != nil {
		return err
	}
	if err := addIndexes(context.Background(), mgr.GetFieldIndexer(), progress); err != nil {
		return err
	}
	watch := &networkWatch{definitions: mgr.GetClient(), cache: networks, wake: func() { r.turns.forget(); nudge(wake) }}
	r.live, r.progress, r.networks = mgr.GetAPIReader(), progress, watch
	r.ofTest, r.waitsForLab = byIndex, cachedWaiting
	if err := errors.Join(watch.setUp(mgr), r.registerMetrics(mgr)); err != nil {
		return err
	}
	called := make(chan event.GenericEvent)
	r.turns.watched = true
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return r.turns.keep(ctx, called) })); err != nil {
		return err
	}
	r.access = newAccessController(r)
	if err := r.access.setUp(mgr); err != nil {
		return err
	}
	ofTest := handler.EnqueueRequestsFromMapFunc(testOf)
	b := ctrl.NewControllerManagedBy(mgr).For(&v1alpha1.LoadTest{}).
		Watches(&corev1.Pod{}, ofTest).
		Watches(&batchv1.Job{}, ofTest).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.testsOfNode), builder.WithPredicates(nodeChanges())).
		WatchesRawSource(source.Kind(progress, &corev1.ConfigMap{}, handler.TypedEnqueueRequestsFromMapFunc(progressOf))).
		WatchesRawSource(source.Channel(r.access.answered, &handler.EnqueueRequestForObject{})).
		Watches(&v1alpha1.LoadTest{}, marking(r.turns.mark), builder.WithPredicates(claimChanges())).
		Watches(&corev1.Pod{}, marking(r.turns.mark), builder.WithPredicates(holdingChanges())).
		Watches(&corev1.Node{}, marking(r.turns.nodesChanged), builder.WithPredicates(placeChanges())).
		WatchesRawSource(source.Channel(called, &handler.EnqueueRequestForObject{})).
		WatchesRawSource(source.Channel(wake, handler.EnqueueRequestsFromMapFunc(r.waitingTests))).
		WithOptions(r.controllerOptions())
	for _, gvk := range metadataKinds() {
		b = b.WatchesMetadata(metadataOf(gvk), ofTest)
	}
	if err := r.watchLeases(mgr, b); err != nil {
		return err
	}
	return b.Complete(orderly{r})
}

func (r *LoadTestReconciler) controllerOptions() controller.Options {
	concurrency := r.options.MaxConcurrentReconciles
	if concurrency == 0 {
		concurrency = defaultConcurrency
	}
	return controllerOptions(concurrency, logOf)
}

// controllerOptions are those of every controller that looks after users' objects; without a way to log it is controller-runtime's own.
func controllerOptions(concurrency int, logOf func(*reconcile.Request) logr.Logger) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: concurrency,
		ReconciliationTimeout:   passTimeout,
		LogConstructor:          logOf,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	}
}

// addCache makes a cache that lives as long as the manager.
func (r *LoadTestReconciler) addCache(mgr ctrl.Manager, options cache.Options) (cache.Cache, error) {
	options.Scheme, options.Mapper, options.HTTPClient = mgr.GetScheme(), mgr.GetRESTMapper(), mgr.GetHTTPClient()
	made, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, err
	}
	return made, mgr.Add(made)
}

// nudge leaves a mark that something changed; one mark stands for all that changed before it is seen.
func nudge(wake chan<- event.GenericEvent) {
	select {
	case wake <- event.GenericEvent{Object: &corev1.Node{}}:
	default:
	}
}

// testOf is the LoadTest that a child belongs to, by its label: the runner's pod is owned by a Job.
func testOf(_ context.Context, child client.Object) []reconcile.Request {
	name := child.GetLabels()[v1alpha1.LabelTest]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: child.GetNamespace(), Name: name}}}
}

func progressOf(ctx context.Context, child *corev1.ConfigMap) []reconcile.Request {
	return testOf(ctx, child)
}
