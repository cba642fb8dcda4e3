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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/loadtestsuite"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// suiteLab is a lab in which a suite is carried through its life.
type suiteLab struct {
	*lab
	suites *loadtestsuite.Reconciler
	name   string
	// environment is that of all Reports; nil: nothing is known of it.
	environment *report.Environment
	// most is how many of its tests were under way at once.
	most int
}

func newSuiteLab(t *testing.T, spec string) *suiteLab {
	t.Helper()
	l := &suiteLab{lab: newLab(t), name: "night"}
	l.wireNamed("wire")
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: l.name}}
	l.must(yaml.UnmarshalStrict([]byte(spec), &s.Spec))
	l.must(admin.Create(t.Context(), s))
	l.startAnew()
	return l
}

// startAnew replaces the operator by one that remembers nothing.
func (l *suiteLab) startAnew() {
	l.t.Helper()
	var err error
	l.suites, err = loadtestsuite.NewReconciler(l.operator, l.events, loadtestsuite.Options{Namespace: operatorNamespace, Clock: l.clock.now})
	l.must(err)
}

// passSuite lets the operator look at the suite until it writes nothing more.
func (l *suiteLab) passSuite() {
	l.t.Helper()
	for range mostPasses {
		l.asked.take()
		if l.forgetful {
			l.startAnew()
		}
		result, err := l.suites.Reconcile(l.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: l.namespace, Name: l.name}})
		l.must(err)
		if l.asked.take().writes().total() == 0 && result.RequeueAfter != time.Millisecond { // else the next pass goes on at once
			l.most = max(l.most, len(l.goingOn()))
			return
		}
	}
	l.t.Fatalf("after %d passes the operator still writes: %s", mostPasses, l.told())
}

func (l *suiteLab) suite() *v1alpha1.LoadTestSuite {
	l.t.Helper()
	s := &v1alpha1.LoadTestSuite{}
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: l.name}, s))
	return s
}

func (l *suiteLab) changeSuite(f func(*v1alpha1.LoadTestSuite)) {
	l.t.Helper()
	s := l.suite()
	f(s)
	l.must(admin.Update(l.t.Context(), s))
}

// told is the status as a person would read it.
func (l *suiteLab) told() string {
	l.t.Helper()
	text, err := yaml.Marshal(l.suite().Status)
	l.must(err)
	return string(text)
}

// wantSuite fails unless a condition is as said; it returns its message.
func (l *suiteLab) wantSuite(said string) string {
	l.t.Helper()
	kind, rest, _ := strings.Cut(said, "=")
	c := meta.FindStatusCondition(l.suite().Status.Conditions, kind)
	if c == nil || fmt.Sprintf("%s %s", c.Status, c.Reason) != rest {
		l.t.Fatalf("want %s; status:\n%s", said, l.told())
	}
	return c.Message
}

// tests are the suite's LoadTests by their names.
func (l *suiteLab) tests() map[string]v1alpha1.LoadTest {
	l.t.Helper()
	var list v1alpha1.LoadTestList
	l.must(admin.List(l.t.Context(), &list, client.InNamespace(l.namespace), client.MatchingLabels{v1alpha1.LabelSuite: l.name}))
	out := map[string]v1alpha1.LoadTest{}
	for _, t := range list.Items {
		out[t.Name] = t
	}
	return out
}

// goingOn are those that aren't over.
func (l *suiteLab) goingOn() []string {
	l.t.Helper()
	var names []string
	for name, t := range l.tests() {
		if !meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionComplete) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// end is a test's end, as the other reconciler says it.
func (l *suiteLab) end(name, reason string) {
	l.t.Helper()
	test := l.get(name)
	test.Status.CompletionTime = &metav1.Time{Time: l.clock.now()}
	test.Status.ObservedGeneration = test.Generation
	meta.SetStatusCondition(&test.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: reason, Message: "as the test has it"})
	l.must(admin.Status().Update(l.t.Context(), test))
}

// play carries a test through its life, with the operator restarted before each pass: pods, runner, Report.
func (l *suiteLab) play(name string) {
	l.t.Helper()
	for range 2 {
		l.settle(name)
		l.schedule()
		l.settle(name)
		l.start()
		l.runJobs()
	}
	l.schedule()
	l.start()
	l.settle(name)
	r := l.runner(name, 1)
	document := r.measured()
	document.Environment = l.environment
	r.report(document, true)
	l.finish(name, true)
	l.want(name, "Complete=True "+v1alpha1.ReasonMeasured)
}

