package suite

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// view is an observation, sorted for the rules.
type view struct {
	Observed
	spec       *v1alpha1.LoadTestSuiteSpec
	lastStatus *v1alpha1.LoadTestSuiteStatus

	// unread are complete tests whose Reports weren't read yet.
	unread []Wanted
	// active are ongoing tests, in order. running counts those that measure.
	active  []string
	running int32
	// missing are tests to create, in order. obstructed are those that can't be created.
	missing    []Wanted
	obstructed []string
	// unmade counts the missing tests of each cell. open counts its incomplete tests, including the missing
	// ones.
	unmade, open []int
	// measured and failed count the slots that are complete. retried counts the tries beyond the first, and
	// disturbed those of them that follow a try with figures.
	measured, failed, retried, disturbed int32
	// weak are the tests whose figures stand for their repetitions but are only what their generators could
	// send, each with the test that would repeat it. replaced are tests with figures that another try replaces,
	// or will replace.
	weak     map[string]Wanted
	replaced map[string]bool
	// testsOf are all tests of each cell that exist or existed, in order.
	testsOf [][]string
	// judgedEarly says that the suite is judged before its end, as if no more were measured.
	judgedEarly bool
	// cells are the cells that were computed already. referenceCells finds their baselines.
	cells          map[int]report.SuiteCell
	referenceCells *lookup
	// discounted counts the runs of each calibration that come from an earlier suite and don't count.
	discounted map[int]int32
	// capacities are the capacities that were computed already.
	capacities map[int]*capacity
	// environmentDifferences says, for cells that were computed already, how their calibration's environment
	// differs.
	environmentDifferences map[int]string
}

// newView sorts an observation of a suite that may still measure.
func newView(o Observed) *view {
	v, tries := sorted(o)
	v.repeatDisturbed(tries)
	return v
}

// newFinalView sorts an observation of a suite that measures nothing more, and repeats no disturbed test.
func newFinalView(o Observed) *view {
	v, _ := sorted(o)
	return v
}

func sorted(o Observed) (v *view, tries []int32) {
	v = &view{Observed: o, spec: &o.Suite.Spec, lastStatus: &o.Suite.Status,
		testsOf: make([][]string, len(o.Matrix.Cells)), cells: map[int]report.SuiteCell{},
		capacities: map[int]*capacity{}, environmentDifferences: map[int]string{}, discounted: map[int]int32{},
		weak: map[string]Wanted{}, replaced: map[string]bool{}}
	v.dropReusedFromOtherEnvironment()
	v.unmade, v.open = make([]int, len(o.Matrix.Cells)), make([]int, len(o.Matrix.Cells))
	tries = v.triesLeft()
	for _, s := range o.Matrix.slots {
		v.sortSlot(s, tries)
	}
	return v, tries
}

// triesLeft is how many more tests of each cell may be repeated.
func (v *view) triesLeft() []int32 {
	tries := make([]int32, len(v.Matrix.Cells))
	for i := range tries {
		tries[i] = v.Matrix.retries() + v.discounted[i]
	}
	for _, s := range v.Matrix.slots {
		for try := int32(2); try <= v.Matrix.retriesOf(s.cell)+1 &&
			v.exists(v.Matrix.TestName(s.cell, s.repetition, try)); try++ {
			tries[s.cell]--
			v.retried++
			if v.ranWithFigures(v.Matrix.TestName(s.cell, s.repetition, try-1)) {
				v.disturbed++
			}
		}
	}
	return tries
}

// exists says that a test exists, or that its run is known.
func (v *view) exists(name string) bool {
	_, ran := v.Runs[name]
	return ran || v.Tests[name] != nil || v.Pending[name]
}

// ranWithFigures says that a test has a known run with figures.
func (v *view) ranWithFigures(name string) bool {
	run, ok := v.Runs[name]
	return ok && run.measured()
}

