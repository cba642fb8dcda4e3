package suite

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// repetitions are how far a suite's measurements are. They say which tests are ongoing, missing or complete, and which
// run stands for each repetition.
type repetitions struct {
	matrix *Matrix
	spec   *v1alpha1.LoadTestSuiteSpec
	// runs are the known runs. discounted counts those of each calibration that come from an earlier suite and don't
	// count.
	runs       Runs
	discounted map[int]int32
	tests      map[string]*v1alpha1.LoadTest
	pending    map[string]bool
	obstacles  map[string]string

	// unread are complete tests whose Reports weren't read yet.
	unread []Wanted
	// active are ongoing tests, in order, and activeOf counts those of each cell. running counts those that measure.
	active   []string
	activeOf []int
	running  int32
	// missing are tests to create, in order. obstructed are those that can't be created.
	missing    []Wanted
	obstructed []string
	// unmade counts the missing tests of each cell. open counts its incomplete tests, including the missing ones.
	unmade, open []int
	// measured and failed count the slots that are complete. retried counts the tries beyond the first, and disturbed
	// those of them that follow a try with figures.
	measured, failed, retried, disturbed int32
	// weak are the tests whose figures stand for their repetitions but are only what their generators could send, or
	// what other programs left, each with the test that would repeat it. replaced are tests with figures that another
	// try replaces, or will replace.
	weak     map[string]Wanted
	replaced map[string]bool
	// testsOf are all tests of each cell that exist or existed, in order.
	testsOf [][]string
	// judgedEarly says that the suite is judged before its end, as if no more were measured.
	judgedEarly bool
}

// newRepetitions sorts the tests of an observation. repeats says that the suite may repeat disturbed tests.
func newRepetitions(o *Observed, discounted map[int]int32, repeats bool) *repetitions {
	cells := len(o.Matrix.Cells)
	r := &repetitions{matrix: o.Matrix, spec: &o.Suite.Spec, runs: o.Runs, discounted: discounted, tests: o.Tests,
		pending: o.Pending, obstacles: o.Obstacles, unmade: make([]int, cells), open: make([]int, cells),
		activeOf: make([]int, cells), testsOf: make([][]string, cells), weak: map[string]Wanted{},
		replaced: map[string]bool{}}
	tries := r.triesLeft()
	for _, s := range o.Matrix.slots {
		r.sortSlot(s, tries)
	}
	if repeats {
		r.repeatDisturbed(tries)
	}
	return r
}

// triesLeft is how many more tests of each cell may be repeated.
func (r *repetitions) triesLeft() []int32 {
	tries := make([]int32, len(r.matrix.Cells))
	for i := range tries {
		tries[i] = r.matrix.retries() + r.discounted[i]
	}
	for _, s := range r.matrix.slots {
		for try := int32(2); try <= r.matrix.retriesOf(s.cell)+1 &&
			r.exists(r.matrix.TestName(s.cell, s.repetition, try)); try++ {
			tries[s.cell]--
			r.retried++
			if r.ranWithFigures(r.matrix.TestName(s.cell, s.repetition, try-1)) {
				r.disturbed++
			}
		}
	}
	return tries
}

// exists says that a test exists, or that its run is known.
func (r *repetitions) exists(name string) bool {
	_, ran := r.runs[name]
	return ran || r.tests[name] != nil || r.pending[name]
}

// ranWithFigures says that a test has a known run with figures.
func (r *repetitions) ranWithFigures(name string) bool {
	run, ok := r.runs[name]
	return ok && run.measured()
}

// sortSlot finds out how far one measurement is. Its first try without a known run decides. If all tries have
// one, the last try with figures decides.
//
//	r1: over, nothing ─▶ r1t2: over, nothing ─▶ r1t3: running
//	r1: disturbed     ─▶ r1t2: over, figures: these count, and r1's don't
func (r *repetitions) sortSlot(s slot, tries []int32) {
	stands := "" // the last try that gave figures
	for try := int32(1); ; try++ {
		w := Wanted{Name: r.matrix.TestName(s.cell, s.repetition, try), Cell: s.cell, Repetition: s.repetition,
			Try: try}
		run, ok := r.runs[w.Name]
		if run.measured() || !ok {
			r.replace(stands)
		}
		if !ok {
			r.sortTestWithoutRun(w, tries)
			return
		}
		r.testsOf[s.cell] = append(r.testsOf[s.cell], w.Name)
		if run.measured() {
			stands = w.Name
		}
		next := Wanted{Name: r.matrix.TestName(s.cell, s.repetition, try+1), Cell: s.cell, Repetition: s.repetition,
			Try: try + 1}
		switch retriesRemain := try <= r.matrix.retriesOf(s.cell); {
		case retriesRemain && r.exists(next.Name):
		case stands != "":
			r.measured++
			r.noteWeak(stands, next, &run)
			return
		case !retriesRemain || !run.repeatable() || tries[s.cell] <= 0:
			r.failed++
			return
		}
	}
}

