package operator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestTwoTestsThatWantTheSameFourDevicesBothFinish(t *testing.T) {
	l := newLab(t)
	s := newScarce(t, []int64{4}, l)
	l.manage(nil, l.namespace)
	s.slow["a"] = true
	l.create(minimal("a"))
	s.until("a's run", func() bool { return strings.HasPrefix(l.message("a", "Complete"), "Running") })
	l.create(minimal("b"))
	l.awaitMessage("b", "Scheduled", fmt.Sprintf("Queued: 1st in line for %s: %s/a holds 4 of 4", s.resource, l.namespace))
	if got, want := l.get("b").Status.Summary, "1st in line for "+string(s.resource); got != want {
		t.Errorf("kubectl get shows %q, want %q", got, want)
	}
	for _, pod := range l.pods() {
		if pod.Labels[v1alpha1.LabelTest] == "b" {
			t.Errorf("b waits, and has the pod %s", pod.Name)
		}
	}
	s.slow["a"] = false
	s.until("both to end", func() bool { return l.complete("a", "b") })
	if got := l.get("b").Status.Summary; strings.Contains(got, "line for") {
		t.Errorf("b is measured, and kubectl get shows %q", got)
	}
}

func TestTenTestsFinishOldestFirst(t *testing.T) {
	l := newLab(t)
	s := newScarce(t, []int64{2, 2}, l)
	l.manage(nil, l.namespace)
	s.slow["t0"] = true
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("t%d", i))
		l.create(minimal(names[i]))
	}
	l.awaitMessage("t9", "Scheduled", "9th in line")
	s.slow["t0"] = false
	s.until("all to end", func() bool { return l.complete(names...) })
	if !slices.Equal(s.finished, names) {
		t.Errorf("they finished in the order %v", s.finished)
	}
}

// A foreign pod holds devices that half of a test's pods need. The test gives its devices back, and continues by itself when the pod is gone.
func TestATestGoesOnWhenAForeignPodFreesItsDevice(t *testing.T) {
	l := newLab(t)
	s := newScarce(t, []int64{4}, l)
	l.manage(nil, l.namespace)
	stranger := s.stranger(s.nodes[0], 2)
	l.create(minimal("a"))
	s.until("half of it to be placed", func() bool { return strings.HasPrefix(l.message("a", "Scheduled"), "Unschedulable") })
	l.giveBack("a")
	s.until("its pods to be gone", func() bool {
		return strings.HasPrefix(l.message("a", "Scheduled"), "GivenBack: its pods were given back")
	})
	if back := l.get("a").Status.Operator.GivenBack; back == nil || back.Times != 1 || !back.RetryTime.After(back.LastTime.Time) {
		t.Errorf("status.givenBack is %+v", back)
	}
	if free := s.free()[s.nodes[0]]; free != 2 {
		t.Errorf("%d devices are free while others go first", free)
	}
	l.goOn("a")
	s.until("the second attempt", func() bool { // whichever of the two pods the stranger leaves devices for
		told := l.message("a", "Scheduled")
		return strings.Contains(told, "a-2-generator-0 finds no node") || strings.Contains(told, "a-2-dut finds no node")
	})
	l.must(admin.Delete(t.Context(), stranger, client.GracePeriodSeconds(0)))
	s.until("its end", func() bool { return l.complete("a") })
	if back := l.get("a").Status.Operator.GivenBack; back != nil {
		t.Errorf("it is measured, and status.givenBack is %+v", back)
	}
}

func TestWhoIsDeletedOrSuspendedFreesItsPlace(t *testing.T) {
	l := newLab(t)
	s := newScarce(t, []int64{4}, l)
	l.manage(nil, l.namespace)
	s.slow["a"] = true
	l.create(minimal("a"))
	s.until("a's run", func() bool { return strings.HasPrefix(l.message("a", "Complete"), "Running") })
	for _, name := range []string{"b", "c", "d"} {
		l.create(minimal(name))
	}
	l.awaitMessage("d", "Scheduled", "3rd in line")
	l.must(admin.Delete(t.Context(), l.get("b")))
	l.awaitMessage("d", "Scheduled", "2nd in line")
	l.change("c", func(test *v1alpha1.LoadTest) { test.Spec.Suspend = true })
	l.awaitMessage("d", "Scheduled", "1st in line")
	l.must(admin.Delete(t.Context(), l.get("a")))
	s.until("d's end", func() bool { return l.complete("d") })
	l.change("c", func(test *v1alpha1.LoadTest) { test.Spec.Suspend = false })
	s.until("c's end", func() bool { return l.complete("c") })
}

