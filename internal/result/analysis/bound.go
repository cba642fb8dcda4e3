package analysis

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// bound is the least or the most that a criterion lets a figure be.
type bound struct {
	limit   string
	atLeast bool
}

// boundsOf are the bounds that a criterion has.
func boundsOf(c plan.Criterion) []bound {
	return slices.DeleteFunc([]bound{{c.Min, true}, {c.Max, false}}, func(b bound) bool { return b.limit == "" })
}

// sentence is the bound behind a figure, such as ", at most 0.1 % allowed".
func (b bound) sentence(limit string) string {
	if b.atLeast {
		return ", at least " + limit + " demanded"
	}
	return ", at most " + limit + " allowed"
}

// judgedFigure is a figure that is compared with a criterion, and the run that claims it.
type judgedFigure struct {
	report.Figure
	run *report.Report
}

// against compares the figure with both bounds of a criterion.
func (f judgedFigure) against(c plan.Criterion) (report.Outcome, string) {
	direction := figures.DirectionText(f.Figure)
	outcome, message := report.Passed, direction+": "+figures.Text(f.Figure)
	if f.Missing != "" {
		return report.Undecided, message
	}
	for _, b := range boundsOf(c) {
		limit, err := decimal(b.limit)
		if err != nil {
			return report.Undecided, fmt.Sprintf("%s: %v", direction, err)
		}
		got, reason := f.againstBound(limit, b.atLeast)
		message += b.sentence(figures.BoundText(f.Metric, b.limit)) + reason
		if got == report.DidFail || got == report.Undecided && outcome == report.Passed {
			outcome = got
		}
	}
	return outcome, message
}

// againstBound compares the figure with one bound, which is a least one (min), or else a most one (max). A max
// passes only where the whole interval is within it. A min fails where the whole interval is below it, or where the
// figure itself is and the interval is no wider than a measurement resolves.
func (f judgedFigure) againstBound(limit *big.Rat, atLeast bool) (report.Outcome, string) {
	if f.Metric == figures.LossRatio {
		return f.againstLossBound(limit, atLeast)
	}
	if f.LatencyLoad != nil {
		return f.againstLatencyBound(limit, atLeast)
	}
	low, high := f.Low.Rat(), f.High.Rat()
	highest := high
	if atLeast {
		highest = f.mostResolved()
	}
	met, missed := compareInterval(low, highest, limit, atLeast)
	switch {
	case !met && !missed && high == nil:
		return report.Undecided, f.whyUnbounded()
	case !met && !missed:
		return report.Undecided, fmt.Sprintf(", and the true value may be up to %s",
			figures.Format(f.Metric, f.High.Float()))
	case f.run.LacksConfirmation(f.Confirmed):
		return report.Undecided, ", and the figure is not confirmed"
	case met && atLeast:
		return f.metForGood(limit)
	case met:
		return report.Passed, ""
	}
	return report.DidFail, ""
}

// metForGood leaves open a least bound that the figure meets, but that the device may not meet at another time.
func (f judgedFigure) metForGood(limit *big.Rat) (report.Outcome, string) {
	if reason := f.carriedTooLittle(limit); reason != "" {
		return report.Undecided, reason
	}
	if f.onlyAfterPauses() {
		return report.Undecided, ", and that is a limit of trials that begin after a pause: for as long as one likes the device may carry less"
	}
	return report.Passed, ""
}

// carriedTooLittle says that the device carried less than a least bound at another time of the run. It is empty
// where that isn't known. Frames lost now and then of a load below the bound say nothing of the bound.
func (f judgedFigure) carriedTooLittle(limit *big.Rat) string {
	var whole, later int64 // what came back, in the answer and at the other time
	var contradiction *report.Contradiction
	for _, d := range f.run.Answer.Directions {
		if f.Direction != report.AllDirections && f.Direction != d.Name() {
			continue
		}
		whole, later = whole+d.Received.PacketsPerSecond, later+d.Received.PacketsPerSecond
		if c := contradictionIn(f.run, d.Name()); c != nil && c.Kind != report.Faster &&
			c.Lost.ReceivedPacketsPerSecond < d.Received.PacketsPerSecond {
			contradiction, later = c, later+c.Lost.ReceivedPacketsPerSecond-d.Received.PacketsPerSecond
		}
	}
	if contradiction == nil || whole <= 0 {
		return ""
	}
	scaled := func(packets int64) *big.Rat { return new(big.Rat).Mul(f.Low.Rat(), big.NewRat(packets, whole)) }
	offered := scaled(later + contradiction.Lost.OfferedPacketsPerSecond - contradiction.Lost.ReceivedPacketsPerSecond)
	if scaled(later).Cmp(limit) >= 0 || contradiction.Kind == report.NowAndThen && offered.Cmp(limit) < 0 {
		return ""
	}
	return fmt.Sprintf(", and at another time the device carried less: %s came back of %s %s (window %d)",
		wording.PacketRate(contradiction.Lost.ReceivedPacketsPerSecond),
		wording.PacketRate(contradiction.Lost.OfferedPacketsPerSecond), contradiction.Direction,
		contradiction.Lost.Window)
}

// onlyAfterPauses says that trials alone found a limit, and that traffic without a pause neither bore it out nor
// refuted it. A bucket may have carried the trials.
func (f judgedFigure) onlyAfterPauses() bool {
	return f.ShownFor > 0 && f.run.Answer.Saturated && len(f.run.Contradictions) == 0 &&
		procedures.TraitsOf(report.PlanOf(f.run).Procedure).TriesAfterPauses
}

