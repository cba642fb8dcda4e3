package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/report"
)

// With spec.calibration.maxAge a suite takes calibrations of earlier suites instead of measuring them anew. What a calibration is of, all of its LoadTest's spec, is known before anything is
// measured, and its identity in the suite's document. In which environment the suite will be measured isn't: that shows when the first of its devices is measured. So
//
//	before the first test    the newest calibration of the same identity is taken, each of its runs as one of this suite's
//	a device was measured    elsewhere, or by another generator, than that: what was taken counts for nothing, and is measured after all, as the run's next try

// OtherEnvironment is why a run counts as not measured that was taken from an earlier suite and measured in another environment than this suite's devices.
const OtherEnvironment = "OtherEnvironment"

// MaxAge is how old a calibration may be that is taken instead of measuring anew; 0: none is.
func (m *Matrix) MaxAge() time.Duration {
	c := m.suite.Spec.Calibration
	if c == nil || c.MaxAge == "" {
		return 0
	}
	age, err := c.MaxAge.Std()
	if err != nil { // the schema keeps it out
		return 0
	}
	return age
}

// retriesOf is how often a repetition of a cell is repeated at most: what was taken from an earlier suite is no try of this one's.
func (m *Matrix) retriesOf(cell int) int32 {
	if m.Cells[cell].calibrates && m.MaxAge() > 0 {
		return m.retries() + 1
	}
	return m.retries()
}

// TakeCalibrations are, of each calibration of which nothing is known yet, the runs of the newest that is among these suites' documents, as runs of this suite's. One whose environment isn't known is left.
func (m *Matrix) TakeCalibrations(earlier []*report.Suite, known Runs, now time.Time) Runs {
	taken := Runs{}
	for number := range m.calibrations {
		if _, is := known[m.TestName(number, 1, 1)]; is || m.MaxAge() == 0 {
			continue
		}
		var newest []report.SuiteRun
		from := ""
		for _, s := range earlier {
			for i := range s.Cells {
				runs := m.takable(number, &s.Cells[i], now)
				if len(runs) > 0 && (newest == nil || oldest(runs).After(oldest(newest))) {
					newest, from = runs, s.Name
				}
			}
		}
		for i, run := range newest {
			r := m.taken(number, int32(i)+1, run, from)
			taken[r.Test] = r
		}
	}
	return taken
}

// takable are the runs of another suite's calibration that may stand for this one's, one for each repetition; nil: they may not.
func (m *Matrix) takable(number int, c *report.SuiteCell, now time.Time) (runs []report.SuiteRun) {
	if !c.Calibration || c.Identity == "" || c.Identity != m.identities[number] {
		return nil
	}
	for _, r := range c.Runs {
		if age := now.Sub(r.Finished); r.Counts() && r.Evidence != nil && report.EnvironmentOf(r.Evidence) != nil && age >= 0 && age <= m.MaxAge() {
			runs = append(runs, r)
		}
	}
	if all := int(max(m.suite.Spec.Repetitions, 1)); len(runs) >= all {
		return runs[:all]
	}
	return nil
}

func oldest(runs []report.SuiteRun) time.Time {
	return slices.MinFunc(runs, func(a, b report.SuiteRun) int { return a.Finished.Compare(b.Finished) }).Finished
}

// taken is another suite's run as one of this suite's.
func (m *Matrix) taken(number int, repetition int32, run report.SuiteRun, from string) Run {
	if run.Taken == nil { // else that suite took it, too
		run.Taken = &report.Taken{Suite: from, Test: run.Test}
	}
	run.Test, run.Repetition, run.Retry, run.UID, run.ConfigMap, run.Repeated = m.TestName(number, repetition, 1), int(repetition), 0, "", "", ""
	return Run{SuiteRun: run, Ended: v1alpha1.ReasonMeasured}.seal()
}

// earlierWanted: before its first test a suite looks for calibrations that it need not measure.
func earlierWanted(v *view) *step {
	if v.EarlierRead || v.was.StartedAt != nil || v.Matrix.calibrations == 0 || v.Matrix.MaxAge() == 0 || len(v.Runs) > 0 {
		return nil
	}
	return &step{message: "calibrations of earlier suites are looked at", earlier: true}
}

