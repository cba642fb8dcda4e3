package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// lab looks at what the cluster has; a test that is over needs nothing of it.
func (r *LoadTestReconciler) lab(ctx context.Context, test *v1alpha1.LoadTest) (lifecycle.Lab, error) {
	if meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		return lifecycle.Lab{}, nil
	}
	nodes, err := r.nodes(ctx)
	if err != nil {
		return lifecycle.Lab{}, err
	}
	lab, err := r.networksOf(ctx, test)
	if errors.Is(err, errNetworks) && !placing(test) {
		err = nil
	}
	lab.Nodes = nodes
	return lab, err
}

// networksOf is what of the lab the test's links name.
func (r *LoadTestReconciler) networksOf(ctx context.Context, test *v1alpha1.LoadTest) (lab lifecycle.Lab, err error) {
	keys, own := r.memory.networksOf(test)
	lab.Faults = r.outOfBounds(test.Namespace, slices.Concat(own, keys))
	if len(keys) == 0 {
		return lab, nil
	}
	lab.Multus, err = r.networks.known(ctx)
	if err == nil && lab.Multus {
		err = r.lookAtNetworks(ctx, keys, &lab)
	}
	return lab, err
}

// placing says whether pods may have to be made from networks. A test that runs, is to stop or to let go needs none of them: it doesn't wait until
// they are listed, which may take for ever where they can't be.
func placing(test *v1alpha1.LoadTest) bool {
	return test.Status.StartedAt == nil && !test.Spec.Stop && !test.Spec.Suspend
}

// networkKeys are the networks that the test's links name, and those that its templates have of their own; none where it is refused for
// another reason anyway.
func networkKeys(test *v1alpha1.LoadTest) (keys, own []compile.NetworkKey) {
	compiled, errs := compile.ForCluster(test)
	if len(errs) > 0 {
		return nil, nil
	}
	for _, link := range compiled.Networks {
		for _, key := range []compile.NetworkKey{link.Generator, link.DUT} {
			if key.Name != "" {
				keys = append(keys, key)
			}
		}
	}
	return keys, compiled.OwnNetworks
}

// outOfBounds says of which networks a test may not make use: a network leads to somebody's wires, and namespaces keep tenants apart.
func (r *LoadTestReconciler) outOfBounds(namespace string, keys []compile.NetworkKey) map[compile.NetworkKey]string {
	shared, faults := r.options.NetworkNamespaces, map[compile.NetworkKey]string{}
	for _, key := range keys {
		if key.Namespace != namespace && !slices.Contains(shared, "*") && !slices.Contains(shared, key.Namespace) {
			faults[key] = fmt.Sprintf("tests of namespace %s may use networks of %s only: use one of those, or have an administrator add %s to the chart's allowedNetworkNamespaces (the operator's option --network-namespaces)",
				namespace, strings.Join(slices.Concat([]string{namespace}, shared), ", "), key.Namespace)
		}
	}
	return faults
}

func (r *LoadTestReconciler) lookAtNetworks(ctx context.Context, keys []compile.NetworkKey, lab *lifecycle.Lab) error {
	lab.Networks = map[compile.NetworkKey]manifests.Network{}
	for _, key := range keys {
		if lab.Faults[key] != "" {
			continue
		}
		if !r.looksAfter(key.Namespace) {
			lab.Faults[key] = fmt.Sprintf("the operator sees the namespaces %s only (its option --namespaces), and the network is in %s",
				strings.Join(r.options.Namespaces, ", "), key.Namespace)
			continue
		}
		definition, err := r.networks.get(ctx, key)
		if err != nil {
			return fmt.Errorf("get network %s: %w", key, err)
		}
		if definition == nil {
			continue
		}
		config, _, err := unstructured.NestedString(definition.Object, "spec", "config")
		if err != nil { // its schema makes it a text
			return err
		}
		network, err := manifests.ReadNetwork(key, definition.GetAnnotations(), config)
		if err != nil {
			lab.Faults[key] = err.Error()
			continue
		}
		lab.Networks[key] = network
	}
	return nil
}

// looksAfter says whether what is in a namespace can be seen.
func (r *LoadTestReconciler) looksAfter(namespace string) bool {
	return len(r.options.Namespaces) == 0 || slices.Contains(r.options.Namespaces, namespace)
}

// nodes reads the cached nodes in place: they are many, and nothing in them is changed.
func (r *LoadTestReconciler) nodes(ctx context.Context) ([]lifecycle.Node, error) {
	var list corev1.NodeList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	nodes := make([]lifecycle.Node, 0, len(list.Items))
	for i := range list.Items {
		nodes = append(nodes, nodeOf(&list.Items[i]))
	}
	return nodes, nil
}

// nodeOf is what matters of a node.
func nodeOf(node *corev1.Node) lifecycle.Node {
	n := lifecycle.Node{Name: node.Name, Schedulable: !node.Spec.Unschedulable, Allocatable: node.Status.Allocatable, Labels: node.Labels, Taints: node.Spec.Taints}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			n.Ready = condition.Status == corev1.ConditionTrue
		}
	}
	return n
}
