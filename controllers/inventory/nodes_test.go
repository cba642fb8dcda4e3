package inventory

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/linerate-dev/linerate/controllers/caches"
)

func node(change func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"intel.com/sriov": resource.MustParse("4")},
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
			{Type: corev1.NodeDiskPressure}},
		Images: []corev1.ContainerImage{{Names: []string{"registry.lab/trex:3.08"}}},
	}}
	if change != nil {
		change(n)
	}
	return n
}

func TestOnlyChangesOfANodeThatMatterWakeTests(t *testing.T) {
	cases := map[string]struct {
		change func(*corev1.Node)
		wakes  bool
	}{
		"a heartbeat": {func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.Now() }, false},
		"an image":    {func(n *corev1.Node) { n.Status.Images = nil }, false},
		"a label":     {func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} }, false},
		"a taint":     {func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "a"}} }, false},
		"the same amount, written otherwise": {func(n *corev1.Node) {
			n.Status.Allocatable = corev1.ResourceList{"intel.com/sriov": resource.MustParse("4000m")}
		}, false},
		"not Ready": {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, true},
		"cordoned":  {func(n *corev1.Node) { n.Spec.Unschedulable = true }, true},
		"new device": {func(n *corev1.Node) {
			n.Status.Allocatable = corev1.ResourceList{"intel.com/sriov": resource.MustParse("8")}
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			change := event.UpdateEvent{ObjectOld: node(nil), ObjectNew: node(c.change)}
			if got := NodeChanges().Update(change); got != c.wakes {
				t.Errorf("it wakes tests: %v", got)
			}
		})
	}
}

func TestACachedNodeIsBriefAndSaysTheSame(t *testing.T) {
	whole := node(func(n *corev1.Node) { n.Spec.Unschedulable = true })
	cached, err := caches.Options(nil, "linerate-system").DefaultTransform(whole.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	brief := cached.(*corev1.Node)
	if len(brief.Status.Images) > 0 || len(brief.Status.Conditions) != 1 {
		t.Errorf("it isn't brief: %+v", brief)
	}
	if NodeChanges().Update(event.UpdateEvent{ObjectOld: whole, ObjectNew: brief}) {
		t.Errorf("it says something else: %+v", NodeOf(brief))
	}
}
