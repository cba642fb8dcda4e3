package suite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// Each repetition of each cell is measured once, whichever test ends first, and however often the operator is
// restarted. No more tests run at once than requested, and no test is deleted before its run is stored. (The
// world checks that.)
func TestSuitesComeToTheirEnd(t *testing.T) {
	for seed := range uint64(tier.Times(8, 60)) {
		random := newRandom(seed)
		parallelism, repetitions, history := 1+random.IntN(5), 1+random.IntN(3), random.IntN(4)
		w := newWorld(t, twoByTwo+fmt.Sprintf("repetitions: %d\nparallelism: %d\nhistoryLimit: %d\ninvalidRetries: 2\n",
			repetitions, parallelism, history))
		w.forgets = seed%2 == 0
		bad := map[string]bool{}
		w.ends = func(test string) string {
			if _, ok := bad[test]; !ok {
				bad[test] = random.IntN(5) == 0
			}
			if bad[test] {
				return v1alpha1.ReasonGeneratorLost
			}
			return ""
		}
		bounds := map[string]int64{}
		w.bound = func(test string) int64 {
			if _, ok := bounds[test]; !ok {
				bounds[test] = 0
				if random.IntN(4) == 0 {
					bounds[test] = 1 + random.Int64N(1_100_000)
				}
			}
			return bounds[test]
		}
		w.live(random)
		w.pass()
		c := w.suite.Status.Counts
		if c.Tests != int32(4*repetitions) || c.Measured+c.NotMeasured != c.Tests || c.Waiting+c.Running != 0 ||
			c.Cells != 4 {
			t.Errorf("seed %d: counts are %+v", seed, c)
		}
		if int(c.Tests+c.Retried) != len(w.created) {
			t.Errorf("seed %d: %d tests and %d repeated, and %d were made", seed, c.Tests, c.Retried, len(w.created))
		}
		for cell := range 4 {
			if limit := repetitions + 2; madeOf(w, cell) > limit {
				t.Errorf("seed %d: %d tests of cell %d were made, at most %d may be", seed, madeOf(w, cell), cell,
					limit)
			}
		}
		if w.parallel > parallelism {
			t.Errorf("seed %d: %d tests at once, %d asked for", seed, w.parallel, parallelism)
		}
		if len(w.tests) > history {
			t.Errorf("seed %d: %d LoadTests are kept, %d asked for", seed, len(w.tests), history)
		}
		runs := int32(0)
		for _, row := range w.suite.Status.Table {
			runs += row.Runs
		}
		if runs != c.Measured || w.report == nil || len(w.report.Cells) != 4 || w.report.Finished.IsZero() {
			t.Errorf("seed %d: %d runs in the table of %d measured; report %+v", seed, runs, c.Measured, w.report)
		}
		writes := w.writes
		if w.pass(); w.writes != writes {
			t.Errorf("seed %d: it doesn't come to rest", seed)
		}
	}
}

// madeOf is how many tests of a cell were made.
func madeOf(w *world, cell int) (n int) {
	for name := range w.matrix.testNames(cell) {
		if slices.Contains(w.created, name) {
			n++
		}
	}
	return n
}

func TestNothingIsMeasuredAnewThatIsStored(t *testing.T) {
	w := newWorld(t, twoByTwo+"parallelism: 4\nhistoryLimit: 0\n")
	w.pass()
	for name := range w.tests {
		w.end(name)
	}
	if w.pass(); len(w.tests) != 0 || !w.complete() {
		t.Fatalf("%d LoadTests are left; %s", len(w.tests), w.lastDecision.Message)
	}
	w.restart()
	w.suite.Status.Conditions = nil // as if the last write had been lost
	w.pass()
	if !w.complete() || len(w.created) != 4 {
		t.Errorf("%d tests were made, of 4; %s", len(w.created), w.lastDecision.Message)
	}
}

