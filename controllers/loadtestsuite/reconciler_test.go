package loadtestsuite

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// suiteWorld has one suite, an API server that refuses some objects, and a clock.
type suiteWorld struct {
	t      *testing.T
	r      *Reconciler
	client client.Client
	now    time.Time
	// tries counts the objects that were to be made, by kind.
	mu    sync.Mutex
	tries map[string]int
}

// ownNamespace is the operator's.
const ownNamespace = "linerate-system"

func newSuiteWorld(t *testing.T, spec string, refuses func(client.Object) bool) *suiteWorld {
	t.Helper()
	scheme, err := caches.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "night", UID: "suite-uid",
		Generation: 1}}
	s.Spec.InvalidRetries, s.Spec.HistoryLimit = new(int32(1)), new(int32(1000))
	if err := yaml.UnmarshalStrict([]byte(spec), &s.Spec); err != nil {
		t.Fatal(err)
	}
	w := &suiteWorld{t: t, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), tries: map[string]int{}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(s).WithStatusSubresource(s)
	w.client = api.WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object,
			options ...client.CreateOption) error {
			w.mu.Lock() // objects are made side by side
			defer w.mu.Unlock()
			kind := object.GetObjectKind().GroupVersionKind().Kind
			if _, ok := object.(*corev1.ConfigMap); ok {
				kind = "ConfigMap"
			}
			w.tries[kind]++
			if refuses(object) {
				return apierrors.NewForbidden(schema.GroupResource{Resource: strings.ToLower(kind) + "s"},
					object.GetName(), fmt.Errorf("exceeded quota: lab"))
			}
			return c.Create(ctx, object, options...)
		},
	}).Build()
	if w.r, err = NewReconciler(w.client, events.NewFakeRecorder(1000), Options{Namespace: ownNamespace,
		Clock: func() time.Time { return w.now }}); err != nil {
		t.Fatal(err)
	}
	return w
}

// live runs passes when they are due, for a while.
func (w *suiteWorld) live(span time.Duration) (passes int) {
	w.t.Helper()
	for end := w.now.Add(span); w.now.Before(end); passes++ {
		if passes > 10_000 {
			w.t.Fatalf("it looks again and again: at %s for the %d. time", w.now, passes)
		}
		result, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "lab",
			Name: "night"}})
		if err != nil {
			w.t.Fatal(err)
		}
		if result.RequeueAfter == 0 {
			return passes
		}
		w.now = w.now.Add(result.RequeueAfter)
	}
	return passes
}

func (w *suiteWorld) complete() metav1.Condition {
	w.t.Helper()
	var s v1alpha1.LoadTestSuite
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "lab", Name: "night"}, &s); err != nil {
		w.t.Fatal(err)
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete); c != nil {
		return *c
	}
	return metav1.Condition{}
}

const manyCells = `
template: {spec: {dut: {type: Loopback}, links: [{name: west, network: wire, lineRate: 1gbps}, {name: east, network: wire, lineRate: 1gbps}], procedure: {ramp: {targetRate: 1000pps, warmupRate: 500pps}}}}
axes: [{name: a, values: [%s]}, {name: b, values: [{name: x}, {name: z}]}]
repetitions: 25
parallelism: 20
`

func cells(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("{name: v%d}", i)
	}
	return fmt.Sprintf(manyCells, strings.Join(names, ", "))
}

// A quota refuses all tests of a suite alike. The suite tries a few of them a minute, and not thousands.
func TestAQuotaOnLoadTestsIsNotRunInto(t *testing.T) {
	tier.Plain(t)
	w := newSuiteWorld(t, cells(20), func(o client.Object) bool { _, ok := o.(*corev1.ConfigMap); return !ok })
	passes := w.live(10 * time.Minute)
	if tries := w.tries[v1alpha1.LoadTestKind]; tries < 10 || tries > 11*maxRefused || passes > 600 {
		t.Errorf("%d tests were tried in ten minutes, in %d passes", tries, passes)
	}
	if c := w.complete(); c.Reason != v1alpha1.ReasonWaiting || !strings.Contains(c.Message, "exceeded quota") {
		t.Errorf("it says %+v", c)
	}
}

// A suite that may have many tests under way makes them a few at a time.
func TestTestsAreMadeAFewAtATime(t *testing.T) {
	w := newSuiteWorld(t, cells(20), func(client.Object) bool { return false })
	for w.tries[v1alpha1.LoadTestKind] == 0 { // its cells are checked, and its report is made, before
		w.live(time.Millisecond)
	}
	first, passes := w.tries[v1alpha1.LoadTestKind], 0
	for range 4 {
		passes += w.live(madeWithin)
	}
	if n := w.tries[v1alpha1.LoadTestKind]; first > maxMade || n < growAtOnce || n > growAtOnce+maxMade || passes > 9 {
		t.Errorf("%d tests at once, %d a second later, in %d passes", first, n, passes)
	}
}

