package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/queue"
)

// look reads the caches in place: nothing in them is changed. The caller has begun to draw.
func (l *turns) look(ctx context.Context, now time.Time) (queue.Lab, error) {
	lab := queue.Lab{Now: now}
	if err := l.lookAtNodes(ctx); err != nil {
		return lab, err
	}
	lab.Nodes = l.seen.queueNodes
	pods, err := l.pods(ctx)
	if err != nil {
		return lab, err
	}
	var tests v1alpha1.LoadTestList
	if err := l.reconciler.client.List(ctx, &tests, client.UnsafeDisableDeepCopy); err != nil {
		return lab, fmt.Errorf("list LoadTests: %w", err)
	}
	l.seen.keepOnly(tests.Items)
	holds, given, there := holds{}, map[string]bool{}, map[types.UID]bool{}
	for i := range tests.Items {
		test := &tests.Items[i]
		mine := ownerKey{test.Namespace, test.UID}
		s, err := l.standingOf(ctx, test, pods[mine])
		if err != nil {
			return lab, err
		}
		delete(pods, mine)
		there[test.UID] = true
		if s.claims {
			lab.Claims = append(lab.Claims, s.claim)
		}
		lab.Held = append(lab.Held, s.held...)
		holds.add(s.claim.Test, s.has)
		if test.Status.GivenBack != nil {
			given[s.claim.Test] = true
		}
	}
	for owner, orphans := range pods {
		if there[owner.uid] {
			continue // of another namespace than the test: no test has such pods
		}
		for _, h := range holdings(orphans) {
			lab.Held = append(lab.Held, h)
			holds.add(h.Test, h.Resources)
		}
	}
	l.seen.noteReleases(now, holds, given)
	lab.Released, lab.Where = l.seen.released, l.seen.where()
	return lab, nil
}

// lookAtNodes reads the nodes where any changed.
func (l *turns) lookAtNodes(ctx context.Context) error {
	if l.seen.nodes != nil && l.watched {
		return nil
	}
	nodes, err := l.reconciler.nodes(ctx)
	if err != nil {
		return err
	}
	l.seen.nodes, l.seen.queueNodes = nodes, lifecycle.QueueNodes(nodes)
	clear(l.seen.places)
	return nil
}

// ownerKey is a test by what no pod of another namespace shares with it.
type ownerKey struct {
	namespace string
	uid       types.UID
}

// pods are those of all tests, by the test: what bears a test's label, and has a LoadTest of that UID for its controller. Anybody may put our label on a
// pod of theirs: that is no test's.
func (l *turns) pods(ctx context.Context) (map[ownerKey][]*corev1.Pod, error) {
	var list corev1.PodList
	if err := l.reconciler.client.List(ctx, &list, client.HasLabels{v1alpha1.LabelUID}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := map[ownerKey][]*corev1.Pod{}
	for i := range list.Items {
		p := &list.Items[i]
		uid := types.UID(p.Labels[v1alpha1.LabelUID])
		if owner := metav1.GetControllerOf(p); owner == nil || owner.UID != uid || !isLoadTest(owner) {
			continue
		}
		key := ownerKey{p.Namespace, uid}
		pods[key] = append(pods[key], p)
	}
	return pods, nil
}

// isLoadTest says whether an owner is a LoadTest, as far as it says itself. Garbage collection removes what names one that isn't in its namespace.
func isLoadTest(owner *metav1.OwnerReference) bool {
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && group.Group == v1alpha1.GroupVersion.Group && owner.Kind == v1alpha1.LoadTestKind
}

// holdings are what pods have whose test is gone.
func holdings(pods []*corev1.Pod) (held []queue.Holding) {
	for _, p := range pods {
		if p.Spec.NodeName == "" || podEnded(p) {
			continue
		}
		if has := lifecycle.Resources(p); len(has) > 0 {
			held = append(held, queue.Holding{Test: p.Namespace + "/" + p.Labels[v1alpha1.LabelTest], Node: p.Spec.NodeName, Resources: has})
		}
	}
	return held
}

func podEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}