// compareInterval says whether an interval surely meets a bound, a least one (min) or else a most one (max), or
// surely misses it. A nil high means that it has no upper end.
func compareInterval(low, high, limit *big.Rat, atLeast bool) (met, missed bool) {
	if atLeast {
		return low.Cmp(limit) >= 0, high != nil && high.Cmp(limit) < 0
	}
	return high != nil && high.Cmp(limit) <= 0, low.Cmp(limit) > 0
}

// mostResolved is the most that the device may be able to do, as far as the measurement resolves it. It is the
// figure itself where the interval is narrower than resolved, else its upper end. It is nil where nothing bounds
// the figure from above.
//
//	   figure, Short       lost frames
//	──────┼───── the truth ────┼──────▶ load
//	      └ Low                └ High
func (f judgedFigure) mostResolved() *big.Rat {
	low, high := f.Low.Rat(), f.High.Rat()
	switch {
	case high == nil:
		return nil
	case f.Direction == report.AllDirections && f.foundApart():
		// the interval has the frames that generators left out while all limits were held at once, and no search
		// made it narrow
		return high
	}
	narrow := new(big.Rat).Quo(low, big.NewRat(int64(units.One-resolved), int64(units.One)))
	slack := new(big.Rat).Mul(narrow, big.NewRat(1, 1_000_000_000)) // High is a decimal, rounded
	if high.Cmp(narrow.Add(narrow, slack)) <= 0 {
		return low
	}
	return high
}

// foundApart says that the figure's directions were found one after another.
func (f judgedFigure) foundApart() bool {
	run, found := f.run.ForGoal(f.Goal)
	return found && run.Answer.FoundApart()
}

// resolved is how wide a figure's interval may be, as a share of its upper end, for the figure itself to count as
// what the device can do. A measurement promises no more than 1 %. In a wider interval the truth may lie anywhere,
// as where the generator stumbled at the answer and frames were lost at the next load.
const resolved = units.One / 100

// againstLatencyBound compares a latency, which is known to the 1 % of its bucket, and above some length only to be
// longer than that.
func (f judgedFigure) againstLatencyBound(limit *big.Rat, atLeast bool) (report.Outcome, string) {
	low, high := f.Low.Rat(), f.High.Rat()
	met, missed := compareInterval(low, high, limit, atLeast)
	switch {
	case met:
		return report.Passed, ""
	case missed:
		return report.DidFail, ""
	case high == nil:
		return report.Undecided, ", and how much longer it is was not measured"
	}
	return report.Undecided, ", and it is known to 1 % only"
}

// againstLossBound compares a loss ratio, which is an interval. Loss at a load below the one asked for shows
// nothing of the loss at that load.
func (f judgedFigure) againstLossBound(limit *big.Rat, atLeast bool) (report.Outcome, string) {
	met, missed := compareInterval(f.Low.Rat(), f.High.Rat(), limit, atLeast)
	switch {
	case missed && f.run.Answer.Reason != report.NotHeld && lossIsCounted(f.run):
		// a device that was away for a while lost the frames of that time
		return report.DidFail, ""
	case f.run.LacksConfirmation(f.Confirmed):
		return report.Undecided, ", and the figure is not confirmed"
	case missed:
		return report.DidFail, ""
	case !met:
		return report.Undecided, ", and part of the loss may be the generator's own, or come from the window's edges"
	case loadNotReached(f.Reason):
		return report.Undecided, ", and the load asked for was not reached"
	}
	return report.Passed, ""
}

// whyUnbounded says why a figure without an upper end meets no bound. A rate may be higher because the device can
// do more, and a loss or a delay because the device was loaded with less than it can carry.
func (f judgedFigure) whyUnbounded() string {
	if m, _ := figures.MetricOf(f.Metric); !m.LessIsBetter {
		return ", and the figure is a lower bound only" + whyLowerBound(f.Reason)
	}
	return belowTheDevicesLimit(f.Reason)
}

// belowTheDevicesLimit says why a loss or a delay beside sessions may be more than was measured. Sessions may be
// asked for no load, so there is none that was not reached.
func belowTheDevicesLimit(reason report.Reason) string {
	if reason == report.GeneratorLimited {
		return ", and it was measured at a load below what the device can carry, where it may be more: an end of the sessions was too weak for more"
	}
	return ", and it may be more at what the device can carry: that the device was the limit could not be shown"
}

// whyLowerBound says what limited the load when it was not the device, and the way out.
func whyLowerBound(reason report.Reason) string {
	switch reason {
	case report.GeneratorLimited:
		return ": the generator was too weak for more"
	case report.MachineLimited:
		return ": this machine was too busy for more"
	case report.NearGenerators:
		return ": it is close to what the generators do by themselves, and the limit may be theirs"
	case report.BurstsMeasured:
		return ": the longest burst allowed lost nothing, so raise procedure.backToBack.maxBurstDuration"
	case report.LoadEstimated:
		return ": no load that was offered is known to be too much, so raise procedure.soak.maxRate or .duration"
	case report.OtherDirection:
		return ": another direction lost frames first and set the load, so measure each direction by itself (procedure.directions: Each)"
	default:
		return ""
	}
}

// loadNotReached says that the load asked for was not sent, or that this is not known. The loss of the device at
// that load may not have shown.
func loadNotReached(reason report.Reason) bool {
	return slices.Contains([]report.Reason{report.GeneratorLimited, report.MachineLimited, report.Inconclusive}, reason)
}

// decimal reads a bound as a criterion writes it.
func decimal(s string) (*big.Rat, error) {
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return nil, fmt.Errorf("bound %q is no decimal number", s)
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("bound %q is no decimal number", s)
	}
	return v, nil
}
