package turns

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// fullCaches has tests of which some run, with two pods that hold devices each, and the rest are complete; and 100
// nodes.
type fullCaches struct {
	client.Client
	tests []v1alpha1.LoadTest
	pods  []corev1.Pod
	nodes []corev1.Node
}

func (f *fullCaches) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *v1alpha1.LoadTestList:
		list.Items = f.tests
	case *corev1.PodList:
		list.Items = f.pods
	case *corev1.NodeList:
		list.Items = f.nodes
	}
	return nil
}

func newFullCaches(tests, running int) *fullCaches {
	f := &fullCaches{}
	devices := corev1.ResourceList{"lab.example/west": resource.MustParse("64"),
		"lab.example/east": resource.MustParse("64"), "cpu": resource.MustParse("64")}
	for i := range 100 {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
		node.Status.Allocatable = devices
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		f.nodes = append(f.nodes, node)
	}
	device := resource.MustParse("1")
	for i := range tests {
		test := v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: fmt.Sprintf("test-%d", i),
			UID: types.UID(fmt.Sprint(i)), ResourceVersion: fmt.Sprint(i + 1)}}
		for _, link := range []string{"west", "east"} {
			test.Spec.Links = append(test.Spec.Links, v1alpha1.LinkSpec{Name: v1alpha1.LinkName(link),
				Network: v1alpha1.NetworkName(link), LineRate: "1gbps"})
		}
		test.Status.StartTime = &metav1.Time{Time: time.Now()}
		if i >= running {
			test.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
				Reason: v1alpha1.ReasonMeasured}}
			f.tests = append(f.tests, test)
			continue
		}
		for _, role := range []string{"dut", "generator"} {
			pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: test.Name + "-1-" + role,
				UID: types.UID(test.Name + role), ResourceVersion: "1", Labels: map[string]string{
					v1alpha1.LabelUID: string(test.UID), v1alpha1.LabelTest: test.Name, v1alpha1.LabelRole: role,
					v1alpha1.LabelAttempt: "1",
				}}}
			pod.Spec.NodeName = fmt.Sprintf("node-%d", i%100)
			limits := corev1.ResourceList{"lab.example/west": device, "lab.example/east": device, "cpu": device}
			pod.Spec.Containers = []corev1.Container{{Name: role, Resources: corev1.ResourceRequirements{Limits: limits,
				Requests: limits}}}
			f.pods = append(f.pods, pod)
		}
		f.tests = append(f.tests, test)
	}
	return f
}

// BenchmarkDrawTheLine measures one drawing of the line, while so many tests run and the rest are complete. A
// pass of a test that is about to make pods waits for a drawing. A manager's caches list a little slower.
func BenchmarkDrawTheLine(b *testing.B) {
	for _, running := range []int{30, 360, 1000} {
		b.Run(fmt.Sprintf("%d of 1000 run", running), func(b *testing.B) {
			caches := newFullCaches(1000, running)
			line := New(caches, inventory.New(caches, inventory.Bounds{}), manifests.Settings{}, time.Now)
			line.watched = true
			if err := line.draw(b.Context(), nil, always); err != nil { // what tests want is found out once
				b.Fatal(err)
			}
			for b.Loop() {
				if err := line.draw(b.Context(), nil, always); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
