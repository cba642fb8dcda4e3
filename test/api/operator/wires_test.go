package operator

import (
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/loadtest"
)

// looped is a test without a device, on virtual functions: its generator has one on each of two physical ports.
func looped(name string, options ...func(*v1alpha1.LoadTest)) *v1alpha1.LoadTest {
	return minimal(name, append(options, func(test *v1alpha1.LoadTest) { test.Spec.DUT.Type = v1alpha1.DUTLoopback })...)
}

// onPorts lets pods get virtual functions of these physical ports; the lab's name is in the port's, as all labs share a node.
func (l *lab) onPorts(west, east string) {
	l.physical = map[string]string{"west": l.namespace + "/" + west, "east": l.namespace + "/" + east}
}

// leases are the physical ports of this lab that a test holds, as "PORT TEST".
func (l *lab) leases() (held []string) {
	l.t.Helper()
	var leases coordinationv1.LeaseList
	l.must(admin.List(l.t.Context(), &leases, client.InNamespace(operatorNamespace), client.HasLabels{"linerate.dev/wire"}))
	for _, lease := range leases.Items {
		holder := strings.Split(*lease.Spec.HolderIdentity, "/")
		if port, mine := strings.CutPrefix(lease.Annotations["linerate.dev/port"], l.namespace+"/"); mine {
			held = append(held, port+" "+holder[1])
		}
	}
	slices.Sort(held)
	return held
}

func (l *lab) awaitLeases(want ...string) {
	l.t.Helper()
	l.await("ports "+strings.Join(want, ", "), func() bool { return slices.Equal(l.leases(), want) })
}

// ended plays the end of a runner, of its Job and, once they are asked to, of all pods of the test.
func (l *lab) ended(r *runner) {
	l.t.Helper()
	r.report(r.measured(), true)
	l.awaitCondition(r.test.Name, "Complete=True Measured")
	l.await("the pods of "+r.test.Name+" to be asked to end", func() bool {
		l.reap()
		return !slices.ContainsFunc(l.pods(), func(p corev1.Pod) bool { return p.Labels[v1alpha1.LabelTest] == r.test.Name })
	})
}

// Two tests whose generators are on virtual functions of one physical port never run at once, also over a restart of the operator; when the first
// is over the second begins by itself. One on another port runs beside them.
func TestTwoTestsAreNeverOnOnePort(t *testing.T) {
	l := newLab(t)
	l.wires(looped("any"))
	stop := l.manage(nil, l.namespace)
	l.onPorts("p0", "p1")
	l.create(looped("first"))
	l.awaitGenerator("first")
	l.schedule()
	l.start()
	l.awaitCondition("first", "Complete=False Running")
	l.awaitLeases("p0 first", "p1 first")

	l.onPorts("p2", "p1")
	l.create(looped("second"))
	l.awaitGenerator("second")
	l.schedule()
	l.start()
	l.awaitCondition("second", "Scheduled=False PortHeld")
	message := l.want("second", "Scheduled=False PortHeld")
	for _, says := range []string{"port " + l.namespace + "/p1 of node " + nodeName, l.namespace + "/first", "linerate-system/linerate-wire-", "stop it"} {
		if !strings.Contains(message, says) {
			t.Errorf("the message doesn't say %q: %s", says, message)
		}
	}

	l.onPorts("p3", "p4")
	l.create(looped("apart"))
	l.awaitGenerator("apart")
	l.schedule()
	l.start()
	l.awaitCondition("apart", "Complete=False Running")

	stop()
	l.manage(nil, l.namespace)
	l.create(looped("after")) // once this one is looked at the operator has seen all of them again
	l.awaitCondition("after", "Scheduled=False Pending")
	l.want("second", "Scheduled=False PortHeld")
	l.awaitLeases("p0 first", "p1 first", "p3 apart", "p4 apart")

	l.await("the runner's Job", func() bool { return l.hasJob("first") })
	if l.hasJob("second") {
		t.Error("the second has a runner")
	}
	l.runJobs()
	l.schedule()
	l.ended(l.runner("first", 1))
	l.awaitCondition("second", "Complete=False Running")
	l.awaitLeases("p1 second", "p2 second", "p3 apart", "p4 apart")
	if attempt := l.get("second").Status.Attempt; attempt != 1 {
		t.Errorf("its pods were made anew: attempt %d", attempt)
	}
}

