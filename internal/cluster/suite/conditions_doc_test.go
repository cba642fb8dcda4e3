package suite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// documentedConditions are those in docs/suites.md, such as "Complete=True Measured".
func documentedConditions(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../../docs/suites.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Conditions\n")
	if !found {
		t.Fatal("docs/suites.md has no section of conditions")
	}
	documented := map[string]bool{}
	for row := range strings.Lines(section) {
		cell := strings.Split(strings.Trim(row, "| \n"), " | ")
		if len(cell) < 4 || !strings.HasPrefix(cell[1], "`") {
			continue
		}
		for _, status := range []string{"True", "False", "Unknown"} {
			if strings.Contains(cell[2], status) {
				documented[cell[0]+"="+status+" "+strings.Trim(cell[1], "`")] = true
			}
		}
	}
	return documented
}

// conditionLife is a suite's life, whose conditions are collected after each pass.
type conditionLife struct {
	spec    string
	prepare func(*world)
	change  func(*world) // the first pass
}

// conditionLives are lives that together have all conditions of a suite.
func conditionLives() map[string]conditionLife {
	const single = "template: {spec: {}}\ninvalidRetries: 0\n"
	const judged = single + "criteria: [{name: a, metric: PacketsPerSecond, min: \"1\"}]\n"
	verdict := func(o report.Outcome) func(*world) {
		return func(w *world) {
			w.judge = func([]plan.Criterion, []*report.Report) report.Verdict { return report.Verdict{Outcome: o} }
		}
	}
	lost := func(names ...string) func(*world) {
		return func(w *world) {
			w.ends = func(name string) string {
				if slices.Contains(names, name) {
					return v1alpha1.ReasonGeneratorLost
				}
				return ""
			}
		}
	}
	const compared = "template: {spec: {}}\ninvalidRetries: 0\naxes: [{name: image, values: [{name: main}, {name: new%s}]}]\n" +
		"baseline: {axis: image, value: main}\ncriteria: [{name: a, metric: PacketsPerSecond, maxRegression: 2%%}]\n"
	const nightly = "template: {spec: {}}\ninvalidRetries: 0\nbaseline: {suite: nightly}\n" +
		"criteria: [{name: a, metric: PacketsPerSecond, maxRegression: 2%}]\n"
	return map[string]conditionLife{
		"comparable": {spec: fmt.Sprintf(compared, "") + "repetitions: 5\n"},
		"too few":    {spec: fmt.Sprintf(compared, "")},
		"on another node": {spec: strings.Replace(fmt.Sprintf(compared, ", patch: {dut: {node: b}}"), "spec: {}",
			"spec: {dut: {type: Reference, node: a}}", 1) + "repetitions: 5\n"},
		"last night's isn't complete": {spec: nightly},
		"last night's node is gone": {spec: nightly, prepare: func(w *world) {
			w.ahead, w.prospect.NodeFaults = earlierOn("gen-1", 1_000_000), map[string]string{"gen-2": ""}
		}},
		"measured":  {spec: single},
		"passed":    {spec: judged, prepare: verdict(report.Passed)},
		"failed":    {spec: judged, prepare: verdict(report.DidFail)},
		"undecided": {spec: judged, prepare: verdict(report.Undecided)},
		"refused": {spec: single,
			prepare: func(w *world) { w.faults = Faults{{Message: "spec.x is no field"}} }},
		"nothing can be made": {spec: single,
			prepare: func(w *world) { w.obstacles = map[string]string{"night-test-r1": "a quota"} },
			change:  func(w *world) { w.obstacles = nil }},
		"a name is taken": {spec: single, prepare: func(w *world) { w.names = []string{"night-suite"} },
			change: func(w *world) { w.names = nil }},
		"suspended": {spec: single, prepare: func(w *world) { w.suite.Spec.Suspend = true },
			change: func(w *world) { w.suite.Spec.Suspend = false }},
		"stopped":          {spec: single, change: func(w *world) { w.suite.Spec.Stop = true }},
		"nothing measured": {spec: single, prepare: lost("night-test-r1")},
		"partly measured":  {spec: single + "repetitions: 2\n", prepare: lost("night-test-r1")},
		"the first failure": {spec: single + "repetitions: 2\nparallelism: 2\nfailurePolicy: Stop\n",
			prepare: lost("night-test-r1", "night-test-r2")},
	}
}

// docs/suites.md lists exactly the conditions that suites have in their lives.
func TestEachConditionOfASuiteIsDocumented(t *testing.T) {
	conditions := map[string]bool{}
	for name, l := range conditionLives() {
		w := newWorld(t, l.spec)
		if l.prepare != nil {
			l.prepare(w)
		}
		w.liveAndTell(name, l.change, conditions)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(documentedConditions(t))),
		slices.Sorted(maps.Keys(conditions))); diff != "" {
		t.Errorf("docs/suites.md (-), what suites say (+):\n%s", diff)
	}
}

// liveAndTell lets one test end after each pass, and collects the conditions.
func (w *world) liveAndTell(name string, change func(*world), conditions map[string]bool) {
	w.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for pass := range 200 {
		w.pass()
		for _, c := range w.suite.Status.Conditions {
			if c.Type != v1alpha1.ConditionReconciling && c.Type != v1alpha1.ConditionStalled {
				conditions[c.Type+"="+string(c.Status)+" "+c.Reason] = true
			}
		}
		if w.complete() {
			return
		}
		if pass == 0 && change != nil {
			change(w)
			continue
		}
		w.now = w.now.Add(detailEvery)
		for _, test := range slices.Sorted(maps.Keys(w.tests)) {
			if _, ended := completion(w.tests[test]); !ended && random.IntN(2) == 0 {
				w.end(test)
				break
			}
		}
	}
	w.t.Fatalf("%s doesn't come to its end: %s", name, w.lastDecision.Message)
}
