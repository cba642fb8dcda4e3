package analysis

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/statistics"
	"github.com/linerate-dev/linerate/internal/units"
)

// judgeAbsolute judges a criterion by all runs. With several it speaks of their median: so many of them as the median's interval leaves out may lie on
// the other side, unless a tenth of all lie far from the rest. With one it is that run's own judgement. A criterion may speak of the worst run, or of the spread, instead.
func judgeAbsolute(runs []*report.Report, c plan.Criterion) report.CriterionResult {
	switch {
	case c.Statistic == plan.SpreadOfRuns:
		return judgeSpread(runs, c)
	case len(runs) == 1:
		return judge(runs[0], c)
	case c.Statistic == plan.WorstOfRuns:
		return judgeWorst(runs, c)
	}
	sorted := map[report.Outcome][]string{}
	counted, aside := setAside(runs, c)
	for _, r := range counted {
		one := judge(r, c)
		sorted[one.Outcome] = append(sorted[one.Outcome], one.Message)
	}
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	n, spared := len(counted), statistics.Spared(len(counted))
	switch {
	case comparison.TooFew(n, len(runs)):
		result.Message = fmt.Sprintf("only %d of %d runs gave a figure that can be judged", n, len(runs)) + aside
		return result
	case len(sorted[report.Passed]) >= n-spared:
		result.Outcome = report.Passed
	case len(sorted[report.DidFail]) >= n-spared:
		result.Outcome = report.DidFail
	}
	why := ""
	if result.Outcome == report.Passed {
		if why = medianAlone(counted, c); why != "" {
			result.Outcome = report.Undecided
		}
	}
	result.Message = overRuns(counted, c) + tally(sorted, n) + why + aside
	return result
}

// setAside parts the runs with a figure of the criterion that can be reckoned with from the others, and names those.
func setAside(runs []*report.Report, c plan.Criterion) (counted []*report.Report, aside string) {
	var why []string
	for _, r := range runs {
		if message := figureOf(c).Unfit(r); message != "" {
			why = append(why, message)
		} else {
			counted = append(counted, r)
		}
	}
	return counted, asideText("runs", why, len(runs))
}

// mostReasons is how many of the reasons for which runs were set aside are told.
const mostReasons = 3

func asideText(whose string, why []string, of int) string {
	switch {
	case len(why) == 0:
		return ""
	case of == 1:
		return ": " + why[0]
	}
	reasons := slices.Compact(slices.Sorted(slices.Values(why)))
	if more := len(reasons) - mostReasons; more > 0 {
		reasons = append(reasons[:mostReasons], fmt.Sprintf("and for %d more reasons", more))
	}
	return fmt.Sprintf("; %d of %d %s set aside (%s)", len(why), of, whose, strings.Join(reasons, "; "))
}

// tally counts the runs by their outcome, and names the worst of them.
func tally(sorted map[report.Outcome][]string, n int) string {
	words := map[report.Outcome]string{report.DidFail: "do not meet it", report.Undecided: "leave it open", report.Passed: "meet it"}
	for _, outcome := range []report.Outcome{report.DidFail, report.Undecided, report.Passed} {
		said := sorted[outcome]
		switch {
		case len(said) == n && outcome == report.Undecided: // with the way out
			return fmt.Sprintf("; all %d runs %s (%s)", n, words[outcome], said[0])
		case len(said) == n:
			return fmt.Sprintf("; all %d runs %s", n, words[outcome])
		case len(said) > 0:
			return fmt.Sprintf("; %d of %d runs %s (%s)", len(said), n, words[outcome], said[0])
		}
	}
	return ""
}

