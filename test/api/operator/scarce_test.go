package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// scarce are nodes with few devices, and all who share them: labs whose tests want them, and a scheduler that gives none away twice.
type scarce struct {
	t        *testing.T
	resource corev1.ResourceName
	nodes    []string
	labs     []*lab
	// finished are the tests that the runners finished, in this order; slow ones aren't finished.
	finished []string
	slow     map[string]bool
}

// newScarce makes nodes with so many devices each. Each pod of a test of one of the labs wants two of them.
func newScarce(t *testing.T, devices []int64, labs ...*lab) *scarce {
	t.Helper()
	s := &scarce{t: t, resource: corev1.ResourceName("scarce.example/" + labs[0].namespace), labs: labs, slow: map[string]bool{}}
	for i, n := range devices {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", labs[0].namespace, i)}}
		labs[0].must(admin.Create(t.Context(), node))
		t.Cleanup(func() {
			if err := admin.Delete(context.Background(), node); err != nil {
				t.Error(err)
			}
		})
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Played"}}
		node.Status.Capacity = corev1.ResourceList{s.resource: *resource.NewQuantity(n, resource.DecimalSI)}
		node.Status.Allocatable = node.Status.Capacity
		labs[0].must(admin.Status().Update(t.Context(), node))
		s.nodes = append(s.nodes, node.Name)
	}
	for _, l := range labs {
		l.wire(l.namespace, "west", string(s.resource))
		l.wire(l.namespace, "east", string(s.resource))
	}
	return s
}

// play lets the rest of the cluster do its part once: the scheduler, the kubelets, the Job controller, and runners that finish at once.
func (s *scarce) play() {
	s.t.Helper()
	s.schedule()
	for _, l := range s.labs {
		l.start()
		l.runJobs()
		s.finish(l)
		l.reap()
		s.collect(l)
	}
}

// collect is the garbage collector: pods of tests that are gone go too.
func (s *scarce) collect(l *lab) {
	s.t.Helper()
	for _, pod := range l.pods() {
		owner := metav1.GetControllerOf(&pod)
		if owner == nil || owner.Kind != "LoadTest" {
			continue
		}
		var test v1alpha1.LoadTest
		if err := admin.Get(s.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: owner.Name}, &test); apierrors.IsNotFound(err) {
			l.must(client.IgnoreNotFound(admin.Delete(s.t.Context(), &pod, client.GracePeriodSeconds(0))))
		}
	}
}

// until plays until it is so.
func (s *scarce) until(what string, so func() bool) {
	s.t.Helper()
	s.labs[0].await(what, func() bool {
		s.play()
		return so()
	})
}

// schedule gives pods the first node that has the devices that they want, and says of the others that there is none.
func (s *scarce) schedule() {
	s.t.Helper()
	free := s.free()
	for _, l := range s.labs {
		for _, pod := range l.pods() {
			if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 {
				continue
			}
			wants, node := s.wants(&pod), nodeName
			if wants > 0 {
				node = ""
				for _, name := range slices.Sorted(maps.Keys(free)) {
					if free[name] >= wants && node == "" {
						node = name
					}
				}
			}
			if node == "" {
				s.refuse(l, &pod)
				continue
			}
			free[node] -= wants
			s.bind(l, &pod, node)
		}
	}
}

func (s *scarce) bind(l *lab, pod *corev1.Pod, node string) {
	s.t.Helper()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if err := admin.SubResource("binding").Create(s.t.Context(), pod, binding); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		l.t.Fatal(err)
	}
}

func (s *scarce) refuse(l *lab, pod *corev1.Pod) {
	s.t.Helper()
	if len(pod.Status.Conditions) > 0 {
		return
	}
	status := *pod.Status.DeepCopy()
	status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.Now(),
		Message: fmt.Sprintf("0/2 nodes are available: 2 Insufficient %s.", s.resource),
	}}
	l.setStatus(pod, status)
}

