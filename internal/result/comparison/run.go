package comparison

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// Run is what one measurement found of a figure, an interval that the truth lies in.
//
//	      Low           High
//	───────┼─────────────┼──────▶
//	  all came back   frames were lost
//
// Low is the figure as it is told. High is Low for an exact figure, more where the procedure resolves no finer, and
// +Inf for a lower bound, as where the generator was the limit and not the device.
type Run struct {
	Low, High float64
	// Bound is why nothing bounds the figure from above, if that is known. It is empty where something does.
	Bound report.Reason
	// Unconfirmed says that the figure was to be held for longer, and was not, so it counts in no comparison. Each
	// direction of a run has its own confirmation.
	Unconfirmed bool
}

// Exact is a run that found exactly this.
func Exact(value float64) Run { return Run{Low: value, High: value} }

// AtLeast is a run that found a lower bound.
func AtLeast(value float64) Run { return Run{Low: value, High: math.Inf(1)} }

// LowerBound says that nothing bounds the figure above.
func (r Run) LowerBound() bool { return math.IsInf(r.High, 1) }

// LessThan is a run that lost frames even at the lowest load, which was this. It shows only what the device can't
// do.
func LessThan(value float64) Run { return Run{High: value} }

// Runs is what a Report found of the figure, one Run for each direction, or one of all together. It is nil where
// one of them is unknown.
func (f Figure) Runs(r *report.Report) []Run {
	var runs []Run
	for _, figure := range f.FiguresOf(r) {
		if figure.Missing != "" {
			return nil
		}
		runs = append(runs, f.RunOf(r, figure))
	}
	return runs
}

// RunOf is what a Report found of one of its figures, which has a number.
func (f Figure) RunOf(r *report.Report, figure report.Figure) Run {
	run := Run{Low: figure.Low.Float(), High: math.Inf(1), Unconfirmed: r.Answer.Measured &&
		r.LacksConfirmation(figure.Confirmed)}
	switch {
	case figure.High != "":
		run.High = figure.High.Float()
	case figure.Reason == report.TargetReached && askedForAllThereIs(r, figure):
		run.High = run.Low
	default:
		run.Bound = figure.Reason
	}
	if f.Metric == procedure.TimePerFrame && run.Low > 0 { // else it is an upper bound
		// The interval is chance within the run. Runs don't err alike by it, and how far they spread has it in it.
		run.Low = (run.Low + run.High) / 2
		run.High = run.Low
	}
	if f.lessIsBetter() {
		run = run.reciprocal()
	}
	return run
}

// reciprocal is the run of a figure of which less is better, so that more is better.
func (r Run) reciprocal() Run {
	r.Low, r.High = 1/r.High, 1/r.Low
	return r
}

// asGoodAsAll is the share of a line rate that counts as all of it, as rates are rounded to whole packets of each
// generator.
const asGoodAsAll = units.One * 999 / 1000

// askedForAllThereIs says that a figure is of all that its links carry. No device forwards more, so where all of
// that came back nothing is left to find. Any other target that was reached is a lower bound.
func askedForAllThereIs(r *report.Report, figure report.Figure) bool {
	asked, rates := false, r.RateOfEachLink()
	for _, d := range r.Answer.Directions {
		if figure.Direction != report.AllDirections && figure.Direction != d.Name() {
			continue
		}
		if highest := lineRateOf(r, d.From, d.To, min(rates[d.From], rates[d.To])); highest <= 0 ||
			units.PacketRate(d.Intended.PacketsPerSecond)*units.PacketPerSecond < highest.Mul(asGoodAsAll) {
			return false
		}
		asked = true
	}
	return asked
}

// lineRateOf is how many packets of a direction's traffic a line of that bit rate carries, or 0 where that is
// unknown.
func lineRateOf(r *report.Report, source, target string, line units.BitRate) units.PacketRate {
	for _, d := range report.PlanOf(r).Directions {
		if d.From == source && d.To == target {
			return units.LinePacketRate(d.Mix, line)
		}
	}
	return 0
}

