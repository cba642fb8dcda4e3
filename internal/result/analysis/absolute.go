package analysis

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/statistics"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// judgeAbsolute judges a criterion by all runs. With one run it is that run's own judgement. With several, the
// criterion speaks of their median. As many runs as the median's interval leaves out may lie on the other side,
// unless a tenth of the runs or more lie far from the rest. A criterion may speak of the worst run, or of the
// spread, instead.
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
	counted, setAside := runsThatCount(runs, c)
	for _, r := range counted {
		judged := judge(r, c)
		sorted[judged.Outcome] = append(sorted[judged.Outcome], judged.Message)
	}
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	n, spared := len(counted), statistics.Spared(len(counted))
	switch {
	case comparison.TooFew(n, len(runs)):
		result.Message = fmt.Sprintf("only %d of %d runs gave a figure that can be judged", n, len(runs)) + setAside
		return result
	case len(sorted[report.Passed]) >= n-spared:
		result.Outcome = report.Passed
	case len(sorted[report.DidFail]) >= n-spared:
		result.Outcome = report.DidFail
	}
	reason := ""
	if result.Outcome == report.Passed {
		if reason = whyMedianIsNotEnough(counted, c); reason != "" {
			result.Outcome = report.Undecided
		}
	}
	result.Message = mediansSentence(counted, c) + outcomesSentence(sorted, n) + reason + setAside
	return result
}

// runsThatCount are the runs with a usable figure of the criterion. setAside says how many others there are, and
// why.
func runsThatCount(runs []*report.Report, c plan.Criterion) (counted []*report.Report, setAside string) {
	var reasons []string
	for _, r := range runs {
		if message := figureOf(c).Unfit(r); message != "" {
			reasons = append(reasons, message)
		} else {
			counted = append(counted, r)
		}
	}
	return counted, setAsideSentence("runs", reasons, len(runs))
}

// mostReasons is how many of the reasons for setting runs aside a sentence names.
const mostReasons = 3

func setAsideSentence(owner string, why []string, total int) string {
	switch {
	case len(why) == 0:
		return ""
	case total == 1:
		return ": " + why[0]
	}
	reasons := slices.Compact(slices.Sorted(slices.Values(why)))
	if hidden := len(reasons) - mostReasons; hidden > 0 {
		reasons = append(reasons[:mostReasons], fmt.Sprintf("and for %d more reasons", hidden))
	}
	return fmt.Sprintf("; %d of %d %s set aside (%s)", len(why), total, owner, strings.Join(reasons, "; "))
}

// outcomesSentence counts the runs by their outcome, and quotes the worst of them.
func outcomesSentence(sorted map[report.Outcome][]string, n int) string {
	words := map[report.Outcome]string{report.DidFail: "do not meet it", report.Undecided: "leave it open",
		report.Passed: "meet it"}
	for _, outcome := range []report.Outcome{report.DidFail, report.Undecided, report.Passed} {
		sentences := sorted[outcome]
		switch {
		case len(sentences) == n && outcome == report.Undecided: // with the way out
			return fmt.Sprintf("; all %d runs %s (%s)", n, words[outcome], sentences[0])
		case len(sentences) == n:
			return fmt.Sprintf("; all %d runs %s", n, words[outcome])
		case len(sentences) > 0:
			return fmt.Sprintf("; %d of %d runs %s (%s)", len(sentences), n, words[outcome], sentences[0])
		}
	}
	return ""
}

// mediansSentence has the median of each figure of a criterion.
func mediansSentence(runs []*report.Report, c plan.Criterion) string {
	var texts []string
	first := slices.IndexFunc(runs, figureOf(c).Answered)
	if first < 0 { // frames were lost at any load, so no run has a figure
		return judge(runs[0], c).Message
	}
	if c.Observed != nil {
		return observedOverRuns(runs, c)
	}
	selected := figureOf(c)
	for i, v := range selected.FiguresOf(runs[first]) {
		var values []float64
		for _, r := range runs {
			if !figureOf(c).Answered(r) {
				continue
			}
			if found := selected.FiguresOf(r); i < len(found) && found[i].Missing == "" {
				values = append(values, shownNumber(found[i]).Float())
			}
		}
		s := statistics.Summarize(values)
		if s.N == 0 {
			texts = append(texts, figures.DirectionText(v)+": "+figures.Text(v))
			continue
		}
		texts = append(texts, fmt.Sprintf("%s: median %s of %d runs (%s to %s)", figures.DirectionText(v),
			selected.Format(s.Median), s.N, selected.Format(s.Low), selected.Format(s.High)))
	}
	return strings.Join(texts, "; ") + boundsSentence(c, "")
}

// boundsSentence has the bounds in words. The unit is that of an observer's series, which no metric has.
func boundsSentence(c plan.Criterion, unit string) (text string) {
	for _, b := range boundsOf(c) {
		limit := strings.TrimSpace(b.limit + " " + unit)
		if c.Observed == nil {
			limit = figures.BoundText(report.Metric(c.Metric), b.limit)
		}
		text += b.sentence(limit)
	}
	return text
}

