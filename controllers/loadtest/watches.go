package loadtest

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/controllers/metrics"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/compile"
)

const defaultConcurrency = 16

// SetupWithManager gives the reconciler the manager's caches, and watches everything that may change a
// decision. The manager must have been made with caches.Options.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	wake := make(chan event.GenericEvent, 1)
	progress, err := caches.NewProgress(mgr, r.options.Settings.Namespace)
	if err != nil {
		return err
	}
	if err := addIndexes(context.Background(), mgr.GetFieldIndexer(), progress); err != nil {
		return err
	}
	r.live, r.progress, r.ofTest, r.ofRuns = mgr.GetAPIReader(), progress, byIndex, runsByIndex
	r.changedNetworks = newChangedNetworks(func() { nudge(wake) })
	changed := func(network compile.NetworkKey) {
		r.turns.NetworkChanged(network)
		r.changedNetworks.add(network)
	}
	if err := errors.Join(r.inventory.Watch(mgr, changed), r.registerMetrics(mgr)); err != nil {
		return err
	}
	ofTest := handler.EnqueueRequestsFromMapFunc(r.testOf)
	b := ctrl.NewControllerManagedBy(mgr).For(&v1alpha1.LoadTest{}, builder.WithPredicates(caches.Changes())).
		Watches(&corev1.Pod{}, ofTest).
		Watches(&batchv1.Job{}, ofTest).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.testsOfNode),
			builder.WithPredicates(inventory.NodeChanges())).
		WatchesMetadata(caches.MetadataOf(configMapKind), ofTest).
		WatchesRawSource(source.Kind(progress, &corev1.ConfigMap{},
			handler.TypedEnqueueRequestsFromMapFunc(r.progressOf))).
		WithOptions(r.controllerOptions())
	if err := r.turns.Watch(mgr, b, cachedNotOver); err != nil {
		return err
	}
	b = b.WatchesRawSource(source.Channel(wake, handler.EnqueueRequestsFromMapFunc(r.testsOfNetworks)))
	if err := r.portClaims.Watch(mgr, b, cachedWaiting); err != nil {
		return err
	}
	return b.Complete(pass.Orderly(pass.Sharing(r)))
}

func (r *Reconciler) controllerOptions() controller.Options {
	concurrency := r.options.MaxConcurrentReconciles
	if concurrency == 0 {
		concurrency = defaultConcurrency
	}
	return pass.ControllerOptions(concurrency, logOf)
}

// registerMetrics registers the counters of LoadTests, and the states that are counted at each scrape, if the
// options name a registry.
func (r *Reconciler) registerMetrics(mgr ctrl.Manager) error {
	if r.options.Metrics == nil {
		return nil
	}
	return r.metrics.Register(r.options.Metrics, metrics.Sources{
		Tests: r.client, Progress: r.progress, OperatorNamespace: r.options.Settings.Namespace, Leads: mgr.Elected(),
		Clock: r.options.Clock, Line: r.turns.Drawn, MaxTests: r.options.MetricsTests,
	})
}

// nudge leaves a mark that something changed. One mark stands for all changes until it is read.
func nudge(wake chan<- event.GenericEvent) {
	select {
	case wake <- event.GenericEvent{Object: &corev1.Node{}}:
	default:
	}
}

// testOf is the LoadTest that a child belongs to, by its labels, since a Job owns the runner's pod, and no test
// owns an object in the operator's own namespace. An object in any other namespace can only belong to a test of
// that namespace, whatever its labels say.
func (r *Reconciler) testOf(_ context.Context, child client.Object) []reconcile.Request {
	if run := runOf(child); run.Name != "" && child.GetNamespace() == r.options.Settings.Namespace {
		return []reconcile.Request{{NamespacedName: run}}
	}
	name := child.GetLabels()[v1alpha1.LabelTest]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: child.GetNamespace(), Name: name}}}
}

func (r *Reconciler) progressOf(ctx context.Context, child *corev1.ConfigMap) []reconcile.Request {
	return r.testOf(ctx, child)
}
