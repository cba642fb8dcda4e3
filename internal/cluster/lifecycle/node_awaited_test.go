package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// onRacks is the Reference's test, whose generator asks for rack-1.
const onRacks = reference + "  generator: {engine: Software, placement: {nodes: {generator-0: rack-1}}}\n"

// offer is what a scheduler does while rack-1 takes no pods: the device has a node, and the generator has none.
func (w *world) offer() {
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.Labels[v1alpha1.LabelRole] != "generator" {
			if p.Spec.NodeName == "" {
				p.Spec.NodeName = "rack-2"
				set(p, corev1.PodScheduled, corev1.ConditionTrue, w.clock)
			}
			continue
		}
		set(p, corev1.PodScheduled, corev1.ConditionFalse, w.clock)
		c := &p.Status.Conditions[len(p.Status.Conditions)-1]
		c.Reason, c.Message = corev1.PodReasonUnschedulable, "0/2 nodes are available: 1 node(s) were unschedulable."
	}
}

// waitForRack lets time pass until the test is complete, and returns what Scheduled said on the way.
func (w *world) waitForRack(longest time.Duration) (messages string) {
	for end := w.clock.Add(longest); w.clock.Before(end); w.pass(20 * time.Second) {
		w.settle()
		w.offer()
		w.settle()
		if c := meta.FindStatusCondition(w.test.Status.Conditions, v1alpha1.ConditionScheduled); c != nil {
			messages += c.Message + "\n"
		}
		if meta.IsStatusConditionTrue(w.test.Status.Conditions, v1alpha1.ConditionComplete) {
			return messages
		}
	}
	return messages
}

func TestANodeThatTheSpecNamesIsAwaited(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*world)
		words   string
	}{
		"cordoned": {func(w *world) { w.inventory.Nodes[0].Schedulable = false },
			"pod first-1-generator-0 waits for node rack-1, which is cordoned: uncordon it (kubectl uncordon rack-1), or " +
				"create the LoadTest with another node"},
		"not Ready": {func(w *world) { w.inventory.Nodes[0].Ready = false }, "node rack-1, which isn't Ready: mend it"},
		"gone": {func(w *world) { w.inventory.Nodes = w.inventory.Nodes[1:] },
			"node rack-1, which the cluster doesn't have any more: bring it back"},
		"full": {func(*world) {}, "node rack-1, which doesn't take it: 0/2 nodes are available"},
		"of a suite": {func(w *world) {
			w.inventory.Nodes[0].Schedulable = false
			w.test.Labels = map[string]string{v1alpha1.LabelSuite: "night"}
		}, "node rack-1 (the first run of suite night was there), which is cordoned: uncordon it (kubectl uncordon " +
			"rack-1), or create the suite with placement.sameNodes: false"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, onRacks)
			c.prepare(w)
			began := w.clock
			messages := w.waitForRack(2 * time.Hour)
			if !strings.Contains(messages, c.words) {
				t.Errorf("it says\n%s, want %s", messages, c.words)
			}
			complete := meta.FindStatusCondition(w.test.Status.Conditions, v1alpha1.ConditionComplete)
			waited := w.clock.Sub(began)
			if complete == nil || complete.Reason != v1alpha1.ReasonSchedulingDeadline ||
				!strings.Contains(complete.Message, "awaited for 30m0s") || !strings.Contains(complete.Message, "rack-1") ||
				waited < 30*time.Minute || waited > 35*time.Minute {
				t.Errorf("after %s it is %+v", waited, complete)
			}
		})
	}
	t.Run("and the test goes on once the node takes pods", func(t *testing.T) {
		w := newWorld(t, onRacks)
		w.inventory.Nodes[0].Schedulable = false
		w.waitForRack(10 * time.Minute)
		if w.test.Status.Operator.NodeAwaitedTime == nil {
			t.Fatal("nothing says since when it waits")
		}
		w.inventory.Nodes = []lifecycle.Node{node("rack-1"), node("rack-2")}
		w.pass(time.Minute)
		r := w.toRun()
		if w.test.Status.Operator.NodeAwaitedTime != nil {
			t.Error("it still waits, though all pods have nodes")
		}
		w.finish(r, report.Completed)
		w.settle()
		if !meta.IsStatusConditionTrue(w.test.Status.Conditions, v1alpha1.ConditionComplete) {
			t.Errorf("it isn't complete: %+v", w.test.Status.Conditions)
		}
	})
}
