package analysis

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Verdict judges the Plan's criteria by the Report's Result, which must be there. It is three-valued: a figure that is a lower bound can
// meet a least demand, but it can't fail it, for the device may be better; and it can't meet a highest one.
func Verdict(r *report.Report) report.Verdict {
	v := report.Verdict{Outcome: report.Undecided}
	for _, c := range r.Plan.Criteria {
		v.Criteria = append(v.Criteria, judge(r, c))
	}
	if len(v.Criteria) > 0 {
		v.Outcome = worst(v.Criteria)
	}
	return v
}

// worst: one failure fails all; else one open question leaves all open.
func worst(criteria []report.CriterionResult) report.Outcome {
	outcome := report.Passed
	for _, c := range criteria {
		if c.Outcome == report.DidFail {
			return report.DidFail
		}
		if c.Outcome == report.Undecided {
			outcome = report.Undecided
		}
	}
	return outcome
}

// figure is one number that a criterion is held against.
type figure struct {
	what       string
	value      *big.Rat // nil: unknown
	text       string
	leastValue *big.Rat // of an interval, its lower end; nil: exact
}

// judge holds all figures of a criterion against it: the worst outcome is the criterion's, told of all figures that had it.
func judge(r *report.Report, c plan.Criterion) report.CriterionResult {
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	if !r.Result.Measured {
		result.Outcome, result.Message = unmeasured(r, c)
		return result
	}
	figures := figuresOf(r, c)
	if len(figures) == 0 {
		result.Message = fmt.Sprintf("metric %q with direction %q is not known", c.Metric, c.Direction)
		return result
	}
	messages := map[report.Outcome][]string{}
	for _, f := range figures {
		outcome, message := f.hold(r, c)
		messages[outcome] = append(messages[outcome], message)
	}
	for _, outcome := range []report.Outcome{report.DidFail, report.Undecided, report.Passed} {
		if said := messages[outcome]; len(said) > 0 {
			result.Outcome, result.Message = outcome, strings.Join(said, "; ")
			break
		}
	}
	return result
}

