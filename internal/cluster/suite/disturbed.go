package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A run whose generator was the limit gives a lower bound. If other runs of its cell measured more, the same generator did better in these, so the run was disturbed:
// it is measured again, and the result takes its place. No other run is repeated, however low: a limit that was found, confirmed or not, may be the
// device's.
//
//	r1 21.01 K  r2  21.00 K  r3 ≥10.42 K  r4  21.02 K  r5  20.99 K   the others' median is 21.00 K: r3t2 is to take r3's place
//	r1 ≥10.41 K  r2 ≥10.42 K  r3 ≥10.00 K  r4 ≥10.44 K  r5 ≥10.42 K   they are alike: the generator is too weak, and nothing is repeated

// How far a lower bound may be below what the other runs measured, in percent of itself, without counting as disturbed: undisturbed runs differ as much, and by more
// (alikeLimited) if the generator is the limit in most of them.
const (
	alike        = 1
	alikeLimited = 10
)

// measuredRun is a run of a cell with figures.
type measuredRun struct {
	test       string
	repetition int
	figures    *report.Figures
	// limited: the generator was the limit. weak: in addition, the run may be repeated. unsure: the figures weren't confirmed, so no other run is compared with them.
	limited, weak, unsure bool
}

// generatorWasTheLimit says that a run measured only what its generator could send. It is false for a calibration, which is meant to measure that.
func generatorWasTheLimit(f *report.Figures, reason string, evidence *report.Report) bool {
	return f != nil && f.LowerBound && reason == string(report.GeneratorLimited) && (evidence == nil || evidence.Plan.DUT.Type != loopback)
}

// medianOfOthers is the median of the confirmed figures of other repetitions, in packets per second (for sessions in bits of goodput per second), and by how many percent a lower bound must be below it
// to count as less; 0: no figure is confirmed.
func medianOfOthers(all []measuredRun, repetition int) (middle, percent int64) {
	var sure []int64
	limited := 0
	for _, s := range all {
		if s.repetition == repetition || s.unsure {
			continue
		}
		sure = append(sure, s.figures.Throughput())
		if s.limited {
			limited++
		}
	}
	n := len(sure)
	if n == 0 {
		return 0, alike
	}
	slices.Sort(sure)
	middle = sure[(n-1)/2] + (sure[n/2]-sure[(n-1)/2])/2
	if 2*limited >= n {
		return middle, alikeLimited
	}
	return middle, alike
}

// isLess says whether a run's lower bound is less than what others measured.
func (s *measuredRun) isLess(all []measuredRun) bool {
	middle, percent := medianOfOthers(all, s.repetition)
	return 100*middle > (100+percent)*s.figures.Throughput()
}

// disturbed is the run to be measured again; nil: there is none. It is the lowest one: if that isn't less than what the others measured, no other run's figure
// is.
func disturbed(all []measuredRun) *measuredRun {
	var least *measuredRun
	for i := range all {
		if s := &all[i]; s.weak && (least == nil || s.figures.Throughput() < least.figures.Throughput()) {
			least = s
		}
	}
	if least == nil || !least.isLess(all) {
		return nil
	}
	return least
}

// limited says that its generator was the limit.
func (r *Run) limited() bool { return generatorWasTheLimit(r.Figures, r.Reason, r.Evidence) }

// Disturbed is which of several runs of one test a suite would measure again because it was disturbed, and why; -1: none. It is for runs without a
// suite, and ignores Reports without figures.
func Disturbed(runs []*report.Report) (which int, why string) {
	var all []measuredRun
	for i, r := range runs {
		if f := figures.TableFigures(r); f != nil && r.Ending == report.Completed {
			limited := generatorWasTheLimit(f, string(r.Result.Reason), r)
			all = append(all, measuredRun{repetition: i, figures: f, limited: limited, weak: limited, unsure: f.Unconfirmed > 0})
		}
	}
	least := disturbed(all)
	if least == nil {
		return -1, ""
	}
	middle, _ := medianOfOthers(all, least.repetition)
	return least.repetition, report.DisturbedWords(least.figures, middle)
}

// noteWeak records that a repetition's figures are only what its generator could send, and which test would repeat it. last is the run of the repetition's last
// try: if that was stopped or couldn't be made, no other try is made.
func (v *view) noteWeak(stands string, next Wanted, last *Run) {
	run := v.Runs[stands]
	if run.limited() && (last.measured() || last.repeatable()) {
		v.weak[stands] = next
	}
}

// repeatDisturbed has disturbed tests measured again, once all repetitions of a cell are in, and one test of a cell at a time: so what is repeated depends on
// what was measured, and not on which test ended first.
func (v *view) repeatDisturbed(left []int32) {
	if len(v.weak) == 0 || v.endsEarly() {
		return
	}
	cells := map[int]bool{}
	for _, next := range v.weak {
		cells[next.Cell] = v.open[next.Cell] == 0 && left[next.Cell] > 0
	}
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		if !cells[cell] {
			continue
		}
		if least := disturbed(v.measuredRuns(cell)); least != nil {
			v.measured--
			v.replace(least.test)
			v.unknown(v.weak[least.test], left)
		}
	}
	v.Matrix.sortByPlace(v.missing)
}

// measuredRuns are the runs that stand for a cell's repetitions and have figures.
func (v *view) measuredRuns(cell int) (all []measuredRun) {
	for _, name := range v.made[cell] {
		run, known := v.Runs[name]
		if !known || !run.measured() || v.replaced[name] {
			continue
		}
		_, weak := v.weak[name]
		all = append(all, measuredRun{test: name, repetition: run.Repetition, figures: run.Figures, limited: run.limited(), weak: weak, unsure: run.unconfirmed()})
	}
	return all
}

// whyRepeated says why another try replaces a run that gave figures.
func (v *view) whyRepeated(cell int, run *Run) string {
	middle, _ := medianOfOthers(v.measuredRuns(cell), run.Repetition)
	return report.DisturbedWords(run.Figures, middle)
}

// whyInVain says that a run without figures was to replace one with figures, which still counts; empty: it wasn't, or a further try is to.
func (v *view) whyInVain(cell int, run *Run) string {
	before := v.measuredBefore(cell, run)
	if before == "" || v.exists(v.Matrix.TestName(cell, int32(run.Repetition), int32(run.Retry)+2)) {
		return ""
	}
	return fmt.Sprintf("%s was to take the place of %s, and gave no figure: %s: %s", run.Test, before, run.Reason, wording.Limited(run.Message, 120))
}
