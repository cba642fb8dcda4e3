package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A run whose generator was the limit gives a lower bound. If other runs of its cell measured more, the same
// generator did better in these, so the run was disturbed. So was each run that shows that other programs, or the
// host of a virtual machine, had processors that the test needed. The suite repeats it, and the result takes its
// place, within spec.invalidRetries. No other run is repeated, however low its figure is, since a limit that was
// found may be the device's, whether it was confirmed or not.
//
//	r1 21.01 k  r2  21.00 k  r3 ≥10.42 k  r4  21.02 k  r5  20.99 k   r3t2 will replace r3
//	r1 ≥10.41 k  r2 ≥10.42 k  r3 ≥10.00 k  r4 ≥10.44 k  r5 ≥10.42 k   the generator is too weak
//	r1 21.01 k  r2  21.00 k  r3 ≥20.90 k: cc1 used the device's processor   r3t2 will replace r3

// A lower bound counts as disturbed if it is below what the other runs measured by more than alike percent of
// itself. Undisturbed runs differ by up to as much. They differ by up to alikeLimited percent if the generator
// is the limit in most of them.
const (
	alike        = 1
	alikeLimited = 10
)

// measuredRun is a run of a cell with figures.
type measuredRun struct {
	test       string
	repetition int
	figures    *report.Figures
	// limited says that the generator was the limit, and intruder names what else used the test's processors. weak
	// says that, in addition, the run may be repeated. unsure says that the figures weren't confirmed, so no other
	// run is compared with them.
	limited, weak, unsure bool
	intruder              string
}

// intruder names what used processors that the test needed, so that a run's figures are only a lower bound. It is
// empty if nothing did, or if a machine without other work would measure no more.
func intruder(f *report.Figures, reason report.Reason, evidence *report.Report) string {
	if f == nil || !f.LowerBound || evidence == nil ||
		reason != report.MachineLimited && reason != report.Inconclusive {
		return ""
	}
	if cause := evidence.Answer.Cause; cause.Detail == report.OtherPrograms {
		return cmp.Or(cause.Process, "another program")
	} else if cause.Detail == report.HostOfMachine {
		return "the host of this virtual machine"
	}
	return ""
}

// generatorWasTheLimit says that a run measured only what its generator could send. It is false for a
// calibration, which is meant to measure that.
func generatorWasTheLimit(f *report.Figures, reason string, evidence *report.Report) bool {
	return f != nil && f.LowerBound && reason == string(report.GeneratorLimited) &&
		(evidence == nil || evidence.Plan.DUT.Type != loopback)
}