// sortSlot finds out how far one measurement is. Its first try without a known run decides. If all tries have
// one, the last try with figures decides.
//
//	r1: over, nothing ─▶ r1t2: over, nothing ─▶ r1t3: running
//	r1: disturbed     ─▶ r1t2: over, figures: these count, and r1's don't
func (v *view) sortSlot(s slot, tries []int32) {
	stands := "" // the last try that gave figures
	for try := int32(1); ; try++ {
		w := Wanted{Name: v.Matrix.TestName(s.cell, s.repetition, try), Cell: s.cell, Repetition: s.repetition,
			Try: try}
		run, ok := v.Runs[w.Name]
		if run.measured() || !ok {
			v.replace(stands)
		}
		if !ok {
			v.sortTestWithoutRun(w, tries)
			return
		}
		v.testsOf[s.cell] = append(v.testsOf[s.cell], w.Name)
		if run.measured() {
			stands = w.Name
		}
		next := Wanted{Name: v.Matrix.TestName(s.cell, s.repetition, try+1), Cell: s.cell, Repetition: s.repetition,
			Try: try + 1}
		switch retriesRemain := try <= v.Matrix.retriesOf(s.cell); {
		case retriesRemain && v.exists(next.Name):
		case stands != "":
			v.measured++
			v.noteWeak(stands, next, &run)
			return
		case !retriesRemain || !run.repeatable() || tries[s.cell] <= 0:
			v.failed++
			return
		}
	}
}

// replace records that a test's figures don't stand for its repetition. An empty name does nothing.
func (v *view) replace(name string) {
	if name != "" {
		v.replaced[name] = true
	}
}

// sortTestWithoutRun sorts a test without a known run, which is ongoing, unread, or missing.
func (v *view) sortTestWithoutRun(w Wanted, tries []int32) {
	v.open[w.Cell]++
	t := v.Tests[w.Name]
	if t == nil && v.Pending[w.Name] {
		v.testsOf[w.Cell] = append(v.testsOf[w.Cell], w.Name)
		v.active = append(v.active, w.Name)
		return
	}
	if t == nil {
		if w.Try > 1 {
			tries[w.Cell]--
		}
		v.missing = append(v.missing, w)
		v.unmade[w.Cell]++
		if v.Obstacles[w.Name] != "" {
			v.obstructed = append(v.obstructed, w.Name)
		}
		return
	}
	v.testsOf[w.Cell] = append(v.testsOf[w.Cell], w.Name)
	if _, ended := completion(t); ended {
		v.unread = append(v.unread, w)
		return
	}
	v.active = append(v.active, w.Name)
	if measuring(t) {
		v.running++
	}
}

// previousCondition is a condition in the last status, or an empty one.
func (v *view) previousCondition(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(v.lastStatus.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// surplus are the complete and stored tests beyond the history limit that finished first.
func (v *view) surplus() (remove []string, unstored bool) {
	var finished []string
	for name, t := range v.Tests {
		if _, ok := completion(t); ok && t.DeletionTimestamp == nil {
			finished = append(finished, name)
		}
	}
	n := len(finished) - v.historyLimit()
	if n <= 0 {
		return nil, false
	}
	slices.SortFunc(finished, func(a, b string) int {
		return cmp.Or(v.Runs[a].Finished.Compare(v.Runs[b].Finished), cmp.Compare(a, b))
	})
	for _, name := range finished[:n] {
		switch _, ok := v.Runs[name]; {
		case v.Stored.Contains(name):
			remove = append(remove, name)
		case ok:
			unstored = true
		}
	}
	return remove, unstored
}

// historyLimit is how many complete LoadTests are kept. It is 0 once the suite's time to live is over, and the
// suite stays only because a tool would create it again.
func (v *view) historyLimit() int {
	if v.thinned() {
		return 0
	}
	if n := v.spec.HistoryLimit; n != nil {
		return int(*n)
	}
	return 1000
}
