package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// concerns are the test's values in indexLab; a test that is over has none.
func concerns(test *v1alpha1.LoadTest) []string {
	if meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		return nil
	}
	var values []string
	scheduled := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionScheduled)
	switch {
	case scheduled == nil || scheduled.Status != metav1.ConditionTrue && scheduled.Reason != v1alpha1.ReasonQueued:
		values = append(values, waitsForLab)
	case scheduled.Reason == v1alpha1.ReasonQueued:
		values = append(values, waitsInLine)
	}
	for _, pod := range test.Status.Pods {
		if pod.Node != "" {
			values = append(values, onNode(pod.Node))
		}
	}
	return values
}

func onNode(name string) string { return "node/" + name }

// testsOfNode are those that wait for the lab, and those that have pods on the node. Those in line are woken by it where their turn changes.
func (r *LoadTestReconciler) testsOfNode(ctx context.Context, node client.Object) []reconcile.Request {
	return append(r.testsConcernedBy(ctx, waitsForLab), r.testsConcernedBy(ctx, onNode(node.GetName()))...)
}

func (r *LoadTestReconciler) waitingTests(ctx context.Context, _ client.Object) []reconcile.Request {
	return append(r.testsConcernedBy(ctx, waitsForLab), r.testsConcernedBy(ctx, waitsInLine)...)
}

func (r *LoadTestReconciler) testsConcernedBy(ctx context.Context, value string) (requests []reconcile.Request) {
	var tests v1alpha1.LoadTestList
	if err := r.client.List(ctx, &tests, client.MatchingFields{indexLab: value}, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "the tests that a change of the lab concerns can't be listed", "concern", value)
		return nil
	}
	for i := range tests.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&tests.Items[i])})
	}
	return requests
}

// nodeChanges lets through what a decision depends on: not the heartbeats, images and addresses that change all the time.
func nodeChanges() predicate.Predicate {
	return changes(func(node *corev1.Node) lifecycle.Node {
		n := nodeOf(node)
		n.Labels, n.Taints = nil, nil // the line looks at these
		return n
	})
}

// placeChanges lets through what changes which pods a node has room for.
func placeChanges() predicate.Predicate { return changes(nodeOf) }

func changes(of func(*corev1.Node) lifecycle.Node) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isNode := e.ObjectOld.(*corev1.Node)
		after, stillIs := e.ObjectNew.(*corev1.Node)
		return isNode && stillIs && !equality.Semantic.DeepEqual(of(before), of(after))
	}}
}
