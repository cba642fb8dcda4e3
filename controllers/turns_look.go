package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	holds, given := holds{}, map[string]bool{}
	for i := range tests.Items {
		test := &tests.Items[i]
		s, err := l.standingOf(ctx, test, pods[test.UID])
		if err != nil {
			return lab, err
		}
		delete(pods, test.UID)
		if s.claims {
			lab.Claims = append(lab.Claims, s.claim)
		}
		lab.Held = append(lab.Held, s.held...)
		holds.add(s.claim.Test, s.has)
		if test.Status.GivenBack != nil {
			given[s.claim.Test] = true
		}
	}
	for _, orphans := range pods {
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

// pods are those of all tests, by the test's UID.
func (l *turns) pods(ctx context.Context) (map[types.UID][]*corev1.Pod, error) {
	var list corev1.PodList
	if err := l.reconciler.client.List(ctx, &list, client.HasLabels{v1alpha1.LabelUID}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := map[types.UID][]*corev1.Pod{}
	for i := range list.Items {
		uid := types.UID(list.Items[i].Labels[v1alpha1.LabelUID])
		if owner := metav1.GetControllerOf(&list.Items[i]); owner == nil || owner.UID != uid {
			continue // anybody may put our label on a pod of theirs: that is no test's
		}
		pods[uid] = append(pods[uid], &list.Items[i])
	}
	return pods, nil
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
