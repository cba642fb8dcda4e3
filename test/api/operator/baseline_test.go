package operator

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// against makes a test compare with a baseline.
func against(baseline v1alpha1.BaselineSpec) func(*v1alpha1.LoadTest) {
	return func(test *v1alpha1.LoadTest) {
		test.Spec.Baseline = &baseline
		test.Spec.Criteria = []v1alpha1.Criterion{{Name: "no-slower", Metric: v1alpha1.MetricPacketsPerSecond, MaxRegression: "2%", AssumedSpread: "0.3%"}}
	}
}

// sentAlong is the baseline that the test's runner got.
func (l *lab) sentAlong(test string) *report.Baseline {
	l.t.Helper()
	var kept corev1.ConfigMap
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: manifests.PlanName(l.get(test), 1)}, &kept))
	b, err := delivery.ReadBaseline(fstest.MapFS{delivery.KeyBaseline: {Data: kept.BinaryData[delivery.KeyBaseline]}})
	l.must(err)
	return b
}

// begin brings one more test of the lab to its run.
func (l *lab) begin(name string, options ...func(*v1alpha1.LoadTest)) {
	l.t.Helper()
	l.create(minimal(name, options...))
	l.settle(name)
	l.schedule()
	l.start()
	l.settle(name)
}

func TestATestIsComparedWithAnEarlierOne(t *testing.T) {
	l, r := underway(t, "main")
	r.report(r.measured(), true)
	l.finish("main", true)
	l.want("main", "Complete=True Measured")
	stored := l.get("main").Status.Report
	good := v1alpha1.ReportRef{ConfigMap: stored.ConfigMap, Digest: stored.Digest}
	other := v1alpha1.ReportRef{ConfigMap: stored.ConfigMap, Digest: "sha256:" + strings.Repeat("0", 64)}
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "precious"}, Data: map[string]string{"mine": "yes"}}
	l.must(admin.Create(t.Context(), foreign))
	for name, c := range map[string]struct {
		baseline v1alpha1.BaselineSpec
		message  string // of the baseline
		run      string // of its first run
	}{
		"a-test":     {v1alpha1.BaselineSpec{LoadTest: "main"}, "", ""},
		"no-test":    {v1alpha1.BaselineSpec{LoadTest: "never-was"}, "there is no such LoadTest in namespace", ""},
		"a-report":   {v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{good}}, "", ""},
		"another":    {v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{other}}, "", "it holds the Report " + stored.Digest},
		"no-report":  {v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{{ConfigMap: "never-was"}}}, "", "there is no such ConfigMap"},
		"not-report": {v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{{ConfigMap: "precious"}}}, "", "the annotations name no report"},
	} {
		t.Run(name, func(t *testing.T) {
			l.begin(name, against(c.baseline))
			b := l.sentAlong(name)
			switch {
			case b == nil || !strings.Contains(b.Message, c.message) || (b.Message == "") != (c.message == ""):
				t.Fatalf("%+v, want it to say %q", b, c.message)
			case c.message == "" && (len(b.Runs) != 1 || !strings.Contains(b.Runs[0].Message, c.run) || (b.Runs[0].Message == "") != (c.run == "")):
				t.Fatalf("%+v, want its run to say %q", b, c.run)
			case c.message == "" && c.run == "" && (b.Runs[0].Report != stored.Digest || b.Runs[0].Answer.Directions[0].Received.PacketsPerSecond != 327_200):
				t.Fatalf("%+v", b)
			}
		})
	}
}

// reportOf is the copy of a test's Report, held to the digest in its status.
func (l *lab) reportOf(test string) *report.Report {
	l.t.Helper()
	var c corev1.ConfigMap
	status := l.get(test).Status.Report
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: status.ConfigMap}, &c))
	document, envelope, err := delivery.DecodeReport(c.BinaryData, c.Annotations)
	l.must(err)
	if envelope.Digest != status.Digest {
		l.t.Errorf("the copy has the digest %s, and the status has %s", envelope.Digest, status.Digest)
	}
	return document
}

// Whoever edits the namespace may replace a copy by one that says less, so that a regression passes. It is no baseline: neither as the LoadTest's, nor as a ConfigMap.
func TestACopyThatWasReplacedIsNoBaseline(t *testing.T) {
	l, r := underway(t, "main")
	r.report(r.measured(), true)
	l.finish("main", true)
	l.want("main", "Complete=True Measured")
	slow := l.reportOf("main")
	for i := range slow.Answer.Directions {
		slow.Answer.Directions[i].Received.PacketsPerSecond /= 2
	}
	data, annotations, err := delivery.EncodeReport(slow, true, 1)
	l.must(err)
	name := l.get("main").Status.Report.ConfigMap
	original := &corev1.ConfigMap{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, original))
	for what, owners := range map[string][]metav1.OwnerReference{"owned": original.OwnerReferences, "nobodys": nil} {
		l.must(client.IgnoreNotFound(admin.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}})))
		l.must(admin.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name, Labels: original.Labels, OwnerReferences: owners, Annotations: annotations}, BinaryData: data,
		}))
		for how, c := range map[string]struct {
			baseline v1alpha1.BaselineSpec
			says     []string
		}{
			"as-its-test":   {v1alpha1.BaselineSpec{LoadTest: "main"}, []string{"it holds the Report " + annotations[delivery.AnnotationDigest]}},
			"as-a-document": {v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{{ConfigMap: name}}}, []string{"somebody replaced it", "nothing proves where it is from"}},
		} {
			t.Run(what+" "+how, func(t *testing.T) {
				l.t = t
				test := what + "-" + how
				l.begin(test, against(c.baseline))
				b := l.sentAlong(test)
				if b == nil || len(b.Runs) != 1 || !slices.ContainsFunc(c.says, func(words string) bool { return strings.Contains(b.Runs[0].Message, words) }) {
					t.Errorf("%+v, want it to say one of %q", b, c.says)
				}
			})
		}
	}
	l.t = t
}

func TestATestThatIsNotCompleteIsNoBaseline(t *testing.T) {
	l, _ := underway(t, "main")
	l.begin("candidate", against(v1alpha1.BaselineSpec{LoadTest: "main"}))
	if b := l.sentAlong("candidate"); b == nil || b.Message != "it was not complete (Running) when this test began to measure" {
		t.Errorf("%+v", b)
	}
}

// Its runner couldn't know what became of the device: the Report has a figure, and the test publishes none.
func TestAReportWithAnInjectedFaultIsNoBaseline(t *testing.T) {
	l, r := underway(t, "faulty")
	dut := l.pod("dut")
	l.setStatus(dut, endedStatus(dut, 137, "killed"))
	r.report(r.measured(), true)
	l.finish("faulty", true)
	l.want("faulty", "Complete=True DUTFailed")
	l.begin("candidate", against(v1alpha1.BaselineSpec{Reports: []v1alpha1.ReportRef{{ConfigMap: l.get("faulty").Status.Report.ConfigMap}}}))
	if b := l.sentAlong("candidate"); b == nil || len(b.Runs) != 1 || !strings.Contains(b.Runs[0].Message, "LoadTest faulty: it ended without a measurement that counts (DUTFailed)") {
		t.Errorf("%+v", b)
	}
}