// overRuns tells the medians of all figures of a criterion.
func overRuns(runs []*report.Report, c plan.Criterion) string {
	var texts []string
	first := slices.IndexFunc(runs, figureOf(c).Answered)
	if first < 0 { // frames were lost at any load: no run has a figure
		return judge(runs[0], c).Message
	}
	if c.Observed != nil {
		return observedOverRuns(runs, c) + demanded(c)
	}
	selected := figureOf(c)
	for i, v := range selected.Of(runs[first]) {
		var values []float64
		for _, r := range runs {
			if !figureOf(c).Answered(r) {
				continue
			}
			if of := selected.Of(r); i < len(of) && of[i].Missing == "" {
				values = append(values, told(of[i]).Float())
			}
		}
		s := statistics.Summarize(values)
		if s.N == 0 {
			texts = append(texts, figures.Whose(v)+": "+figures.Text(v))
			continue
		}
		texts = append(texts, fmt.Sprintf("%s: median %s of %d runs (%s to %s)", figures.Whose(v), selected.Format(s.Median), s.N, selected.Format(s.Low), selected.Format(s.High)))
	}
	return strings.Join(texts, "; ") + demanded(c)
}

// demanded are the bounds in words.
func demanded(c plan.Criterion) string {
	text := ""
	if c.Min != "" {
		text += fmt.Sprintf(", at least %s demanded", c.Min)
	}
	if c.Max != "" {
		text += fmt.Sprintf(", at most %s demanded", c.Max)
	}
	return text
}

// judge holds all figures of a criterion against it: the worst outcome is the criterion's, told of all figures that had it.
func judge(r *report.Report, c plan.Criterion) report.CriterionResult {
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	switch {
	case r.Ending != report.Completed:
		result.Message = "not judged: " + comparison.Unfit(r)
		return result
	case !figureOf(c).Answered(r):
		result.Outcome, result.Message = unmeasured(r, c)
		return result
	case c.Observed != nil:
		result.Outcome, result.Message = judgeObserved(r, c)
		return result
	}
	found := figureOf(c).Of(r)
	if len(found) == 0 {
		result.Message = fmt.Sprintf("metric %q with direction %q is not known", c.Metric, c.Direction)
		if c.Latency != nil {
			result.Message = "no such latency was measured: " + noSuchLatency(r, *c.Latency)
		}
		return result
	}
	messages := map[report.Outcome][]string{}
	for _, f := range found {
		outcome, message := held{f, r}.against(c)
		messages[outcome] = append(messages[outcome], message)
	}
	result.Outcome, result.Message = worstOf(messages)
	return result
}

// worstOf is the worst outcome that there is, and all that was said of it.
func worstOf(messages map[report.Outcome][]string) (report.Outcome, string) {
	for _, outcome := range []report.Outcome{report.DidFail, report.Undecided, report.Passed} {
		if said := messages[outcome]; len(said) > 0 {
			return outcome, strings.Join(said, "; ")
		}
	}
	return report.Undecided, ""
}

// unmeasured: without a figure nothing passes. Where even the lowest load lost frames, a demand for more than that load fails.
func unmeasured(r *report.Report, c plan.Criterion) (report.Outcome, string) {
	if r.Result.Reason != report.NoCleanWindow || c.Metric != string(figures.PacketsPerSecond) || c.Min == "" {
		return report.Undecided, "not measured: " + r.Result.Message
	}
	minimum, err := decimal(c.Min)
	lowest := r.LowestLossy()
	if err != nil || lowest == nil {
		return report.Undecided, "not measured: " + r.Result.Message
	}
	for _, d := range lowest.Directions {
		if c.Direction != "Total" && d.Quality == report.Lossy && minimum.Cmp(big.NewRat(d.Offered.PacketsPerSecond, 1)) >= 0 {
			return report.DidFail, fmt.Sprintf("%s→%s: frames were lost at %s already, at least %s demanded", d.From, d.To, rate(d.Offered.PacketsPerSecond), c.Min)
		}
	}
	return report.Undecided, "not measured: " + r.Result.Message
}

