package suite_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

const twoDevices = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: night, namespace: lab}
spec:
  template:
    spec:
      dut: {type: Pod, pod: {template: {spec: {containers: [{name: router, image: "router:1.0"}]}}}}
      links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]
  axes:
  - name: frames
    values: [{name: imix}, {name: 64b, patch: {traffic: {profile: FixedSize, frameSize: 64}}}]
`

// A LoadTest that differs from what the suite makes is reported with the first field that differs. Fields that
// may change in its life don't count, and neither do missing defaults.
func TestWhatTheSuiteDidNotMakeIsTold(t *testing.T) {
	m, err := read(t, "night.yaml", twoDevices)
	if err != nil {
		t.Fatal(err)
	}
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.LoadTest)
		field  string
	}{
		"as it is made": {func(*v1alpha1.LoadTest) {}, ""},
		"another image": {func(test *v1alpha1.LoadTest) {
			test.Spec.DUT.Pod.Template["spec"] = freeform(`{"containers":[{"name":"router","image":"router:2.0"}]}`)
		}, "spec.dut.pod.template.spec.containers[0].image"},
		"a container beside it": {func(test *v1alpha1.LoadTest) {
			test.Spec.DUT.Pod.Template["spec"] = freeform(`{"containers":[{"name":"router","image":"router:1.0"},{"name":"fast","image":"fast"}]}`)
		}, "spec.dut.pod.template.spec.containers"},
		"the Reference": {func(test *v1alpha1.LoadTest) { test.Spec.DUT = v1alpha1.DUTSpec{Type: v1alpha1.DUTReference} }, "spec.dut.pod"},
		"another cell's": {func(test *v1alpha1.LoadTest) { test.Spec.Traffic = v1alpha1.TrafficSpec{Profile: "IMIX"} },
			"spec.traffic.frameSize"},
		"links in other order": {func(test *v1alpha1.LoadTest) { l := test.Spec.Links; l[0], l[1] = l[1], l[0] },
			"spec.links[0].name"},
		"a slower line": {func(test *v1alpha1.LoadTest) { test.Spec.Links[0].LineRate = "1mbps" },
			"spec.links[0].lineRate"},
		"criteria": {func(test *v1alpha1.LoadTest) {
			test.Spec.Criteria = []v1alpha1.Criterion{{Name: "a", Metric: "PacketsPerSecond", Min: "1"}}
		}, "spec.criteria"},
		"stopped, suspended, with other deadlines, and kept": {func(test *v1alpha1.LoadTest) {
			s := &test.Spec
			s.Stop, s.Suspend, s.ActiveDeadline, s.SchedulingDeadline, s.TTLAfterFinished, s.PodRetention,
				s.ReportRetention = true, true, "2h", "1h", "1h", "OnFailure", "Keep"
		}, ""},
		"before there were defaults": {func(test *v1alpha1.LoadTest) {
			test.Spec.Generator, test.Spec.Procedure, test.Spec.ActiveDeadline = v1alpha1.GeneratorSpec{},
				v1alpha1.ProcedureSpec{}, ""
		}, ""},
		"labelled and annotated": {func(test *v1alpha1.LoadTest) {
			test.Labels["team"], test.Annotations = "a", map[string]string{"seen": "yes"}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := suite.Wanted{Name: m.TestName(1, 1, 2), Cell: 1, Repetition: 1, Try: 2}
			test := storedTest(t, server, m, w)
			c.change(test)
			original := test.DeepCopy()
			field, err := m.DiffersIn(server, w, test)
			if err != nil || field != c.field {
				t.Errorf("it differs in %q (%v), want %q", field, err, c.field)
			}
			if changed, differs := admission.OtherSpec(original, test); differs {
				t.Errorf("the LoadTest, which is a cache's, was changed in %s", changed)
			}
		})
	}
}

func freeform(text string) (value apiextensionsv1.JSON) {
	value.Raw = []byte(text)
	return value
}

// storedTest is the LoadTest that the suite makes, as an API server keeps it.
func storedTest(t *testing.T, server *admission.Server, m *suite.Matrix, w suite.Wanted) *v1alpha1.LoadTest {
	t.Helper()
	content, err := m.Content(w.Cell, w.Repetition, w.Try)
	if err != nil {
		t.Fatal(err)
	}
	object, faults := server.Admit(content)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return object.LoadTest
}

func TestAPlantedRunHasNoFiguresAndSaysWhy(t *testing.T) {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: "night-imix-r1", UID: "1"},
		Status: v1alpha1.LoadTestStatus{
			Report: &v1alpha1.ReportReference{ConfigMap: "night-imix-r1-report", Digest: "sha256:1"},
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
				Reason: v1alpha1.ReasonMeasured, Message: "all is well"}},
		}}
	run := suite.PlantedRun(test, suite.Wanted{Name: test.Name, Repetition: 1, Try: 2}, "spec.dut.type")
	if run.Figures != nil || run.Evidence != nil || run.Report != "" || run.Retry != 1 ||
		run.Ended != suite.ReasonSpecDiffers || run.Reason != suite.ReasonSpecDiffers ||
		!strings.HasPrefix(run.Message, "spec.dut.type isn't as in template and patches, so the test doesn't count") {
		t.Errorf("%+v", run)
	}
}