// Operators of two namespaces know nothing of one another: each starts a test, and each test gets half of what both want.
func TestTwoTestsThatAreHalfPlacedBothFinish(t *testing.T) {
	s := newScarce(t, []int64{2, 2}, newLab(t), newLab(t))
	names := []string{"a", "b"}
	for i, l := range s.labs {
		l.manage(nil, l.namespace)
		l.create(minimal(names[i]))
		l.await("pods", func() bool { return len(l.pods()) == 2 })
		s.bind(l, l.pod("dut"), s.nodes[i])
	}
	s.schedule()
	for i, l := range s.labs {
		l.awaitMessage(names[i], "Scheduled", "Unschedulable")
		l.giveBack(names[i])
	}
	for _, l := range s.labs {
		l.await("its pods to be gone", func() bool { l.reap(); return len(l.pods()) == 0 })
	}
	for i, l := range s.labs { // each when its delay is over
		l.goOn(names[i])
		s.until("its end", func() bool { return l.complete(names[i]) })
	}
}

// What one test could never have, what it wants of other devices, and what is left over: none of that keeps a younger test waiting.
func TestATestDoesNotWaitForDevicesThatAnOlderTestCannotGet(t *testing.T) {
	l := newLab(t)
	s := newScarce(t, []int64{4}, l)
	l.manage(nil, l.namespace)
	l.create(minimal("a", func(test *v1alpha1.LoadTest) {
		test.Spec.Generator.Engine, test.Spec.Generator.Replicas = v1alpha1.EngineSoftware, 4
	}))
	l.awaitCondition("a", "Scheduled=False ResourceMissing")
	l.create(minimal("b"))
	s.until("b's end", func() bool { return l.complete("b") })
	l.want("a", "Scheduled=False ResourceMissing")
	node := &corev1.Node{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Name: s.nodes[0]}, node))
	node.Status.Capacity[s.resource] = resource.MustParse("10")
	node.Status.Allocatable[s.resource] = resource.MustParse("10")
	l.must(admin.Status().Update(t.Context(), node))
	s.until("a's end", func() bool { return l.complete("a") })
}

// A restarted operator computes the same line, and writes nothing.
func TestARestartChangesNothingInLine(t *testing.T) {
	l := newLab(t)
	s := newScarce(t, []int64{4}, l)
	stop := l.manage(nil, l.namespace)
	s.slow["a"] = true
	l.create(minimal("a"))
	s.until("a's run", func() bool { return strings.HasPrefix(l.message("a", "Complete"), "Running") })
	l.create(minimal("b"))
	l.create(minimal("c"))
	l.awaitMessage("b", "Scheduled", "1st in line") // two passes at once: c's may end before b's
	l.awaitMessage("c", "Scheduled", "2nd in line")
	stop()
	before := []string{l.get("b").ResourceVersion, l.get("c").ResourceVersion}
	l.asked.take()
	l.manage(nil, l.namespace)
	l.create(minimal("d")) // it is looked at after the others, as all are listed at the start
	l.awaitMessage("d", "Scheduled", "3rd in line")
	if after := []string{l.get("b").ResourceVersion, l.get("c").ResourceVersion}; !slices.Equal(before, after) {
		t.Errorf("b and c were written: %v, before %v\n%s", after, before, l.asked.take())
	}
	s.slow["a"] = false
	s.until("all to end", func() bool { return l.complete("a", "b", "c", "d") })
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(s.finished, want) {
		t.Errorf("they finished in the order %v", s.finished)
	}
}