// noSuchLatency says why a Report has no latency of a criterion's load and frame size.
func noSuchLatency(r *report.Report, l plan.LatencyFigure) string {
	if i := slices.IndexFunc(r.Result.Latency, func(at report.LatencyAt) bool { return at.At == l.At }); i < 0 {
		return "the run has no trial at " + figures.AtText(l.At) + " (procedure.latency.at)"
	}
	return fmt.Sprintf("no frames of %d bytes were timed", l.FrameSize)
}

// figureOf is what a criterion speaks of.
func figureOf(c plan.Criterion) comparison.Figure {
	f := comparison.Figure{Metric: report.Metric(c.Metric), Direction: c.Direction}
	if l := c.Latency; l != nil {
		f.At, f.FrameSize = &l.At, l.FrameSize
	}
	return f
}

// told is the number of a figure that people read: what surely came back, of loss all that did not, and of latency the longest that it may be, where anything bounds it.
func told(f report.Figure) report.Number {
	switch {
	case f.Metric == figures.LossRatio:
		return f.High
	case f.At != nil:
		return cmp.Or(f.High, f.Low)
	}
	return f.Low
}

// held is a figure that a criterion's bounds are held against, and the run that claims it.
type held struct {
	report.Figure
	run *report.Report
}

// against compares the figure with the criterion's bounds.
func (h held) against(c plan.Criterion) (report.Outcome, string) {
	of := figures.Whose(h.Figure)
	outcome, message := report.Passed, of+": "+figures.Text(h.Figure)
	if h.Missing != "" {
		return report.Undecided, message
	}
	for _, b := range []struct {
		limit, words string
		least        bool
	}{{c.Min, "at least", true}, {c.Max, "at most", false}} {
		if b.limit == "" {
			continue
		}
		limit, err := decimal(b.limit)
		if err != nil {
			return report.Undecided, fmt.Sprintf("%s: %v", of, err)
		}
		got, why := h.bound(limit, b.least)
		message += fmt.Sprintf(", %s %s demanded%s", b.words, b.limit, why)
		if got == report.DidFail || got == report.Undecided && outcome == report.Passed {
			outcome = got
		}
	}
	return outcome, message
}

// bound compares with one bound. Met needs a figure that is sure enough; missed, one that can only be worse.
func (h held) bound(limit *big.Rat, least bool) (report.Outcome, string) {
	if h.Metric == figures.LossRatio {
		return h.loss(limit, least)
	}
	if h.At != nil {
		return h.latency(limit, least)
	}
	low, most := h.Low.Rat(), h.most()
	sureMet, sureMissed := low.Cmp(limit) >= 0, most != nil && most.Cmp(limit) < 0
	if !least {
		sureMet, sureMissed = most != nil && most.Cmp(limit) <= 0, low.Cmp(limit) > 0
	}
	switch {
	case !sureMet && !sureMissed && most == nil:
		return report.Undecided, h.open()
	case !sureMet && !sureMissed:
		upTo, _ := most.Float64()
		return report.Undecided, fmt.Sprintf(", and what the device can do lies between that and %s: it was not resolved any finer", figures.Format(h.Metric, upTo))
	case h.run.Unheld(h.Confirmed):
		return report.Undecided, ", and the figure is not confirmed"
	case sureMet:
		return report.Passed, ""
	}
	return report.DidFail, ""
}

// latency compares a time, which is told to its bucket, and not at all from some length on.
func (h held) latency(limit *big.Rat, least bool) (report.Outcome, string) {
	low, high := h.Low.Rat(), h.High.Rat()
	atMost, above := high != nil && high.Cmp(limit) <= 0, low.Cmp(limit) > 0
	atLeast, below := low.Cmp(limit) >= 0, high != nil && high.Cmp(limit) < 0
	switch {
	case least && atLeast, !least && atMost:
		return report.Passed, ""
	case least && below, !least && above:
		return report.DidFail, ""
	case high == nil:
		return report.Undecided, ", and nobody knows how much longer it is than what is told"
	}
	return report.Undecided, ", and it is told to 1 % only"
}