// discountTaken has runs of earlier suites count for nothing where this suite's devices were measured in another environment.
func (v *view) discountTaken() {
	for number := range v.Matrix.calibrations {
		for r := range max(v.spec.Repetitions, 1) {
			name := v.Matrix.TestName(number, r+1, 1)
			run, known := v.Runs[name]
			if !known || run.Taken == nil || run.Evidence == nil {
				continue
			}
			why := v.elsewhere(number, &run)
			if why == "" {
				continue
			}
			if len(v.discounted) == 0 {
				v.Runs = maps.Clone(v.Runs)
			}
			v.discounted[number]++
			run.Figures, run.Goals, run.Evidence = nil, nil, nil
			run.Ended, run.Reason, run.Message = OtherEnvironment, OtherEnvironment, limited(takenWords(run.Taken, run.Finished)+", in another environment than this suite's devices: "+why, maxMessage)
			v.Runs[name] = run
		}
	}
}

// elsewhere says what is otherwise in the environment of a run that was taken than in that of this suite's runs which are held against it; empty: nothing that is known.
func (v *view) elsewhere(calibration int, run *Run) string {
	return v.apart([]*report.Environment{report.EnvironmentOf(run.Evidence)}, v.environments(calibration))
}

// measuredElsewhere says what is otherwise in the environment of a calibration than in that of the runs of a cell that is held against it; empty: nothing that is known.
func (v *view) measuredElsewhere(calibration, cell int) string {
	return v.apart(v.environmentsIn(calibration), v.environmentsIn(cell))
}

// apart says what is otherwise with the generators in some environments than in others; empty: nothing, or of either side none is known.
func (v *view) apart(was, is []*report.Environment) string {
	if len(was) == 0 || len(is) == 0 {
		return ""
	}
	links := v.spec.Calibration.Network == "" // else the calibration has wires of its own
	apart := comparison.EnvironmentDifferences(ofGenerators(was, links), ofGenerators(is, links))
	var words []string
	for _, d := range apart {
		words = append(words, d.String())
	}
	return strings.Join(words, "; ")
}

// environments are those of this suite's own runs that a calibration is for.
func (v *view) environments(calibration int) (all []*report.Environment) {
	for cell := v.Matrix.calibrations; cell < len(v.Matrix.Cells); cell++ {
		if v.Matrix.calibratedBy[cell] != calibration {
			continue
		}
		all = append(all, v.environmentsIn(cell)...)
	}
	return all
}

// environmentsIn are those of a cell's runs.
func (v *view) environmentsIn(cell int) (all []*report.Environment) {
	for name := range v.Matrix.testNames(cell) {
		if run, known := v.Runs[name]; known && run.Evidence != nil {
			if e := report.EnvironmentOf(run.Evidence); e != nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// generators is an environment without the device, and without the links' ports where these aren't to be compared.
func generators(e *report.Environment, links bool) *report.Environment {
	out := &report.Environment{Linerate: e.Linerate, Generators: slices.Clone(e.Generators)}
	if !links {
		for i := range out.Generators {
			out.Generators[i].Ports = nil
		}
	}
	return out
}

func ofGenerators(all []*report.Environment, links bool) (out []*report.Environment) {
	for _, e := range all {
		out = append(out, generators(e, links))
	}
	return out
}

// takenFrom says of which earlier suite a calibration's figures are, and when it measured them; empty: this suite measured them.
func takenFrom(runs []Run) string {
	var words []string
	for _, r := range runs {
		if r.Taken == nil {
			continue
		}
		if said := takenWords(r.Taken, r.Finished); !slices.Contains(words, said) {
			words = append(words, said)
		}
	}
	return strings.Join(words, "; ")
}

func takenWords(from *report.Taken, at time.Time) string {
	return fmt.Sprintf("%s of suite %s measured it on %s", from.Test, from.Suite, at.UTC().Format("2006-01-02 15:04 UTC"))
}