// free are the devices that no pod holds.
func (s *scarce) free() map[string]int64 {
	s.t.Helper()
	free := map[string]int64{}
	for _, name := range s.nodes {
		node := &corev1.Node{}
		s.labs[0].must(admin.Get(s.t.Context(), client.ObjectKey{Name: name}, node))
		n := node.Status.Allocatable[s.resource]
		free[name] = n.Value()
	}
	for _, l := range s.labs {
		for _, pod := range l.pods() {
			if _, ours := free[pod.Spec.NodeName]; ours && pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
				free[pod.Spec.NodeName] -= s.wants(&pod)
			}
		}
	}
	for name, n := range free {
		if n < 0 {
			s.t.Fatalf("node %s has %d devices less than its pods hold", name, -n)
		}
	}
	return free
}

func (s *scarce) wants(pod *corev1.Pod) (n int64) {
	for _, c := range pod.Spec.Containers {
		limit := c.Resources.Limits[s.resource]
		n += limit.Value()
	}
	return n
}

// finish is the runners: those that run write what they measured.
func (s *scarce) finish(l *lab) {
	s.t.Helper()
	running := map[string]bool{}
	for _, pod := range l.pods() {
		if pod.Labels[v1alpha1.LabelRole] == "runner" && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			running[pod.Labels[v1alpha1.LabelTest]] = true
		}
	}
	for name := range running {
		if s.slow[name] || slices.Contains(s.finished, name) {
			continue
		}
		r := l.runner(name, l.get(name).Status.Attempt)
		s.finished = append(s.finished, name)
		r.report(r.measured(), true)
	}
}

// stranger is a foreign pod that holds devices on a node.
func (s *scarce) stranger(node string, n int64) *corev1.Pod {
	s.t.Helper()
	l := s.labs[0]
	list := corev1.ResourceList{s.resource: *resource.NewQuantity(n, resource.DecimalSI)}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "stranger"},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "training", Image: "lab/training:1", Resources: corev1.ResourceRequirements{Limits: list, Requests: list},
		}}},
	}
	l.must(admin.Create(s.t.Context(), pod))
	return pod
}

// complete says whether tests were measured.
func (l *lab) complete(names ...string) bool {
	l.t.Helper()
	for _, name := range names {
		if c := meta.FindStatusCondition(l.get(name).Status.Conditions, "Complete"); c == nil || c.Reason != "Measured" || c.Status != metav1.ConditionTrue {
			return false
		}
	}
	return true
}

// message is what a condition says.
func (l *lab) message(name, kind string) string {
	l.t.Helper()
	if c := meta.FindStatusCondition(l.get(name).Status.Conditions, kind); c != nil {
		return c.Reason + ": " + c.Message
	}
	return ""
}

// awaitMessage waits until a condition's reason and message have a part.
func (l *lab) awaitMessage(name, kind, part string) {
	l.t.Helper()
	defer func() {
		if l.t.Failed() {
			l.t.Logf("status:\n%s", l.describe(name))
		}
	}()
	l.await(name+": "+part, func() bool { return strings.Contains(l.message(name, kind), part) })
}

// giveBack lets the time pass in which a test's pods may be without nodes. They are given back, and the time in which others go first stands still:
// it ends by goOn, however slow the machine is.
func (l *lab) giveBack(name string) {
	l.t.Helper()
	l.clock.advance(3 * time.Minute)
	l.touch(name)
	l.awaitMessage(name, "Scheduled", "GivenBack: ")
	l.clock.advance(-3 * time.Minute)
}

// touch wakes the operator for a test: its clock was moved, and what it waits for is measured by another.
func (l *lab) touch(name string) {
	l.t.Helper()
	test := l.get(name)
	patch := client.MergeFrom(test.DeepCopy())
	test.Annotations = map[string]string{"linerate.dev/looked-at": l.clock.now().String()} // of annotations that aren't linerate's the operator sees nothing
	l.must(admin.Patch(l.t.Context(), test, patch))
}

// goOn ends the time in which a test lets others go first.
func (l *lab) goOn(name string) {
	l.t.Helper()
	l.await("its time to be over", func() bool {
		test := l.get(name)
		patch := client.MergeFromWithOptions(test.DeepCopy(), client.MergeFromWithOptimisticLock{})
		test.Status.Operator.GivenBack.LastTime, test.Status.Operator.GivenBack.RetryTime = metav1.Now(), metav1.Now()
		return admin.Status().Patch(l.t.Context(), test, patch) == nil
	})
}
