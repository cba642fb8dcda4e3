package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/report"
)

// A run whose generator was the limit gives a lower bound. Where the other runs of its cell measured more it says nothing that they don't say better, and
// was disturbed, for the same generator did better in them: it is measured again, and whatever comes of that takes its place. No other run is, however low:
// where a limit was found, confirmed or not, that may be the device's.
//
//	r1 21.01 K  r2  21.00 K  r3 ≥10.42 K  r4  21.02 K  r5  20.99 K   the others' median is 21.00 K: r3t2 is to take r3's place
//	r1 ≥10.41 K  r2 ≥10.42 K  r3 ≥10.00 K  r4 ≥10.44 K  r5 ≥10.42 K   they are alike: the generator is too weak, and nothing is repeated

// How far a lower bound may lie below what the others measured, in percent of itself, and still be as much: good runs differ as much, and more where it is
// the generator's own limit in most of them.
const (
	alike        = 1
	alikeLimited = 10
)

// said is what a run of a cell measured.
type said struct {
	test       string
	repetition int
	figures    *report.Figures
	// limited: the generator was the limit. weak: and it may be measured again. unsure: the figures weren't confirmed, so that no other run is held against them.
	limited, weak, unsure bool
}

// generatorWasTheLimit says that what a run measured is only what its generator could do. Without a device that is what was to be found out.
func generatorWasTheLimit(f *report.Figures, reason string, evidence *report.Report) bool {
	return f != nil && f.LowerBound && reason == string(report.GeneratorLimited) && (evidence == nil || evidence.Plan.DUT.Type != loopback)
}

// others is the median of what other repetitions measured, in packets per second, of sessions in bits of goodput per second, as far as it is sure, and by how many percent a lower bound must lie
// below it to be less; 0: nothing is sure.
func others(all []said, repetition int) (middle, percent int64) {
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

// less says whether a run says less than others.
func (s *said) less(all []said) bool {
	middle, percent := others(all, s.repetition)
	return 100*middle > (100+percent)*s.figures.Throughput()
}

// disturbed is the run that is to be measured again; nil: there is none. It is the one that says least: if that isn't less than what the others say, no other
// run's figure is.
func disturbed(all []said) *said {
	var least *said
	for i := range all {
		if s := &all[i]; s.weak && (least == nil || s.figures.Throughput() < least.figures.Throughput()) {
			least = s
		}
	}
	if least == nil || !least.less(all) {
		return nil
	}
	return least
}

// limited says that its generator was the limit.
func (r *Run) limited() bool { return generatorWasTheLimit(r.Figures, r.Reason, r.Evidence) }

// Disturbed is which of several runs of one test a suite would measure again, as its generator was disturbed, and why; -1: none. It is for who measures
// without a suite; Reports without figures have no part in it.
func Disturbed(runs []*report.Report) (which int, why string) {
	var all []said
	for i, r := range runs {
		if f := figures.TableFigures(r); f != nil && r.Ending == report.Completed {
			limited := generatorWasTheLimit(f, string(r.Result.Reason), r)
			all = append(all, said{repetition: i, figures: f, limited: limited, weak: limited, unsure: f.Unconfirmed > 0})
		}
	}
	least := disturbed(all)
	if least == nil {
		return -1, ""
	}
	middle, _ := others(all, least.repetition)
	return least.repetition, report.DisturbedWords(least.figures, middle)
}

// noteWeak keeps in mind that a test stands for its repetition with what its generator could send, and which test would repeat it. Last is the run of
// the repetition's last try: where that was stopped or can't be made, neither can another.
func (v *view) noteWeak(stands string, next Wanted, last *Run) {
	run := v.Runs[stands]
	if run.limited() && (last.measured() || last.repeatable()) {
		v.weak[stands] = next
	}
}

// repeatDisturbed wants disturbed tests measured again. A cell is looked at when all its repetitions are in, and one of its tests is repeated at a time: so
// what is repeated depends on what was measured, and not on what ended first.
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
		if least := disturbed(v.saidIn(cell)); least != nil {
			v.measured--
			v.replace(least.test)
			v.unknown(v.weak[least.test], left)
		}
	}
	v.Matrix.sortByPlace(v.missing)
}

// saidIn is what the runs measured that stand for a cell's repetitions.
func (v *view) saidIn(cell int) (all []said) {
	for _, name := range v.made[cell] {
		run, known := v.Runs[name]
		if !known || !run.measured() || v.replaced[name] {
			continue
		}
		_, weak := v.weak[name]
		all = append(all, said{test: name, repetition: run.Repetition, figures: run.Figures, limited: run.limited(), weak: weak, unsure: run.unconfirmed()})
	}
	return all
}

// whyRepeated says why another try takes a run's place that gave figures.
func (v *view) whyRepeated(cell int, run *Run) string {
	middle, _ := others(v.saidIn(cell), run.Repetition)
	return report.DisturbedWords(run.Figures, middle)
}

// inVain says of a run without figures that it was to take the place of one that has some, which counts on; empty: it wasn't, or a further one is.
func (v *view) inVain(cell int, run *Run) string {
	before := v.measuredBefore(cell, run)
	if before == "" || v.exists(v.Matrix.TestName(cell, int32(run.Repetition), int32(run.Retry)+2)) {
		return ""
	}
	return fmt.Sprintf("%s was to take the place of %s, and gave no figure: %s: %s", run.Test, before, run.Reason, limited(run.Message, 120))
}
