package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// With spec.calibration.maxAge a suite uses calibrations of earlier suites instead of measuring its own. Whether two calibrations measure the same is known beforehand, by their identity (all of the
// LoadTest's spec), which the suite's document has. Whether their environments are the same shows only when the first device is measured. So
//
//	before the first test    the newest calibration of the same identity is taken, each of its runs as one of this suite's
//	a device was measured    elsewhere, or by another generator, than that: what was taken counts for nothing, and is measured after all, as the run's next try

// OtherEnvironment is why a run from an earlier suite doesn't count: its environment differs from that of this suite's devices.
const OtherEnvironment = "OtherEnvironment"

// MaxAge is how old an earlier suite's calibration may be to be used; 0: none is used.
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

// retriesOf is how often a repetition of a cell is repeated at most. A run from an earlier suite doesn't count as a try.
func (m *Matrix) retriesOf(cell int) int32 {
	if m.Cells[cell].calibrates && m.MaxAge() > 0 {
		return m.retries() + 1
	}
	return m.retries()
}

// TakeCalibrations are runs for this suite's calibrations that have none yet: those of the newest calibration with the same identity in the earlier suites' documents. One whose environment isn't known is skipped.
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

// takable are the runs of another suite's calibration that may be used for this one's, one for each repetition; nil: they may not.
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

// taken converts another suite's run to one of this suite.
func (m *Matrix) taken(number int, repetition int32, run report.SuiteRun, from string) Run {
	if run.Taken == nil { // else that suite took it, too
		run.Taken = &report.Taken{Suite: from, Test: run.Test}
	}
	run.Test, run.Repetition, run.Retry, run.UID, run.ConfigMap, run.Repeated = m.TestName(number, repetition, 1), int(repetition), 0, "", "", ""
	return Run{SuiteRun: run, Ended: v1alpha1.ReasonMeasured}
}

// earlierWanted: before its first test a suite looks for calibrations of earlier suites that it can use.
func earlierWanted(v *view) *step {
	if v.EarlierRead || v.was.StartedAt != nil || v.Matrix.calibrations == 0 || v.Matrix.MaxAge() == 0 || len(v.Runs) > 0 {
		return nil
	}
	return &step{message: "looking for calibrations of earlier suites", earlier: true}
}

// discountTaken makes runs of earlier suites not count if this suite's devices were measured in another environment.
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
			run.Ended, run.Reason, run.Message = OtherEnvironment, OtherEnvironment, wording.Limited(takenWords(run.Taken, run.Finished)+", in another environment than this suite's devices: "+why, maxMessage)
			v.Runs[name] = run
		}
	}
}

// elsewhere says how the environment of a taken run differs from that of this suite's runs that are compared with it; empty: in nothing that is known.
func (v *view) elsewhere(calibration int, run *Run) string {
	return v.apart([]*report.Environment{report.EnvironmentOf(run.Evidence)}, v.environments(calibration))
}

// measuredElsewhere says how the environment of a calibration differs from that of a cell's runs; empty: in nothing that is known.
func (v *view) measuredElsewhere(calibration, cell int) string {
	return v.apart(v.environmentsIn(calibration), v.environmentsIn(cell))
}

// apart says how the generators differ between two lists of environments; empty: in nothing, or either list has no known environment.
func (v *view) apart(was, is []*report.Environment) string {
	if len(was) == 0 || len(is) == 0 {
		return ""
	}
	links := v.spec.Calibration.Network == "" // with a network of its own the calibration has other ports
	apart := comparison.EnvironmentDifferences(ofGenerators(was, links), ofGenerators(is, links))
	var words []string
	for _, d := range apart {
		words = append(words, d.String())
	}
	return strings.Join(words, "; ")
}

// environments are those of this suite's own runs that are compared with a calibration.
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

// generators is an environment without the device and, if links is false, without the links' ports.
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

// takenFrom says which earlier suite measured a calibration's figures, and when; empty: this suite did.
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