const loopbackCells = `
template:
  metadata: {labels: {team: routing}}
  spec:
    generator: {engine: Software}
    dut: {type: Loopback}
    links: [{name: west, network: wire, lineRate: 10gbps}, {name: east, network: wire, lineRate: 10gbps}]
    procedure: {ramp: {targetRate: 2mpps, rampDuration: 2m}}
axes:
- name: rate
  values: [{name: full}, {name: half, patch: {procedure: {ramp: {targetRate: 1mpps}}}}]
- name: frames
  values: [{name: imix}, {name: 64b, patch: {traffic: {profile: FixedSize, frameSize: 64}}}]
`

// Two axes, one of a single value, each cell twice, with pods that are played: each of the four is measured once, one after the other, though the operator is restarted before each of
// its passes.
func TestASuiteIsMeasuredToItsEnd(t *testing.T) {
	l := newSuiteLab(t, strings.Replace(loopbackCells, "{name: imix}, ", "", 1)+`repetitions: 2
order: Shuffled
seed: 7
criteria: [{name: enough, metric: PacketsPerSecond, direction: Total, min: "654400"}]
`)
	l.forgetful = true
	var order []string
	for range 4 {
		l.passSuite()
		names := l.goingOn()
		if len(names) != 1 {
			t.Fatalf("%q are under way, and one at a time was asked for; %s", names, l.told())
		}
		order = append(order, names[0])
		l.play(names[0])
		l.clock.advance(time.Minute)
	}
	l.passSuite()
	want := "night-full-64b-r1 night-half-64b-r1 night-half-64b-r2 night-full-64b-r2" // as the seed draws it, whoever goes on
	if strings.Join(order, " ") != want {
		t.Errorf("measured were %q", order)
	}
	l.wantSuite("Complete=True Measured")
	l.wantSuite("Passed=True CriteriaMet")
	status := l.suite().Status
	if c := status.Counts; c.Tests != 4 || c.Measured != 4 || c.Cells != 2 || c.Waiting+c.Running+c.NotMeasured != 0 {
		t.Errorf("counts are %+v", c)
	}
	for _, row := range status.Table {
		if row.PacketsPerSecond != 654_400 || row.Runs != 2 || row.SpreadPercent != "0.00" || row.Verdict != v1alpha1.VerdictPassed {
			t.Errorf("row %+v", row)
		}
	}
	l.reported(t, 2)
	labels := l.tests()["night-half-64b-r2"].Labels
	if labels["team"] != "routing" || labels[v1alpha1.LabelProduct] != "half" || labels[v1alpha1.LabelLoadTest] != "64b" || labels[v1alpha1.LabelRepetition] != "2" {
		t.Errorf("its labels are %v", labels)
	}
}

// reported fails unless the suite's report is there, of so many cells, and its digest is the status'.
func (l *suiteLab) reported(t *testing.T, cells int) {
	t.Helper()
	ref := l.suite().Status.Report
	var kept corev1.ConfigMap
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: suite.ReportName(l.name)}, &kept))
	document, err := delivery.DecodeSuite(kept.BinaryData, kept.Annotations)
	l.must(err)
	if len(document.Cells) != cells || document.Finished.IsZero() || ref == nil || ref.Digest != kept.Annotations[delivery.AnnotationDigest] || ref.ConfigMap != kept.Name {
		t.Errorf("the report has %d cells, status %+v", len(document.Cells), ref)
	}
	if owner := metav1.GetControllerOf(&kept); owner == nil || owner.UID != l.suite().UID {
		t.Errorf("it is owned by %+v", owner)
	}
}

