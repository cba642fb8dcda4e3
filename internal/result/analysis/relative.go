package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// judgeRelative compares the runs' figures with those of the baseline's runs. Runs that can't be compared leave the
// criterion undecided, and are named.
func judgeRelative(runs []*report.Report, c plan.Criterion, baseline *report.Baseline) report.CriterionResult {
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	candidates, setAside := runsThatCount(runs, c)
	references, refused := comparableRuns(baseline, candidates, figureOf(c))
	differences := environmentDifferences(references, candidates)
	switch {
	case baseline == nil:
		result.Message = "there is no baseline: name one in spec.baseline, or give its Reports with --baseline"
	case baseline.Message != "":
		result.Message = fmt.Sprintf("there is nothing to compare with: %s: %s", baseline, baseline.Message)
	case comparison.TooFew(len(candidates), len(runs)):
		result.Message = "too few runs have a figure that counts" + setAside
	case lineRatesDiffer(candidates) != "":
		result.Message = "runs at different line rates have no common figure: " + lineRatesDiffer(candidates)
	case len(references) == 0:
		result.Message = fmt.Sprintf("there is nothing to compare with: %s", baseline) + refused
	case ownRuns(candidates, references) > 0:
		result.Message = fmt.Sprintf("%d of the %d runs are the baseline's own, and a run says nothing of how it compares with itself: give the baseline runs of its own; the baseline is %s",
			ownRuns(candidates, references), len(candidates), baseline)
	case comparison.Refusal(differences, baseline.AllowDifferent) != "":
		result.Message = fmt.Sprintf("%s; the baseline is %s", comparison.Refusal(differences, baseline.AllowDifferent),
			baseline)
	default:
		result = compareAll(candidates, references, c)
		if c.Statistic == plan.WorstOfRuns && result.Outcome == report.Passed && len(candidates) < len(runs) {
			result.Outcome, setAside = report.Undecided, setAside+", and one of those may be the worst"
		}
		result.Message += fmt.Sprintf("; the baseline is %s", baseline) + setAside + refused
		for _, text := range []string{nodeChanged(references, candidates), comparison.EnvironmentText(differences)} {
			if text != "" {
				result.Message += "; " + text
			}
		}
	}
	return result
}

// Foresee says why so many runs would leave a relative criterion undecided even if they were like the baseline's, which
// stand for them. It is empty where they would decide it. allowed are parts of the environment that may differ.
func Foresee(c plan.Criterion, baseline []KeptReport, runs int, allowed []report.EnvironmentPart) string {
	var alike []*report.Report
	for i := range runs {
		r := *baseline[i%len(baseline)].Report
		r.Started = time.Time{} // so that it isn't the baseline's own run
		alike = append(alike, &r)
	}
	b := BaselineOf("", "", Candidate{Plan: baseline[0].Report.Plan, Method: baseline[0].Method}, baseline)
	b.AllowDifferent = allowed
	if result := judgeCriterion(c, alike, b); result.Outcome != report.Passed {
		sentence, _, _ := strings.Cut(result.Message, "; the baseline is ")
		return sentence
	}
	return ""
}

// compareAll compares each direction, or all together. The worst outcome is the criterion's, with the messages of
// all that had it. Comparing several directions makes none of them fail more often by chance.
func compareAll(candidates []*report.Report, references []report.BaselineRun,
	c plan.Criterion) report.CriterionResult {
	result := report.CriterionResult{Name: c.Name, Outcome: report.Undecided}
	if metric, ok := figures.MetricOf(report.Metric(c.Metric)); len(figureOf(c).FiguresOf(candidates[0])) == 0 || !ok ||
		metric.LessIsBetter && !metric.Latency() && !metric.Own {
		result.Message = fmt.Sprintf("metric %q with direction %q can't be compared with a baseline", c.Metric,
			c.Direction)
		return result
	}
	all := compareDirections(candidates, references, c)
	result.Chance = comparison.ChanceOfAny(all.answers)
	if c.Statistic == plan.WorstOfRuns {
		result.Chance = 0 // what a run did is seen
	}
	result.Outcome, result.Message = all.worst(comparison.Holm(all.answers))
	if c.MaxWorkRegression != nil && result.Outcome == report.Undecided {
		return judgeWork(result, all.answers, candidates, references, c)
	}
	return result
}

// compared are the answers of a criterion's directions, and of those without an answer why there is none.
type compared struct {
	directions, missing []string
	answers             []comparison.Answer
	changes             []*report.TimeChange // of the time per frame, nil for what is not known, or not of trains
}

func compareDirections(candidates []*report.Report, references []report.BaselineRun, c plan.Criterion) (all compared) {
	for i, f := range figureOf(c).FiguresOf(candidates[0]) {
		answer, change, missing := comparison.Answer{}, (*report.TimeChange)(nil), figures.Text(f)
		if f.Missing == "" {
			answer, change, missing = compare(i, candidates, references, c)
		}
		if missing != "" {
			all.missing = append(all.missing, figures.DirectionText(f)+": "+missing)
			continue
		}
		if change != nil {
			change.Direction = f.Direction
		}
		all.directions, all.answers = append(all.directions, figures.DirectionText(f)), append(all.answers, answer)
		all.changes = append(all.changes, change)
	}
	return all
}

// worst is the worst outcome of these answers, with the sentences of all that have it. A direction without an answer is
// undecided.
func (all compared) worst(answers []comparison.Answer) (report.Outcome, string) {
	messages := map[report.Outcome][]string{report.Undecided: slices.Clone(all.missing)}
	for i, a := range answers {
		messages[a.Outcome] = append(messages[a.Outcome], all.directions[i]+": "+a.Sentence)
	}
	return worstOf(messages)
}

