package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// boundsLegend says what the columns of the goals' bounds are, and attributesLegend those of what a goal asks for.
const (
	boundsLegend = "Lower bound: the highest load that met the goal, with none below it that didn't (relevant lower " +
		"bound). Upper bound: the lowest load that didn't meet it (relevant upper bound). Both are what was asked " +
		"for. Apart: how far they are apart, as a share of the upper one. Good: of the trials at the lower bound, " +
		"and of those at the upper one, how many lost no more than the goal allows. Conditional throughput: what " +
		"comes back at the lower bound in the least of the trials that the goal asks for."
	attributesLegend = "Loss ratio: a trial whose worst direction loses more is bad. Exceed ratio: which share of a " +
		"load's trials, by their time, may be bad while it meets the goal. Width: how far apart the bounds may be, " +
		"as a share of the upper one's intended load. Trials: how long those are that look ahead, and those that " +
		"decide. Duration sum: for how long trials at a load are repeated, all together."
	wrongClassLegend = "Wrong class: the chance that one load is put on the wrong side of the goal, if each trial " +
		"there is bad with a probability of 0.2, or of 0.8, whatever the others are."
)

// irregular says why a goal has no two bounds that are near enough.
var irregular = map[string]string{
	goals.MinimumLossy: "even the min load didn't meet it, so there is no lower bound",
	goals.MaximumClean: "even the max load met it, so there is no upper bound: the limit lies there or above",
	goals.Unfinished:   "the search ended before its bounds were as near as its width asks for",
}

// noNumber is a cell without a number.
const noNumber = "-"

// sections are the loads that bound each goal, what each trial lost, and what each goal asks for.
func (s Search) sections(verdicts []verdict, history []report.Window) []report.Section {
	bounds := report.Section{Title: "Bounds of each goal", Legend: []string{boundsLegend}, Table: &report.SectionTable{
		Columns: []string{"goal", "lower bound", "upper bound", "apart", "good", "conditional throughput"}}}
	attributes := report.Section{Title: "What each goal asks for", Evidence: true, Legend: s.method(history),
		Table: &report.SectionTable{Columns: []string{"goal", "loss ratio", "exceed ratio", "width", "trials",
			"duration sum"}}}
	wrong := slices.ContainsFunc(verdicts, func(v verdict) bool { return chance(v.found.WrongClass) > 0 })
	if wrong {
		attributes.Table.Columns = append(attributes.Table.Columns, "wrong class")
		attributes.Legend = append(attributes.Legend, wrongClassLegend)
	}
	for _, v := range verdicts {
		bounds.Table.Rows = append(bounds.Table.Rows, v.boundsRow())
		if kind := v.found.Irregular; kind != "" {
			bounds.Warnings = append(bounds.Warnings, fmt.Sprintf("goal %s is irregular (%s): %s", v.goal.Name, kind,
				irregular[kind]))
		}
		row := v.attributesRow()
		if wrong {
			row = append(row, shareCell(chance(v.found.WrongClass), wording.Loss))
		}
		attributes.Table.Rows = append(attributes.Table.Rows, row)
	}
	return []report.Section{bounds, {Title: "Trials: what was lost at each load", Plot: s.plot(verdicts, history)},
		attributes}
}

// boundsRow are the loads that bound a goal.
func (v verdict) boundsRow() []report.SectionCell {
	cell := func(text string) report.SectionCell { return report.SectionCell{Text: text} }
	row := append([]report.SectionCell{cell(v.goal.Name)}, slices.Repeat([]report.SectionCell{cell(noNumber)}, 5)...)
	lower, upper := v.found.Lower, v.found.Upper
	if lower != nil {
		intended := v.intended(lower)
		row[1] = rateCell(intended)
		received := units.Ratio(math.Floor(v.found.ConditionalThroughput * float64(units.One)))
		share := units.RatioOf(int64(received), int64(loadOf(lower.Load)))
		row[5] = rateCell(int64(units.PacketRate(intended).Mul(share)))
	}
	if upper != nil {
		row[2] = rateCell(v.intended(upper))
	}
	if lower != nil && upper != nil {
		row[3] = shareCell(width(loadOf(lower.Load), loadOf(upper.Load)),
			func(r units.Ratio) string { return r.Percent().FormatFixed() + "%" })
	}
	if lower != nil || upper != nil {
		row[4].Text = v.goodTrials(lower).brief() + ", " + v.goodTrials(upper).brief()
	}
	return row
}

// intended is what a bound is in all directions together, in packets per second.
func (v verdict) intended(b *goals.Bound) int64 {
	return measure.Sum(v.history[v.trials[b.Trials[0]].window].Directions, nil).Intended.PacketsPerSecond
}

func rateCell(packetsPerSecond int64) report.SectionCell {
	return report.SectionCell{Text: wording.PacketRate(packetsPerSecond), Unit: "packets/s",
		Number: report.Number(strconv.FormatInt(packetsPerSecond, 10))}
}

func shareCell(share units.Ratio, text func(units.Ratio) string) report.SectionCell {
	return report.SectionCell{Text: text(share), Number: report.Number(share.String()), Unit: report.UnitRatio}
}

// goodTrials are how many trials of a bound were good for its goal, of all that show it. Open counts the trials that
// were ended early for another goal and show nothing for this goal.
type goodTrials struct{ good, counted, open int }

// goodTrials counts a bound's trials.
func (v verdict) goodTrials(b *goals.Bound) (g goodTrials) {
	if b == nil {
		return g
	}
	for _, i := range b.Trials {
		switch t := v.trials[i]; {
		case t.LossRatio > v.goal.LossRatio.Float():
			g.counted++
		case t.Stopped: // which showed only that it was bad for a stricter goal
			g.open++
		default:
			g.good, g.counted = g.good+1, g.counted+1
		}
	}
	return g
}

