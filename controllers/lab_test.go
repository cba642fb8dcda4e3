package controllers

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func node(change func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"intel.com/sriov": resource.MustParse("4")},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeDiskPressure}},
		Images:      []corev1.ContainerImage{{Names: []string{"registry.lab/trex:3.08"}}},
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
		draws  bool // the line, which wakes those whose turn changes
	}{
		"a heartbeat": {func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.Now() }, false, false},
		"an image":    {func(n *corev1.Node) { n.Status.Images = nil }, false, false},
		"a label":     {func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} }, false, true},
		"a taint":     {func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "a"}} }, false, true},
		"the same amount, written otherwise": {func(n *corev1.Node) {
			n.Status.Allocatable = corev1.ResourceList{"intel.com/sriov": resource.MustParse("4000m")}
		}, false, false},
		"not Ready": {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, true, false},
		"cordoned":  {func(n *corev1.Node) { n.Spec.Unschedulable = true }, true, false},
		"new device": {func(n *corev1.Node) {
			n.Status.Allocatable = corev1.ResourceList{"intel.com/sriov": resource.MustParse("8")}
		}, true, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			change := event.UpdateEvent{ObjectOld: node(nil), ObjectNew: node(c.change)}
			if got := nodeChanges().Update(change); got != c.wakes {
				t.Errorf("it wakes tests: %v", got)
			}
			if got := placeChanges().Update(change); got != (c.wakes || c.draws) {
				t.Errorf("the line is drawn: %v", got)
			}
		})
	}
}

func TestACachedNodeIsBriefAndSaysTheSame(t *testing.T) {
	whole := node(func(n *corev1.Node) { n.Spec.Unschedulable = true })
	cached, err := inBrief(whole)
	if err != nil {
		t.Fatal(err)
	}
	brief := cached.(*corev1.Node)
	if len(brief.Status.Images) > 0 || len(brief.Status.Conditions) != 1 {
		t.Errorf("it isn't brief: %+v", brief)
	}
	if nodeChanges().Update(event.UpdateEvent{ObjectOld: whole, ObjectNew: brief}) {
		t.Errorf("it says something else: %+v", nodeOf(brief))
	}
}

func TestWhatOfTheLabConcernsATest(t *testing.T) {
	said := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status}
	}
	onA := []v1alpha1.PodStatus{{Name: "imix-1-dut", Node: "a"}, {Name: "imix-1-generator-0"}}
	cases := map[string]struct {
		status v1alpha1.LoadTestStatus
		want   string
	}{
		"a new one":         {want: "waiting"},
		"one that waits":    {status: v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{said("Scheduled", "False")}}, want: "waiting"},
		"one half placed":   {status: v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{said("Scheduled", "False")}, Pods: onA}, want: "waiting node/a"},
		"one that measures": {status: v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{said("Scheduled", "True")}, Pods: onA}, want: "node/a"},
		"one that is over":  {status: v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{said("Complete", "True")}, Pods: onA}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(slices.Sorted(slices.Values(concerns(&v1alpha1.LoadTest{Status: c.status}))), " "); got != strings.Join(slices.Sorted(slices.Values(strings.Fields(c.want))), " ") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAnInjectorThatCountsDevicesTwiceIsTold(t *testing.T) {
	pod := func(devices string) *corev1.Pod {
		limits := corev1.ResourceList{"cpu": resource.MustParse("4"), "hugepages-1Gi": resource.MustParse("2Gi")}
		if devices != "" {
			limits["intel.com/sriov"] = resource.MustParse(devices)
		}
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "trex", Resources: corev1.ResourceRequirements{Limits: limits}}}}}
	}
	if got := changedDevices(pod("2"), pod("2")); got != "" {
		t.Errorf("nothing was changed, and it says %q", got)
	}
	for _, c := range [][2]string{{"2", "4"}, {"", "1"}} {
		if got := changedDevices(pod(c[0]), pod(c[1])); !strings.Contains(got, "intel.com/sriov") || !strings.Contains(got, "to "+c[1]) {
			t.Errorf("from %q to %q it says %q", c[0], c[1], got)
		}
	}
	t.Run("one that takes devices away too", func(t *testing.T) {
		if got := changedDevices(pod("2"), pod("")); !strings.Contains(got, "from 2 to 0") {
			t.Errorf("it says %q", got)
		}
	})
}