// compare compares value i of a criterion's figure. missing says why there is nothing to compare.
func compare(i int, candidates []*report.Report, references []report.BaselineRun,
	c plan.Criterion) (answer comparison.Answer, change *report.TimeChange, missing string) {
	q := comparison.Question{Figure: figureOf(c), Allowance: &comparison.Allowance{MaxRegression: *c.MaxRegression,
		AssumedSpread: c.AssumedSpread}}
	for _, r := range candidates {
		found := q.Figure.Runs(r)
		if i >= len(found) {
			return answer, nil, fmt.Sprintf("%s has no such figure: its line rate is unknown, or it was measured in another way than the others", r.Plan.Test.Name)
		}
		q.Candidate = append(q.Candidate, found[i])
	}
	for _, run := range references {
		found := q.Figure.Runs(&report.Report{Plan: candidates[0].Plan, LineRates: run.LineRates, Answer: run.Answer})
		if i >= len(found) {
			return answer, nil, fmt.Sprintf("%s of the baseline has no such figure", run.Test)
		}
		q.Baseline = append(q.Baseline, found[i])
	}
	leftOut, tooFew := confirmedRuns(&q)
	if tooFew != "" {
		return answer, nil, tooFew
	}
	switch c.Statistic {
	case plan.WorstOfRuns:
		answer = comparison.Worst(q)
	case plan.MedianOfRuns:
		answer = comparison.Compare(q)
	default:
		answer = comparison.WithholdForLowRuns(q, comparison.Compare(q))
	}
	answer.Sentence += leftOut
	return answer, q.TimeChange(answer), ""
}

// confirmedRuns leaves out of a question the runs whose own figure is not confirmed, and says how many those are.
// tooFew says that too few are left.
func confirmedRuns(q *comparison.Question) (leftOut, tooFew string) {
	for _, side := range []struct {
		owner string
		runs  *[]comparison.Run
	}{{"", &q.Candidate}, {" of the baseline", &q.Baseline}} {
		confirmed := slices.DeleteFunc(slices.Clone(*side.runs), func(r comparison.Run) bool { return r.Unconfirmed })
		if comparison.TooFew(len(confirmed), len(*side.runs)) {
			return "", fmt.Sprintf("only %d of %d runs%s confirmed this figure, and their messages say what was in the way", len(confirmed), len(*side.runs), side.owner)
		}
		if n := len(*side.runs) - len(confirmed); n > 0 {
			leftOut += fmt.Sprintf("; %d of %d runs%s left out here, as they did not confirm this figure", n,
				len(*side.runs), side.owner)
		}
		*side.runs = confirmed
	}
	return leftOut, ""
}

// comparableRuns are the baseline's runs that can be compared with these. setAside says how many others there are,
// and why.
func comparableRuns(b *report.Baseline, candidates []*report.Report,
	figure comparison.Figure) (runs []report.BaselineRun, setAside string) {
	if b == nil || len(candidates) == 0 {
		return nil, ""
	}
	var reasons []string
	for _, run := range b.Runs {
		if message := whyIncomparable(run, candidates[0], figure); message != "" {
			reasons = append(reasons, message)
		} else {
			runs = append(runs, run)
		}
	}
	return runs, setAsideSentence("of its runs", reasons, len(b.Runs))
}

// environmentDifferences are what differs between the environments of a baseline's runs and of the candidates.
func environmentDifferences(references []report.BaselineRun,
	candidates []*report.Report) []report.EnvironmentDifference {
	var old, current []*report.Environment
	for _, run := range references {
		old = append(old, run.Environment)
	}
	for _, r := range candidates {
		current = append(current, r.Environment)
	}
	return comparison.EnvironmentDifferences(old, current)
}

// nodeChanged names the VPP node that changed most. It is empty where nothing observed VPP's nodes.
func nodeChanged(references []report.BaselineRun, candidates []*report.Report) string {
	var old, current []report.Answer
	for _, run := range references {
		old = append(old, run.Answer)
	}
	for _, r := range candidates {
		current = append(current, r.Answer)
	}
	return comparison.NodeChanged(current, old)
}

// whyIncomparable says why a run of the baseline can't be compared with a candidate's. It is empty where it can.
// The baseline was checked for the same method when it was made. The ports' speeds are known only after a run.
func whyIncomparable(run report.BaselineRun, candidate *report.Report, figure comparison.Figure) string {
	if reason := whyUnanswered(run, figure); reason != "" {
		return reason
	}
	if candidateRate, baselineRate := comparison.LineRateChange(candidate.LineRates,
		run.LineRates); candidateRate != nil {
		return fmt.Sprintf("link %s is %s, and was %s in %s", candidateRate.Link, candidateRate.BitsPerSecond,
			baselineRate.BitsPerSecond, run.Test)
	}
	return ""
}

// lineRatesDiffer says which link ran at different line rates in two candidates. It is empty where none did.
func lineRatesDiffer(candidates []*report.Report) string {
	for _, r := range candidates {
		if first, second := comparison.LineRateChange(candidates[0].LineRates, r.LineRates); first != nil {
			return fmt.Sprintf("link %s is %s in %s and %s in %s", first.Link, first.BitsPerSecond,
				candidates[0].Plan.Test.Name, second.BitsPerSecond, r.Plan.Test.Name)
		}
	}
	return ""
}

// ownRuns is how many of the candidates' runs are the baseline's, too.
func ownRuns(candidates []*report.Report, references []report.BaselineRun) (n int) {
	for _, r := range candidates {
		if !r.Started.IsZero() && slices.ContainsFunc(references,
			func(b report.BaselineRun) bool { return b.Test == r.Plan.Test.Name && b.Started.Equal(r.Started) }) {
			n++
		}
	}
	return n
}