// brief is for a cell, such as "2/2 + 1 ended early for another goal".
func (g goodTrials) brief() string {
	if g == (goodTrials{}) {
		return noNumber
	}
	text := strconv.Itoa(g.good) + "/" + strconv.Itoa(g.counted)
	if g.open > 0 {
		text += fmt.Sprintf(" + %d ended early for another goal", g.open)
	}
	return text
}

// attributesRow is what the goal asks for.
func (v verdict) attributesRow() []report.SectionCell {
	initial, final := v.settings.Goals[v.index].InitialTrial, v.goal.FinalTrialDuration.Std()
	trials := wording.Span(final)
	if initial != final {
		trials = wording.Span(initial) + " to " + trials
	}
	return []report.SectionCell{{Text: v.goal.Name}, shareCell(v.goal.LossRatio, wording.Ratio),
		shareCell(v.goal.ExceedRatio, wording.Ratio), shareCell(v.goal.Width, wording.Ratio), {Text: trials},
		{Text: wording.Span(v.goal.DurationSum.Std())}}
}

// method says how the search went, a sentence for each of what a standard wants told.
func (s Search) method(history []report.Window) []string {
	classification := "Classification " + s.plan.Classification
	switch s.plan.Classification {
	case plan.ClassifyRFC9971:
		classification += ": multiple loss ratio search (draft-ietf-bmwg-mlrsearch), trials at a load decide by " +
			"their durations' sum"
	case plan.ClassifySequential:
		classification += ": trials at a load decide once they are one-sided enough; it is linerate's own rule, and " +
			"none of a standard"
	}
	if s.plan.Preset != "" {
		classification += "; preset " + s.plan.Preset
	}
	warmUp := "There was no warm-up."
	if d := s.plan.WarmupDuration.Std(); d > 0 {
		warmUp = "The warm-up was a trial of " + wording.Span(d) + " at the min load, not judged."
	}
	sentences := []string{attributesLegend, classification + ".", fmt.Sprintf("Loads are intended, from %s (min "+
		"load) to %s (max load) in each direction.", s.plan.MinRate, s.plan.MaxRate), warmUp}
	var drains []time.Duration
	for _, w := range history {
		if w.Phase == report.Trial && w.Took > w.Duration {
			drains = append(drains, (w.Took - w.Duration).Std())
		}
	}
	if len(drains) == 0 {
		return sentences
	}
	drain, longest := wording.Span(slices.Min(drains)), wording.Span(slices.Max(drains))
	if longest != drain {
		drain += " to " + longest
	}
	return append(sentences, "After each trial there was a drain until counters stood still: "+drain+".")
}

// plot has each trial, in order of their loads, and each goal's bounds.
func (s Search) plot(verdicts []verdict, history []report.Window) *report.Plot {
	p := &report.Plot{Ordered: true, X: report.PlotAxis{Title: "load asked for", Unit: "packets/s"},
		Y: report.PlotAxis{Title: "loss per trial", Unit: report.UnitRatio}}
	for _, v := range verdicts {
		p.Limits = append(p.Limits, report.PlotLimit{Title: v.goal.Name + " " + wording.Ratio(v.goal.LossRatio),
			Y: report.Number(v.goal.LossRatio.String())})
		i := report.PlotInterval{Title: v.goal.Name}
		if v.found.Irregular != "" {
			i.Title += ", irregular"
		}
		if v.found.Lower != nil {
			i.Low = rateCell(v.intended(v.found.Lower)).Number
		}
		if v.found.Upper != nil {
			i.High = rateCell(v.intended(v.found.Upper)).Number
		}
		p.Intervals = append(p.Intervals, i)
	}
	for _, w := range history {
		if w.Phase == report.Trial && len(w.Directions) > 0 {
			p.Points = append(p.Points, s.point(w))
		}
	}
	return p
}

// point is a trial, with what its worst direction lost. Of a trial that was ended early it is the least that the whole
// trial would have lost.
func (s Search) point(w report.Window) report.PlotPoint {
	loss := -units.One
	for i, d := range w.Directions {
		lost := d.LossRatio
		if w.Decided != nil {
			lost = measure.LeastLossOfPlanned(w, i)
		}
		loss = max(loss, lost)
	}
	var bad, open []string
	for _, g := range s.plan.Goals {
		switch {
		case loss > g.LossRatio:
			bad = append(bad, g.Name)
		case w.Decided != nil:
			open = append(open, g.Name)
		}
	}
	rate := measure.Sum(w.Directions, nil).Intended.PacketsPerSecond
	lost := wording.Loss(loss) + " lost"
	if w.Decided != nil {
		lost = "at least " + lost + " of the frames of " + wording.Span(w.Decided.Planned.Std())
	}
	point := report.PlotPoint{Window: w.Number, X: rateCell(rate).Number, Y: report.Number(loss.String()),
		Text: "window " + strconv.Itoa(w.Number) + ": " + wording.PacketRate(rate) + " asked for, " +
			wording.Span(w.Duration.Std()) + ", " + lost}
	switch {
	case w.SaysNothing():
		point.Sign, point.Text = report.PlotSign(report.Invalid), point.Text+": says nothing: "+w.Reason
		return point
	case len(bad)+len(open) == 0:
		point.Sign, point.Text = report.PlotSign(report.Good), point.Text+": good for each goal"
		return point
	}
	point.Sign = report.SignMixed
	if len(bad) == len(s.plan.Goals) {
		point.Sign = report.PlotSign(report.Lossy)
	}
	if len(bad) > 0 {
		point.Text += ": bad for " + strings.Join(bad, ", ")
	}
	if len(open) > 0 {
		point.Text += ", ended early: says nothing of " + strings.Join(open, ", ")
	}
	return point
}