// awaitGenerator waits until the generator's pod of a test is made.
func (l *lab) awaitGenerator(name string) {
	l.t.Helper()
	l.await("the generator of "+name, func() bool {
		return slices.ContainsFunc(l.pods(), func(p corev1.Pod) bool { return p.Labels[v1alpha1.LabelTest] == name })
	})
}

func (l *lab) hasJob(name string) bool {
	l.t.Helper()
	for _, job := range l.jobs() {
		if job.Labels[v1alpha1.LabelTest] == name {
			return true
		}
	}
	return false
}

// onItsWires brings a test to where its runner is made, pass by pass.
func (l *lab) onItsWires(test *v1alpha1.LoadTest) {
	l.t.Helper()
	l.create(test)
	l.settle(test.Name)
	l.schedule()
	l.start()
	l.settle(test.Name)
}

// A test that waits for long gives its pods back, and makes them anew when the port is free.
func TestPodsWaitForAPortForABoundedTime(t *testing.T) {
	l := newLab(t)
	l.wires(looped("any"))
	l.forgetful = true
	l.onPorts("p0", "p1")
	l.onItsWires(looped("first"))
	l.onItsWires(looped("second"))
	l.want("second", "Scheduled=False PortHeld")
	l.clock.advance(2 * time.Minute)
	for range 3 {
		l.settle("second")
		l.reap()
	}
	message := l.want("second", "Scheduled=False PortHeld")
	status := l.get("second").Status
	if status.Attempt != 2 || len(status.Operator.AwaitedPorts) != 2 || !strings.Contains(message, "holds no pods") {
		t.Errorf("it should wait without pods; status:\n%s", l.describe("second"))
	}
	l.holdsNothing("second")
	l.runJobs()
	r := l.runner("first", 1)
	r.report(r.measured(), true)
	l.finish("first", true)
	l.want("first", "Complete=True Measured")
	l.settle("second")
	l.schedule()
	l.start()
	l.settle("second")
	l.want("second", "Scheduled=True AllScheduled", "Complete=False Running")
	if held := l.leases(); !slices.Equal(held, []string{"p0 second", "p1 second"}) {
		t.Errorf("held are %v", held)
	}
	if ports := l.get("second").Status.Operator.AwaitedPorts; len(ports) > 0 {
		t.Errorf("it still waits for %v", ports)
	}
}

// However a test ends it gives its ports back, and not before its generators are gone.
func TestPortsAreGivenBack(t *testing.T) {
	for name, end := range map[string]func(l *lab, r *runner){
		"measured":  func(_ *lab, r *runner) { r.report(r.measured(), true) },
		"stopped":   func(l *lab, _ *runner) { l.change("it", func(test *v1alpha1.LoadTest) { test.Spec.Stop = true }) },
		"suspended": func(l *lab, _ *runner) { l.change("it", func(test *v1alpha1.LoadTest) { test.Spec.Suspend = true }) },
		"deleted":   func(l *lab, _ *runner) { l.must(admin.Delete(l.t.Context(), l.get("it"))) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.wires(looped("any"))
			l.forgetful = true
			l.onPorts("p0", "p1")
			l.onItsWires(looped("it"))
			l.runJobs()
			l.schedule()
			l.start()
			end(l, l.runner("it", 1))
			for range 6 {
				l.pass("it")
			}
			if held := l.leases(); len(held) != 2 {
				t.Errorf("its generator is still there, and of its ports are held %v", held)
			}
			for range 6 {
				l.collect("it")
				l.reap()
				l.pass("it")
			}
			if held := l.leases(); len(held) != 0 {
				t.Errorf("held are %v", held)
			}
		})
	}
}

// collect is the garbage collector: what a test left that is gone goes.
func (l *lab) collect(name string) {
	l.t.Helper()
	err := admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, &v1alpha1.LoadTest{})
	if !apierrors.IsNotFound(err) {
		l.must(err)
		return
	}
	for _, job := range l.jobs() {
		l.must(admin.Delete(l.t.Context(), &job, client.PropagationPolicy("Background")))
	}
	for _, pod := range l.pods() {
		l.must(admin.Delete(l.t.Context(), &pod))
	}
}