// unmeasured: without a figure nothing passes. Where even the lowest load lost frames, a demand for more than that load fails.
func unmeasured(r *report.Report, c plan.Criterion) (report.Outcome, string) {
	if r.Result.Reason != report.NoCleanWindow || c.Metric != "PacketsPerSecond" || c.Min == "" {
		return report.Undecided, "not measured: " + r.Result.Message
	}
	minimum, err := decimal(c.Min)
	lowest := lowestLossy(r)
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

func lowestLossy(r *report.Report) *report.Window {
	var lowest *report.Window
	for i := range r.Windows {
		w := &r.Windows[i]
		if w.Phase != report.WarmUp && w.Quality == report.Lossy && (lowest == nil || w.Load < lowest.Load) {
			lowest = w
		}
	}
	return lowest
}

// figuresOf are the figures that a criterion speaks of: each direction's, or the total's.
func figuresOf(r *report.Report, c plan.Criterion) []figure {
	if c.Direction == "Total" {
		t := r.Result.Total
		f, ok := metric(c.Metric, "all directions", t.Received, t.LossRatio, t.LossRatioMin, t.LineRatePercent, lineRatesKnown(r, ""))
		if !ok {
			return nil
		}
		return []figure{f}
	}
	var figures []figure
	for _, d := range r.Result.Directions {
		f, ok := metric(c.Metric, d.From+"→"+d.To, d.Received, d.LossRatio, d.LossRatioMin, d.LineRatePercent, lineRatesKnown(r, d.To))
		if ok {
			figures = append(figures, f)
		}
	}
	return figures
}

// lineRatesKnown says that there is a line rate to take a percentage of: a link's, or every destination's.
func lineRatesKnown(r *report.Report, link string) bool {
	rates := lineRates(r)
	for _, d := range r.Plan.Directions {
		if (link == "" || d.To == link) && rates[d.To] == 0 {
			return false
		}
	}
	return true
}

func metric(name, what string, f report.Flow, loss, leastLoss units.Ratio, percent units.Percent, lineRateKnown bool) (figure, bool) {
	switch name {
	case "PacketsPerSecond":
		return figure{what: what, value: big.NewRat(f.PacketsPerSecond, 1), text: rate(f.PacketsPerSecond)}, true
	case "Layer1BitsPerSecond":
		return figure{what: what, value: big.NewRat(f.Layer1BitsPerSecond, 1), text: units.BitRate(f.Layer1BitsPerSecond).FormatSI()}, true
	case "Layer2BitsPerSecond":
		return figure{what: what, value: big.NewRat(f.Layer2BitsPerSecond, 1), text: units.BitRate(f.Layer2BitsPerSecond).FormatSI()}, true
	case "LineRatePercent":
		if !lineRateKnown {
			return figure{what: what, text: "the line rate is unknown: set the link's lineRate"}, true
		}
		return figure{what: what, value: big.NewRat(int64(percent), int64(units.Hundred)/100), text: percent.FormatFixed() + " % of line rate"}, true
	case "LossRatio":
		return figure{what: what, value: big.NewRat(int64(loss), int64(units.One)), leastValue: big.NewRat(int64(leastLoss), int64(units.One)),
			text: "loss ratio " + loss.String()}, true
	}
	return figure{}, false
}

// hold compares one figure with the criterion's bounds.
func (f figure) hold(r *report.Report, c plan.Criterion) (report.Outcome, string) {
	if f.value == nil {
		return report.Undecided, f.what + ": " + f.text
	}
	outcome, message := report.Passed, f.what+": "+f.text
	for _, b := range []struct {
		limit, words string
		least        bool
	}{{c.Min, "at least", true}, {c.Max, "at most", false}} {
		if b.limit == "" {
			continue
		}
		limit, err := decimal(b.limit)
		if err != nil {
			return report.Undecided, fmt.Sprintf("%s: %v", f.what, err)
		}
		got, why := f.against(r, c.Metric == "LossRatio", limit, b.least)
		message += fmt.Sprintf(", %s %s demanded%s", b.words, b.limit, why)
		if got == report.DidFail || got == report.Undecided && outcome == report.Passed {
			outcome = got
		}
	}
	return outcome, message
}

// against compares with one bound. Met needs a figure that is sure enough; missed, one that can only be worse.
func (f figure) against(r *report.Report, isLoss bool, limit *big.Rat, least bool) (report.Outcome, string) {
	if isLoss {
		return f.lossAgainst(r, limit, least)
	}
	met := f.value.Cmp(limit) >= 0
	if !least {
		met = f.value.Cmp(limit) <= 0
	}
	bound := !r.Result.Saturated
	switch {
	case !met && least && bound:
		return report.Undecided, ", and the figure is a lower bound only"
	case met && !least && bound:
		return report.Undecided, ", and the figure is a lower bound only"
	case unconfirmed(r):
		return report.Undecided, ", and the figure is not confirmed"
	case met:
		return report.Passed, ""
	}
	return report.DidFail, ""
}

// unconfirmed says that the figures were to be confirmed, and were not.
func unconfirmed(r *report.Report) bool {
	return !r.Result.Confirmed && r.Plan.Procedure.Ramp.ConfirmDuration > 0
}

// lossAgainst compares loss, which is an interval. Loss at a load that the generator could not raise to what was asked says nothing of
// the loss there.
func (f figure) lossAgainst(r *report.Report, limit *big.Rat, least bool) (report.Outcome, string) {
	sureMet, sureMissed := f.value.Cmp(limit) <= 0, f.leastValue.Cmp(limit) > 0
	if least {
		sureMet, sureMissed = f.leastValue.Cmp(limit) >= 0, f.value.Cmp(limit) < 0
	}
	switch {
	case unconfirmed(r):
		return report.Undecided, ", and the figure is not confirmed"
	case sureMissed:
		return report.DidFail, ""
	case !sureMet:
		return report.Undecided, ", and part of the loss may be the generator's own or the window's edges"
	case r.Result.Reason == report.GeneratorLimited || r.Result.Reason == report.Inconclusive:
		return report.Undecided, ", and the load asked for was not reached"
	}
	return report.Passed, ""
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