// Parallelism is respected though the operator forgets all and sees only what is there, retries are bounded, and what ended is kept when its LoadTest
// goes.
func TestASuiteGoesOnAfterEachRestart(t *testing.T) {
	l := newSuiteLab(t, loopbackCells+"repetitions: 2\nparallelism: 3\nhistoryLimit: 1\ninvalidRetries: 1\n")
	l.forgetful = true
	made := map[string]bool{}
	for range 20 {
		l.passSuite()
		for _, name := range l.goingOn() {
			made[name] = true
			l.end(name, v1alpha1.ReasonGeneratorLost)
			l.clock.advance(time.Second)
			break
		}
	}
	l.passSuite()
	l.wantSuite("Complete=True NotMeasured")
	if l.most != 3 {
		t.Errorf("at most %d tests were under way at once, 3 asked for", l.most)
	}
	if len(made) != 12 { // eight, and one more of each cell
		t.Errorf("made were %q", slices.Sorted(maps.Keys(made)))
	}
	if left := l.tests(); len(left) != 1 {
		t.Errorf("%d LoadTests are left, one asked for", len(left))
	}
	if c := l.suite().Status.Counts; c.Retried != 4 || c.NotMeasured != 8 {
		t.Errorf("counts are %+v", c)
	}
}

func TestAWrongCellIsNamed(t *testing.T) {
	l := newSuiteLab(t, strings.Replace(loopbackCells, "frameSize: 64", "frameSize: 20", 1))
	l.passSuite()
	message := l.wantSuite("Accepted=False Invalid")
	l.wantSuite("Complete=True Invalid")
	for _, says := range []string{"cells full-64b, half-64b", "spec.traffic.frameSize is 20", "must be at least 64"} {
		if !strings.Contains(message, says) {
			t.Errorf("it should say %q, and says: %s", says, message)
		}
	}
	if strings.Contains(message, "imix") || len(l.tests()) != 0 {
		t.Errorf("%d LoadTests were made; it says %s", len(l.tests()), message)
	}
}

func TestFaultsThatOnlyTheCompilerFindsAreNamedToo(t *testing.T) {
	l := newSuiteLab(t, strings.Replace(loopbackCells, "{ramp: {targetRate: 1mpps}}", "{ramp: {targetRate: 1kpps, warmupRate: 2kpps}}", 1))
	l.passSuite()
	if message := l.wantSuite("Accepted=False Invalid"); !strings.Contains(message, "cells half-imix, half-64b: spec.procedure.ramp.warmupRate") {
		t.Errorf("it says %s", message)
	}
}

func TestAStoppedSuiteStopsItsTests(t *testing.T) {
	l := newSuiteLab(t, loopbackCells+"parallelism: 2\n")
	l.passSuite()
	l.changeSuite(func(s *v1alpha1.LoadTestSuite) { s.Spec.Stop = true })
	l.passSuite()
	for name, test := range l.tests() {
		if !test.Spec.Stop {
			t.Errorf("%s isn't stopped", name)
		}
		l.settle(name)
	}
	l.passSuite()
	l.wantSuite("Complete=True Stopped")
	if len(l.tests()) != 2 {
		t.Errorf("%d LoadTests were made", len(l.tests()))
	}
}

func TestATakenNameIsReported(t *testing.T) {
	l := newSuiteLab(t, loopbackCells+"order: Interleaved\n")
	other := l.sample("loadtest_software_loopback.yaml")
	other.Name = "night-full-imix-r1"
	l.create(other)
	l.passSuite()
	l.clock.advance(11 * time.Second)
	l.passSuite()
	if message := l.wantSuite("Complete=False Running"); !strings.Contains(message, "night-full-imix-r1: a LoadTest of this name is somebody else's") {
		t.Errorf("it says %s", message)
	}
	if names := l.goingOn(); !slices.Equal(names, []string{"night-full-64b-r1"}) {
		t.Errorf("under way are %q", names)
	}
}

func TestASuiteIsDeletedInTime(t *testing.T) {
	l := newSuiteLab(t, "template: {spec: {dut: {type: Loopback}, links: [{name: west, network: wire, lineRate: 1gbps}, {name: east, network: wire, lineRate: 1gbps}]}}\nttlAfterFinished: 1h\ninvalidRetries: 0\n")
	l.passSuite()
	l.end("night-test-r1", v1alpha1.ReasonPathNotProven)
	l.passSuite()
	l.wantSuite("Complete=True NotMeasured")
	l.clock.advance(time.Hour)
	l.passSuite()
	err := admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: l.name}, &v1alpha1.LoadTestSuite{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("it is still there (%v)", err)
	}
}