// medianOfOthers is the median of the confirmed figures of other repetitions, and by how many percent a lower
// bound must be below the median to count as less. The median is in packets per second, for sessions in bits of
// goodput per second, and 0 if no figure is confirmed.
func medianOfOthers(runs []measuredRun, repetition int) (middle, percent int64) {
	var sure []int64
	limited := 0
	for _, s := range runs {
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

// isLess says that a run's lower bound is less than what the other runs measured.
func (s *measuredRun) isLess(runs []measuredRun) bool {
	middle, percent := medianOfOthers(runs, s.repetition)
	return 100*middle > (100+percent)*s.figures.Throughput()
}

// disturbed is the run that must be measured again, or nil. It is the lowest of those with an intruder or, without
// any, the lowest whose generator was the limit. If that isn't less than what the others measured, no other run's
// figure is.
func disturbed(runs []measuredRun) *measuredRun {
	var lowest *measuredRun
	for i := range runs {
		s := &runs[i]
		switch {
		case !s.weak || lowest != nil && lowest.intruder != "" && s.intruder == "":
		case lowest == nil || s.intruder != "" && lowest.intruder == "" ||
			s.figures.Throughput() < lowest.figures.Throughput():
			lowest = s
		}
	}
	if lowest == nil || lowest.intruder == "" && !lowest.isLess(runs) {
		return nil
	}
	return lowest
}

// reason says why a run is measured again.
func (s *measuredRun) reason(runs []measuredRun) string {
	if s.intruder != "" {
		return report.IntruderWords(s.figures, s.intruder)
	}
	middle, _ := medianOfOthers(runs, s.repetition)
	return report.DisturbedWords(s.figures, middle)
}

// limited says that the run's generator was the limit.
func (r *Run) limited() bool { return generatorWasTheLimit(r.Figures, r.Reason, r.Evidence) }

// intruder names what used processors that the run needed. It is empty if nothing did.
func (r *Run) intruder() string { return intruder(r.Figures, report.Reason(r.Reason), r.Evidence) }

// Disturbed is the index of the run that a suite would repeat because it was disturbed, and why, or -1. It
// serves runs of one test without a suite, and ignores Reports without figures.
func Disturbed(runs []*report.Report) (index int, reason string) {
	var measured []measuredRun
	for i, r := range runs {
		if f := figures.TableFigures(r); f != nil && r.Ending == report.Completed {
			run := measuredRun{repetition: i, figures: f, unsure: f.Unconfirmed > 0,
				limited: generatorWasTheLimit(f, string(r.Answer.Reason), r), intruder: intruder(f, r.Answer.Reason, r)}
			run.weak = run.limited || run.intruder != ""
			measured = append(measured, run)
		}
	}
	lowest := disturbed(measured)
	if lowest == nil {
		return -1, ""
	}
	return lowest.repetition, lowest.reason(measured)
}

// noteWeak records that a repetition's figures are only a lower bound for another reason than the device, and which
// test would repeat it. lastRun is the run of the repetition's last try. If it was stopped or couldn't be made, no
// other try is made.
func (r *repetitions) noteWeak(stands string, next Wanted, lastRun *Run) {
	run := r.runs[stands]
	if (run.limited() || run.intruder() != "") && (lastRun.measured() || lastRun.repeatable()) {
		r.weak[stands] = next
	}
}

// repeatDisturbed has disturbed tests measured again. It repeats one test of a cell at a time, once all
// repetitions of the cell are complete, so that the choice depends on what was measured, and not on which test
// ended first.
func (r *repetitions) repeatDisturbed(tries []int32) {
	if len(r.weak) == 0 || r.endsEarly() {
		return
	}
	cells := map[int]bool{}
	for _, next := range r.weak {
		cells[next.Cell] = r.open[next.Cell] == 0 && tries[next.Cell] > 0
	}
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		if !cells[cell] {
			continue
		}
		if lowest := disturbed(r.measuredRuns(cell)); lowest != nil {
			r.measured--
			r.replace(lowest.test)
			r.sortTestWithoutRun(r.weak[lowest.test], tries)
		}
	}
	r.matrix.sortByPlace(r.missing)
}

// measuredRuns are the runs that stand for a cell's repetitions and have figures.
func (r *repetitions) measuredRuns(cell int) (measured []measuredRun) {
	for _, name := range r.testsOf[cell] {
		run, ok := r.runs[name]
		if !ok || !run.measured() || r.replaced[name] {
			continue
		}
		_, weak := r.weak[name]
		measured = append(measured, measuredRun{test: name, repetition: run.Repetition, figures: run.Figures,
			limited: run.limited(), intruder: run.intruder(), weak: weak, unsure: run.Figures.Unconfirmed > 0})
	}
	return measured
}

// whyRepeated says why another try replaces a run that gave figures.
func (r *repetitions) whyRepeated(cell int, run *Run) string {
	repeated := measuredRun{repetition: run.Repetition, figures: run.Figures, intruder: run.intruder()}
	return repeated.reason(r.measuredRuns(cell))
}

// whyInVain says that a run without figures was to replace one with figures, which still counts. It is empty if
// the run wasn't to replace one, or if a further try is.
func (r *repetitions) whyInVain(cell int, run *Run) string {
	earlier := r.measuredBefore(cell, run)
	if earlier == "" || r.exists(r.matrix.TestName(cell, int32(run.Repetition), int32(run.Retry)+2)) {
		return ""
	}
	return fmt.Sprintf("%s was to take the place of %s, and gave no figure: %s: %s", run.Test, earlier, run.Reason,
		wording.Limited(run.Message, 120))
}
