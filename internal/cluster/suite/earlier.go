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

// With spec.calibration.maxAge a suite reuses calibrations of earlier suites instead of measuring its own. The
// identity of a calibration, which the suite's document has and which covers all of the LoadTest's spec, shows
// beforehand whether two calibrations measure the same. Whether their environments are the same shows only when
// the first device is measured.
//
//	before the first test      the newest calibration of the same identity is reused, each run as one of this suite's
//	a device was measured in   the reused run doesn't count, and the calibration is measured, as the run's next try
//	another environment

// OtherEnvironment is why a run from an earlier suite doesn't count. Its environment differs from that of this
// suite's devices.
const OtherEnvironment = "OtherEnvironment"

// MaxAge is the greatest age of an earlier suite's calibration that is reused. It is 0 if none is reused.
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

// retriesOf is the maximum number of repeated tests of a cell's repetition. A run from an earlier suite doesn't
// count as a try.
func (m *Matrix) retriesOf(cell int) int32 {
	if m.Cells[cell].calibrates && m.MaxAge() > 0 {
		return m.retries() + 1
	}
	return m.retries()
}

// ReuseCalibrations are runs for this suite's calibrations that have none yet. They come from the newest
// calibration with the same identity in the earlier suites' documents. A calibration of unknown environment is
// skipped.
func (m *Matrix) ReuseCalibrations(earlier []*report.Suite, existing Runs, now time.Time) Runs {
	reused := Runs{}
	for number := range m.calibrations {
		if _, ok := existing[m.TestName(number, 1, 1)]; ok || m.MaxAge() == 0 {
			continue
		}
		var newest []report.SuiteRun
		source := ""
		for _, s := range earlier {
			for i := range s.Cells {
				runs := m.reusableRuns(number, &s.Cells[i], now)
				if len(runs) > 0 && (newest == nil || oldest(runs).After(oldest(newest))) {
					newest, source = runs, s.Name
				}
			}
		}
		for i, run := range newest {
			r := m.reusedRun(number, int32(i)+1, run, source)
			reused[r.Test] = r
		}
	}
	return reused
}

// reusableRuns are the runs of another suite's calibration that may be used for this one's, one for each
// repetition. They are nil if there are fewer than repetitions.
func (m *Matrix) reusableRuns(number int, c *report.SuiteCell, now time.Time) (runs []report.SuiteRun) {
	if !c.Calibration || c.Identity == "" || c.Identity != m.identities[number] {
		return nil
	}
	for _, r := range c.Runs {
		if age := now.Sub(r.Finished); r.Counts() && r.Evidence != nil && r.Evidence.Environment != nil &&
			age >= 0 && age <= m.MaxAge() {
			runs = append(runs, r)
		}
	}
	if repetitions := int(m.repetitions()); len(runs) >= repetitions {
		return runs[:repetitions]
	}
	return nil
}

func oldest(runs []report.SuiteRun) time.Time {
	return slices.MinFunc(runs, func(a, b report.SuiteRun) int { return a.Finished.Compare(b.Finished) }).Finished
}

// reusedRun converts another suite's run to one of this suite.
func (m *Matrix) reusedRun(number int, repetition int32, run report.SuiteRun, source string) Run {
	if run.Taken == nil { // else that suite reused the run, too
		run.Taken = &report.Taken{Suite: source, Test: run.Test}
	}
	run.Test, run.Repetition, run.Retry, run.UID, run.ConfigMap, run.Repeated = m.TestName(number, repetition, 1),
		int(repetition), 0, "", "", ""
	return Run{SuiteRun: run, Ended: v1alpha1.ReasonMeasured}
}

// earlierWanted looks for reusable calibrations of earlier suites before the suite's first test.
func earlierWanted(v *situation) *step {
	if v.EarlierRead || v.lastStatus.StartTime != nil || v.Matrix.calibrations == 0 || v.Matrix.MaxAge() == 0 ||
		len(v.Runs) > 0 {
		return nil
	}
	return &step{message: "looking for calibrations of earlier suites", earlier: true}
}

