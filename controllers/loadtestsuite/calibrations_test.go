package loadtestsuite

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

const calibrated = `
calibration: {maxAge: 24h}
parallelism: 8
repetitions: 1
template: {spec: {dut: {type: Reference}, links: [{name: west, network: a, lineRate: 1gbps}, {name: east, network: b, lineRate: 1gbps}]}}
`

// measuredBefore makes a suite that was measured an hour ago, with its report.
func (w *suiteWorld) measuredBefore(change func(*v1alpha1.LoadTestSuite)) {
	w.t.Helper()
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "nightly-1", UID: "before-uid"}}
	if err := yaml.UnmarshalStrict([]byte(calibrated), &s.Spec); err != nil {
		w.t.Fatal(err)
	}
	hourAgo := w.now.Add(-time.Hour)
	a := suite.NewLocal(suite.Expand(s.DeepCopy()), "test", hourAgo)
	for {
		wanted, ok := a.Next(hourAgo)
		if !ok {
			break
		}
		flow := report.Flow{PacketsPerSecond: 1000}
		a.Record(suite.LocalRun(wanted, &report.Report{Version: report.Version, Plan: &plan.Plan{Version: plan.Version},
			Ending: report.Completed, Finished: hourAgo,
			Environment: &report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0",
				Machine: report.Machine{Node: "lab-1"}}}},
			Answer: report.Answer{Measured: true, Reason: report.MaximumOffered,
				Directions: []report.Direction{{From: "west", To: "east", Received: flow}},
				Total:      &report.Sum{Received: flow}}}, "sha256:0f"))
	}
	data, annotations, err := delivery.EncodeSuite(a.Document(hourAgo))
	if err != nil {
		w.t.Fatal(err)
	}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
		Reason: v1alpha1.ReasonMeasured}}
	s.Status.CompletionTime = &metav1.Time{Time: hourAgo}
	s.Status.Report = &v1alpha1.ReportReference{ConfigMap: suite.ReportName(s.Name),
		Digest: annotations[delivery.AnnotationDigest]}
	change(s)
	configMap := mapOf(s, suite.ReportName(s.Name), data, annotations)
	for _, object := range []client.Object{s, configMap} {
		if err := w.client.Create(w.t.Context(), object); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestACalibrationIsTakenFromAnEarlierSuiteOfTheNamespace(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.LoadTestSuite)
		anew   bool
	}{
		"that is over": {func(*v1alpha1.LoadTestSuite) {}, false},
		"that goes on": {func(s *v1alpha1.LoadTestSuite) { s.Status.Conditions[0].Status = metav1.ConditionFalse }, true},
		"that ended two days ago": {func(s *v1alpha1.LoadTestSuite) {
			s.Status.CompletionTime.Time = s.Status.CompletionTime.Add(-48 * time.Hour)
		}, true},
		"whose report somebody put in its way": {func(s *v1alpha1.LoadTestSuite) { s.Status.Report.Digest = "sha256:00" }, true},
		"without one":                          {func(s *v1alpha1.LoadTestSuite) { s.Spec.Calibration = nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSuiteWorld(t, calibrated, func(client.Object) bool { return false })
			w.measuredBefore(c.change)
			w.live(time.Minute)
			var tests v1alpha1.LoadTestList
			if err := w.client.List(t.Context(), &tests); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, test := range tests.Items {
				names = append(names, test.Name)
			}
			if joined := strings.Join(names, " "); len(names) == 0 || strings.Contains(joined, "generator") != c.anew {
				t.Errorf("it makes %s; the calibration is measured anew: want %t", joined, c.anew)
			}
		})
	}
}