func TestRepeating(t *testing.T) {
	for name, c := range map[string]struct {
		reason    string
		tests     int
		counts    v1alpha1.SuiteCounts
		condition string
	}{
		"a lost generator is tried again": {v1alpha1.ReasonGeneratorLost, 3, v1alpha1.SuiteCounts{Cells: 1, Tests: 1,
			NotMeasured: 1, Retried: 2}, "Complete=True NotMeasured"},
		"what can't be measured isn't": {v1alpha1.ReasonInvalid, 1, v1alpha1.SuiteCounts{Cells: 1, Tests: 1,
			NotMeasured: 1}, "Complete=True NotMeasured"},
		"nor what somebody stopped": {v1alpha1.ReasonStopped, 1, v1alpha1.SuiteCounts{Cells: 1, Tests: 1,
			NotMeasured: 1}, "Complete=True NotMeasured"},
		"a measurement is one": {"", 1, v1alpha1.SuiteCounts{Cells: 1, Tests: 1, Measured: 1},
			"Complete=True Measured"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "template: {spec: {}}\ninvalidRetries: 2\n")
			w.ends = func(string) string { return c.reason }
			w.live(newRandom(1))
			w.want(c.condition)
			if len(w.created) != c.tests || w.suite.Status.Counts != c.counts {
				t.Errorf("made %q, counts %+v", w.created, w.suite.Status.Counts)
			}
			if retried := c.counts.Retried > 0; retried != strings.Contains(w.lastDecision.Message, "2 repeated") {
				t.Errorf("it says %q", w.lastDecision.Message)
			}
		})
	}
	t.Run("the bound is the cell's", func(t *testing.T) {
		w := newWorld(t, "template: {spec: {}}\ninvalidRetries: 1\nrepetitions: 3\nparallelism: 3\n")
		w.ends = func(string) string { return v1alpha1.ReasonNodeLost }
		w.live(newRandom(2))
		if len(w.created) != 4 {
			t.Errorf("made %q", w.created)
		}
	})
}

func TestFailurePolicyStopStartsNothingFurther(t *testing.T) {
	w := newWorld(t, twoByTwo+"failurePolicy: Stop\ninvalidRetries: 0\nparallelism: 2\n")
	w.ends = func(test string) string {
		if strings.Contains(test, "apu6-imix") {
			return v1alpha1.ReasonDUTFailed
		}
		return ""
	}
	w.pass()
	w.end("night-apu6-imix-r1")
	w.pass()
	w.want("Complete=False TestFailed") // the other one goes on
	w.end("night-apu6-64b-r1")
	w.pass()
	w.want("Complete=True TestFailed", "Stalled=True TestFailed")
	if c := w.suite.Status.Counts; len(w.created) != 2 || c.Measured != 1 || c.NotMeasured != 3 {
		t.Errorf("made %q, counts %+v", w.created, c)
	}
}

func TestANameThatIsTakenKeepsFurtherTestsFromBeingMade(t *testing.T) {
	w := newWorld(t, twoByTwo+"parallelism: 2\n")
	w.pass()
	if w.report == nil || !w.report.Finished.IsZero() {
		t.Error("the suite's report isn't there before the first test is")
	}
	w.end("night-apu6-imix-r1")
	w.names = []string{"night-suite-runs-0"}
	d := w.pass()
	w.want("Complete=False NameTaken", "Reconciling=True NameTaken")
	if len(w.created) != 2 || d.Store || d.Report != nil ||
		!strings.Contains(d.Message, "kubectl delete configmap night-suite-runs-0 -n ") || d.RequeueAt.IsZero() {
		t.Errorf("%d were made, stored %t, it says %q", len(w.created), d.Store, d.Message)
	}
	if len(d.Events) != 1 || !d.Events[0].Warning || d.Events[0].Reason != v1alpha1.ReasonNameTaken {
		t.Errorf("events are %+v", d.Events)
	}
	w.suite.Spec.Stop = true
	if d := w.pass(); !slices.Equal(d.Stop, []string{"night-apu6-64b-r1"}) {
		t.Errorf("stops %q", d.Stop)
	}
	w.suite.Spec.Stop, w.names = false, nil
	w.live(newRandom(3))
	w.want("Complete=True PartlyMeasured") // the one that was stopped
}

