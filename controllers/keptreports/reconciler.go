package keptreports

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
)

var configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// Reconciler prunes the Reports that outlive their tests, one namespace at a time. It is safe for concurrent
// use.
//
//	kept Reports of a namespace ──▶ retention.Prune ──▶ the oldest are deleted, with one event
type Reconciler struct {
	client client.Client
	events events.EventRecorder
	policy retention.Policy
	clock  func() time.Time
}

// NewReconciler makes a reconciler that reads and writes through one client. A nil clock means time.Now.
func NewReconciler(c client.Client, recorder events.EventRecorder, policy retention.Policy,
	clock func() time.Time) *Reconciler {
	if clock == nil {
		clock = time.Now
	}
	return &Reconciler{client: c, events: recorder, policy: policy, clock: clock}
}

// SetupWithManager watches kept Reports, as metadata. The manager must have been made with caches.Options.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	ofNamespace := handler.EnqueueRequestsFromMapFunc(func(_ context.Context,
		report client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: report.GetNamespace()}}}
	})
	areKept := predicate.NewPredicateFuncs(func(o client.Object) bool { return manifests.IsKept(o) })
	return ctrl.NewControllerManagedBy(mgr).Named("kept-reports").
		WatchesMetadata(caches.MetadataOf(configMapKind), ofNamespace, builder.WithPredicates(areKept)).
		WithOptions(pass.ControllerOptions(1, nil)).
		Complete(pass.Orderly(r))
}

// Reconcile prunes a namespace, whose name is the request's.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	namespace := request.Name
	found, err := r.observe(ctx, namespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	now := r.clock()
	doomed, next := retention.Prune(found.reports, r.policy.LimitsOf(namespace), now)
	deleted, err := r.delete(ctx, found, doomed)
	r.recordEvent(found, deleted)
	if next.IsZero() || err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: max(next.Sub(now), time.Second)}, nil
}

// keptReports are a namespace's kept Reports in the cache.
type keptReports struct {
	reports []retention.Object
	objects map[string]*metav1.PartialObjectMetadata // by name
}

func (r *Reconciler) observe(ctx context.Context, namespace string) (keptReports, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(configMapKind.GroupVersion().WithKind("ConfigMapList"))
	err := r.client.List(ctx, list, client.InNamespace(namespace),
		client.MatchingLabels{v1alpha1.LabelRole: v1alpha1.RoleKeptReport})
	if err != nil {
		return keptReports{}, fmt.Errorf("list kept Reports: %w", err)
	}
	found := keptReports{objects: map[string]*metav1.PartialObjectMetadata{}}
	for i := range list.Items {
		object := &list.Items[i]
		if !manifests.IsKept(object) || object.DeletionTimestamp != nil {
			continue
		}
		object.SetGroupVersionKind(configMapKind)
		found.objects[object.Name] = object
		found.reports = append(found.reports, retention.Object{
			Name: object.Name, UID: string(object.UID), StoredAt: object.CreationTimestamp.Time,
			Pinned: object.Labels[v1alpha1.LabelPinned] == "true",
		})
	}
	return found, nil
}

// delete deletes the doomed Reports, and returns those that it deleted. A Report that a person pinned or
// replaced meanwhile stays.
func (r *Reconciler) delete(ctx context.Context, found keptReports,
	doomed []retention.Doomed) (deleted []retention.Doomed, err error) {
	for _, d := range doomed {
		object := found.objects[d.Name]
		preconditions := client.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion}
		if wrong := r.client.Delete(ctx, object.DeepCopy(), preconditions); wrong != nil {
			if wrong = pass.IgnoreGone(wrong); wrong != nil {
				err = errors.Join(err, fmt.Errorf("prune %s: %w", d.Name, wrong))
			}
			continue
		}
		ctrl.LoggerFrom(ctx).Info("pruned a kept report", "configMap", d.Name, "namespace", object.Namespace,
			"loadtest", object.Labels[v1alpha1.LabelTest], "keptSince", d.StoredAt, "why", d.Reason)
		deleted = append(deleted, d)
	}
	return deleted, err
}

// maxNamed is how many Reports an event names.
const maxNamed = 5

// recordEvent records one event for all Reports that a pass deleted, on the first of them.
func (r *Reconciler) recordEvent(found keptReports, deleted []retention.Doomed) {
	if len(deleted) == 0 {
		return
	}
	var names []string
	for _, d := range deleted[:min(len(deleted), maxNamed)] {
		names = append(names, d.Name+" ("+d.Reason+")")
	}
	if rest := len(deleted) - len(names); rest > 0 {
		names = append(names, fmt.Sprintf("and %d more", rest))
	}
	r.events.Eventf(found.objects[deleted[0].Name], nil, corev1.EventTypeNormal, v1alpha1.EventReportsPruned, "Prune",
		"%s", fmt.Sprintf("kept Reports deleted: %s; the label %s=true keeps one for good", strings.Join(names, ", "),
			v1alpha1.LabelPinned))
}