// A foreign ConfigMap is found before anything is measured, and named with the way out; nothing is lost once it is gone.
func TestATakenConfigMapNameIsReported(t *testing.T) {
	l := newSuiteLab(t, loopbackCells)
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "night-suite"}, Data: map[string]string{"mine": "too"}}
	l.must(admin.Create(t.Context(), other))
	l.passSuite()
	l.passSuite()
	message := l.wantSuite("Complete=False NameTaken")
	if !strings.Contains(message, "kubectl delete configmap night-suite -n "+l.namespace) || len(l.tests()) != 0 {
		t.Errorf("%d tests are made; it says %s", len(l.tests()), message)
	}
	if told := strings.Join(l.events.told, "\n"); strings.Count(told, "NameTaken") != 1 {
		t.Errorf("the events are\n%s", told)
	}
	l.must(admin.Delete(t.Context(), other))
	l.clock.advance(time.Minute)
	l.passSuite()
	l.wantSuite("Complete=False Running")
	l.must(admin.Get(t.Context(), client.ObjectKeyFromObject(other), other))
	if owner := metav1.GetControllerOf(other); owner == nil || owner.UID != l.suite().UID || len(l.tests()) != 1 {
		t.Errorf("the report is owned by %+v, and %d tests are made", owner, len(l.tests()))
	}
}

// Objects of an earlier suite of this name are waited for, and aren't reported as foreign.
func TestASuiteThatIsMadeAnewWaitsForTheEarlierOnesObjects(t *testing.T) {
	l := newSuiteLab(t, loopbackCells)
	l.passSuite()
	former := l.suite()
	again := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: l.name}, Spec: former.Spec}
	l.must(admin.Delete(t.Context(), former, client.PropagationPolicy(metav1.DeletePropagationBackground))) // nobody collects garbage here
	l.must(admin.Create(t.Context(), again))
	l.startAnew()
	l.passSuite()
	if c := meta.FindStatusCondition(l.suite().Status.Conditions, v1alpha1.ConditionComplete); c != nil {
		t.Errorf("it says %+v", c)
	}
	l.must(admin.DeleteAllOf(t.Context(), &v1alpha1.LoadTest{}, client.InNamespace(l.namespace)))
	l.must(admin.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace(l.namespace)))
	l.passSuite()
	l.wantSuite("Complete=False Running")
}

// tableless is an API server that takes no table, as one with an older definition may not.
type tableless struct{ client.Client }

func (c tableless) Status() client.SubResourceWriter { return tablelessStatus{c.Client.Status()} }

type tablelessStatus struct{ client.SubResourceWriter }

func (w tablelessStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if s, is := object.(*v1alpha1.LoadTestSuite); is && len(s.Status.Table) > 0 {
		return apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind(v1alpha1.LoadTestSuiteKind).GroupKind(), s.Name, field.ErrorList{field.TooLong(field.NewPath("status", "table").Index(0).Child("lineRatePercent"), "", 11)})
	}
	return w.SubResourceWriter.Patch(ctx, object, patch, options...)
}

// A table that the API server refuses is left out and reported, and costs the suite nothing else.
func TestARefusedTableIsLeftOut(t *testing.T) {
	l := newSuiteLab(t, "template: {spec: {dut: {type: Loopback}, links: [{name: west, network: wire, lineRate: 1gbps}, {name: east, network: wire, lineRate: 1gbps}]}}\n")
	whole := l.operator
	l.operator = tableless{whole}
	l.startAnew()
	l.passSuite()
	l.operator = whole
	l.play("night-test-r1")
	l.operator = tableless{whole}
	l.startAnew()
	l.passSuite()
	message := l.wantSuite("Complete=True Measured")
	for _, says := range []string{"1 of 1 test measured; the API server refuses the table of the status", "status.table[0].lineRatePercent", "ConfigMap night-suite has the table"} {
		if !strings.Contains(message, says) {
			t.Errorf("it should say %q, and says: %s", says, message)
		}
	}
	l.reported(t, 1)
	if status := l.suite().Status; len(status.Table) != 0 || status.Counts.Measured != 1 || status.CompletionTime == nil {
		t.Errorf("the status is\n%s", l.told())
	}
	if told := strings.Join(l.events.told, "\n"); strings.Count(told, "StatusRefused") != 1 {
		t.Errorf("the events are\n%s", told)
	}
}
