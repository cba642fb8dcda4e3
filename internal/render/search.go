package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// boundsWords say what the columns of the goals' bounds are.
const boundsWords = "Lower bound: the highest load that met the goal, with none below it that didn't (relevant lower bound). Upper bound: the lowest load that didn't meet it (relevant upper bound). " +
	"Both are what was asked for. Apart: how far they are apart, as a share of the upper one. Good: of the trials at the lower bound, and of those at the upper one, how many lost no more than the goal allows. " +
	"Conditional throughput: what comes back at the lower bound in the least of the trials that the goal asks for."

// attributesWords say what the goals' attributes are.
const attributesWords = "Loss ratio: a trial whose worst direction loses more is bad. Exceed ratio: which share of a load's trials, by their time, may be bad while it meets the goal. " +
	"Width: how far apart the bounds may be, as a share of the upper one's intended load. Trials: how long those are that look ahead, and those that decide. Duration sum: for how long trials at a load are repeated, all together."

// goalsTable has each goal of a search with the loads that bound it. It is nil where the procedure has no goals.
func goalsTable(r *report.Report) *table {
	if len(r.Result.Goals) == 0 {
		return nil
	}
	t := newTable(1, "goal", "lower bound", "upper bound", "apart", "good", "conditional throughput", "line rate",
		"answer")
	for _, g := range r.Result.Goals {
		goalReport, _ := r.ForGoal(g.Name)
		row := []string{g.Name, "-", "-", "-", goodTrials(g), "-", "-", answer.Standing(goalReport)}
		if g.Irregular != "" {
			row[7] = "irregular"
		}
		if g.Lower != nil && g.Lower.Load > 0 {
			row[1] = wording.PacketRate(g.Lower.Intended.PacketsPerSecond)
			share := units.RatioOf(int64(g.ConditionalThroughput), int64(g.Lower.Load))
			row[5] = wording.PacketRate(int64(units.PacketRate(g.Lower.Intended.PacketsPerSecond).Mul(share)))
		}
		if g.Upper != nil {
			row[2] = wording.PacketRate(g.Upper.Intended.PacketsPerSecond)
		}
		if g.Lower != nil && g.Upper != nil && g.Upper.Load > 0 {
			row[3] = units.RatioOf(int64(g.Upper.Load-g.Lower.Load), int64(g.Upper.Load)).Percent().FormatFixed() + "%"
		}
		if h := figures.HeadlineOf(goalReport); h.Measured {
			row[6] = h.Signed(wording.Percent(h.Percent))
		}
		t.add(row...)
		t.rows = append(t.rows, eachBounds(goalReport, g)...)
	}
	return t
}

// goodTrials are how many trials of those at each bound were good, such as "3/3, 0/2 + 1 ended early for another
// goal".
func goodTrials(g report.GoalResult) string {
	var words []string
	for _, b := range []*report.GoalBound{g.Lower, g.Upper} {
		if b == nil {
			words = append(words, "-")
			continue
		}
		word := strconv.Itoa(b.Good) + "/" + strconv.Itoa(len(b.Windows)-b.Open)
		if b.Open > 0 {
			word += fmt.Sprintf(" + %d ended early for another goal", b.Open)
		}
		words = append(words, word)
	}
	if g.Lower == nil && g.Upper == nil {
		return "-"
	}
	return strings.Join(words, ", ")
}

// eachBounds are the bounds of each direction's own search, where directions were searched one after another.
func eachBounds(goalReport *report.Report, g report.GoalResult) (rows [][]string) {
	if !g.Result.FoundApart() {
		return nil
	}
	for i, d := range g.Result.Directions {
		if d.Limit == nil {
			continue
		}
		row := []string{g.Name + ", " + wording.Direction(d.From, d.To), "-", "-", "-", "-", "-",
			wording.Percent(d.LineRatePercent), saturated}
		if !d.Limit.Saturated {
			row[6], row[7] = "≥"+row[6], lowerBound
		}
		lower, upper := windowNumbered(goalReport, d.Limit.Window), windowNumbered(goalReport, d.Limit.Lossy)
		if lower != nil && i < len(lower.Directions) {
			row[1] = wording.PacketRate(lower.Directions[i].Intended.PacketsPerSecond)
		}
		if upper != nil && i < len(upper.Directions) {
			row[2] = wording.PacketRate(upper.Directions[i].Intended.PacketsPerSecond)
		}
		if lower != nil && upper != nil && upper.Load > 0 {
			row[3] = units.RatioOf(int64(upper.Load-lower.Load), int64(upper.Load)).Percent().FormatFixed() + "%"
		}
		rows = append(rows, row)
	}
	return rows
}