// judge compares all figures of a run with a criterion. The worst outcome is the criterion's, with the messages of
// all figures that had it.
func judge(r *report.Report, c plan.Criterion) report.CriterionResult {
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	switch {
	case r.Ending != report.Completed:
		result.Message = "not judged: " + comparison.Unfit(r)
		return result
	case !figureOf(c).Answered(r):
		result.Outcome, result.Message = judgeWithoutFigure(r, c)
		return result
	case c.Observed != nil:
		result.Outcome, result.Message = judgeObserved(r, c)
		return heldOnly(r, result)
	}
	found := figureOf(c).FiguresOf(r)
	if len(found) == 0 {
		result.Message = fmt.Sprintf("metric %q with direction %q is not known", c.Metric, c.Direction)
		if c.Latency != nil {
			result.Message = "no such latency was measured: " + noSuchLatency(r, *c.Latency)
		}
		return result
	}
	messages := map[report.Outcome][]string{}
	for _, f := range found {
		outcome, message := judgedFigure{f, r}.against(c)
		messages[outcome] = append(messages[outcome], message)
	}
	result.Outcome, result.Message = worstOf(messages)
	return heldOnly(r, result)
}

// heldOnly lets no criterion pass on a load that was not held. A criterion that surely fails stays failed.
func heldOnly(r *report.Report, result report.CriterionResult) report.CriterionResult {
	if r.Answer.NotHeld != "" && result.Outcome == report.Passed {
		result.Outcome = report.Undecided
		result.Message += ". " + cmp.Or(r.Answer.Message, r.Answer.NotHeld)
	}
	return result
}

// worstOf is the worst outcome, with all its messages.
func worstOf(messages map[report.Outcome][]string) (report.Outcome, string) {
	for _, outcome := range []report.Outcome{report.DidFail, report.Undecided, report.Passed} {
		if sentences := messages[outcome]; len(sentences) > 0 {
			return outcome, strings.Join(sentences, "; ")
		}
	}
	return report.Undecided, ""
}

// judgeWithoutFigure judges a run that has no figure, which passes nothing. Where even the lowest load lost frames,
// a demand for more than that load fails.
func judgeWithoutFigure(r *report.Report, c plan.Criterion) (report.Outcome, string) {
	if r.Answer.NotHeld != "" {
		return report.Undecided, cmp.Or(r.Answer.Message, wording.NotMeasured)
	}
	if r.Answer.Reason != report.NoCleanLoad || c.Metric != string(figures.PacketsPerSecond) || c.Min == "" {
		return report.Undecided, cmp.Or(r.Answer.Message, wording.NotMeasured)
	}
	minimum, err := decimal(c.Min)
	lowest := r.LowestLossy()
	if err != nil || lowest == nil {
		return report.Undecided, cmp.Or(r.Answer.Message, wording.NotMeasured)
	}
	for _, d := range lowest.Directions {
		if c.Direction != "Total" && d.Quality == report.Lossy &&
			minimum.Cmp(big.NewRat(d.Offered.PacketsPerSecond, 1)) >= 0 {
			return report.DidFail, fmt.Sprintf("%s→%s: frames were lost at %s already%s", d.From,
				d.To, wording.PacketRate(d.Offered.PacketsPerSecond),
				bound{c.Min, true}.sentence(figures.BoundText(figures.PacketsPerSecond, c.Min)))
		}
	}
	return report.Undecided, cmp.Or(r.Answer.Message, wording.NotMeasured)
}

// noSuchLatency says why a Report has no latency of a criterion's load and frame size.
func noSuchLatency(r *report.Report, l plan.LatencyFigure) string {
	if !slices.ContainsFunc(r.Answer.Figures,
		func(f report.Figure) bool { return f.LatencyLoad != nil && *f.LatencyLoad == l.Load }) {
		return "the run has no trial at " + figures.AtText(l.Load) + " (procedure.latency.loads)"
	}
	return fmt.Sprintf("no frames of %d bytes were timed", l.FrameSize)
}

// figureOf is the figure that a criterion speaks of.
func figureOf(c plan.Criterion) comparison.Figure {
	f := comparison.Figure{Metric: report.Metric(c.Metric), Direction: c.Direction}
	if l := c.Latency; l != nil {
		f.At, f.FrameSize = &l.Load, l.FrameSize
	}
	return f
}

// shownNumber is the end of a figure's interval that people read. Of a rate it is what surely came back, of loss
// the most that may be lost, of latency the longest that it may be, if anything bounds it.
func shownNumber(f report.Figure) report.Number {
	switch {
	case f.Metric == figures.LossRatio:
		return f.High
	case f.LatencyLoad != nil || f.Metric == procedure.TimePerFrame:
		return cmp.Or(f.High, f.Low)
	}
	return f.Low
}