func TestStopEndsWhatRuns(t *testing.T) {
	w := newWorld(t, twoByTwo+"parallelism: 2\n")
	w.pass()
	w.end("night-apu6-imix-r1")
	w.suite.Spec.Stop = true
	if d := w.pass(); !slices.Equal(d.Stop, []string{"night-apu6-64b-r1"}) {
		t.Errorf("stops %q", d.Stop)
	}
	if d := w.pass(); len(d.Stop) != 0 {
		t.Errorf("stops %q again", d.Stop)
	}
	w.want("Complete=False Stopped")
	w.end("night-apu6-64b-r1")
	w.pass()
	w.want("Complete=True Stopped")
	if c := w.suite.Status.Counts; len(w.created) != 2 || c.Measured != 1 || c.NotMeasured != 3 {
		t.Errorf("made %q, counts %+v", w.created, c)
	}
}

func TestSuspendStartsNothing(t *testing.T) {
	w := newWorld(t, twoByTwo+"suspend: true\n")
	w.pass()
	w.want("Complete=False Suspended")
	w.suite.Spec.Suspend = false
	w.pass()
	w.suite.Spec.Suspend = true
	w.end("night-apu6-imix-r1")
	w.pass()
	w.want("Complete=False Suspended")
	if len(w.created) != 1 || w.suite.Status.Counts.Measured != 1 {
		t.Errorf("made %q, counts %+v", w.created, w.suite.Status.Counts)
	}
	w.suite.Spec.Suspend = false
	w.live(newRandom(3))
	w.want("Complete=True Measured")
}

func TestParallelismMayChange(t *testing.T) {
	w := newWorld(t, twoByTwo+"parallelism: 1\n")
	w.pass()
	w.suite.Spec.Parallelism = 3
	w.pass()
	if len(w.created) != 3 {
		t.Errorf("made %q", w.created)
	}
	w.suite.Spec.Parallelism = 1
	w.end("night-apu6-imix-r1")
	if w.pass(); len(w.created) != 3 {
		t.Errorf("made %q, with one at a time asked for", w.created)
	}
}

func TestWrongCellsEndTheSuite(t *testing.T) {
	w := newWorld(t, twoByTwo)
	w.faults = Faults{{Cells: []string{"apu6-64b"}, Message: "spec.traffic.frameSize is 20: must be at least 64"}}
	w.pass()
	w.want("Accepted=False Invalid", "Complete=True Invalid", "Stalled=True Invalid")
	if len(w.created) != 0 || w.report != nil || !strings.Contains(w.lastDecision.Message,
		"cell apu6-64b: spec.traffic.frameSize is 20") {
		t.Errorf("made %q, says %q", w.created, w.lastDecision.Message)
	}
	if summary := w.suite.Status.Summary; !strings.Contains(summary, "cell apu6-64b: spec.traffic.frameSize is 20") {
		t.Errorf("its line says %q", summary)
	}
}

func TestWhatCantBeMadeIsToldAndTheOthersAre(t *testing.T) {
	w := newWorld(t, twoByTwo)
	w.obstacles = map[string]string{"night-apu6-imix-r1": "a LoadTest of this name is somebody else's"}
	for range 4 {
		w.pass()
		for name := range w.tests {
			w.end(name)
		}
	}
	w.want("Complete=False Waiting")
	if len(w.created) != 3 || !strings.Contains(w.lastDecision.Message,
		"night-apu6-imix-r1: a LoadTest of this name is somebody else's") || w.next.IsZero() {
		t.Errorf("made %q, says %q, looks again at %s", w.created, w.lastDecision.Message, w.next)
	}
	w.obstacles = nil
	w.live(newRandom(4))
	w.want("Complete=True Measured")
}

func TestTimeToLive(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\nttlAfterFinished: 1h\n")
	w.live(newRandom(5))
	if d := w.pass(); d.DeleteSuite || !d.RequeueAt.Equal(w.suite.Status.CompletionTime.Add(time.Hour)) {
		t.Errorf("deleted at once, or looked at again at %s", d.RequeueAt)
	}
	w.now = w.suite.Status.CompletionTime.Add(time.Hour)
	if d := w.pass(); !d.DeleteSuite {
		t.Error("its time is over, and it stays")
	}
}

