package kubectl

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// aRelease is a LoadTest of a device whose image a gate replaces.
const aRelease = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: router, labels: {linerate.dev/loadtest: 64b}}
spec:
  dut: {type: Pod, pod: {template: {spec: {containers: [{name: router, image: "example.com/router"}]}}}}
  links:
  - {name: west, network: west, lineRate: 1gbps}
  - {name: east, network: east, lineRate: 1gbps}
`

// inTurns is the gate that most people want.
const inTurns = "kubectl linerate gate -f router.yaml --image example.com/router=r:new --baseline-image example.com/router=r:old --max-regression 2%"

// gated is the one suite of the namespace, waiting until it is there.
func (p *person) gated(others ...string) *v1alpha1.LoadTestSuite {
	p.Helper()
	var found *v1alpha1.LoadTestSuite
	p.until("the gate's LoadTestSuite", func() bool {
		var all v1alpha1.LoadTestSuiteList
		if admin.List(p.Context(), &all, client.InNamespace(p.namespace)) != nil {
			return false
		}
		for i := range all.Items {
			if !strings.Contains(strings.Join(others, " ")+" ", all.Items[i].Name+" ") {
				found = &all.Items[i]
			}
		}
		return found != nil
	})
	return found
}

// found is what each run of a cell found, in packets/s; 0: it came to nothing.
type found func(cell string, run int) int64

// slower finds so many percent less in the candidate.
func slower(percent int64) found {
	return func(cell string, run int) int64 {
		packets := int64(1_000_000 + 300*run)
		if cell != "baseline" {
			packets -= packets / 100 * percent
		}
		return packets
	}
}

// saysMeasuredSuite stores what the operator would of a suite's runs, and ends it.
func (p *person) saysMeasuredSuite(s *v1alpha1.LoadTestSuite, reason string, of found) {
	p.Helper()
	server, err := admission.NewServer()
	p.must(err)
	m, runs := suite.Expand(s.DeepCopy()), suite.Runs{}
	for cell := range m.Cells {
		for r := range s.Spec.Repetitions {
			content, err := m.Content(cell, r+1, 1)
			p.must(err)
			object, faults := server.Admit(content)
			if len(faults) > 0 {
				p.Fatal(faults)
			}
			name := object.LoadTest.Name
			runs[name] = suite.RunOf(over(object.LoadTest), r+1, 1, runReport(object.LoadTest, of(m.Cells[cell].Name, int(r))), "")
		}
	}
	stored, sheets := suite.Stored{}, suite.Sheets{}
	for !runs.AllIn(stored) {
		sheet, err := m.NextSheet(runs, stored)
		p.must(err)
		for _, name := range sheet.Added {
			stored[name] = sheet.Number
		}
		sheets.Record(sheet.Number, sheet.Data)
		p.must(admin.Create(p.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: suite.CopyName(s.Name, sheet.Number), Namespace: p.namespace}, BinaryData: sheet.Data}))
	}
	now := p.suite(s.Name)
	now.Status.Operator.StoredRuns = sheets.Published()
	p.must(admin.Status().Update(p.Context(), now))
	p.saysSuite(s.Name, metav1.ConditionTrue, reason, 0, 4, 0)
}

func over(test *v1alpha1.LoadTest) *v1alpha1.LoadTest {
	set(&test.Status, v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonMeasured, "it came to its end")
	return test
}

func runReport(test *v1alpha1.LoadTest, packets int64) *report.Report {
	plan, _ := compile.Compile(test)
	flow := report.Flow{PacketsPerSecond: packets, Layer1BitsPerSecond: 672 * packets}
	r := &report.Report{Version: report.Version, Plan: plan, Ending: report.Completed, Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Total: &report.Sum{Received: flow}, Claim: report.Claim{Saturated: true, Confirmed: true, Resolution: units.One / 1000}}}
	for _, d := range plan.Directions {
		r.Answer.Directions = append(r.Answer.Directions, report.Direction{From: d.From, To: d.To, Received: flow, Offered: flow, Quality: report.Good})
	}
	return r
}

func TestAGateJudges(t *testing.T) {
	for name, c := range map[string]struct {
		of      found
		reason  string
		code    int
		outcome report.Outcome
	}{
		"no change":                   {slower(0), v1alpha1.ReasonMeasured, 0, report.Passed},
		"a regression":                {slower(5), v1alpha1.ReasonMeasured, 1, report.DidFail},
		"what lies at the allowance":  {slower(2), v1alpha1.ReasonMeasured, 3, report.Undecided},
		"a suite that a user stopped": {slower(0), v1alpha1.ReasonStopped, 3, report.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t)
			p.write("router.yaml", aRelease)
			gate := p.starts(inTurns + " -o text,junit=results.xml,markdown=summary.md,json=gate.json,html=gate.html")
			s := p.gated()
			if s.Spec.Repetitions != 5 || len(suite.Expand(s).Cells) != 2 {
				t.Errorf("the suite is %+v", s.Spec)
			}
			gate.talk.await(t, "created in namespace")
			p.saysMeasuredSuite(s, c.reason, c.of)
			gate.ends().wants(t, c.code, string(c.outcome), "")
			var doc report.Gate
			p.must(json.Unmarshal(p.read("gate.json"), &doc))
			if doc.Version != report.GateVersion || doc.ExitCode != c.code || doc.Outcome != c.outcome || len(doc.Rows) != 1 || doc.Rows[0].Product != "router" {
				t.Errorf("the document says %s, %d, %s: %+v", doc.Version, doc.ExitCode, doc.Outcome, doc.Rows)
			}
			var junit struct {
				Failures int `xml:"failures,attr"`
				Errors   int `xml:"errors,attr"`
			}
			p.must(xml.Unmarshal(p.read("results.xml"), &junit))
			if green := junit.Failures+junit.Errors == 0; green != (c.code == 0) {
				t.Errorf("junit has %d failures and %d errors, and the exit code is %d", junit.Failures, junit.Errors, c.code)
			}
			if text := string(p.read("summary.md")); !strings.Contains(text, string(c.outcome)) || !strings.HasPrefix(text, "### ") {
				t.Errorf("the summary is\n%s", text)
			}
			if !strings.Contains(string(p.read("gate.html")), "</html>") {
				t.Error("there is no page")
			}
		})
	}
}

func (p *person) read(name string) []byte {
	p.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	p.must(err)
	return text
}

func TestAGateIsRepeated(t *testing.T) {
	p := newPerson(t)
	p.write("router.yaml", aRelease)
	first := p.starts(inTurns)
	s := p.gated()
	first.talk.await(t, "created in namespace")
	second := p.starts(inTurns) // the same commit, by another pipeline
	second.talk.await(t, "is under way in namespace "+p.namespace)
	p.saysMeasuredSuite(s, v1alpha1.ReasonMeasured, slower(5))
	first.ends().wants(t, 1, "Failed", "")
	second.ends().wants(t, 1, "Failed", "")
	p.types(inTurns).wants(t, 1, "Failed", "was measured ") // tried again
	var all v1alpha1.LoadTestSuiteList
	p.must(admin.List(t.Context(), &all, client.InNamespace(p.namespace)))
	if len(all.Items) != 1 {
		t.Errorf("there are %d suites, want the one", len(all.Items))
	}
	t.Run("another commit is another suite", func(t *testing.T) {
		other := p.starts(strings.Replace(inTurns, "r:new", "r:newer", 1))
		p.saysMeasuredSuite(p.gated(s.Name), v1alpha1.ReasonMeasured, slower(0))
		other.ends().wants(t, 0, "Passed", "created")
	})
	t.Run("a name of its own that is taken by something else says the way out", func(t *testing.T) {
		mine := p.starts(inTurns + " --name-suffix pr-1")
		mine.talk.await(t, "router-pr-1 created")
		p.types(strings.Replace(inTurns, "2%", "3%", 1)+" --name-suffix pr-1").wants(t, 2, "", "measures something else; a suite can't be changed: choose another --name-suffix")
		p.must(mine.cmd.Process.Signal(syscall.SIGTERM))
		p.until("the stop", func() bool { return p.suite("router-pr-1").Spec.Stop })
		p.must(mine.cmd.Process.Signal(syscall.SIGTERM))
		mine.ends().wants(t, 130, "interrupted", "stopping")
	})
	t.Run("one that measured nothing is measured again", func(t *testing.T) {
		p.saysSuite("router-pr-1", metav1.ConditionTrue, v1alpha1.ReasonStopped, 0, 0, 4)
		again := p.starts(inTurns + " --name-suffix pr-1")
		again.talk.await(t, "router-pr-1-2 created")
		p.saysMeasuredSuite(p.suite("router-pr-1-2"), v1alpha1.ReasonMeasured, slower(0))
		again.ends().wants(t, 0, "Passed", "")
	})
}

// The name of a gate's suite, and its annotation, follow from the file, which many can read. Who may create suites, as each pipeline may, makes one of them that any device passes: no
// gate judges that.
func TestAGateJudgesNoSuiteThatMeasuresSomethingElse(t *testing.T) {
	p := newPerson(t)
	p.write("router.yaml", aRelease)
	gate := p.starts(inTurns)
	was := p.gated()
	gate.talk.await(t, "created in namespace")
	p.must(gate.cmd.Process.Kill())
	gate.ends()
	for field, plant := range map[string]func(*v1alpha1.LoadTestSuiteSpec){
		"spec.criteria[0].maxRegression": func(s *v1alpha1.LoadTestSuiteSpec) { s.Criteria[0].MaxRegression = "90%" },
		"spec.axes[0].values[0].patch": func(s *v1alpha1.LoadTestSuiteSpec) {
			s.Axes[0].Values[0].Patch = nil // the candidate beside itself
		},
		"spec.template.spec.dut": func(s *v1alpha1.LoadTestSuiteSpec) {
			s.Template.Spec["dut"] = apiextensionsv1.JSON{Raw: []byte(`{"type":"Reference"}`)}
		},
		"spec.repetitions": func(s *v1alpha1.LoadTestSuiteSpec) { s.Repetitions = 6 },
	} {
		t.Run(field, func(t *testing.T) {
			p := &person{T: t, namespace: p.namespace, dir: p.dir, config: p.config}
			planted := was.DeepCopy()
			p.must(client.IgnoreNotFound(admin.Delete(t.Context(), planted)))
			planted = &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Name: was.Name, Namespace: was.Namespace, Annotations: was.Annotations}, Spec: *was.Spec.DeepCopy()}
			plant(&planted.Spec)
			p.must(admin.Create(t.Context(), planted))
			p.saysSuite(was.Name, metav1.ConditionTrue, v1alpha1.ReasonMeasured, 0, 4, 0)
			p.types(inTurns).wants(t, 2, "", "LoadTestSuite "+was.Name+" in namespace "+p.namespace+" says that it measures this, and its "+field)
		})
	}
	t.Run("and another name is free", func(t *testing.T) {
		mine := p.starts(inTurns + " --name-suffix mine")
		p.saysMeasuredSuite(p.suite("router-mine"), v1alpha1.ReasonMeasured, slower(0))
		mine.ends().wants(t, 0, "Passed", "created")
	})
}

func TestAGateRefusesUndecidableCriteria(t *testing.T) {
	p := newPerson(t)
	p.write("router.yaml", aRelease)
	p.write("suite.yaml", aSuite)
	p.write("empty.json", "")
	for line, says := range map[string]string{
		"gate":                 "-f FILE",
		"gate router.yaml":     "give files with -f",
		"gate -f nowhere.yaml": "nowhere.yaml",
		"gate -f router.yaml":  "could never fail",
		"gate -f suite.yaml":   "could never fail",
		"gate -f router.yaml --max-regression 2 --baseline nothing":     `--max-regression "2": write a percentage`,
		"gate -f router.yaml --max-regression 2%":                       "there is no baseline",
		"gate -f router.yaml -o pdf=x":                                  "there is no format",
		"gate -f router.yaml -o text,json":                              "one format can go to stdout",
		"gate -f router.yaml -o junit=nowhere/a.xml":                    "there is no folder nowhere",
		"gate -f router.yaml --cleanup Sometimes":                       "Never, Passed or Always",
		"gate -f router.yaml --runs 101":                                "1 to 100 times",
		"gate -f router.yaml --on-interrupt ask":                        "stop, leave or delete",
		"gate -f router.yaml --max-regression 2% --baseline nothing":    "no LoadTest nothing",
		"gate -f router.yaml --max-regression 2% --baseline empty.json": "holds no report",
		"gate -f router.yaml --max-regression 2% --baseline a=b":        "no Report in namespace",
		"gate -f router.yaml --max-regression 2% --baseline suite/x":    "no LoadTestSuite x",
		"gate -f router.yaml --max-regression 2% --image rooter=x":      "the images are example.com/router",
	} {
		t.Run(line, func(t *testing.T) { p.types("kubectl linerate "+line).wants(t, 2, "", says) })
	}
	var all v1alpha1.LoadTestSuiteList
	p.must(admin.List(t.Context(), &all, client.InNamespace(p.namespace)))
	if len(all.Items) != 0 {
		t.Errorf("%d suites were created", len(all.Items))
	}
}

func TestAGateWithABaselineFromElsewhere(t *testing.T) {
	p := newPerson(t)
	p.write("router.yaml", aRelease)
	p.hasKept("baseline.json", "baseline", 0)
	last := p.starts("kubectl linerate gate -f router.yaml --max-regression 2% --baseline baseline.json --name-suffix last")
	p.saysMeasuredSuite(p.suite("router-last"), v1alpha1.ReasonMeasured, slower(0))
	last.ends().wants(t, 0, "Passed", "")
	p.write("suite.yaml", strings.Replace(aSuite, "  repetitions: 2\n", "  repetitions: 5\n  criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}]\n", 1))
	t.Run("and an anchor that was better", func(t *testing.T) {
		p.hasKept("first.json", "anchor", -5)
		gate := p.starts("kubectl linerate gate -f router.yaml --max-regression 2% --baseline baseline.json --anchor first.json --name-suffix crept")
		p.saysMeasuredSuite(p.suite("router-crept"), v1alpha1.ReasonMeasured, slower(0))
		gate.ends().wants(t, 1, "no-slower since the anchor", "")
		p.must(os.Remove(filepath.Join(p.dir, "first.json"))) // it is no part of a baseline that is this folder
	})
	t.Run("and a witness, of which the baseline has nothing", func(t *testing.T) {
		gate := p.starts("kubectl linerate gate -f router.yaml --max-regression 2% --baseline baseline.json --witness overload --name-suffix w")
		p.saysMeasuredSuite(p.suite("router-w"), v1alpha1.ReasonMeasured, slower(0))
		witness := p.suite("router-overload-w")
		if witness.Spec.Repetitions != 22 {
			t.Errorf("the witness is measured %d times, want 22", witness.Spec.Repetitions)
		}
		p.saysMeasuredSuite(witness, v1alpha1.ReasonMeasured, slower(0))
		gate.ends().wants(t, 0, "the limit is not less than is allowed, and decides", "")
	})
	t.Run("and a witness that there isn't", func(t *testing.T) {
		p.types("kubectl linerate gate -f router.yaml --max-regression 2% --baseline baseline.json --witness neighbour").wants(t, 2, "", `--witness "neighbour"`)
	})
	t.Run("an earlier suite, cell by cell", func(t *testing.T) {
		first := p.starts("kubectl linerate gate -f suite.yaml --baseline baseline.json --name-suffix v1")
		p.saysMeasuredSuite(p.suite("four-systems-v1"), v1alpha1.ReasonMeasured, slower(0))
		first.ends().wants(t, 3, "Undecided", "") // a Reference was measured, and the files have a pod's: no such row
		p.write("suite.yaml", strings.Replace(string(p.read("suite.yaml")), "  repetitions: 5\n", "  repetitions: 5\n  baseline: {suite: four-systems-v1}\n", 1))
		second := p.starts("kubectl linerate gate -f suite.yaml --name-suffix v2")
		p.saysMeasuredSuite(p.suite("four-systems-v2"), v1alpha1.ReasonMeasured, func(cell string, run int) int64 {
			if strings.HasPrefix(cell, "half") {
				return slower(10)(cell, run)
			}
			return slower(0)(cell, run)
		})
		second.ends().wants(t, 1, "Failed: 1 of 2 tests doesn't meet the criteria", "")
	})
	for baseline, c := range map[string]struct {
		percent int64
		code    int
		suffix  string
	}{"suite/router-last": {0, 0, "a"}, "router-last": {5, 1, "b"}, "baseline.json": {5, 1, "c"}, ".": {0, 0, "d"}, "loadtest/kept": {5, 3, "e"}} {
		t.Run(baseline, func(t *testing.T) {
			suffix := c.suffix
			if baseline == "loadtest/kept" { // a single run
				p.creates("kept")
				p.saysMeasured("kept", passed)
			}
			gate := p.starts("kubectl linerate gate -f router.yaml --max-regression 2% --baseline " + baseline + " --name-suffix " + suffix)
			s := p.suite("router-" + suffix)
			if s.Spec.Repetitions != 5 {
				t.Errorf("it is measured %d times, want 5", s.Spec.Repetitions)
			}
			p.saysMeasuredSuite(s, v1alpha1.ReasonMeasured, slower(c.percent))
			gate.ends().wants(t, c.code, "baseline", "")
		})
	}
}

// Of devices that failed under their tests the Reports have figures all the same: those are nobody's.
func TestAGateIsComparedWithNoFigureThatIsNotPublished(t *testing.T) {
	p := newPerson(t)
	server, err := admission.NewServer()
	p.must(err)
	objects, err := server.Load("router.yaml", strings.NewReader(aRelease))
	p.must(err)
	var names []string
	for run := range int64(5) {
		name := fmt.Sprintf("faulty-%d", run)
		p.creates(name)
		p.saysMeasured(name, func(r *report.Report) { *r = *runReport(objects[0].LoadTest, 40_000+run) })
		p.says(name, func(st *v1alpha1.LoadTestStatus) {
			st.Result = nil
			set(st, v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonDUTFailed, "pod router ended: out of memory")
		})
		names = append(names, fmt.Sprintf("{configMap: %s-report}", name))
	}
	p.write("router.yaml", aRelease+"  baseline: {reports: ["+strings.Join(names, ", ")+"]}\n")
	gate := p.starts("kubectl linerate gate -f router.yaml --max-regression 2% --name-suffix x")
	p.saysMeasuredSuite(p.suite("router-x"), v1alpha1.ReasonMeasured, slower(0))
	gate.ends().wants(t, 3, "what the runner measured doesn't count", "")
}

// The rights that the CI examples give are enough for all that a gate does, and the CronJob is one that the API server takes.
func TestAGateWithTheRightsOfTheExamples(t *testing.T) {
	p := newPerson(t)
	p.applies("../../../examples/ci/rbac.yaml")
	p.applies("../../../examples/ci/nightly-cronjob.yaml")
	p.write("router.yaml", aRelease)
	p.become("system:serviceaccount:" + p.namespace + ":ci-gate")
	gate := p.starts(inTurns + " --cleanup Always")
	s := p.gated()
	gate.talk.await(t, "waiting for the operator")
	p.saysMeasuredSuite(s, v1alpha1.ReasonMeasured, slower(0))
	r := gate.ends()
	r.wants(t, 0, "Passed", "deleted")
	if strings.Contains(r.talk, "forbidden") {
		t.Errorf("something isn't allowed:\n%s", r.talk)
	}
	stopped := p.starts(strings.Replace(inTurns, "r:new", "r:newer", 1))
	stopped.talk.await(t, "waiting for the operator")
	p.must(stopped.cmd.Process.Signal(syscall.SIGTERM))
	stopped.talk.await(t, "stopping")
	p.must(stopped.cmd.Process.Signal(syscall.SIGTERM))
	stopped.ends().wants(t, 130, "interrupted", "stopping")
	p.types("kubectl linerate gate -f router.yaml --max-regression 2% --baseline linerate.dev/test=x").wants(t, 2, "", "no Report in namespace")
}

// applies creates the objects of a file, checked strictly, as kubectl apply would.
func (p *person) applies(file string) {
	p.Helper()
	text, err := os.ReadFile(file)
	p.must(err)
	for _, document := range strings.Split(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		p.must(yaml.Unmarshal([]byte(document), &object.Object))
		object.SetNamespace(p.namespace)
		if subjects, is, _ := unstructured.NestedSlice(object.Object, "subjects"); is {
			subjects[0].(map[string]any)["namespace"] = p.namespace
			p.must(unstructured.SetNestedSlice(object.Object, subjects, "subjects"))
		}
		p.must(admin.Create(p.Context(), object, &client.CreateOptions{Raw: &metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}}))
	}
}
