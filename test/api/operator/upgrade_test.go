package operator

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// left is what the release before Plan and Report v1alpha2 left in etcd: TestRecord wrote it, in that release's tree.
const left = "testdata/v1alpha1.json.gz"

var record = flag.String("record", "", "file to write what this version leaves in etcd to, for those to come, such as testdata/v1alpha1.json.gz")

// namespaceLeft is all that a namespace holds in etcd.
type namespaceLeft struct {
	Namespace string    `json:"namespace"`
	At        time.Time `json:"at"`
	Pairs     []pair    `json:"pairs"`
}

// enough is met by the device that runners of these tests play.
func enough(test *v1alpha1.LoadTest) {
	test.Spec.Criteria = []v1alpha1.Criterion{{Name: "enough", Metric: v1alpha1.MetricPacketsPerSecond, Direction: v1alpha1.DirectionEach, Min: "327000"}}
}

// TestRecord leaves a suite that is over, a test that is over and whose Report is kept, one that was judged against it, and one whose runner measures.
//
//	go test -count=1 ./test/api/operator -run TestRecord -record testdata/v1alpha1.json.gz
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("writes what the next version is tested with, with -record only")
	}
	l := newSuiteLab(t, oneFrame)
	l.playAll()
	l.wantSuite("Complete=True Measured")
	l.wires(minimal("main"))
	l.measuredTo("main", keepReport, enough)
	l.measuredTo("candidate", against(v1alpha1.BaselineSpec{LoadTest: "main"}))
	l.begin("between", enough)
	l.runJobs()
	l.schedule()
	l.start()
	l.runner("between", 1).tell("Ramping", 10)
	l.settle("between")
	pairs, err := storage.namespace(t.Context(), l.namespace)
	l.must(err)
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	l.must(err)
	l.must(json.NewEncoder(z).Encode(namespaceLeft{l.namespace, l.clock.now(), pairs}))
	l.must(z.Close())
	l.must(os.WriteFile(*record, packed.Bytes(), 0o644))
}

// measuredTo carries one more test of the lab to its end, with the verdict that its runner would come to.
func (l *lab) measuredTo(name string, options ...func(*v1alpha1.LoadTest)) {
	l.t.Helper()
	l.begin(name, options...)
	l.runJobs()
	l.schedule()
	l.start()
	r := l.runner(name, 1)
	r.report(l.judged(name, r.measured()), true)
	l.finish(name, true)
	l.want(name, "Complete=True Measured", "Passed=True CriteriaMet")
}

// judged is a Report with what its runner had beside the Plan, and the verdict.
func (l *lab) judged(name string, document *report.Report) *report.Report {
	l.t.Helper()
	if l.get(name).Spec.Baseline != nil {
		document.Baseline = l.sentAlong(name)
	}
	document.Verdict = analysis.Verdict(document)
	return document
}

// restored is a lab in the namespace that another release left, at the time at which it left it.
func restored(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	packed, err := os.ReadFile(left)
	l.must(err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	l.must(err)
	var was namespaceLeft
	l.must(json.NewDecoder(z).Decode(&was))
	for _, p := range was.Pairs {
		l.must(storage.put(t.Context(), p))
	}
	l.namespace = was.Namespace
	l.clock.advance(time.Until(was.At))
	l.await("what was left to be served", func() bool {
		return admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "between"}, &v1alpha1.LoadTest{}) == nil && len(l.pods()) > 2
	})
	return l
}

// versions are the versions of the lab's LoadTests, suites and ConfigMaps, but of those that are named.
func (l *lab) versions(but ...string) map[string]string {
	l.t.Helper()
	var tests v1alpha1.LoadTestList
	var suites v1alpha1.LoadTestSuiteList
	var documents corev1.ConfigMapList
	l.list(l.t.Context(), &tests)
	l.list(l.t.Context(), &suites)
	l.list(l.t.Context(), &documents)
	all := map[string]string{}
	note := func(kind string, o *metav1.ObjectMeta) {
		if !slices.ContainsFunc(but, func(name string) bool { return strings.HasPrefix(o.Name, name) }) {
			all[kind+" "+o.Name] = o.ResourceVersion
		}
	}
	for i := range tests.Items {
		note("LoadTest", &tests.Items[i].ObjectMeta)
	}
	for i := range suites.Items {
		note("LoadTestSuite", &suites.Items[i].ObjectMeta)
	}
	for i := range documents.Items {
		note("ConfigMap", &documents.Items[i].ObjectMeta)
	}
	return all
}