// replace records that a test's figures don't stand for its repetition. An empty name does nothing.
func (r *repetitions) replace(name string) {
	if name != "" {
		r.replaced[name] = true
	}
}

// sortTestWithoutRun sorts a test without a known run, which is ongoing, unread, or missing.
func (r *repetitions) sortTestWithoutRun(w Wanted, tries []int32) {
	r.open[w.Cell]++
	t := r.tests[w.Name]
	if t == nil && r.pending[w.Name] {
		r.testsOf[w.Cell] = append(r.testsOf[w.Cell], w.Name)
		r.active = append(r.active, w.Name)
		r.activeOf[w.Cell]++
		return
	}
	if t == nil {
		if w.Try > 1 {
			tries[w.Cell]--
		}
		r.missing = append(r.missing, w)
		r.unmade[w.Cell]++
		if r.obstacles[w.Name] != "" {
			r.obstructed = append(r.obstructed, w.Name)
		}
		return
	}
	r.testsOf[w.Cell] = append(r.testsOf[w.Cell], w.Name)
	if _, ended := completion(t); ended {
		r.unread = append(r.unread, w)
		return
	}
	r.active = append(r.active, w.Name)
	r.activeOf[w.Cell]++
	if measuring(t) {
		r.running++
	}
}

// representsRepetition says that a run stands for its repetition. That is the last try with figures or, if no
// try has figures, the last try.
func (r *repetitions) representsRepetition(cell int, name string, run *Run) bool {
	if run.measured() {
		return !r.replaced[name]
	}
	return !r.exists(r.matrix.TestName(cell, int32(run.Repetition), int32(run.Retry)+2)) &&
		r.measuredBefore(cell, run) == ""
}

// measuredBefore is the last earlier try of the same repetition that gave figures, or empty.
func (r *repetitions) measuredBefore(cell int, run *Run) string {
	for try := run.Retry; try > 0; try-- {
		if name := r.matrix.TestName(cell, int32(run.Repetition), int32(try)); r.ranWithFigures(name) {
			return name
		}
	}
	return ""
}

// endsEarly says that tests which aren't made by now are never made, or that the judgement doesn't wait for
// them.
func (r *repetitions) endsEarly() bool {
	return r.judgedEarly || r.spec.Stop || r.spec.FailurePolicy == v1alpha1.FailureStop && r.failed > 0
}

// toCome is how many of a cell's repetitions still have to end.
func (r *repetitions) toCome(cell int) int {
	if r.endsEarly() { // missing tests are never made
		return r.open[cell] - r.unmade[cell]
	}
	return r.open[cell]
}

// absent are placeholders for a cell's repetitions that have no figures to judge. These are repetitions that
// ended without figures, repetitions that are never made because the suite ends before, and, in an early
// judgement, unfinished ones. Without placeholders a verdict would judge the measured repetitions as if no more
// had been asked for.
func (r *repetitions) absent(cell int) (placeholders []*report.Report) {
	for _, name := range r.testsOf[cell] {
		run, ok := r.runs[name]
		if ok && run.Evidence == nil && r.representsRepetition(cell, name, &run) {
			placeholders = append(placeholders, withoutFigures(run.Ended, run.Message))
		}
	}
	if !r.endsEarly() {
		return placeholders
	}
	words := "it was not made any more"
	if r.judgedEarly {
		words = "it was not over"
	}
	for range r.unmade[cell] {
		placeholders = append(placeholders, withoutFigures(string(report.NotMeasured), words))
	}
	return placeholders
}

// withoutFigures is a placeholder for the Report of a run that has none.
func withoutFigures(ended, message string) *report.Report {
	return &report.Report{Plan: &plan.Plan{}, Ending: report.Ending(ended), Message: message}
}
