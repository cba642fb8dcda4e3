package kubectl

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

const aSuite = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: four-systems}
spec:
  template:
    spec:
      dut: {type: Reference}
      links:
      - {name: west, network: west, lineRate: 1gbps}
      - {name: east, network: east, lineRate: 1gbps}
  axes:
  - name: system
    values:
    - {name: linux}
    - {name: half, patch: {dut: {reference: {limit: {packetsPerSecond: 160000}}}}}
  - name: frames
    values: [{name: imix}]
  repetitions: 2
`

// What the operator would write of a suite of two cells with two repetitions each.

func (p *person) createsSuite(name string) *v1alpha1.LoadTestSuite {
	p.Helper()
	s := &v1alpha1.LoadTestSuite{}
	p.decode(strings.Replace(aSuite, "four-systems", name, 1), s)
	s.Namespace = p.namespace
	p.must(admin.Create(p.Context(), s))
	return s
}

// suite reads a LoadTestSuite, waiting until it is there.
func (p *person) suite(name string) *v1alpha1.LoadTestSuite {
	p.Helper()
	s := &v1alpha1.LoadTestSuite{}
	p.until("LoadTestSuite "+name, func() bool {
		return admin.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, s) == nil
	})
	return s
}

// saysSuite writes a suite's status, its counts so that they add up.
func (p *person) saysSuite(name string, status metav1.ConditionStatus, reason string, running, measured, not int32) {
	p.Helper()
	s := p.suite(name)
	message := fmt.Sprintf("%d of 4 tests measured", measured)
	if running > 0 {
		message += fmt.Sprintf(", %d under way", running)
	}
	s.Status.ObservedGeneration = s.Generation
	s.Status.Counts = v1alpha1.SuiteCounts{Cells: 2, Tests: 4, Running: running, Measured: measured, NotMeasured: not, Waiting: 4 - running - measured - not}
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: status, Reason: reason, Message: message})
	suite.SetPhase(&s.Status)
	p.must(admin.Status().Update(p.Context(), s))
}

// makes creates one of the suite's tests.
func (p *person) makes(of *v1alpha1.LoadTestSuite, cell, repetition int) string {
	p.Helper()
	matrix := suite.Expand(of)
	name := matrix.TestName(cell, int32(repetition), 1)
	p.creates(name, func(test *v1alpha1.LoadTest) {
		test.Labels = map[string]string{v1alpha1.LabelSuite: of.Name, v1alpha1.LabelSuiteUID: string(of.UID)}
		test.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestSuiteKind, Name: of.Name, UID: of.UID, Controller: new(true)}}
	})
	return name
}

// keepsTable writes the suite's report: so many of each cell's repetitions are in.
func (p *person) keepsTable(of *v1alpha1.LoadTestSuite, repetitions int, change ...func(*report.Suite)) {
	p.Helper()
	s := p.suite(of.Name)
	r := &report.Suite{Producer: "linerate test", Name: s.Name, Namespace: s.Namespace, UID: string(s.UID), Started: s.CreationTimestamp.UTC()}
	for number, cell := range suite.Expand(s).Cells {
		c := report.SuiteCell{Name: cell.Name, Product: cell.Product, Loadtest: cell.Loadtest}
		share := int64(number + 1) // half the packets are half the bits
		figures := report.Figures{Runs: 1, PacketsPerSecond: 320_000 / share, Layer1BitsPerSecond: 1_000_000_000 / share,
			LineRatePercent: units.Hundred / 2 / units.Percent(share), LineRatePercentSum: units.Hundred / units.Percent(share)}
		for n := range repetitions {
			c.Runs = append(c.Runs, report.SuiteRun{Test: fmt.Sprintf("%s-%s-r%d", s.Name, cell.Name, n+1), Repetition: n + 1, Reason: "LossAboveLimit", Figures: new(figures)})
			all := figures
			all.Runs = n + 1
			c.Figures = &all
		}
		r.Cells = append(r.Cells, c)
	}
	if repetitions == 2 {
		r.Finished = time.Now()
	}
	for _, c := range change {
		c(r)
	}
	data, annotations, err := delivery.EncodeSuite(r)
	p.must(err)
	at := suite.ReportName(s.Name)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: at, Namespace: p.namespace, Annotations: annotations}, BinaryData: data}
	p.must(client.IgnoreNotFound(admin.Delete(p.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: at, Namespace: p.namespace}})))
	p.must(admin.Create(p.Context(), cm))
	s.Status.Report = &v1alpha1.ReportReference{ConfigMap: at, Digest: annotations[delivery.AnnotationDigest]}
	p.must(admin.Status().Update(p.Context(), s))
}

// saysSuiteEnded writes the whole table and the end.
func (p *person) saysSuiteEnded(of *v1alpha1.LoadTestSuite, reason string, change ...func(*report.Suite)) {
	p.Helper()
	p.keepsTable(of, 2, change...)
	p.saysSuite(of.Name, metav1.ConditionTrue, reason, 0, 4, 0)
}

func (p *person) saysSuiteRuns(name string, running, measured int32) {
	p.Helper()
	p.saysSuite(name, metav1.ConditionFalse, v1alpha1.ReasonRunning, running, measured, 0)
}

func aCellFailed(s *report.Suite) {
	s.Cells[0].Verdict = &report.Verdict{Outcome: report.DidFail, Criteria: []report.CriterionResult{{Name: "fast", Outcome: report.DidFail, Message: "too slow"}}}
}

func TestASuiteIsFollowed(t *testing.T) {
	t.Run("piped, a line for each test that ends, and the table at the end", func(t *testing.T) {
		p := newPerson(t)
		s := p.createsSuite("four-systems")
		watch := p.starts("kubectl linerate watch four-systems")
		watch.talk.await(t, "four-systems: waiting for the operator")
		first := p.makes(s, 0, 1)
		p.saysSuiteRuns("four-systems", 1, 0)
		watch.talk.await(t, "four-systems: 0 of 4 tests measured, 1 under way")
		p.saysMeasured(first, passed)
		watch.talk.await(t, "four-systems-linux-imix-r1: measured: ")
		second := p.makes(s, 1, 1)
		p.saysEnded(second, v1alpha1.ReasonGeneratorLost, "its node went away")
		watch.talk.await(t, "four-systems-half-imix-r1: ended as GeneratorLost: its node went away")
		p.saysSuiteRuns("four-systems", 1, 2)
		watch.talk.await(t, "four-systems: 2 of 4 tests measured, 1 under way")
		p.saysSuiteEnded(s, v1alpha1.ReasonMeasured)
		r := watch.ends()
		r.wants(t, 0, "half     imix            160.00 k        500.00 M             50.00  -     2", "four-systems: all measured: 4 of 4 tests measured")
		if strings.Contains(r.talk+r.out, "\x1b") {
			t.Errorf("terminal codes in a pipe:\n%q", r.talk+r.out)
		}
	})
	t.Run("on a terminal, with its tests below it, and they are gone at the end", func(t *testing.T) {
		p := newPerson(t)
		s := p.createsSuite("four-systems")
		watch, _ := p.sits("kubectl linerate watch suite/four-systems")
		watch.out.await(t, "waiting for the operator")
		p.saysRunning(p.makes(s, 0, 1), 10)
		p.saysSuiteRuns("four-systems", 1, 1)
		watch.out.await(t, "four-systems ▕█████░░░░░░░░░░░░░░░▏  25 %  1 of 4 tests measured, 1 under way\r\n  four-systems-linux-imix-r1 ▕██░░")
		p.saysMeasured("four-systems-linux-imix-r1", passed)
		watch.out.await(t, "four-systems-linux-imix-r1: measured: ")
		p.saysSuiteEnded(s, v1alpha1.ReasonMeasured)
		r := watch.ends()
		if _, last, _ := cutLast(r.out, "\x1b[J"); r.code != 0 || !strings.HasPrefix(last,
			"\x1b[1mfour-systems\x1b[0m: 2 of 2 tests have a figure.\r\nEach test has a figure.\r\n\r\nproduct  loadtest") {
			t.Errorf("exit %d, the table isn't alone:\n%q", r.code, last)
		}
	})
	for name, c := range map[string]struct {
		reason string
		change func(*report.Suite)
		code   int
	}{
		"a cell that failed is 1":         {v1alpha1.ReasonMeasured, aCellFailed, 1},
		"measured in part is 3":           {v1alpha1.ReasonPartlyMeasured, func(s *report.Suite) { s.Cells[1].Runs, s.Cells[1].Figures = nil, nil }, 3},
		"stopped is 130":                  {v1alpha1.ReasonStopped, func(*report.Suite) {}, 130},
		"failed and in part: 3 outweighs": {v1alpha1.ReasonPartlyMeasured, aCellFailed, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t)
			p.saysSuiteEnded(p.createsSuite("four-systems"), c.reason, c.change)
			p.types("kubectl linerate watch four-systems").wants(t, c.code, "half     imix", "")
		})
	}
	t.Run("invalid is 2, with what is wrong", func(t *testing.T) {
		p := newPerson(t)
		p.createsSuite("four-systems")
		p.saysSuite("four-systems", metav1.ConditionTrue, v1alpha1.ReasonInvalid, 0, 0, 0)
		p.types("kubectl linerate watch four-systems").wants(t, 2, "", "four-systems ended without a Report, as Invalid")
	})
	t.Run("one that is deleted meanwhile is 3", func(t *testing.T) {
		p := newPerson(t)
		s := p.createsSuite("four-systems")
		watch := p.starts("kubectl linerate watch four-systems")
		watch.talk.await(t, "waiting for the operator")
		p.must(admin.Delete(t.Context(), s))
		watch.ends().wants(t, 3, "", "four-systems was deleted, and its Report with it")
	})
}

func TestASuiteIsRun(t *testing.T) {
	p := newPerson(t)
	p.write("suite.yaml", aSuite)
	run := p.starts("kubectl linerate run suite.yaml")
	run.talk.await(t, "four-systems created in namespace "+p.namespace+"\nfour-systems: waiting for the operator")
	s := p.suite("four-systems")
	p.saysSuiteRuns("four-systems", 1, 1)
	p.saysSuiteEnded(s, v1alpha1.ReasonMeasured)
	run.ends().wants(t, 0, "linux    imix", "four-systems: all measured: 4 of 4 tests measured")
	t.Run("again, it is its result", func(t *testing.T) {
		p.types("kubectl linerate run suite.yaml").wants(t, 0, "linux    imix", "this is its result; use metadata.generateName for a new one")
		p.types("kubectl linerate run suite.yaml --new").wants(t, 2, "", "LoadTestSuite four-systems exists in namespace "+p.namespace)
		p.write("other.yaml", strings.Replace(aSuite, "repetitions: 2", "repetitions: 3", 1))
		p.types("kubectl linerate run other.yaml").wants(t, 2, "", "with another spec.repetitions: name this one otherwise, use metadata.generateName, or kubectl delete loadtestsuite four-systems")
		p.write("wider.yaml", aSuite+"  parallelism: 4\n")
		p.types("kubectl linerate run wider.yaml").wants(t, 0, "linux    imix", "(but for spec.parallelism, which kubectl apply would change)")
	})
	t.Run("a cell that can't be measured is named with its line, and nothing is created", func(t *testing.T) {
		p.write("wrong.yaml", strings.NewReplacer("four-systems", "wrong", "packetsPerSecond: 160000", "packetsPerSecond: -1").Replace(aSuite))
		p.write("test.yaml", aTest)
		p.types("kubectl linerate run test.yaml wrong.yaml").wants(t, 2, "", "wrong.yaml:15: cell half-imix: spec.dut.reference.limit.packetsPerSecond")
		if err := admin.Get(t.Context(), keyOf(p, "vpp-imix"), &v1alpha1.LoadTest{}); err == nil {
			t.Error("the other test was created")
		}
	})
	t.Run("a pipeline's signal stops it, and what was measured is printed", func(t *testing.T) {
		p.write("stopped.yaml", strings.Replace(aSuite, "four-systems", "stopped", 1))
		run := p.starts("kubectl linerate run stopped.yaml --on-interrupt stop")
		run.talk.await(t, "waiting for the operator")
		p.must(run.cmd.Process.Signal(syscall.SIGTERM))
		p.until("stop", func() bool { return p.suite("stopped").Spec.Stop })
		p.saysSuiteEnded(p.suite("stopped"), v1alpha1.ReasonStopped)
		run.ends().wants(t, 130, "linux    imix", "stopped: ended as Stopped")
	})
	t.Run("suites and tests in one document", func(t *testing.T) {
		p.write("both.yaml", strings.Replace(aTest, "vpp-imix", "beside", 1)+"---\n"+aSuite)
		run := p.starts("kubectl linerate run both.yaml -o junit")
		p.saysMeasured("beside", passed)
		run.ends().wants(t, 0, `classname="four-systems.half-imix"`, "beside: measured")
		p.types("kubectl linerate run both.yaml -o html").wants(t, 2, "", "format html holds one suite, or tests alone")
	})
}

func TestTheReportOfASuite(t *testing.T) {
	p := newPerson(t)
	s := p.createsSuite("four-systems")
	p.types("kubectl linerate report four-systems").wants(t, 3, "", "four-systems has no Report yet (waiting for the operator")
	p.saysSuiteRuns("four-systems", 1, 2)
	p.keepsTable(s, 1)
	t.Run("what was measured so far", func(t *testing.T) {
		p.types("kubectl linerate report four-systems").wants(t, 0, "! the suite has not ended: this is what was measured so far", "four-systems isn't over (2 of 4 tests measured, 1 under way)")
	})
	p.saysSuiteEnded(s, v1alpha1.ReasonMeasured)
	for format, want := range map[string]string{
		"text": "half     imix", "json": `"version": "linerate.dev/suite-report.v1alpha1"`, "markdown": "| half | imix |", "junit": `classname="four-systems.half-imix"`, "html": "<!doctype html>",
	} {
		t.Run(format, func(t *testing.T) {
			r := p.types("kubectl linerate report suite/four-systems -o " + format)
			if r.code != 0 || r.talk != "" || !strings.Contains(strings.ToLower(r.out), strings.ToLower(want)) {
				t.Errorf("exit %d, no %q in\n%.600s\n%s", r.code, want, r.out, r.talk)
			}
		})
	}
	t.Run("viz holds one test", func(t *testing.T) {
		p.types("kubectl linerate report four-systems -o viz").wants(t, 2, "", "a suite has several")
	})
	t.Run("beside a test's", func(t *testing.T) {
		p.creates("vpp-imix")
		p.saysMeasured("vpp-imix", passed)
		p.types("kubectl linerate report four-systems vpp-imix").wants(t, 0, "OpenBSD 64b: 152 kpps west→east", "")
		p.types("kubectl linerate report four-systems vpp-imix -o html").wants(t, 2, "", "format html holds one suite, or tests alone")
		p.types("kubectl linerate report four-systems vpp-imix -o junit").wants(t, 0, `classname="vpp-imix"`, "")
	})
	t.Run("of one that was replaced", func(t *testing.T) {
		cm := &corev1.ConfigMap{}
		p.must(admin.Get(t.Context(), keyOf(p, "four-systems-suite"), cm))
		other := *p.suite("four-systems")
		other.Status.Report.Digest = "sha256:00"
		p.must(admin.Status().Update(t.Context(), &other))
		p.types("kubectl linerate report four-systems").wants(t, 3, "", "holds another report")
		cm.Annotations["linerate.dev/digest"] = "sha256:00"
		p.must(admin.Update(t.Context(), cm))
		p.types("kubectl linerate report four-systems").wants(t, 3, "", "somebody changed it")
		p.must(admin.Delete(t.Context(), cm))
		p.types("kubectl linerate report four-systems").wants(t, 3, "", "ConfigMap four-systems-suite in namespace "+p.namespace+" is gone")
	})
}

func TestNamesOfTestsAndSuites(t *testing.T) {
	p := newPerson(t)
	p.creates("both")
	p.createsSuite("both")
	p.createsSuite("four-systems")
	p.types("kubectl linerate report both").wants(t, 2, "", "there is a LoadTest both and a LoadTestSuite both in namespace "+p.namespace+": write loadtest/both or suite/both")
	p.types("kubectl linerate report suite/nobody").wants(t, 2, "", "no LoadTestSuite nobody in namespace "+p.namespace)
	p.types("kubectl linerate report pod/both").wants(t, 2, "", `"pod/both": write loadtest/NAME or suite/NAME, or the name alone`)
	for _, typed := range []string{"suite/both", "lts/both", "loadtestsuites.linerate.dev/both"} {
		p.types("kubectl linerate report "+typed).wants(t, 3, "", "both has no Report yet")
	}
	t.Run("stop stops the one that was meant", func(t *testing.T) {
		p.types("kubectl linerate stop suite/both").wants(t, 0, "", "both: stopping")
		if p.test("both").Spec.Stop || !p.suite("both").Spec.Stop {
			t.Error("not the suite was stopped")
		}
		p.types("kubectl linerate stop lt/both four-systems").wants(t, 0, "", "both: stopping\nfour-systems: stopping")
		if !p.test("both").Spec.Stop || !p.suite("four-systems").Spec.Stop {
			t.Error("not both were stopped")
		}
	})
	t.Run("completion offers both, suites with their state", func(t *testing.T) {
		p.makes(p.suite("four-systems"), 0, 1)
		p.types("kubectl_complete-linerate watch ''").wants(t, 0, "loadtest/both\tNew\nsuite/both\tsuite, New\nfour-systems\tsuite, New\n", "")
		p.types("kubectl_complete-linerate watch four-systems-").wants(t, 0, "four-systems-linux-imix-r1\tNew\n", "")
	})
}

func TestSuitesInTheList(t *testing.T) {
	p := newPerson(t)
	s := p.createsSuite("four-systems")
	p.saysSuiteRuns("four-systems", 1, 1)
	p.saysMeasured(p.makes(s, 0, 1), passed)
	p.saysRunning(p.makes(s, 1, 1), 42)
	r := p.types("kubectl linerate list")
	r.wants(t, 0, "four-systems  Running  -       25        1 of 4    0       -", "")
	r.wants(t, 0, "four-systems-half-imix-r1  Running  -       42", "")
	r.wants(t, 0, "1 more test of suites: kubectl linerate list --all shows them", "")
	p.types("kubectl linerate list --all").wants(t, 0, "four-systems-linux-imix-r1  Measured  LossAboveLimit  -", "")
	p.types("kubectl linerate list -o json").wants(t, 0, `"suite": "four-systems"`, "")
}

// decode reads an object from YAML.
func (p *person) decode(text string, into client.Object) {
	p.Helper()
	p.must(yaml.UnmarshalStrict([]byte(text), into))
}