// windowNumbered is the window of a number. It is nil where the Report has none.
func windowNumbered(r *report.Report, number int) *report.Window {
	if i := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == number }); i >= 0 {
		return &r.Windows[i]
	}
	return nil
}

// attributesTable has all that was asked of each goal. It is nil where the procedure has no goals.
func attributesTable(r *report.Report) *table {
	search := report.PlanOf(r).Procedure.Search
	if search == nil || len(search.Goals) == 0 {
		return nil
	}
	found := map[string]report.GoalResult{}
	for _, g := range r.Result.Goals {
		found[g.Name] = g
	}
	wrong := slices.ContainsFunc(r.Result.Goals, func(g report.GoalResult) bool { return g.WrongClass > 0 })
	heads := []string{"goal", "loss ratio", "exceed ratio", "width", "trials", "duration sum"}
	if wrong {
		heads = append(heads, "wrong class")
	}
	t := newTable(1, heads...)
	for _, g := range search.Goals {
		goalResult := found[g.Name]
		row := []string{g.Name, wording.Ratio(g.LossRatio), wording.Ratio(g.ExceedRatio), wording.Ratio(g.Width),
			trialsText(goalResult.InitialTrialDuration, g.FinalTrialDuration), wording.Span(g.DurationSum.Std())}
		if wrong {
			row = append(row, wrongText(goalResult.WrongClass))
		}
		t.add(row...)
	}
	return t
}

// trialsText are the durations of the trials that look ahead, and of those that decide.
func trialsText(initial, final plan.Duration) string {
	if initial == 0 || initial == final {
		return wording.Span(final.Std())
	}
	return wording.Span(initial.Std()) + " to " + wording.Span(final.Std())
}

func wrongText(chance units.Ratio) string {
	if chance == 0 {
		return "-"
	}
	return wording.Loss(chance)
}

// searchFacts are what a search was asked for, beside its goals.
func searchFacts(r *report.Report) []fact {
	search := report.PlanOf(r).Procedure.Search
	if search == nil {
		return nil
	}
	facts := []fact{{Term: "classification", Text: classificationText(search)},
		{Term: "loads", Text: "intended, from " + search.MinRate.String() + " (min load) to " +
			search.MaxRate.String() + " (max load) in each direction"},
		{Term: "warm-up", Text: "none"}}
	if d := search.WarmupDuration.Std(); d > 0 {
		facts[2].Text = "a trial of " + wording.Span(d) + " at the min load, not judged"
	}
	if drain := drainText(r); drain != "" {
		facts = append(facts, fact{Term: "drain", Text: drain})
	}
	if slices.ContainsFunc(r.Result.Goals, func(g report.GoalResult) bool { return g.WrongClass > 0 }) {
		facts = append(facts, fact{Term: "wrong class",
			Text: "the chance that one load is put on the wrong side of the goal, if each trial there is bad with a probability of 0.2, or of 0.8, whatever the others are"})
	}
	return facts
}

// classificationText names the rule by which trials decide.
func classificationText(search *plan.Search) string {
	text := search.Classification
	switch search.Classification {
	case plan.ClassifyRFC9971:
		text += ": multiple loss ratio search (draft-ietf-bmwg-mlrsearch), trials at a load decide by their durations' sum"
	case plan.ClassifySequential:
		text += ": trials at a load decide once they are one-sided enough; it is linerate's own rule, and none of a standard"
	}
	if search.Preset != "" {
		text += "; preset " + search.Preset
	}
	return text
}