// open says why a figure that nothing bounds above meets no bound: of loads it may be more because the device can do more, of losses and delays because it wasn't loaded as much as it can be.
func (h held) open() string {
	if m, _ := figures.MetricOf(h.Metric); !m.LessIsBetter {
		return ", and the figure is a lower bound only" + limitedBy(h.Reason)
	}
	return atLessThanTheDeviceCarries(h.Reason)
}

// atLessThanTheDeviceCarries says why what was seen beside sessions may be more than it was: these are asked for no load, so there is none that was not reached.
func atLessThanTheDeviceCarries(reason report.Reason) string {
	if reason == report.GeneratorLimited {
		return ", and it was measured at a load below what the device can carry, where it may be more: an end of the sessions was too weak for more"
	}
	return ", and it may be more at what the device can carry: that the device was the limit could not be shown"
}

// limitedBy names what limited the load when it wasn't the device.
func limitedBy(reason report.Reason) string {
	if reason == report.GeneratorLimited {
		return ": the generator was too weak for more"
	}
	if reason == report.MachineLimited {
		return ": this machine was too busy for more"
	}
	if reason == report.NearGenerators {
		return ": it is close to what the generators do by themselves, and the limit may be theirs"
	}
	if reason == report.BurstsMeasured {
		return ": the longest burst there was to be lost nothing, so raise procedure.backToBack.longest"
	}
	if reason == report.LoadEstimated {
		return ": no load that was offered is known to be too much, so raise procedure.soak.maxRate or .duration"
	}
	if reason == report.OtherDirection {
		return ": another direction lost frames first and set the load, so measure each direction by itself (procedure.directions: Each)"
	}
	return ""
}

// precise is how coarse a search may be for its figure to count as what the device can do: a measurement promises no more than 1 %. Above that
// the truth is somewhere in the bracket, as where the generator stumbled at the answer and frames were lost at the next load.
const precise = units.One / 100

// most is how much the device may be able to do where the figure is what it surely can; nil: nothing bounds it.
//
//	   figure, Short       lost frames
//	──────┼───── the truth ────┼──────▶ load
//	      └ Low                └ High
func (h held) most() *big.Rat {
	low, high := h.Low.Rat(), h.High.Rat()
	switch {
	case high == nil:
		return nil
	case h.Direction == report.AllDirections && report.PlanOf(h.run).Procedure.Each != nil:
		return high // what generators left out while all limits were held at once is in this interval, and no search made it narrow
	}
	narrow := new(big.Rat).Quo(low, big.NewRat(int64(units.One-precise), int64(units.One)))
	slack := new(big.Rat).Mul(narrow, big.NewRat(1, 1_000_000_000)) // High is a decimal, rounded
	if high.Cmp(narrow.Add(narrow, slack)) <= 0 {
		return low
	}
	return high
}

// loss compares loss, which is an interval. Loss at a load that the generator could not raise to what was asked says nothing of
// the loss there.
func (h held) loss(limit *big.Rat, least bool) (report.Outcome, string) {
	sureMet, sureMissed := h.High.Rat().Cmp(limit) <= 0, h.Low.Rat().Cmp(limit) > 0
	if least {
		sureMet, sureMissed = h.Low.Rat().Cmp(limit) >= 0, h.High.Rat().Cmp(limit) < 0
	}
	switch {
	case h.run.Unheld(h.Confirmed):
		return report.Undecided, ", and the figure is not confirmed"
	case sureMissed:
		return report.DidFail, ""
	case !sureMet:
		return report.Undecided, ", and part of the loss may be the generator's own or the window's edges"
	case loadNotReached(h.Reason):
		return report.Undecided, ", and the load asked for was not reached"
	}
	return report.Passed, ""
}

// loadNotReached says that what was asked for could not be sent, or that nobody knows whether it could: what a device has too much of at that load may not have shown.
func loadNotReached(reason report.Reason) bool {
	return slices.Contains([]report.Reason{report.GeneratorLimited, report.MachineLimited, report.Inconclusive}, reason)
}

// decimal reads a bound as it is written in a criterion.
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