// Unfit says why a Report's run counts in no comparison at all. It is empty where the run counts in those of
// figures that are confirmed, which Figure.Unfit decides. That even the lowest load lost frames is an answer, too.
func Unfit(r *report.Report) string {
	switch {
	case r.Ending != report.Completed:
		return fmt.Sprintf("the run did not come to its own end (%s): %s", r.Ending, cmp.Or(r.Message, r.Answer.Message,
			"nothing says why"))
	case r.Answer.NotHeld != "":
		return cmp.Or(r.Answer.Message, "not held: "+r.Answer.NotHeld)
	case !r.Answer.Measured && r.Answer.Reason == report.NoCleanLoad && r.LowestLossy() != nil:
		return ""
	case !r.Answer.Measured:
		return cmp.Or(r.Answer.Message, "not measured")
	case r.Unconfirmed() && !slices.ContainsFunc(r.Answer.Directions,
		func(d report.Direction) bool { return d.Limit != nil && d.Limit.Confirmed }):
		return notConfirmed
	}
	return ""
}

const notConfirmed = "its figure is not confirmed"

// Unfit says why a Report's run counts in no comparison of this figure. It is empty where the run counts. One
// confirmed direction is enough for the run to count, and the directions that are not confirmed are left out by
// themselves (Run.Unconfirmed).
func (f Figure) Unfit(r *report.Report) string {
	if r.Ending == report.Completed && !r.Answer.Measured && r.Answer.NotHeld == "" && f.Answered(r) {
		return ""
	}
	// nothing was to be confirmed
	if fault := Unfit(r); fault != "" || !r.Answer.Measured || !r.LacksConfirmation(false) {
		return fault
	}
	list := f.FiguresOf(r)
	if slices.ContainsFunc(list, func(figure report.Figure) bool { return figure.Confirmed }) || len(list) == 0 &&
		!r.Unconfirmed() {
		return ""
	}
	return notConfirmed
}

// Answered says that a run has an answer for the figure. Latency may be of the load of another goal than the first,
// which may have no answer.
func (f Figure) Answered(r *report.Report) bool {
	return r.Answer.Measured || f.At != nil && slices.ContainsFunc(r.Answer.Figures,
		func(l report.Figure) bool { return l.LatencyLoad != nil && *l.LatencyLoad == *f.At && l.Window != 0 })
}

// TooFew says that none or less than half of the runs count, so that nothing can be said of all.
func TooFew(counting, total int) bool { return counting == 0 || 2*counting < total }

// LineRateChange finds a link that ran at different line rates in two runs, whose figures can't be compared then.
// It is nil where there is none. A line rate is known only after a run.
func LineRateChange(baseline, candidate []report.LineRate) (oldRate, newRate *report.LineRate) {
	for i := range baseline {
		for k := range candidate {
			if baseline[i].Link == candidate[k].Link && baseline[i].BitsPerSecond != candidate[k].BitsPerSecond {
				return &baseline[i], &candidate[k]
			}
		}
	}
	return nil, nil
}

// allSound says that all runs can be computed with, as their intervals have numbers that are not negative.
func allSound(runs []Run) bool {
	// NaN isn't sound, either
	return !slices.ContainsFunc(runs, func(r Run) bool {
		return !(r.Low >= 0 && r.High >= r.Low) ||
			math.IsInf(r.Low, 0)
	})
}

// lows are the lower ends of the runs' intervals, which people read.
func lows(runs []Run) []float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = r.Low
	}
	return values
}

// highs are the upper ends of the runs' intervals.
func highs(runs []Run) []float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = r.High
	}
	return values
}

// lowerBoundCount counts the lower bounds among the runs.
func lowerBoundCount(runs []Run) int {
	return count(runs, func(r Run) bool { return math.IsInf(r.High, 1) })
}

// lossyAtAnyLoadCount counts the runs of which only is known what they can't do.
func lossyAtAnyLoadCount(runs []Run) int {
	return count(runs, func(r Run) bool { return r.Low == 0 && r.High > 0 && !math.IsInf(r.High, 1) })
}

func count(runs []Run, counts func(Run) bool) (n int) {
	for _, r := range runs {
		if counts(r) {
			n++
		}
	}
	return n
}