// What a release left in a cluster, byte for byte as its API server stored it, is looked after by the operator that comes next. Its runners were in the tests'
// namespaces, where whoever edits those may write their Reports: what is over stays as it is, and a run that goes on begins anew where nobody else may write.
func TestObjectsOfThePreviousRelease(t *testing.T) {
	l := restored(t)
	before, statuses := l.versions(), map[string]v1alpha1.LoadTestStatus{}
	if len(before) < 12 {
		t.Fatalf("only %v is there", slices.Sorted(maps.Keys(before)))
	}
	over := []string{"main", "candidate", "night-imix-r1"}
	for _, name := range append(over, "between") {
		statuses[name] = l.get(name).Status
	}
	suites := &suiteLab{lab: l, name: "night"}
	suites.startAnew()

	// What is over stays as it is.
	for _, name := range over {
		l.settle(name)
	}
	suites.passSuite()
	if now := l.versions(); !maps.Equal(now, before) {
		t.Errorf("there were\n%v\nand are\n%v", before, now)
	}
	for name, was := range statuses {
		if now := l.get(name).Status; !equality.Semantic.DeepEqual(now, was) {
			t.Errorf("the status of %s is\n%s", name, l.describe(name))
		}
	}

	// The run that goes on is void: its runner goes, and what it, or anybody, writes in the test's namespace is nobody's. The next attempt measures.
	forged, measured := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "between-report"}, forged))
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "main-report"}, measured))
	forged.BinaryData, forged.Annotations = measured.BinaryData, measured.Annotations
	l.must(admin.Update(t.Context(), forged))
	for range 3 {
		l.settle("between")
		l.reap()
	}
	l.schedule()
	l.start()
	l.settle("between")
	if status := l.get("between").Status; status.Attempt != 2 || status.LostRuns != 1 || status.Result != nil {
		t.Errorf("the status is\n%s", l.describe("between"))
	}
	l.clock.set(0) // a Report is believed by when the API server made its runner, and that is today
	l.runJobs()
	l.schedule()
	l.start()
	r := l.runner("between", 2)
	r.report(l.judged("between", r.measured()), true)
	l.finish("between", true)
	l.want("between", "Complete=True Measured", "Passed=True CriteriaMet")

	// What is over, and what was kept, is what later runs are judged by.
	suites.another("night-2", oneFrame+"baseline: {suite: night}\n")
	suites.playAll()
	suites.wantSuite("Complete=True Measured")
	suites.wantRow("imix", v1alpha1.VerdictPassed, "the baseline is LoadTestSuite night")
	kept := l.get("main").Status.Report
	l.measuredTo("by-test", against(v1alpha1.BaselineSpec{LoadTest: "main"}))
	l.begin("by-report", against(v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{{ConfigMap: kept.Kept, Digest: kept.Digest}}}))
	for name, b := range map[string]*report.Baseline{"by-test": l.reportOf("by-test").Baseline, "by-report": l.sentAlong("by-report")} {
		if b == nil || b.Message != "" || len(b.Runs) != 1 || b.Runs[0].Message != "" || b.Runs[0].Report != kept.Digest {
			t.Errorf("%s was sent %+v", name, b)
		}
	}
	if kept := l.kept(); len(kept) != 1 || kept[0].Labels[v1alpha1.LabelPlan] != l.methodOf("main") {
		t.Errorf("%d Reports are kept", len(kept))
	}
	after := l.versions("between", "by-", "night-2")
	maps.DeleteFunc(before, func(name, _ string) bool { return strings.Contains(name, " between") })
	if !maps.Equal(after, before) {
		t.Errorf("there were\n%v\nand are\n%v", before, after)
	}
}

// methodOf is the method of the Plan that a test was carried out by.
func (l *lab) methodOf(test string) string {
	l.t.Helper()
	return l.reportOf(test).Plan.Method()
}

// reportOf is the copy of a test's Report, held to the digest in its status.
func (l *lab) reportOf(test string) *report.Report {
	l.t.Helper()
	var c corev1.ConfigMap
	told := l.get(test).Status.Report
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: told.ConfigMap}, &c))
	document, envelope, err := delivery.DecodeReport(c.BinaryData, c.Annotations)
	l.must(err)
	if envelope.Digest != told.Digest {
		l.t.Errorf("the copy has the digest %s, and the status says %s", envelope.Digest, told.Digest)
	}
	return document
}
