package suite

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

const judgedAlone = "template: {spec: {}}\ncriteria: [{name: fast, metric: PacketsPerSecond, min: \"1000\"}]\n"

// begin lets a test's run begin.
func (w *world) begin(name string) {
	meta.SetStatusCondition(&w.tests[name].Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete,
		Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonRunning})
	w.settle()
}

// settle runs passes until nothing waits for time.
func (w *world) settle() {
	w.t.Helper()
	for range 4 {
		w.now = w.now.Add(storeEvery)
		w.pass()
	}
}

// removed deletes a test, and has the suite make another one of its name.
func (w *world) removed(name string) {
	w.t.Helper()
	newUID := types.UID(string(w.tests[name].UID) + "-again")
	delete(w.tests, name)
	w.created = nil
	w.settle()
	if w.tests[name] == nil {
		w.t.Fatalf("%s isn't made again", name)
	}
	w.tests[name].UID = newUID
}

// passed is the status and the message of the condition Passed.
func (w *world) passed() (metav1.ConditionStatus, string) {
	c := meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionPassed)
	return c.Status, c.Message
}

// A user voids each run that shows a fault until a run meets the criteria. The suite's verdict says how many
// are void, and isn't Passed once more runs are void than count.
func TestASuitePassesNothingOfRunsThatWereChosen(t *testing.T) {
	for name, c := range map[string]struct {
		voided  int32 // by suspending the only test
		status  metav1.ConditionStatus
		message string
	}{
		"no run":               {0, metav1.ConditionTrue, ""},
		"as many as count":     {1, metav1.ConditionTrue, "; 1 of 2 runs were void"},
		"one more than counts": {2, metav1.ConditionUnknown, "; 2 of 3 runs were void"},
		"until it is met":      {60, metav1.ConditionUnknown, "; 60 of 61 runs were void"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, judgedAlone)
			w.pass()
			test := w.created[0]
			w.tests[test].Status.Operator.LostRuns = c.voided
			w.end(test)
			w.settle()
			status, message := w.passed()
			if status != c.status || !strings.Contains(message, c.message) || c.message == "" &&
				strings.Contains(message, "void") {
				t.Errorf("Passed=%s: %s; want %s, and %q", status, message, c.status, c.message)
			}
			if cell := w.report.Cells[0]; c.voided > 0 &&
				!strings.Contains(cell.Message, "suspended, deleted or lost while it measured") ||
				c.status != metav1.ConditionTrue && w.report.Verdict.Outcome != report.Undecided {
				t.Errorf("the report says %q, and the verdict is %s", cell.Message, w.report.Verdict.Outcome)
			}
		})
	}
}

// A cell passes by no baseline whose runs were chosen.
func TestASuitePassesNothingByABaselineOfRunsThatWereChosen(t *testing.T) {
	for voided, want := range map[int32]string{0: "4 of 4 cells passed, 0 failed, 0 undecided",
		9: "0 of 4 cells passed, 0 failed, 4 undecided; 90 of 110 runs were void"} {
		w := newWorld(t, twoByTwo+"criteria: [{name: fast, metric: PacketsPerSecond, maxRegression: 50%}]\nbaseline: "+
			"{axis: system, value: apu6}\nplacement: {sameNodes: false}\nparallelism: 20\nrepetitions: 5\n")
		w.settle()
		for _, test := range w.created {
			if strings.Contains(test, "apu6") {
				w.tests[test].Status.Operator.LostRuns = voided
			}
			w.end(test)
		}
		w.settle()
		if _, message := w.passed(); !strings.HasPrefix(message, want) {
			t.Errorf("with %d void runs before each of the baseline's: %s", voided, message)
		}
	}
}

// A user deletes a LoadTest while it measures, or before its result is stored, and another one of its name is
// made. The deleted test's runs count as void, also for a restarted operator.
func TestARunWhoseLoadTestWasDeletedIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		remove  func(w *world, test string)
		message string
	}{
		"while it measures": {func(w *world, test string) { w.begin(test); w.removed(test) },
			"; 1 of 2 runs were void"},
		"twice": {func(w *world, test string) {
			for range 2 {
				w.begin(test)
				w.removed(test)
			}
		}, "; 2 of 3 runs were void"},
		"after three runs that were suspended": {func(w *world, test string) {
			w.begin(test)
			w.tests[test].Status.Operator.LostRuns = 3
			w.settle()
			w.removed(test)
		}, "; 4 of 5 runs were void"},
		"while it is suspended": {func(w *world, test string) {
			w.tests[test].Status.Operator.LostRuns = 1
			w.settle()
			w.removed(test)
		}, "; 1 of 2 runs were void"},
		"at its end, before that is stored": {func(w *world, test string) {
			w.begin(test)
			w.end(test)
			w.removed(test)
		}, "; 1 of 2 runs were void"},
		"before it begins": {func(w *world, test string) { w.removed(test) }, ""},
	} {
		for _, forgets := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, judgedAlone)
				w.forgets = forgets
				w.pass()
				test := w.created[0]
				c.remove(w, test)
				w.begin(test)
				w.end(test)
				w.settle()
				if _, message := w.passed(); !w.complete() || !strings.Contains(message, c.message) ||
					c.message == "" && strings.Contains(message, "void") {
					t.Errorf("the verdict is %q, want %q", message, c.message)
				}
				if len(w.suite.Status.Operator.StartedTests) > 0 {
					t.Errorf("a suite that is over still has begun tests: %+v", w.suite.Status.Operator.StartedTests)
				}
			})
		}
	}
}

// The status names few begun tests, and none whose results are stored.
func TestTheStatusForgetsBegunTestsOnceTheirResultsAreStored(t *testing.T) {
	w := newWorld(t, twoByTwo+"parallelism: 1\n")
	w.pass()
	for range 3 {
		test := w.created[len(w.created)-1]
		w.begin(test)
		if tests := w.suite.Status.Operator.StartedTests; len(tests) != 1 || tests[0].Test != test || tests[0].Runs != 1 {
			t.Errorf("of %s the status says %+v", test, tests)
		}
		w.end(test)
		w.settle()
	}
	w.now = w.now.Add(time.Minute)
	w.pass()
	if tests := w.suite.Status.Operator.StartedTests; len(tests) != 0 {
		t.Errorf("the status still has %+v", tests)
	}
}

// A user deletes a complete LoadTest, and the operator ends before it stores the run. The run counts as void.
func TestARunThatWasNotStoredYetIsCounted(t *testing.T) {
	w := newWorld(t, twoByTwo+"parallelism: 4\n")
	w.pass()
	w.end(w.created[0])
	w.pass() // stores it
	test := w.created[1]
	meta.SetStatusCondition(&w.tests[test].Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete,
		Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonRunning})
	w.now = w.now.Add(detailEvery)
	w.pass()
	w.end(test)
	w.now = w.now.Add(detailEvery)
	w.pass()
	if _, ok := w.runs[test]; !ok || w.stored.Contains(test) || w.suite.Status.Counts.Measured != 2 {
		t.Fatalf("its run is known: %t, and stored: %t; %+v: this life proves nothing", ok, w.stored.Contains(test),
			w.suite.Status.Counts)
	}
	w.restart()
	w.removed(test)
	w.live(newRandom(1))
	voided := 0
	for _, c := range w.report.Cells {
		voided += c.Void().Voided
	}
	if voided != 1 {
		t.Errorf("%d runs are void", voided)
	}
}
