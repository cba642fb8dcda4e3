//go:build full

package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

// tidy is how long what is over may take to be gone: pods have a grace period, and a kubelet whose API server was away hears of a
// deletion up to a minute later.
const tidy = 90 * time.Second

// leavesNothing: of a test that is complete there is no pod and no Job left, all functions are at home, and of ConfigMaps only those that
// belong to the result.
func (p *play) leavesNothing(tests ...string) {
	p.Helper()
	p.await("everything to be given back", tidy, p.holdsNothing)
	maps, err := p.names(&corev1.ConfigMapList{})
	p.check(err)
	for _, m := range maps {
		if !belongs(m, tests) {
			p.Errorf("there is a %s", m)
		}
	}
}

// holdsNothing lists pods of tests that are over, and functions that aren't at home.
func (p *play) holdsNothing() (string, error) {
	pods, err := p.names(&corev1.PodList{})
	if err != nil || len(pods) > 0 {
		return strings.Join(pods, ", "), err
	}
	runs, err := p.runs()
	if err != nil || len(runs) > 0 {
		return strings.Join(runs, ", "), err
	}
	return away()
}

// runs are what the namespace's tests have in the operator's own.
func (p *play) runs() (all []string, err error) {
	for _, list := range []client.ObjectList{&corev1.PodList{}, &batchv1.JobList{}, &corev1.ConfigMapList{}} {
		names, err := listed(p.Context(), list, client.InNamespace(rig.Namespace), client.MatchingLabels{lineratev1alpha1.LabelNamespace: p.namespace})
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
	}
	return all, nil
}

// belongs says whether a ConfigMap may stay as long as its LoadTest.
func belongs(what string, tests []string) bool {
	for _, t := range tests {
		for _, of := range []string{"-report", "-1-links"} {
			if strings.HasSuffix(what, " "+t+of) {
				return true
			}
		}
	}
	return false
}

// away lists functions that aren't at home.
func away() (string, error) {
	devices, err := lab.Fabric.Away()
	var out []string
	for node, all := range devices {
		for _, d := range all {
			out = append(out, d.Interface+" of "+node)
		}
	}
	return strings.Join(out, ", "), err
}

// names are those of a list's objects in the namespace, but of what Kubernetes gives to every namespace.
func (p *play) names(list client.ObjectList) ([]string, error) {
	return listed(p.Context(), list, client.InNamespace(p.namespace))
}

func listed(ctx context.Context, list client.ObjectList, options ...client.ListOption) ([]string, error) {
	if err := lab.Client.List(ctx, list, options...); err != nil {
		return nil, err
	}
	var out []string
	err := meta.EachListItem(list, func(o runtime.Object) error {
		if name := o.(client.Object).GetName(); name != "kube-root-ca.crt" && name != "default" {
			out = append(out, fmt.Sprintf("%T %s", o, name))
		}
		return nil
	})
	return out, err
}

// deleteAll deletes the LoadTests, and waits until everything is gone with them.
func (p *play) deleteAll() {
	p.Helper()
	p.check(lab.Client.DeleteAllOf(p.Context(), &lineratev1alpha1.LoadTest{}, client.InNamespace(p.namespace)))
	p.await("all objects to go with their LoadTests", tidy, func() (string, error) {
		left, err := p.runs()
		if err != nil {
			return "", err
		}
		for _, list := range []client.ObjectList{
			&lineratev1alpha1.LoadTestList{}, &corev1.PodList{}, &corev1.ConfigMapList{}, &corev1.ServiceAccountList{}, &batchv1.JobList{},
			&rbacv1.RoleList{}, &rbacv1.RoleBindingList{},
		} {
			names, err := p.names(list)
			if err != nil {
				return "", err
			}
			left = append(left, names...)
		}
		return strings.Join(left, ", "), nil
	})
}

// whole waits until the lab is as it was: both nodes are Ready and offer all functions, and the operator is available.
func (p *play) whole() {
	p.Helper()
	p.await("the lab to be whole again", 3*time.Minute, func() (string, error) {
		var nodes corev1.NodeList
		if err := lab.Client.List(p.Context(), &nodes); err != nil {
			return "", err
		}
		for i := range nodes.Items {
			if missing := lacks(&nodes.Items[i]); missing != "" {
				return missing, nil
			}
		}
		var operator appsv1.Deployment
		err := lab.Client.Get(p.Context(), client.ObjectKey{Namespace: rig.Namespace, Name: "linerate"}, &operator)
		if err == nil && operator.Status.AvailableReplicas == 0 {
			return "the operator is not available", nil
		}
		return "", err
	})
}

// lacks says what a node is without; empty: nothing.
func lacks(n *corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return n.Name + " isn't Ready: " + c.Message
		}
	}
	for _, wire := range lab.Wires {
		resource := corev1.ResourceName(fabric.ResourceOf(wire))
		if offers := n.Status.Allocatable[resource]; offers.Value() != int64(lab.Functions) {
			return fmt.Sprintf("%s offers %v of %s", n.Name, offers.Value(), resource)
		}
	}
	return ""
}
