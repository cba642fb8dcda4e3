package suite

import (
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

// documentedConditions are those that docs/suites.md tells of, as "Complete=True Measured".
func documentedConditions(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../../docs/suites.md")
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(text), "\n## Conditions\n")
	if !found {
		t.Fatal("docs/suites.md has no section of conditions")
	}
	out := map[string]bool{}
	for row := range strings.Lines(below) {
		cell := strings.Split(strings.Trim(row, "| \n"), " | ")
		if len(cell) < 4 || !strings.HasPrefix(cell[1], "`") {
			continue
		}
		for _, status := range []string{"True", "False", "Unknown"} {
			if strings.Contains(cell[2], status) {
				out[cell[0]+"="+status+" "+strings.Trim(cell[1], "`")] = true
			}
		}
	}
	return out
}

// conditionLife is a suite's life, of which the conditions are looked at after each pass.
type conditionLife struct {
	spec   string
	before func(*world)
	after  func(*world) // the first pass
}

// conditionLives are lives that together say all that a suite's conditions can say.
func conditionLives() map[string]conditionLife {
	const one = "template: {spec: {}}\ninvalidRetries: 0\n"
	const judged = one + "criteria: [{name: a, metric: PacketsPerSecond, min: \"1\"}]\n"
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
	return map[string]conditionLife{
		"measured":            {spec: one},
		"passed":              {spec: judged, before: verdict(report.Passed)},
		"failed":              {spec: judged, before: verdict(report.DidFail)},
		"undecided":           {spec: judged, before: verdict(report.Undecided)},
		"refused":             {spec: one, before: func(w *world) { w.faults = Faults{{Message: "spec.x is no field"}} }},
		"nothing can be made": {spec: one, before: func(w *world) { w.taken = map[string]string{"night-test-r1": "a quota"} }, after: func(w *world) { w.taken = nil }},
		"a name is taken":     {spec: one, before: func(w *world) { w.names = []string{"night-suite"} }, after: func(w *world) { w.names = nil }},
		"suspended":           {spec: one, before: func(w *world) { w.suite.Spec.Suspend = true }, after: func(w *world) { w.suite.Spec.Suspend = false }},
		"stopped":             {spec: one, after: func(w *world) { w.suite.Spec.Stop = true }},
		"nothing measured":    {spec: one, before: lost("night-test-r1")},
		"partly measured":     {spec: one + "repetitions: 2\n", before: lost("night-test-r1")},
		"the first failure":   {spec: one + "repetitions: 2\nparallelism: 2\nfailurePolicy: Stop\n", before: lost("night-test-r1", "night-test-r2")},
	}
}

// What docs/suites.md says of a suite's conditions is what suites say in their lives, and nothing else.
func TestEachConditionOfASuiteIsDocumented(t *testing.T) {
	said := map[string]bool{}
	for name, l := range conditionLives() {
		w := newWorld(t, l.spec)
		if l.before != nil {
			l.before(w)
		}
		w.liveAndTell(name, l.after, said)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(documentedConditions(t))), slices.Sorted(maps.Keys(said))); diff != "" {
		t.Errorf("docs/suites.md (-), what suites say (+):\n%s", diff)
	}
}

// liveAndTell lets one test end after each pass, and keeps what the conditions say.
func (w *world) liveAndTell(name string, after func(*world), said map[string]bool) {
	w.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for pass := range 200 {
		w.pass()
		for _, c := range w.suite.Status.Conditions {
			if c.Type != v1alpha1.ConditionReconciling && c.Type != v1alpha1.ConditionStalled {
				said[c.Type+"="+string(c.Status)+" "+c.Reason] = true
			}
		}
		if w.complete() {
			return
		}
		if pass == 0 && after != nil {
			after(w)
			continue
		}
		w.now = w.now.Add(detailEvery)
		for _, test := range slices.Sorted(maps.Keys(w.tests)) {
			if _, done := over(w.tests[test]); !done && random.IntN(2) == 0 {
				w.end(test)
				break
			}
		}
	}
	w.t.Fatalf("%s doesn't come to its end: %s", name, w.last.Message)
}