// A Report that the test's own pass has read isn't read again. A Report with another digest doesn't replace it.
func TestAReportThatWasJustReadIsNotReadAgain(t *testing.T) {
	w := newSuiteWorld(t, cells(1), func(client.Object) bool { return false })
	w.r.options.Reports = NewRecentReports()
	first, two := &report.Report{Message: "one"}, &report.Report{Message: "two"}
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "night-v0-x-r1"}}
	w.r.options.Reports.Keep(test, "sha256:0", first, 1)
	if w.r.options.Reports.take("sha256:0") != nil {
		t.Error("the Report of a test is kept that is of no suite")
	}
	test.OwnerReferences = []metav1.OwnerReference{{Kind: v1alpha1.LoadTestSuiteKind, Name: "night",
		Controller: new(true)}}
	w.r.options.Reports.Keep(test, "sha256:1", first, 1)
	w.r.options.Reports.Keep(test, "sha256:2", two, 1)
	test.Status.Report = &v1alpha1.ReportReference{ConfigMap: "night-v0-x-r1-report", Digest: "sha256:2"}
	if got, fault, _, err := w.r.reportOf(t.Context(), test); got != two || fault != "" || err != nil {
		t.Errorf("got %+v, %q, %v", got, fault, err)
	}
	if got, fault, _, err := w.r.reportOf(t.Context(), test); got != nil || !strings.Contains(fault, "is gone") ||
		err != nil {
		t.Errorf("a second time: %+v, %q, %v", got, fault, err)
	}
	for i := range 2 * maxRecent {
		w.r.options.Reports.Keep(test, fmt.Sprint("sha256:", i+10), two, 1)
	}
	if n := len(w.r.options.Reports.reports); n != maxRecent || w.r.options.Reports.take("sha256:1") != nil {
		t.Errorf("%d are kept", n)
	}
	w.r.options.Reports.Keep(test, "sha256:large", first, maxRecentMemory-maxRecent/2)
	if n := len(w.r.options.Reports.reports); n != maxRecent/2+1 {
		t.Errorf("%d are kept beside one that takes nearly all memory", n-1)
	}
	w.r.options.Reports.Keep(test, "sha256:larger", first, maxRecentMemory+1)
	if n := len(w.r.options.Reports.reports); n != 0 {
		t.Errorf("%d are kept where the last is too large by itself", n)
	}
}

// Refused tests don't keep other tests from being made, however many those are and wherever they stand.
func TestRefusedTestsKeepNoOthersFromBeingMade(t *testing.T) {
	tier.Plain(t)
	good := 0
	w := newSuiteWorld(t, cells(4), func(o client.Object) bool {
		switch _, ok := o.(*corev1.ConfigMap); {
		case ok:
			return false
		case strings.Contains(o.GetName(), "-v3-z-"):
			good++
			return false
		}
		return true
	})
	if w.live(30 * time.Minute); good < 20 {
		t.Errorf("%d of 25 that would be taken were made, at 20 at once", good)
	}
}

func TestAQuotaOnConfigMapsIsTold(t *testing.T) {
	w := newSuiteWorld(t, cells(1), func(o client.Object) bool { _, ok := o.(*corev1.ConfigMap); return ok })
	w.live(10 * time.Minute)
	if c := w.complete(); c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonWaiting ||
		!strings.Contains(c.Message, "can't be kept: write ConfigMap night-suite: ") ||
		!strings.Contains(c.Message, "exceeded quota") {
		t.Errorf("it says %+v", c)
	}
	if n := w.tries["ConfigMap"]; n < 2 || n > 11 || w.tries[v1alpha1.LoadTestKind] > 0 {
		t.Errorf("%d tries in ten minutes, and %d tests made", n, w.tries[v1alpha1.LoadTestKind])
	}
}

// Suites stay for months after their end. What they were judged by is read again when it is needed, and isn't
// kept in memory.
func TestASuiteThatIsOverIsLightInMemory(t *testing.T) {
	w := newSuiteWorld(t, cells(1), func(client.Object) bool { return false })
	var s v1alpha1.LoadTestSuite
	set := func(status metav1.ConditionStatus) suite.Runs {
		t.Helper()
		key := client.ObjectKey{Namespace: "lab", Name: "night"}
		if err := w.client.Get(t.Context(), key, &s); err != nil {
			t.Fatal(err)
		}
		s.Status.StartTime = &metav1.Time{Time: w.now}
		meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: status,
			Reason: v1alpha1.ReasonMeasured})
		if err := w.client.Status().Update(t.Context(), &s); err != nil {
			t.Fatal(err)
		}
		observed, err := w.r.observe(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return observed.Runs
	}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "lab", Name: "night"}, &s); err != nil {
		t.Fatal(err)
	}
	evidence := &report.Report{Version: report.Version, Ending: report.GeneratorLost, Plan: &plan.Plan{}}
	w.stores(&s, suite.Runs{"night-v0-x-r1": {Ended: "Measured", SuiteRun: report.SuiteRun{Test: "night-v0-x-r1",
		Evidence: evidence}}}, suite.Stored{})
	for _, c := range []struct {
		complete metav1.ConditionStatus
		weighs   bool
	}{{metav1.ConditionFalse, true}, {metav1.ConditionTrue, false}, {metav1.ConditionTrue, false},
		{metav1.ConditionFalse, true}} {
		runs := set(c.complete)
		if run, ok := runs["night-v0-x-r1"]; !ok || (run.Evidence != nil) != c.weighs {
			t.Errorf("complete is %s: %d runs known, evidence %v", c.complete, len(runs), run.Evidence)
		}
	}
}
