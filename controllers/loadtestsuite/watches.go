package loadtestsuite

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
)

const (
	// indexSuite has the LoadTests of a suite by its UID.
	indexSuite = "suite"
	// suiteWait is how long changes of a suite's tests are gathered before the suite is reconciled, since many
	// tests end at about the same time.
	suiteWait = 500 * time.Millisecond
)

func bySuiteLabel(uid types.UID) []client.ListOption {
	return []client.ListOption{client.MatchingLabels{v1alpha1.LabelSuiteUID: string(uid)}}
}

// bySuiteIndex lists without copies, since a suite may have thousands of tests, which are only read.
func bySuiteIndex(uid types.UID) []client.ListOption {
	return []client.ListOption{client.MatchingFields{indexSuite: string(uid)}, client.UnsafeDisableDeepCopy}
}

// SetupWithManager gives the reconciler the manager's cache, and watches suites and the progress of their
// tests. The manager must have been made with caches.Options.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	suiteUID := func(object client.Object) []string {
		if owner := suiteOf(object); owner != nil {
			return []string{string(owner.UID)}
		}
		return nil
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.LoadTest{}, indexSuite,
		suiteUID); err != nil {
		return err
	}
	if r.options.Metrics != nil {
		if err := r.metrics.Register(r.options.Metrics); err != nil {
			return err
		}
	}
	sheets, err := caches.NewSheets(mgr, r.options.Namespace)
	if err != nil {
		return err
	}
	r.live, r.sheets, r.ofSuite = mgr.GetAPIReader(), sheets, bySuiteIndex
	return ctrl.NewControllerManagedBy(mgr).For(&v1alpha1.LoadTestSuite{}, builder.WithPredicates(caches.Changes())).
		Watches(&v1alpha1.LoadTest{}, testsOfSuites()).
		WatchesRawSource(source.Kind(sheets, caches.MetadataOf(configMapKind),
			handler.TypedEnqueueRequestsFromMapFunc(suiteOfSheet), appears())).
		WithOptions(pass.ControllerOptions(1, logOf)).
		Complete(pass.Orderly(r))
}

// suiteOfSheet is the suite whose runs a sheet has, by its labels, which are the operator's.
func suiteOfSheet(_ context.Context, sheet *metav1.PartialObjectMetadata) []reconcile.Request {
	labels := sheet.GetLabels()
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: labels[v1alpha1.LabelNamespace],
		Name: labels[v1alpha1.LabelSuite]}}}
}

// appears lets only those events pass that a sheet exists.
func appears() predicate.TypedFuncs[*metav1.PartialObjectMetadata] {
	type object = *metav1.PartialObjectMetadata
	return predicate.TypedFuncs[object]{
		UpdateFunc: func(event.TypedUpdateEvent[object]) bool { return false },
		DeleteFunc: func(event.TypedDeleteEvent[object]) bool { return false },
	}
}

// logOf is the logger of a pass.
func logOf(request *reconcile.Request) logr.Logger {
	if request == nil {
		return log.Log
	}
	return log.Log.WithValues("namespace", request.Namespace, "suite", request.Name)
}

// suiteOf is the suite that a LoadTest belongs to, or nil.
func suiteOf(test client.Object) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(test)
	if owner == nil || owner.Kind != v1alpha1.LoadTestSuiteKind {
		return nil
	}
	return owner
}

// testsOfSuites has a suite reconciled when one of its tests appears, disappears, begins to measure or ends,
// but not at each progress.
func testsOfSuites() handler.Funcs {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(test client.Object, q queue) {
		if owner := suiteOf(test); owner != nil {
			q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: test.GetNamespace(),
				Name: owner.Name}}, suiteWait)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { wake(e.Object, q) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { wake(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if lifeOf(e.ObjectOld) != lifeOf(e.ObjectNew) {
				wake(e.ObjectNew, q)
			}
		},
	}
}

// life is the part of a test that concerns its suite.
type life struct {
	status  metav1.ConditionStatus
	reason  string
	leaving bool
	// awaitsNode says that a pod waits for the node that the suite names.
	awaitsNode bool
}

func lifeOf(object client.Object) life {
	test, ok := object.(*v1alpha1.LoadTest)
	if !ok {
		return life{}
	}
	l := life{leaving: test.DeletionTimestamp != nil, awaitsNode: test.Status.Operator.NodeAwaitedTime != nil}
	if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionComplete); c != nil {
		l.status, l.reason = c.Status, c.Reason
	}
	return l
}