// drainText says how long trials waited for their last frames. It is empty where no trial says it.
func drainText(r *report.Report) string {
	shortest, longest, trials := time.Duration(0), time.Duration(0), 0
	for _, w := range r.Windows {
		if w.Phase != report.Trial || w.Took <= w.Duration {
			continue
		}
		took := (w.Took - w.Duration).Std()
		if trials == 0 || took < shortest {
			shortest = took
		}
		longest = max(longest, took)
		trials++
	}
	if trials == 0 {
		return ""
	}
	text := wording.Span(shortest)
	if longest.Round(time.Millisecond) > shortest.Round(time.Millisecond) {
		text += " to " + wording.Span(longest)
	}
	return "after each trial until counters stood still: " + text
}

// irregularWords say why a goal has no two bounds that are near enough.
func irregularWords(irregular string) string {
	switch irregular {
	case "MinimumLossy":
		return "even the min load didn't meet it, so there is no lower bound"
	case "MaximumClean":
		return "even the max load met it, so there is no upper bound: the limit lies there or above"
	case "Unfinished":
		return "the search ended before its bounds were as near as its width asks for"
	}
	return "its bounds aren't what it asks for"
}

// irregularWarnings mark the goals whose results are irregular.
func irregularWarnings(r *report.Report) (warnings []string) {
	for _, g := range r.Result.Goals {
		if g.Irregular != "" {
			warnings = append(warnings, "goal "+g.Name+" is irregular ("+g.Irregular+"): "+irregularWords(g.Irregular))
		}
	}
	return warnings
}

// trial is one of a search's, as drawn, with its load and what its worst direction lost.
type trial struct {
	window report.Window
	rate   int64    // what it was asked for, of all directions or of the one that varied
	loss   float64  // of a trial that was ended early the least that the whole one would have lost
	class  string   // of its mark
	bad    []string // the goals that allow less
	open   []string // the goals of which it says nothing, as it was ended early for others
}

// trialsOf are a search's trials, by the direction that varied, or "" where all did.
func trialsOf(r *report.Report, varied string) (trials []trial) {
	search := report.PlanOf(r).Procedure.Search
	if search == nil {
		return nil
	}
	for _, w := range r.Windows {
		if w.Phase != report.Trial || w.Varied != varied || len(w.Directions) == 0 {
			continue
		}
		t := trial{window: w, loss: -1}
		for i, d := range w.Directions {
			if varied != "" && d.Name() != varied {
				continue
			}
			t.rate += d.Intended.PacketsPerSecond
			t.loss = max(t.loss, figures.LossOfTrial(w, i).Float())
		}
		for _, g := range search.Goals {
			switch {
			case t.loss > g.LossRatio.Float():
				t.bad = append(t.bad, g.Name)
			case w.Decided != nil:
				t.open = append(t.open, g.Name)
			}
		}
		switch {
		case w.SaysNothing():
			t.class = "invalid"
		case len(t.bad)+len(t.open) == 0:
			t.class = "good"
		case len(t.bad) == len(search.Goals):
			t.class = "lossy"
		default:
			t.class = "some"
		}
		trials = append(trials, t)
	}
	return trials
}

// title describes a trial, under the pointer at its mark.
func (t trial) title() string {
	lost := wording.Loss(units.RatioOfShare(t.loss)) + " lost"
	if t.window.Decided != nil {
		lost = "at least " + lost + " of the frames of " + wording.Span(t.window.Decided.Planned.Std())
	}
	text := "window " + strconv.Itoa(t.window.Number) + ": " + wording.PacketRate(t.rate) + " asked for, " +
		wording.Span(t.window.Duration.Std()) + ", " + lost
	switch t.class {
	case "invalid":
		return text + ": says nothing: " + t.window.Reason
	case "good":
		return text + ": good for each goal"
	}
	if len(t.bad) > 0 {
		text += ": bad for " + strings.Join(t.bad, ", ")
	}
	if len(t.open) > 0 {
		text += ", ended early: says nothing of " + strings.Join(t.open, ", ")
	}
	return text
}
