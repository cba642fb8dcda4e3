package operator

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// placed makes a lab with a test whose pods have nodes and run, as far as the runner's turn.
func placed(t *testing.T, name string, options ...func(*v1alpha1.LoadTest)) *lab {
	t.Helper()
	l := newLab(t)
	test := minimal(name, options...)
	l.wires(test)
	l.create(test)
	l.settle(name)
	l.schedule()
	l.start()
	l.settle(name)
	return l
}

// underway makes a lab with a test whose runner measures.
func underway(t *testing.T, name string, options ...func(*v1alpha1.LoadTest)) (*lab, *runner) {
	t.Helper()
	l := placed(t, name, options...)
	l.runJobs()
	l.schedule()
	l.start()
	r := l.runner(name, 1)
	r.tell("Ramping", 10)
	l.settle(name)
	return l, r
}

func TestStop(t *testing.T) {
	stop := func(test *v1alpha1.LoadTest) { test.Spec.Stop = true }
	t.Run("before there are pods none are made", func(t *testing.T) {
		l := newLab(t)
		l.create(minimal("stopped", stop))
		l.settle("stopped")
		l.want("stopped", "Complete=True Stopped")
		l.holdsNothing("stopped")
	})
	t.Run("while pods start they are given back", func(t *testing.T) {
		l := placed(t, "stopped")
		l.change("stopped", stop)
		l.settle("stopped")
		l.reap()
		l.settle("stopped")
		l.want("stopped", "Complete=True Stopped")
		l.holdsNothing("stopped")
	})
	t.Run("in the run the runner is asked, and its partial Report is kept", func(t *testing.T) {
		l, r := underway(t, "stopped")
		l.change("stopped", stop)
		l.settle("stopped")
		l.want("stopped", "Complete=False Stopped")
		if p := l.pod("runner"); p.DeletionTimestamp == nil || len(l.jobs()) != 0 {
			t.Fatalf("the runner's pod isn't asked to end, or its Job is still there")
		}
		r.report(r.interrupted(), false)
		l.reap()
		for range 3 {
			l.settle("stopped")
			l.reap()
		}
		l.want("stopped", "Complete=True Stopped", "Passed=Unknown NoCriteria")
		if l.get("stopped").Status.Report == nil {
			t.Error("the partial Report isn't referred to")
		}
		l.holdsNothing("stopped")
	})
}

func TestSuspend(t *testing.T) {
	l, _ := underway(t, "paused")
	l.forgetful = true
	l.change("paused", func(test *v1alpha1.LoadTest) { test.Spec.Suspend = true })
	for range 3 {
		l.settle("paused")
		l.reap()
	}
	l.want("paused", "Scheduled=False Suspended", "Complete=False Waiting")
	l.holdsNothing("paused")
	l.change("paused", func(test *v1alpha1.LoadTest) { test.Spec.Suspend = false })
	l.settle("paused")
	l.schedule()
	l.start()
	l.settle("paused")
	if status := l.get("paused").Status; status.Attempt != 2 || status.Operator.LostRuns != 1 {
		t.Errorf("attempt %d, %d lost runs; want the second attempt, and one lost run", status.Attempt, status.Operator.LostRuns)
	}
	l.measure("paused", 2)
}

