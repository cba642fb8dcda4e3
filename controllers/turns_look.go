package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/queue"
)

// look reads the caches in place: nothing in them is changed.
func (l *turns) look(ctx context.Context, now time.Time) (queue.Lab, error) {
	lab := queue.Lab{Now: now}
	nodes, err := l.reconciler.nodes(ctx)
	if err != nil {
		return lab, err
	}
	lab.Nodes = lifecycle.QueueNodes(nodes)
	pods, err := l.pods(ctx)
	if err != nil {
		return lab, err
	}
	var tests v1alpha1.LoadTestList
	if err := l.reconciler.client.List(ctx, &tests, client.UnsafeDisableDeepCopy); err != nil {
		return lab, fmt.Errorf("list LoadTests: %w", err)
	}
	given := map[string]bool{}
	for i := range tests.Items {
		test := &tests.Items[i]
		o := lifecycle.Observed{Test: test, Children: lifecycle.Children{Pods: pods[test.UID]}, Settings: l.reconciler.options.Settings}
		delete(pods, test.UID)
		stands, err := l.standing(ctx, o)
		if err != nil {
			return lab, err
		}
		if stands.claims {
			lab.Claims = append(lab.Claims, stands.claim)
		}
		lab.Held = append(lab.Held, stands.held...)
		given[stands.claim.Test] = test.Status.GivenBack != nil
	}
	l.forgetOthers(tests.Items)
	for _, orphans := range pods {
		lab.Held = append(lab.Held, holdings(orphans)...)
	}
	l.noteReleases(&lab, given)
	lab.Released = maps.Clone(l.released)
	return lab, nil
}

// stand is how a test stands in line, as it and its pods were in these versions.
type stand struct {
	versions string
	claim    queue.Claim
	held     []queue.Holding
	claims   bool
}

// standing is how a test stands, found out once for each version of it and of its pods.
func (l *turns) standing(ctx context.Context, o lifecycle.Observed) (stand, error) {
	versions := versionsOf(o)
	if known, ok := l.stands[o.Test.UID]; ok && known.versions == versions && l.watched {
		return known, nil
	}
	now := stand{versions: versions}
	now.claim, now.held, now.claims = lifecycle.Claim(o, nil)
	if now.claims {
		wants, err := l.wantsOf(ctx, o)
		if err != nil {
			return now, err
		}
		now.claim, now.held, _ = lifecycle.Claim(o, wants)
	}
	l.stands[o.Test.UID] = now
	return now, nil
}

// versionsOf names a test and its pods as they were read, in whatever order.
func versionsOf(o lifecycle.Observed) string {
	versions := make([]string, 0, 1+len(o.Children.Pods))
	for i := range o.Children.Pods {
		versions = append(versions, string(o.Children.Pods[i].UID)+"="+o.Children.Pods[i].ResourceVersion)
	}
	slices.Sort(versions)
	return strings.Join(append(versions, o.Test.ResourceVersion), " ")
}

// pods are those of all tests, by the test's UID.
func (l *turns) pods(ctx context.Context) (map[types.UID][]corev1.Pod, error) {
	var list corev1.PodList
	if err := l.reconciler.client.List(ctx, &list, client.HasLabels{v1alpha1.LabelUID}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := map[types.UID][]corev1.Pod{}
	for i := range list.Items {
		uid := types.UID(list.Items[i].Labels[v1alpha1.LabelUID])
		pods[uid] = append(pods[uid], list.Items[i])
	}
	return pods, nil
}

// holdings are the devices of pods whose test is gone.
func holdings(pods []corev1.Pod) (held []queue.Holding) {
	for i := range pods {
		p := &pods[i]
		if p.Spec.NodeName == "" || podEnded(p) {
			continue
		}
		d := queue.Devices{}
		for name, n := range devices(p) {
			d[string(name)] = n
		}
		if len(d) > 0 {
			held = append(held, queue.Holding{Test: p.Namespace + "/" + p.Labels[v1alpha1.LabelTest], Node: p.Spec.NodeName, Devices: d})
		}
	}
	return held
}

func podEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// noteReleases notes of which resources a test let devices go since the line was drawn last. What a test gave back that found no nodes
// doesn't count: it would be its own turn at once.
func (l *turns) noteReleases(lab *queue.Lab, given map[string]bool) {
	holds := map[string]queue.Devices{}
	add := func(test string, d queue.Devices) {
		if holds[test] == nil {
			holds[test] = queue.Devices{}
		}
		for name, n := range d {
			holds[test][name] += n
		}
	}
	for _, h := range lab.Held {
		add(h.Test, h.Devices)
	}
	for _, c := range lab.Claims {
		for _, p := range c.Pods {
			if p.Node != "" {
				add(c.Test, p.Devices)
			}
		}
	}
	for test, before := range l.holds {
		for name, n := range before {
			if holds[test][name] < n && !given[test] {
				l.released[name] = lab.Now.Add(time.Second) // a status has no fractions of seconds: later than any pods that were given back by now
			}
		}
	}
	l.holds = holds
}

// wantsOf is what a test wants, found out once for each attempt.
func (l *turns) wantsOf(ctx context.Context, o lifecycle.Observed) ([]lifecycle.Want, error) {
	attempt := lifecycle.Attempt(o)
	if known, ok := l.wants[o.Test.UID]; ok && known.attempt == attempt && l.watched {
		return known.pods, nil
	}
	lab, err := l.reconciler.networksOf(ctx, o.Test)
	if err != nil {
		return nil, err
	}
	o.Lab = lab
	pods := lifecycle.Wants(o)
	l.wants[o.Test.UID] = wanted{attempt, pods}
	return pods, nil
}

// forgetOthers forgets what tests wanted that are gone.
func (l *turns) forgetOthers(tests []v1alpha1.LoadTest) {
	if len(l.stands) <= 2*len(tests) {
		return
	}
	there := map[types.UID]bool{}
	for i := range tests {
		there[tests[i].UID] = true
	}
	maps.DeleteFunc(l.wants, func(uid types.UID, _ wanted) bool { return !there[uid] })
	maps.DeleteFunc(l.stands, func(uid types.UID, _ stand) bool { return !there[uid] })
}