func TestASuiteThatIsBeingDeletedIsLetBe(t *testing.T) {
	w := newWorld(t, twoByTwo)
	w.pass()
	w.suite.DeletionTimestamp = &metav1.Time{Time: w.now}
	w.end("night-apu6-imix-r1")
	if d := w.pass(); len(d.Create)+len(d.Delete) != 0 || d.Store {
		t.Errorf("it goes on: %+v", d)
	}
}

func TestCellsAreJudged(t *testing.T) {
	judge := func(_ []plan.Criterion, runs []*report.Report) report.Verdict {
		outcome := report.Passed
		if runs[0].Answer.Total.Received.PacketsPerSecond%2 == 0 {
			outcome = report.DidFail
		}
		return report.Verdict{Outcome: outcome, Criteria: []report.CriterionResult{{Name: "odd", Outcome: outcome,
			Message: "as it came"}}}
	}
	w := newWorld(t, twoByTwo+`criteria: [{name: odd, metric: PacketsPerSecond, min: "1"}]`)
	w.judge = judge
	w.pass()
	w.want("Passed=Unknown Undecided")
	w.live(newRandom(6))
	w.want("Passed=False CriteriaNotMet")
	for _, row := range w.suite.Status.Table {
		if want := map[bool]v1alpha1.SuiteVerdict{true: v1alpha1.VerdictFailed,
			false: v1alpha1.VerdictPassed}[row.PacketsPerSecond%2 == 0]; row.Verdict != want ||
			!strings.Contains(row.Message, "odd: as it came") {
			t.Errorf("row %+v", row)
		}
	}
	if w.report.Verdict.Outcome != report.DidFail {
		t.Errorf("the report's verdict is %s", w.report.Verdict.Outcome)
	}
	t.Run("a cell without a measurement is never passed", func(t *testing.T) {
		w := newWorld(t, twoByTwo+`criteria: [{name: odd, metric: PacketsPerSecond, min: "1"}]`)
		w.judge = func([]plan.Criterion, []*report.Report) report.Verdict {
			return report.Verdict{Outcome: report.Passed}
		}
		w.ends = func(test string) string {
			if strings.Contains(test, "vpp-64b") {
				return v1alpha1.ReasonGeneratorLost
			}
			return ""
		}
		w.live(newRandom(7))
		w.want("Passed=Unknown Undecided", "Complete=True PartlyMeasured")
	})
	t.Run("without criteria there is no verdict", func(t *testing.T) {
		for ends, words := range map[string]string{
			"":                           "spec.criteria is empty: there are results, and no verdict",
			v1alpha1.ReasonGeneratorLost: "spec.criteria is empty, and nothing was measured that could be judged",
		} {
			w := newWorld(t, twoByTwo)
			w.ends = func(string) string { return ends }
			passed := func() string {
				return meta.FindStatusCondition(w.suite.Status.Conditions, v1alpha1.ConditionPassed).Message
			}
			w.pass()
			if got := passed(); got != "spec.criteria is empty: what is measured gets no verdict" {
				t.Errorf("before there are results: %s", got)
			}
			w.live(newRandom(8))
			w.want("Passed=Unknown NoCriteria")
			if got := passed(); got != words {
				t.Errorf("%s; want %s", got, words)
			}
		}
	})
}