// A test without pods of its own is suspended and resumed in seconds, by everybody who may change it. What its void attempts left would fill the store: it is in the operator's
// own namespace, in no tenant's quota.
func TestVoidAttemptsLeaveNothing(t *testing.T) {
	l := newLab(t)
	l.forgetful = true
	test := l.sample("loadtest_external_device.yaml")
	name := test.Name
	l.create(test)
	left := func() (names []string) {
		var documents corev1.ConfigMapList
		l.must(admin.List(t.Context(), &documents, client.InNamespace(operatorNamespace), l.runs()))
		for _, d := range documents.Items {
			names = append(names, d.Name)
		}
		for _, job := range l.jobs() {
			names = append(names, job.Name)
		}
		return names
	}
	suspend := func(to bool) { l.change(name, func(test *v1alpha1.LoadTest) { test.Spec.Suspend = to }) }
	for attempt := int32(1); attempt <= 3; attempt++ {
		l.settle(name)
		l.want(name, "Complete=False Running")
		l.runJobs()
		l.schedule()
		l.start()
		r := l.runner(name, attempt)
		r.tell("Ramping", 10)
		l.settle(name)
		suspend(true)
		l.settle(name)
		r.report(r.interrupted(), false) // with its last breath, after its Plan went
		for range 2 {
			l.reap()
			l.settle(name)
		}
		l.want(name, "Scheduled=False Suspended")
		if names := left(); len(names) > 0 {
			t.Fatalf("of attempt %d are left: %v", attempt, names)
		}
		suspend(false)
	}
	for range 10 {
		l.settle(name)
		suspend(true)
		l.pass(name)
		suspend(false)
		l.pass(name)
		if names := left(); len(names) > 3 {
			t.Fatalf("toggled without pause it has %v", names)
		}
	}
	l.settle(name)
	l.reap()
	test = l.get(name)
	if names := left(); test.Status.Attempt != 14 || !slices.Equal(names, []string{manifests.PlanName(test, 14), manifests.RunnerJobName(test, 14)}) {
		t.Errorf("of attempt %d there are %v", test.Status.Attempt, names)
	}
}

func TestDelete(t *testing.T) {
	l, _ := underway(t, "gone")
	l.must(admin.Delete(t.Context(), l.get("gone")))
	for range 3 {
		l.pass("gone")
		l.reap()
	}
	var documents corev1.ConfigMapList
	l.must(admin.List(t.Context(), &documents, client.InNamespace(operatorNamespace), l.runs()))
	if jobs := l.jobs(); len(documents.Items)+len(jobs) > 0 {
		t.Errorf("garbage collection deletes nothing in another namespace than the test's: %d documents and %d Jobs are left", len(documents.Items), len(jobs))
	}
	if wrote := l.asked.take().writes(); wrote.total() > 1 {
		t.Errorf("garbage collection does the rest, and the operator writes:\n%s", wrote)
	}
}

// A test that went while nobody looked, and one that has its name since: what the former's run left is cleared away, at the start of the next operator too.
func TestObjectsOfAnEarlierTestWithTheSameNameAreRemoved(t *testing.T) {
	l, _ := underway(t, "again")
	former := l.get("again")
	l.must(admin.Delete(t.Context(), former))
	for _, pod := range l.pods() { // the garbage collector's part
		if pod.Namespace == l.namespace {
			l.must(client.IgnoreNotFound(admin.Delete(t.Context(), &pod, client.GracePeriodSeconds(0))))
		}
	}
	var links corev1.ConfigMapList
	l.list(t.Context(), &links, client.HasLabels{v1alpha1.LabelUID})
	for i := range links.Items {
		l.must(admin.Delete(t.Context(), &links.Items[i]))
	}
	l.create(minimal("again"))
	l.restart()
	l.settle("again")
	l.reap()
	for _, job := range l.jobs() {
		t.Errorf("Job %s is left", job.Name)
	}
	l.schedule()
	l.start()
	l.settle("again")
	l.measure("again", 1)
}

func TestTimeToLive(t *testing.T) {
	l, r := underway(t, "brief", func(test *v1alpha1.LoadTest) { test.Spec.TTLAfterFinished = "1h" })
	r.report(r.measured(), true)
	l.finish("brief", true)
	l.want("brief", "Complete=True Measured")
	if after := l.settle("brief").RequeueAfter; after < 58*time.Minute || after > time.Hour+spread {
		t.Errorf("it is to be deleted in an hour, and is looked at again after %s", after)
	}
	l.clock.advance(time.Hour)
	l.pass("brief")
	err := admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "brief"}, &v1alpha1.LoadTest{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("its time to live is over: %v", err)
	}
	if result := l.pass("brief"); result.RequeueAfter != 0 {
		t.Error("what is gone is looked at again")
	}
}

