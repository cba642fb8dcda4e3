package suite

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Local is a suite that is measured without a cluster, one test after the other, by the same decisions. Next is
// the next test, and Record stores its result. Only one goroutine may use a Local.
//
//	Resume (from an unfinished document) ─▶ Next ─▶ … measure the test … ─▶ Record ─┬─▶ Document
//	                                               ▲                            │
//	                                               └────────────────────────────┘
type Local struct {
	o     Observed
	notes []string
}

// NewLocal begins a suite whose cells are valid LoadTests (Read). One test is under way at a time, whatever its
// spec says.
func NewLocal(m *Matrix, version string, began time.Time) *Local {
	s := m.suite
	s.Spec.Parallelism, s.Spec.Suspend, s.Spec.Stop = 1, false, false
	s.Status = v1alpha1.LoadTestSuiteStatus{}
	s.CreationTimestamp = metav1.Time{Time: began}
	return &Local{o: Observed{Suite: s, Matrix: m, Checked: true, Runs: Runs{}, Stored: Stored{}, Evidence: true,
		EarlierRead: true, Version: version}}
}

// SetReference sets what the suite's cells are compared with. Without it, a baseline that is in a cluster can't
// be used.
func (a *Local) SetReference(baseline *Reference) { a.o.Reference = baseline }

// ReuseCalibrations uses these suites' calibrations for those that aren't measured yet, as far as
// spec.calibration.maxAge allows it, and returns the cells with what is reused.
func (a *Local) ReuseCalibrations(earlier []*report.Suite, now time.Time) (cells []string) {
	m := a.o.Matrix
	reused := m.ReuseCalibrations(earlier, a.o.Runs, now)
	for number := range m.calibrations {
		for r := range m.repetitions() {
			if run, ok := reused[m.TestName(number, r+1, 1)]; ok {
				if a.Record(run); r == 0 {
					cells = append(cells, m.Cells[number].Name+": "+reuseSentence(run.Taken, run.Finished))
				}
			}
		}
	}
	return cells
}

// Note adds a note to the document.
func (a *Local) Note(words string) { a.notes = append(a.notes, words) }

// Next is the test that must be measured now. It is false if the suite is complete.
func (a *Local) Next(now time.Time) (Wanted, bool) {
	a.o.Now = now
	a.o.Reference = a.reference()
	a.o.Ahead = a.o.Reference
	d := Decide(a.o)
	a.o.Suite.Status = d.Status
	if len(d.Create) == 0 {
		return Wanted{}, false
	}
	return d.Create[0], true
}

// reference is what the suite's cells are compared with. A baseline that is in a cluster has a Fault that says so.
func (a *Local) reference() *Reference {
	if b := a.o.Suite.Spec.Baseline; a.o.Reference == nil && b != nil && b.Suite != "" {
		return &Reference{Kind: KindSuite, Name: b.Suite,
			Fault: "it is in a cluster, and can't be read here: give its Reports with --baseline"}
	}
	return a.o.Reference
}

// Foresee says, before the first run, why the suite's comparisons can't be decided, each in a sentence.
func (a *Local) Foresee(prospect Prospect) (sentences []string) {
	ref, v := a.reference(), newSituation(a.o)
	switch {
	case len(v.relativeCriteria()) == 0:
	case ref != nil && ref.Fault != "":
		sentences = append(sentences, fmt.Sprintf("suite %s, the baseline, can't be compared with: %s", ref.Name,
			ref.Fault))
	default:
		for _, h := range v.hindrances(ref, prospect) {
			sentences = append(sentences, h.sentence)
		}
	}
	return sentences
}

// Record stores the result of a test.
func (a *Local) Record(run Run) { a.o.Runs[run.Test], a.o.Stored[run.Test] = run, 0 }

// Counts are how many tests there are, by their state.
func (a *Local) Counts() v1alpha1.SuiteCounts {
	var status v1alpha1.LoadTestSuiteStatus
	newSituation(a.o).progress(&status, &step{})
	return status.Counts
}

// Cell is a cell of the suite.
func (a *Local) Cell(number int) *Cell { return &a.o.Matrix.Cells[number] }

// Complete is the suite's condition Complete, once Next has returned false.
func (a *Local) Complete() *metav1.Condition {
	return meta.FindStatusCondition(a.o.Suite.Status.Conditions, v1alpha1.ConditionComplete)
}

// Document is the suite's report so far. It has no end time until the suite is complete.
func (a *Local) Document(now time.Time) *report.Suite {
	a.o.Now = now
	c := a.Complete()
	complete := c != nil && c.Status == metav1.ConditionTrue
	v := newSituation(a.o)
	document := v.suiteReport(complete)
	document.Notes = append(document.Notes, a.notes...)
	return document
}

// WhyRepeated says why a repetition that gave figures is measured again. It is empty for a first try, and if
// the earlier tries gave no figures.
func (a *Local) WhyRepeated(w Wanted) string {
	previous := a.o.Runs[a.o.Matrix.TestName(w.Cell, w.Repetition, w.Try-1)]
	if w.Try < 2 || !previous.measured() {
		return ""
	}
	return newSituation(a.o).whyRepeated(w.Cell, &previous)
}

// Resume continues from an unfinished document of this suite. It records the tries of each measured repetition.
// differs says why a run isn't what this suite would measure now, and is empty if it is. Resume returns how
// many repetitions it resumed, and which it skipped and why.
func (a *Local) Resume(
	earlier *report.Suite, differs func(Wanted, report.SuiteRun) string,
) (resumed int, skipped []string) {
	runs := map[string]report.SuiteRun{}
	for _, c := range earlier.Cells {
		for _, r := range c.Runs {
			runs[r.Test] = r
		}
	}
	for _, s := range a.o.Matrix.slots {
		tries, difference := a.o.Matrix.triesOf(s, runs, differs)
		if difference != "" {
			skipped = append(skipped, difference)
			continue
		}
		for _, run := range tries {
			a.Record(run)
		}
		if len(tries) > 0 {
			resumed++
		}
	}
	return resumed, skipped
}

// triesOf are the known tries of a measurement, up to the last that gave figures. difference says which of the
// tries with figures isn't what this suite would measure.
func (m *Matrix) triesOf(s slot, runs map[string]report.SuiteRun,
	differs func(Wanted, report.SuiteRun) string) (tries []Run, difference string) {
	measured := 0
	for try := int32(1); try <= m.retriesOf(s.cell)+1; try++ {
		w := Wanted{Name: m.TestName(s.cell, s.repetition, try), Cell: s.cell, Repetition: s.repetition, Try: try}
		run, ok := runs[w.Name]
		if !ok || run.Taken != nil { // reused calibrations are looked for again
			break
		}
		run.Repeated = "" // decided again from what is known now
		tries = append(tries, Run{SuiteRun: run, Ended: v1alpha1.ReasonRunnerFailed})
		if run.Figures == nil {
			continue
		}
		if difference := differs(w, run); difference != "" {
			return nil, fmt.Sprintf("%s: %s", w.Name, difference)
		}
		measured = len(tries)
		tries[measured-1].Ended = v1alpha1.ReasonMeasured
	}
	return tries[:measured], ""
}
