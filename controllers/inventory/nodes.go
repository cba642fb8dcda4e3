package inventory

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// Nodes reads the cached nodes without copying them, since they are many, and nothing changes them.
func (i *Inventory) Nodes(ctx context.Context) ([]lifecycle.Node, error) {
	var list corev1.NodeList
	if err := i.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	nodes := make([]lifecycle.Node, 0, len(list.Items))
	for n := range list.Items {
		nodes = append(nodes, NodeOf(&list.Items[n]))
	}
	return nodes, nil
}

// NodeOf is the part of a node that decisions depend on.
func NodeOf(node *corev1.Node) lifecycle.Node {
	n := lifecycle.Node{Name: node.Name, Schedulable: !node.Spec.Unschedulable, Allocatable: node.Status.Allocatable}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			n.Ready = condition.Status == corev1.ConditionTrue
		}
	}
	return n
}

// NodeChanges lets through changes that a decision depends on. It drops heartbeats, images and addresses, which
// change all the time.
func NodeChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		old, isNode := e.ObjectOld.(*corev1.Node)
		updated, stillIs := e.ObjectNew.(*corev1.Node)
		return isNode && stillIs && !equality.Semantic.DeepEqual(NodeOf(old), NodeOf(updated))
	}}
}