// dropReusedFromOtherEnvironment makes runs of earlier suites not count if this suite's devices were measured in
// another environment. It returns the runs, which are copied if any doesn't count, and how many of each calibration
// don't count.
func dropReusedFromOtherEnvironment(m *Matrix, runs Runs) (Runs, map[int]int32) {
	e, discounted := environments{m, runs}, map[int]int32{}
	for number := range m.calibrations {
		for r := range m.repetitions() {
			name := m.TestName(number, r+1, 1)
			run, ok := runs[name]
			if !ok || run.Taken == nil || run.Evidence == nil {
				continue
			}
			reused := []*report.Environment{run.Evidence.Environment}
			difference := e.differences(reused, e.ofDevices(number))
			if difference == "" {
				continue
			}
			if len(discounted) == 0 {
				runs = maps.Clone(runs)
			}
			discounted[number]++
			run.Figures, run.Goals, run.Evidence = nil, nil, nil
			run.Ended, run.Reason, run.Message = OtherEnvironment, OtherEnvironment,
				wording.Limited(reuseSentence(run.Taken, run.Finished)+
					", in another environment than this suite's devices: "+difference, maxMessage)
			runs[name] = run
		}
	}
	return runs, discounted
}

// environments are those in which a suite's runs were measured.
type environments struct {
	matrix *Matrix
	runs   Runs
}

// calibrationDifferences says how the environment of a calibration differs from that of a cell's runs. It is
// empty if no difference is known.
func (e environments) calibrationDifferences(calibration, cell int) string {
	return e.differences(e.ofCell(calibration), e.ofCell(cell))
}

// differences says how the generators differ between two lists of environments. It is empty if they
// are the same, or if either list is empty.
func (e environments) differences(first, second []*report.Environment) string {
	if len(first) == 0 || len(second) == 0 {
		return ""
	}
	links := e.matrix.suite.Spec.Calibration.Network == "" // a calibration network has other ports
	differences := comparison.EnvironmentDifferences(ofGenerators(first, links), ofGenerators(second, links))
	var words []string
	for _, d := range differences {
		words = append(words, d.String())
	}
	return strings.Join(words, "; ")
}

// ofDevices are the environments of this suite's own runs that are compared with a calibration.
func (e environments) ofDevices(calibration int) (found []*report.Environment) {
	for cell := e.matrix.calibrations; cell < len(e.matrix.Cells); cell++ {
		if e.matrix.calibratedBy[cell] != calibration {
			continue
		}
		found = append(found, e.ofCell(cell)...)
	}
	return found
}

// ofCell are the environments of a cell's runs.
func (e environments) ofCell(cell int) (found []*report.Environment) {
	for name := range e.matrix.testNames(cell) {
		if run, ok := e.runs[name]; ok && run.Evidence != nil {
			if environment := run.Evidence.Environment; environment != nil {
				found = append(found, environment)
			}
		}
	}
	return found
}

// generators is an environment without the device and, if links is false, without the links' ports.
func generators(e *report.Environment, links bool) *report.Environment {
	reduced := &report.Environment{Linerate: e.Linerate, Generators: slices.Clone(e.Generators)}
	if !links {
		for i := range reduced.Generators {
			reduced.Generators[i].Ports = nil
		}
	}
	return reduced
}

func ofGenerators(environments []*report.Environment, links bool) (reduced []*report.Environment) {
	for _, e := range environments {
		reduced = append(reduced, generators(e, links))
	}
	return reduced
}

// reuseSentences says which earlier suite measured a calibration's figures, and when. It is empty if this suite
// measured them.
func reuseSentences(runs []Run) string {
	var words []string
	for _, r := range runs {
		if r.Taken == nil {
			continue
		}
		if sentence := reuseSentence(r.Taken, r.Finished); !slices.Contains(words, sentence) {
			words = append(words, sentence)
		}
	}
	return strings.Join(words, "; ")
}

func reuseSentence(source *report.Taken, finished time.Time) string {
	return fmt.Sprintf("%s of suite %s measured it on %s", source.Test, source.Suite,
		finished.UTC().Format("2006-01-02 15:04 UTC"))
}
