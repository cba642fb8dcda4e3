package suite

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
)

// Alone is a suite that is measured without a cluster, one test after the other, by the same decisions: Next says which, Ended what became of it.
// It is used by one goroutine.
//
//	Take (what an earlier run of it measured) ─▶ Next ─▶ … measured … ─▶ Ended ─┬─▶ Document
//	                                               ▲                            │
//	                                               └────────────────────────────┘
type Alone struct {
	o     Observed
	notes []string
}

// NewAlone begins with a suite whose cells were held against what a LoadTest must be (Read). One test is under way at a time, whatever its spec
// says.
func NewAlone(m *Matrix, version string, began time.Time) *Alone {
	s := m.suite
	s.Spec.Parallelism, s.Spec.Suspend, s.Spec.Stop = 1, false, false
	s.Status = v1alpha1.LoadTestSuiteStatus{}
	s.CreationTimestamp = metav1.Time{Time: began}
	return &Alone{o: Observed{Suite: s, Matrix: m, Checked: true, Runs: Runs{}, Stored: Stored{}, Evidence: true, EarlierRead: true, Version: version}}
}

// Compare gives the suite what its cells are compared with. Without it, a baseline in a cluster can't be compared with.
func (a *Alone) Compare(with *Reference) { a.o.Reference = with }

// TakeCalibrations takes what these suites' documents have of calibrations of which nothing is known yet, as far as spec.calibration.maxAge allows it, and says of which cells.
func (a *Alone) TakeCalibrations(earlier []*report.Suite, now time.Time) (cells []string) {
	m := a.o.Matrix
	taken := m.TakeCalibrations(earlier, a.o.Runs, now)
	for number := range m.calibrations {
		for r := range max(m.suite.Spec.Repetitions, 1) {
			if run, is := taken[m.TestName(number, r+1, 1)]; is {
				if a.Ended(run); r == 0 {
					cells = append(cells, m.Cells[number].Name+": "+takenWords(run.Taken, run.Finished))
				}
			}
		}
	}
	return cells
}

// Note has the document say something more.
func (a *Alone) Note(words string) { a.notes = append(a.notes, words) }

// Next is the test to be measured now; false: the suite is over.
func (a *Alone) Next(now time.Time) (Wanted, bool) {
	a.o.Now = now
	if b := a.o.Suite.Spec.Baseline; a.o.Reference == nil && b != nil && b.Suite != "" {
		a.o.Reference = &Reference{Kind: KindSuite, Name: b.Suite, Fault: "it is in a cluster, and can't be read here: give its Reports with --baseline"}
	}
	d := Decide(a.o)
	a.o.Suite.Status = d.Status
	if len(d.Create) == 0 {
		return Wanted{}, false
	}
	return d.Create[0], true
}

// Ended keeps what became of a test.
func (a *Alone) Ended(run Run) { a.o.Runs[run.Test], a.o.Stored[run.Test] = run, 0 }

// Counts are how many tests there are, and how far they are now.
func (a *Alone) Counts() v1alpha1.SuiteCounts {
	var now v1alpha1.LoadTestSuiteStatus
	look(a.o).progress(&now, &step{})
	return now.Counts
}

// Cell is a cell of the suite's.
func (a *Alone) Cell(number int) *Cell { return &a.o.Matrix.Cells[number] }

// Complete is the suite's condition of this name, once Next has said that it is over.
func (a *Alone) Complete() *metav1.Condition {
	return meta.FindStatusCondition(a.o.Suite.Status.Conditions, v1alpha1.ConditionComplete)
}

// Document is the suite's report as far as it is. What isn't over has no end.
func (a *Alone) Document(now time.Time) *report.Suite {
	a.o.Now = now
	c := a.Complete()
	over := c != nil && c.Status == metav1.ConditionTrue
	v := look(a.o)
	out := v.documentOf(over, v.cell)
	out.Notes = append(out.Notes, a.notes...)
	return out
}

// Again says why a test is measured again that gave figures; empty: this is the first of them, or the one before gave none.
func (a *Alone) Again(w Wanted) string {
	before := a.o.Runs[a.o.Matrix.TestName(w.Cell, w.Repetition, w.Try-1)]
	if w.Try < 2 || !before.measured() {
		return ""
	}
	return look(a.o).whyRepeated(w.Cell, &before)
}

// Take takes up what an unfinished document has of this suite: of each repetition that was measured its tries. same says why a run isn't one of
// this suite's tests as they are to be measured now; empty: it is. It returns how many measurements were taken, and what was left and why.
func (a *Alone) Take(earlier *report.Suite, same func(Wanted, report.SuiteRun) string) (taken int, left []string) {
	known := map[string]report.SuiteRun{}
	for _, c := range earlier.Cells {
		for _, r := range c.Runs {
			known[r.Test] = r
		}
	}
	for _, s := range a.o.Matrix.slots {
		tries, why := a.o.Matrix.triesOf(s, known, same)
		if why != "" {
			left = append(left, why)
			continue
		}
		for _, run := range tries {
			a.Ended(run)
		}
		if len(tries) > 0 {
			taken++
		}
	}
	return taken, left
}

// triesOf are the tries that are known of a measurement, up to the last that gave figures. Where one with figures isn't the same, why says which.
func (m *Matrix) triesOf(s slot, known map[string]report.SuiteRun, same func(Wanted, report.SuiteRun) string) (tries []Run, why string) {
	measured := 0
	for try := int32(1); try <= m.retriesOf(s.cell)+1; try++ {
		w := Wanted{Name: m.TestName(s.cell, s.repetition, try), Cell: s.cell, Repetition: s.repetition, Try: try}
		run, is := known[w.Name]
		if !is || run.Taken != nil { // those that were taken from another suite are looked for again
			break
		}
		run.Repeated = "" // by what is known now
		tries = append(tries, Run{SuiteRun: run, Ended: v1alpha1.ReasonRunnerFailed})
		if run.Figures == nil {
			continue
		}
		if why := same(w, run); why != "" {
			return nil, fmt.Sprintf("%s: %s", w.Name, why)
		}
		measured = len(tries)
		tries[measured-1].Ended = v1alpha1.ReasonMeasured
	}
	return tries[:measured], ""
}
