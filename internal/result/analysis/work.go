package analysis

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
)

// judgeWork compares the time per frame where the runs leave a criterion of a rate undecided, as where the generator
// was the limit. More time than maxWorkRegression allows fails the criterion. No more time leaves it undecided, as
// nothing is known of the device's limit. rates are the answers about the rates, so that all claims together are wrong
// as seldom as one.
func judgeWork(undecided report.CriterionResult, rates []comparison.Answer, candidates []*report.Report,
	references []report.BaselineRun, c plan.Criterion) report.CriterionResult {
	figure := figureOf(c).WorkBeside()
	work := plan.Criterion{Metric: string(figure.Metric), Direction: figure.Direction,
		MaxRegression: c.MaxWorkRegression}
	result, all := undecided, compareDirections(candidates, references, work)
	if len(all.answers)+len(all.missing) == 0 {
		result.Message += "; the work for a frame was not compared, as no trains of frames were measured"
		return result
	}
	if c.Statistic == plan.WorstOfRuns { // chance has no part in what single runs did
		rates = nil
	}
	answers := slices.Concat(rates, all.answers)
	result.Chance = comparison.ChanceOfAny(answers)
	outcome, sentence := all.worst(comparison.Holm(answers)[len(rates):])
	result.TimePerFrame = mostGrown(all.changes)
	switch outcome {
	case report.DidFail:
		result.Outcome, result.Reason = report.DidFail, report.MoreWorkPerFrame
		result.Message = "the work for a frame changed" + changedBy(result.TimePerFrame) +
			", and the limit is undecided: " + sentence + "; of the limit, " + undecided.Message
	case report.Passed:
		result.Reason = report.WorkPerFrameKept
		result.Message += "; the work for a frame changed" + changedBy(result.TimePerFrame) +
			", which is allowed and says nothing of the limit: " + sentence
	default:
		result.Message += "; whether the work for a frame grew is undecided, too: " + sentence
	}
	return result
}

// mostGrown is the change of the direction where a frame's time grew most. It is nil where none is known.
func mostGrown(changes []*report.TimeChange) (most *report.TimeChange) {
	for _, c := range changes {
		if c != nil && (most == nil || c.Nanoseconds.Float() > most.Nanoseconds.Float()) {
			most = c
		}
	}
	return most
}

// changedBy is a change in words, such as " by +0.50 ± 0.05 µs". It is empty where there is none.
func changedBy(change *report.TimeChange) string {
	if change == nil {
		return ""
	}
	return " by " + comparison.TimeChangeText(*change)
}