// Flux would make it again, and it would load the network again: it stays, with its result, and what belongs to it goes.
func TestTimeToLiveOfATestThatIsTracked(t *testing.T) {
	l, r := underway(t, "tracked", func(test *v1alpha1.LoadTest) {
		test.Spec.TTLAfterFinished = "1h"
		test.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "lab"}
	})
	r.report(r.measured(), true)
	l.finish("tracked", true)
	l.clock.advance(time.Hour)
	l.settle("tracked")
	l.want("tracked", "Complete=True Measured")
	status := l.get("tracked").Status
	if status.Result == nil || status.Report == nil || status.Report.Digest == "" || !meta.IsStatusConditionPresentAndEqual(status.Conditions, v1alpha1.ConditionPublished, metav1.ConditionFalse) {
		t.Errorf("status:\n%s", l.describe("tracked"))
	}
	l.holdsNothing("tracked")
	var documents corev1.ConfigMapList
	l.list(t.Context(), &documents, client.MatchingLabels{v1alpha1.LabelTest: "tracked"})
	for _, left := range documents.Items {
		t.Errorf("ConfigMap %s is still there", left.Name)
	}
	if jobs := l.jobs(); len(jobs) > 0 {
		t.Errorf("%d Jobs are still there", len(jobs))
	}
}

// tornDown makes the device one that a teardown pod undoes something of.
func tornDown(test *v1alpha1.LoadTest) {
	spec := []byte(`{"containers": [{"name": "teardown", "image": "lab/teardown:1"}]}`)
	test.Spec.DUT = v1alpha1.DUTSpec{Type: v1alpha1.DUTDevice, Teardown: &v1alpha1.HookSpec{Template: v1alpha1.Freeform{"spec": apiextensionsv1.JSON{Raw: spec}}}}
}

func TestATestThatIsDeletedIsTornDownFirst(t *testing.T) {
	l, r := underway(t, "gone", tornDown)
	if got := l.get("gone").Finalizers; !slices.Equal(got, []string{v1alpha1.FinalizerTeardown}) {
		t.Fatalf("in its run it has the finalizers %q", got)
	}
	l.must(admin.Delete(t.Context(), l.get("gone")))
	l.settle("gone")
	l.want("gone", "Complete=False Stopped")
	r.report(r.interrupted(), false)
	for range 3 {
		l.reap()
		l.settle("gone")
	}
	l.pod("teardown")
	l.schedule()
	l.start("teardown")
	for range 3 {
		l.pass("gone")
	}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "gone"}, &v1alpha1.LoadTest{}); !apierrors.IsNotFound(err) {
		t.Errorf("its device is torn down, and it is still there (%v):\n%s", err, l.describe("gone"))
	}
}

func TestATestIsKeptOnlyWhileItsTeardownIsPending(t *testing.T) {
	t.Run("not before anything is made", func(t *testing.T) {
		l := newLab(t)
		l.create(minimal("waiting", tornDown))
		l.settle("waiting")
		if got := l.get("waiting").Finalizers; len(got) > 0 {
			t.Errorf("it has the finalizers %q", got)
		}
	})
	t.Run("not without a teardown", func(t *testing.T) {
		l, _ := underway(t, "plain")
		if got := l.get("plain").Finalizers; len(got) > 0 {
			t.Errorf("it has the finalizers %q", got)
		}
	})
	t.Run("not once it is over", func(t *testing.T) {
		l, r := underway(t, "over", tornDown)
		r.report(r.measured(), true)
		l.endJob("over", true)
		for range 3 {
			l.settle("over")
			l.reap()
		}
		l.schedule()
		l.start("teardown")
		l.settle("over")
		l.want("over", "Complete=True Measured")
		if got := l.get("over").Finalizers; len(got) > 0 {
			t.Errorf("it has the finalizers %q", got)
		}
	})
}

func TestAnInvalidTestIsOverAtOnce(t *testing.T) {
	l := newLab(t)
	l.create(minimal("wrong", func(test *v1alpha1.LoadTest) { test.Spec.Links[1].Network = "" }))
	l.settle("wrong")
	message := l.want("wrong", "Complete=True Invalid", "Accepted=False Invalid")
	if !strings.Contains(message, "spec.links") {
		t.Errorf("the message names no field: %s", message)
	}
}

func TestSchedulingDeadline(t *testing.T) {
	l := newLab(t)
	l.create(minimal("late", func(test *v1alpha1.LoadTest) { test.Spec.SchedulingDeadline = "2h" }))
	if after := l.settle("late").RequeueAfter; after <= 0 || after > 2*time.Hour+spread {
		t.Errorf("it is looked at again after %s", after)
	}
	l.want("late", "Scheduled=False NetworkMissing")
	l.clock.advance(2 * time.Hour)
	l.settle("late")
	l.want("late", "Complete=True SchedulingDeadlineExceeded")
}