// A test that went while the operator was away left its Leases: who comes next takes them over and says so, and an operator that starts gives them back.
func TestLeasesOfDeadTests(t *testing.T) {
	die := func(t *testing.T) *lab {
		l := newLab(t)
		l.wires(looped("any"))
		l.onPorts("p0", "p1")
		l.onItsWires(looped("dead"))
		l.must(admin.Delete(t.Context(), l.get("dead")))
		l.collect("dead")
		l.reap()
		l.restart()
		if held := l.leases(); !slices.Equal(held, []string{"p0 dead", "p1 dead"}) {
			t.Fatalf("held are %v", held)
		}
		return l
	}
	t.Run("are taken over by the next test", func(t *testing.T) {
		l := die(t)
		l.onItsWires(looped("next"))
		l.want("next", "Complete=False Running")
		if held := l.leases(); !slices.Equal(held, []string{"p0 next", "p1 next"}) {
			t.Errorf("held are %v", held)
		}
		told := strings.Join(l.events.told, "\n")
		if !strings.Contains(told, "Warning PortHeld (runNeeded): port "+l.namespace+"/p0 of node "+nodeName+" was still held by LoadTest "+l.namespace+"/dead, which doesn't exist any more") {
			t.Errorf("the events are:\n%s", told)
		}
	})
	t.Run("are given back when the operator starts", func(t *testing.T) {
		l := die(t)
		l.manage(nil, l.namespace)
		l.awaitLeases()
	})
}

func TestTwoEndsOnOnePort(t *testing.T) {
	l := newLab(t)
	l.wires(looped("any"))
	l.forgetful = true
	l.onPorts("p0", "p0")
	l.onItsWires(looped("refused"))
	message := l.want("refused", "Complete=True SharedPort", "Stalled=True SharedPort")
	for _, says := range []string{"p0 of node " + nodeName, "link west of pod refused-1-generator-0", "link east of pod refused-1-generator-0", "spec.sharedPort: Allowed"} {
		if !strings.Contains(message, says) {
			t.Errorf("the message doesn't say %q: %s", says, message)
		}
	}
	l.reap()
	l.onItsWires(looped("allowed", func(test *v1alpha1.LoadTest) { test.Spec.SharedPort = v1alpha1.SharedPortAllowed }))
	l.want("allowed", "Complete=False Running")
	l.runJobs()
	l.schedule()
	l.start()
	r := l.runner("allowed", 1)
	if len(r.sites.SharedPorts) != 1 || !strings.Contains(r.sites.SharedPorts[0], "p0") {
		t.Fatalf("the runner gets %v", r.sites.SharedPorts)
	}
	document := r.measured()
	document.Answer.SharedPorts = r.sites.SharedPorts // as the runner does
	r.report(document, true)
	l.finish("allowed", true)
	l.want("allowed", "Complete=True Measured")
	if status := l.get("allowed").Status; status.Result == nil || !strings.Contains(status.Summary, "shared port") {
		t.Errorf("the result isn't marked:\n%s", l.describe("allowed"))
	}
}

// Two operators that look after different namespaces keep the Leases of physical ports in one: a test of one waits for a port that a test of the other is on, though
// it can't see that test. One that doesn't know where the others keep them gives its tests no devices, and says so.
func TestTwoOperatorsNeverPutTestsOnOnePort(t *testing.T) {
	operatorOf := func(guarded bool) *lab {
		l := newLab(t)
		l.wires(looped("any"))
		l.reconciler = loadtest.NewReconciler(l.operator, l.events, loadtest.Options{
			Settings: testSettings(), Namespace: operatorNamespace, PortLeases: operatorNamespace, PortsUnguarded: !guarded, Namespaces: []string{l.namespace},
			NetworkNamespaces: []string{"*"}, Bounds: testBounds(), Clock: l.clock.now,
		})
		return l
	}
	first, second, third := operatorOf(true), operatorOf(true), operatorOf(false)
	first.onPorts("p0", "p1")
	second.physical = first.physical
	first.onItsWires(looped("it"))
	first.want("it", "Complete=False Running")
	second.onItsWires(looped("it"))
	message := second.want("it", "Scheduled=False PortHeld")
	if !strings.Contains(message, "port "+first.namespace+"/p0 of node "+nodeName) || strings.Contains(message, first.namespace+"/it") {
		t.Errorf("it says %s", message)
	}
	first.must(admin.Delete(t.Context(), first.get("it")))
	first.collect("it")
	first.reap()
	first.pass("it")
	second.settle("it")
	second.want("it", "Complete=False Running")

	third.create(looped("it"))
	third.settle("it")
	if message := third.want("it", "Scheduled=False NetworkInvalid"); !strings.Contains(message, "physicalPorts.namespace") {
		t.Errorf("it says %s", message)
	}
}
