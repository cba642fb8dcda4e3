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
	spec *v1alpha1.LoadTestSuiteSpec
	was  *v1alpha1.LoadTestSuiteStatus

	// unread are tests that are over, and whose Reports weren't read yet.
	unread []Wanted
	// active are tests that aren't over, in order; running of them are being measured.
	active  []string
	running int32
	// missing are tests to be created, in order; obstructed are those that can't be.
	missing    []Wanted
	obstructed []string
	// unmade is how many tests of each cell are missing; open how many aren't over, the missing ones included.
	unmade, open []int
	// measured and failed count the slots that are done; retried counts the tries beyond the first, and disturbed those of them that follow one with figures.
	measured, failed, retried, disturbed int32
	// weak are the tests whose figures stand for their repetitions but are only what their generators could send, each with the test that would repeat it; replaced are
	// tests with figures that another try replaces, or is to replace.
	weak     map[string]Wanted
	replaced map[string]bool
	// made are all tests of each cell that exist or existed, in order.
	made [][]string
	// early: the suite is judged before its end, as if no more were measured.
	early bool
	// cells are the cells that are computed already; found finds their baselines.
	cells map[int]report.SuiteCell
	found *lookup
	// discounted is how many runs of each calibration come from an earlier suite and don't count.
	discounted map[int]int32
	// capacities are the capacities that are computed already.
	capacities map[int]*capacity
	// apartFrom says, for cells that are computed already, how their calibration's environment differs.
	apartFrom map[int]string
}

// newView sorts an observation of a suite that may still measure.
func newView(o Observed) *view {
	v, left := sorted(o)
	v.repeatDisturbed(left)
	return v
}

// newFinalView sorts an observation of a suite that measures nothing more, and repeats no disturbed test.
func newFinalView(o Observed) *view {
	v, _ := sorted(o)
	return v
}

func sorted(o Observed) (v *view, left []int32) {
	v = &view{Observed: o, spec: &o.Suite.Spec, was: &o.Suite.Status, made: make([][]string, len(o.Matrix.Cells)), cells: map[int]report.SuiteCell{}, capacities: map[int]*capacity{}, apartFrom: map[int]string{}, discounted: map[int]int32{},
		weak: map[string]Wanted{}, replaced: map[string]bool{}}
	v.discountTaken()
	v.unmade, v.open = make([]int, len(o.Matrix.Cells)), make([]int, len(o.Matrix.Cells))
	left = v.triesLeft()
	for _, s := range o.Matrix.slots {
		v.sortSlot(s, left)
	}
	return v, left
}

// triesLeft is how many more tests of each cell may be repeated.
func (v *view) triesLeft() []int32 {
	left := make([]int32, len(v.Matrix.Cells))
	for i := range left {
		left[i] = v.Matrix.retries() + v.discounted[i]
	}
	for _, s := range v.Matrix.slots {
		for try := int32(2); try <= v.Matrix.retriesOf(s.cell)+1 && v.exists(v.Matrix.TestName(s.cell, s.repetition, try)); try++ {
			left[s.cell]--
			v.retried++
			if v.ranWithFigures(v.Matrix.TestName(s.cell, s.repetition, try-1)) {
				v.disturbed++
			}
		}
	}
	return left
}

// exists says whether a test exists, or has a known run.
func (v *view) exists(name string) bool {
	_, ran := v.Runs[name]
	return ran || v.Tests[name] != nil || v.Pending[name]
}

// ranWithFigures says whether a test has a known run with figures.
func (v *view) ranWithFigures(name string) bool {
	run, known := v.Runs[name]
	return known && run.measured()
}

// sortSlot finds out how far one measurement is: its first try without a known run decides or, if all have one, the last try with figures.
//
//	r1: over, nothing ─▶ r1t2: over, nothing ─▶ r1t3: running
//	r1: disturbed     ─▶ r1t2: over, figures: these count, and r1's don't
func (v *view) sortSlot(s slot, left []int32) {
	stands := "" // the last try that gave figures
	for try := int32(1); ; try++ {
		w := Wanted{Name: v.Matrix.TestName(s.cell, s.repetition, try), Cell: s.cell, Repetition: s.repetition, Try: try}
		run, known := v.Runs[w.Name]
		if run.measured() || !known {
			v.replace(stands)
		}
		if !known {
			v.unknown(w, left)
			return
		}
		v.made[s.cell] = append(v.made[s.cell], w.Name)
		if run.measured() {
			stands = w.Name
		}
		next := Wanted{Name: v.Matrix.TestName(s.cell, s.repetition, try+1), Cell: s.cell, Repetition: s.repetition, Try: try + 1}
		switch more := try <= v.Matrix.retriesOf(s.cell); {
		case more && v.exists(next.Name):
		case stands != "":
			v.measured++
			v.noteWeak(stands, next, &run)
			return
		case !more || !run.repeatable() || left[s.cell] <= 0:
			v.failed++
			return
		}
	}
}

// replace records that a test's figures don't stand for its repetition; an empty name does nothing.
func (v *view) replace(name string) {
	if name != "" {
		v.replaced[name] = true
	}
}

// unknown sorts a test without a known run: it is ongoing, over and unread, or missing.
func (v *view) unknown(w Wanted, left []int32) {
	v.open[w.Cell]++
	t := v.Tests[w.Name]
	if t == nil && v.Pending[w.Name] {
		v.made[w.Cell] = append(v.made[w.Cell], w.Name)
		v.active = append(v.active, w.Name)
		return
	}
	if t == nil {
		if w.Try > 1 {
			left[w.Cell]--
		}
		v.missing = append(v.missing, w)
		v.unmade[w.Cell]++
		if v.Obstacles[w.Name] != "" {
			v.obstructed = append(v.obstructed, w.Name)
		}
		return
	}
	v.made[w.Cell] = append(v.made[w.Cell], w.Name)
	if _, done := over(t); done {
		v.unread = append(v.unread, w)
		return
	}
	v.active = append(v.active, w.Name)
	if measuring(t) {
		v.running++
	}
}

// previousCondition is a condition in the last status; an empty one where it is missing.
func (v *view) previousCondition(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(v.was.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// surplus are the tests beyond the history limit that are over and stored: those that finished first.
func (v *view) surplus() (remove []string, unstored bool) {
	var done []string
	for name, t := range v.Tests {
		if _, is := over(t); is && t.DeletionTimestamp == nil {
			done = append(done, name)
		}
	}
	n := len(done) - v.historyLimit()
	if n <= 0 {
		return nil, false
	}
	slices.SortFunc(done, func(a, b string) int {
		return cmp.Or(v.Runs[a].Finished.Compare(v.Runs[b].Finished), cmp.Compare(a, b))
	})
	for _, name := range done[:n] {
		switch _, known := v.Runs[name]; {
		case v.Stored.Has(name):
			remove = append(remove, name)
		case known:
			unstored = true
		}
	}
	return remove, unstored
}

// historyLimit is how many finished LoadTests are kept: none once the suite's time to live is over and it stays only because a tool would create it again.
func (v *view) historyLimit() int {
	if v.thinned() {
		return 0
	}
	if n := v.spec.HistoryLimit; n != nil {
		return int(*n)
	}
	return 1000
}