func TestANodeThatRefusesAPodIsAvoided(t *testing.T) {
	l := newLab(t)
	l.forgetful = true
	test := minimal("numa")
	l.wires(test)
	l.create(test)
	l.settle("numa")
	l.schedule()
	refused := l.pod("generator")
	l.setStatus(refused, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "TopologyAffinityError", Message: "Resources cannot be allocated with Topology locality"})
	for range 3 {
		l.settle("numa")
		l.reap()
	}
	status := l.get("numa").Status
	if status.Attempt != 2 || len(status.Operator.ExcludedNodes) != 1 || status.Operator.ExcludedNodes[0] != nodeName {
		t.Fatalf("want the second attempt without %s; status:\n%s", nodeName, l.describe("numa"))
	}
	for _, pod := range l.pods() {
		if pod.Name == refused.Name || !strings.HasPrefix(pod.Name, "numa-2-") {
			t.Errorf("pod %s is there", pod.Name)
		}
	}
}

func TestAGeneratorThatFailsNeverPasses(t *testing.T) {
	l, _ := underway(t, "lost", func(test *v1alpha1.LoadTest) {
		test.Spec.Criteria = []v1alpha1.Criterion{{Name: "fast", Metric: v1alpha1.MetricLineRatePercent, Min: "1%"}}
	})
	generator := l.pod("generator")
	l.setStatus(generator, endedStatus(generator, 137, "killed"))
	l.settle("lost")
	l.want("lost", "Complete=False Running") // its runner may know better
	l.clock.advance(time.Hour)
	for range 4 {
		l.settle("lost")
		l.reap()
		l.clock.advance(10 * time.Minute)
	}
	l.want("lost", "Complete=True GeneratorLost")
	if c := l.get("lost").Status.Result; c != nil {
		t.Errorf("there is a result: %+v", c)
	}
	l.holdsNothing("lost")
}

func TestARunnerThatLeavesNoReport(t *testing.T) {
	l, _ := underway(t, "silent")
	l.finish("silent", false)
	l.want("silent", "Complete=True RunnerFailed")
	l.holdsNothing("silent")
}

func TestAReportThatWasTamperedWith(t *testing.T) {
	l, r := underway(t, "spoilt")
	r.writeOriginal(func(c *corev1.ConfigMap) {
		c.BinaryData = map[string][]byte{"report.json.gz": []byte("no report")}
		c.Annotations = map[string]string{
			"linerate.dev/digest": "sha256:0", "linerate.dev/ending": "Completed", "linerate.dev/attempt": "1", "linerate.dev/final": "true",
		}
	})
	l.finish("spoilt", true)
	if message := l.want("spoilt", "Complete=True RunnerFailed"); !strings.Contains(message, manifests.OriginalName(r.test, 1)) {
		t.Errorf("the message names no object: %s", message)
	}
}

func TestEventsAreTransitionsOnly(t *testing.T) {
	l, r := underway(t, "told")
	for _, percent := range []int{20, 40, 60, 80} {
		l.clock.advance(10 * time.Second)
		r.tell("Ramping", percent)
		l.settle("told")
	}
	r.report(r.measured(), true)
	l.finish("told", true)
	if n := len(l.events.told); n == 0 || n > 10 {
		t.Errorf("%d events of one life, want a handful:\n%s", n, strings.Join(l.events.told, "\n"))
	}
	if last := l.events.told[len(l.events.told)-1]; !strings.HasPrefix(last, "Normal Measured") {
		t.Errorf("the last event is %q", last)
	}
}

// A foreign pod with the label of a test's pod doesn't belong to the test, and does it no harm.
func TestACopiedPodBelongsToNoTest(t *testing.T) {
	l, r := underway(t, "copied")
	original := l.pod("generator")
	duplicate := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "debug", Labels: original.Labels}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "busybox"}},
	}}
	l.must(admin.Create(t.Context(), duplicate))
	l.settle("copied")
	r.report(r.measured(), true)
	l.finish("copied", true)
	l.want("copied", "Complete=True Measured")
}