// A thousand cells that end one after the other cost few status writes, and all but the last are small.
func TestAThousandCells(t *testing.T) {
	var axes strings.Builder
	axes.WriteString("template: {spec: {}}\nparallelism: 100\naxes:\n")
	for axis := range 2 {
		fmt.Fprintf(&axes, "- name: axis%d\n  values:\n", axis)
		for value := range 32 {
			fmt.Fprintf(&axes, "  - {name: value-%d-of-axis-%d}\n", value, axis)
		}
	}
	w := newWorld(t, axes.String())
	passes := 0
	for ; !w.complete(); passes++ {
		w.pass()
		ending := tier.Times(4, 1) // each second
		for name := range w.tests {
			if _, ended := completion(w.tests[name]); !ended && ending > 0 {
				w.end(name)
				ending--
			}
		}
		if !w.complete() && len(w.suite.Status.Table) > 0 {
			t.Fatalf("after %d s it has %d rows", passes, len(w.suite.Status.Table))
		}
		w.now = w.now.Add(time.Second)
	}
	size := len(text(t, w.suite.Status))
	if rows := len(w.suite.Status.Table); rows != maxRows || len(w.report.Cells) != 1024 ||
		w.suite.Status.Counts.Measured != 1024 {
		t.Errorf("%d rows, %d cells in the report, %+v", rows, len(w.report.Cells), w.suite.Status.Counts)
	}
	if limit := passes/10 + 20; w.writes > limit || size > 300<<10 || w.bytes-size > limit*2<<10 {
		t.Errorf("%d writes in %d s (at most %d), %d bytes of status in the end, %d in all", w.writes, passes, limit,
			size, w.bytes)
	}
	t.Logf("%d passes in as many seconds, %d writes of the status, %d bytes in the end and %d in all, %d sheets",
		passes, w.writes, size, w.bytes, len(w.sheets))
}

// A small suite's status shows each cell within ten seconds. A large suite's report shows each cell within half
// a minute.
func TestHowSoonACellIsSeen(t *testing.T) {
	for cells, live := range map[int]bool{liveCells: true, liveCells + 1: false} {
		t.Run(fmt.Sprint(cells, " cells"), func(t *testing.T) {
			w := newWorld(t, manyCells(cells, 1))
			w.pass()
			w.end(w.created[0])
			w.now = w.now.Add(detailEvery)
			if w.pass(); w.suite.Status.Counts.Measured != 1 ||
				w.suite.Status.Summary != fmt.Sprintf("1 of %d measured", cells) {
				t.Errorf("its status says %q, %+v", w.suite.Status.Summary, w.suite.Status.Counts)
			}
			if rows := w.suite.Status.Table; live != (len(rows) == cells) ||
				live != (len(rows) > 0 && rows[0].Runs == 1) {
				t.Errorf("%d rows", len(rows))
			}
			w.now = w.now.Add(storeEvery)
			if w.pass(); w.report == nil || w.report.Cells[0].Figures == nil || w.suite.Status.Report == nil {
				t.Errorf("the report doesn't have it: %+v", w.suite.Status.Report)
			}
		})
	}
}

func TestWhatTheAPIServerDoesNotStoreIsTold(t *testing.T) {
	w := newWorld(t, twoByTwo+"parallelism: 2\n")
	w.unstored = "configmaps \"night-suite\" is forbidden: exceeded quota"
	if d := w.pass(); len(w.created) > 0 || d.Store || d.Report != nil || d.RequeueAt.IsZero() ||
		!strings.Contains(d.Message, "exceeded quota") {
		t.Errorf("made %q, stored %t, says %q", w.created, d.Store, d.Message)
	}
	w.want("Complete=False Waiting", "Reconciling=True Waiting")
	w.unstored = ""
	w.pass()
	w.end("night-apu6-imix-r1")
	w.unstored, w.suite.Spec.Stop = "it is forbidden", true
	if d := w.pass(); !slices.Equal(d.Stop, []string{"night-apu6-64b-r1"}) {
		t.Errorf("stops %q", d.Stop)
	}
	w.end("night-apu6-64b-r1")
	w.pass()
	w.want("Complete=False Waiting")
	w.unstored = ""
	w.pass()
	w.want("Complete=True Stopped")
	if len(w.report.Cells[0].Runs) != 1 {
		t.Errorf("the report has %+v", w.report.Cells[0])
	}
}

// A suite that began may have stored runs. A lost write of the status doesn't change when it began.
func TestASuiteKnowsWhenItBegan(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\n")
	w.pass()
	w.suite.Status = v1alpha1.LoadTestSuiteStatus{} // as if the first write had been lost
	w.pass()
	if w.suite.Status.StartTime == nil {
		t.Error("it has a test, and hasn't begun")
	}
}
