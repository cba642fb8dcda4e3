//go:build full

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// twoByTwo are two cells, each measured twice, two tests at a time.
const twoByTwo = `
template:
  spec:
    dut: {type: Loopback}
    links: [{name: west, network: default/west, lineRate: 1gbps}, {name: east, network: default/west, lineRate: 1gbps}]
    traffic: {profile: FixedSize, frameSize: 64}
    procedure: PROCEDURE
axes:
- {name: system, values: [{name: loop}]}
- name: frames
  values: [{name: 64b}, {name: 594b, patch: {traffic: {frameSize: 594}}}]
repetitions: 2
parallelism: 2
`

// TestSuite: several tests that belong together.
func TestSuite(t *testing.T) {
	t.Run("an operator that is killed twice loses nothing, and repeats nothing that was measured", func(t *testing.T) {
		s := begin(t)
		s.suite("night", twoByTwo)
		s.until("tests are being measured", func() bool { return s.measuring() > 0 })
		s.killOperator()
		s.until("the first tests are measured, and next ones being so", func() bool { return len(s.measuredTests()) >= 2 && s.measuring() > 0 })
		known := s.measuredTests()
		s.killOperator()
		over := s.suiteOver("night")
		if c := meta.FindStatusCondition(over.Status.Conditions, lineratev1alpha1.ConditionComplete); c.Reason != lineratev1alpha1.ReasonMeasured {
			t.Errorf("it ended as %s: %s", c.Reason, c.Message)
		}
		if n := over.Status.Counts; n.Measured != 4 || n.NotMeasured+n.Retried+n.Waiting+n.Running > 0 {
			t.Errorf("counts are %+v, want 4 measured and nothing else", n)
		}
		after := s.measuredTests()
		if names := slices.Sorted(maps.Keys(after)); !slices.Equal(names, []string{"night-loop-594b-r1", "night-loop-594b-r2", "night-loop-64b-r1", "night-loop-64b-r2"}) {
			t.Errorf("measured are %q", names)
		}
		if n := s.tests(); n != 4 {
			t.Errorf("there are %d LoadTests, want 4", n)
		}
		for name, was := range known {
			if after[name] != was {
				t.Errorf("%s was measured as %s before the operator was killed, and is %s now", name, was, after[name])
			}
		}
		if n := s.having(func(t *lineratev1alpha1.LoadTest) bool {
			return t.Status.Attempt != 1 || t.Status.Operator.LostRuns != 0
		}); n != 0 {
			t.Errorf("%d tests were attempted again", n)
		}
		s.hasTable(over, after)
	})
}

// suite creates a LoadTestSuite of a spec.
func (s *scene) suite(name, spec string) {
	s.Helper()
	procedure := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(neighbourly), "procedure:"), "\n", "\n    ")
	object := &lineratev1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(spec, "PROCEDURE", procedure, 1)), &object.Spec); err != nil {
		s.Fatal(err)
	}
	if err := lab.Client.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// suiteOver waits until a suite is complete.
func (s *scene) suiteOver(name string) *lineratev1alpha1.LoadTestSuite {
	s.Helper()
	return await(s, &lineratev1alpha1.LoadTestSuiteList{}, name, "Complete", patience, func(o *lineratev1alpha1.LoadTestSuite) bool {
		return meta.IsStatusConditionTrue(o.Status.Conditions, lineratev1alpha1.ConditionComplete)
	}, suiteState)
}

func suiteState(o *lineratev1alpha1.LoadTestSuite) string {
	if o == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s, %+v", o.Status.Summary, o.Status.Counts)
}

// measuredTests are the tests that are measured, by name: each with its UID and its Report's digest.
func (s *scene) measuredTests() map[string]string {
	s.Helper()
	var all lineratev1alpha1.LoadTestList
	if err := lab.Client.List(s.Context(), &all, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	out := map[string]string{}
	for i := range all.Items {
		test := &all.Items[i]
		if condition(test, "Complete") == "Complete=True Measured" && test.Status.Report != nil {
			out[test.Name] = string(test.UID) + " " + test.Status.Report.Digest
		}
	}
	return out
}

// tests is how many LoadTests there are, and measuring how many of them are being measured.
func (s *scene) tests() int { return s.having(func(*lineratev1alpha1.LoadTest) bool { return true }) }

func (s *scene) measuring() int {
	return s.having(func(t *lineratev1alpha1.LoadTest) bool { return condition(t, "Complete") == "Complete=False Running" })
}

func (s *scene) having(so func(*lineratev1alpha1.LoadTest) bool) (n int) {
	s.Helper()
	var all lineratev1alpha1.LoadTestList
	if err := lab.Client.List(s.Context(), &all, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	for i := range all.Items {
		if so(&all.Items[i]) {
			n++
		}
	}
	return n
}

// until asks again and again, for a bounded time.
func (s *scene) until(what string, so func() bool) {
	s.Helper()
	for begun := time.Now(); !so(); s.pass(200 * time.Millisecond) {
		if time.Since(begun) > patience || s.Context().Err() != nil {
			s.Fatalf("waited %v in vain until %s", patience, what)
		}
	}
}

// killOperator kills the manager's process, and waits until the kubelet has seen it.
func (s *scene) killOperator() {
	s.Helper()
	pods, err := lab.Operators(s.Context())
	if err != nil || len(pods) != 1 {
		s.Fatalf("%d pods of the operator (%v)", len(pods), err)
	}
	pod := &pods[0]
	before := restarts(pod)
	s.until("the manager has a process to kill", func() bool {
		left, err := lab.Kill(s.Context(), pod, "manager")
		if err != nil {
			s.Fatal(err)
		}
		return left == ""
	})
	s.until("the kubelet has seen that it is gone", func() bool {
		err := lab.Client.Get(s.Context(), client.ObjectKeyFromObject(pod), pod)
		return err == nil && restarts(pod) > before
	})
}

func restarts(pod *corev1.Pod) (n int32) {
	for _, c := range pod.Status.ContainerStatuses {
		n += c.RestartCount
	}
	return n
}

// hasTable fails unless the suite's report has a run of each test that was measured, and prints as a table.
func (s *scene) hasTable(over *lineratev1alpha1.LoadTestSuite, measured map[string]string) {
	s.Helper()
	var in corev1.ConfigMap
	if err := lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: suite.ReportName(over.Name)}, &in); err != nil {
		s.Fatal(err)
	}
	document, err := delivery.DecodeSuite(in.BinaryData, in.Annotations)
	if err != nil {
		s.Fatal(err)
	}
	told := map[string]string{}
	for _, cell := range document.Cells {
		if cell.Figures == nil || cell.Figures.Runs != 2 || cell.Figures.PacketsPerSecond == 0 {
			s.Errorf("cell %s has %+v, want the medians of 2 runs", cell.Name, cell.Figures)
		}
		for _, run := range cell.Runs {
			if run.Retry == 0 && run.Figures != nil {
				told[run.Test] = run.UID + " " + run.Report
			}
		}
	}
	if !maps.Equal(told, measured) {
		s.Errorf("the report tells of %v, and measured are %v", told, measured)
	}
	if document.ExitCode() != report.ExitOK {
		s.Errorf("the report asks for exit code %d", document.ExitCode())
	}
	printed := s.types("report", over.Name, "-o", "markdown").wants(0, "| loop | 64b | ", "").wants(0, "| loop | 594b | ", "")
	s.Logf("the table:\n%s", printed.out)
	s.types("watch", over.Name).wants(0, "loop     64b", "all measured: 4 of 4 tests measured")
	s.types("list").wants(0, over.Name+"  Measured", "")
}
