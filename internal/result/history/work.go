package history

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// compareWork says by how much longer a frame takes than on the first side, where trains followed the answers of all
// runs. Where the rates decide nothing, and an allowance for the work is given, more work fails the side. No more work
// leaves it undecided, as nothing is known of the device's limit.
func compareWork(side *report.Compared, s, baseline sample, rates comparison.Question, answer comparison.Answer) {
	if rates.Figure.Metric != figures.PacketsPerSecond {
		return // its figure is the time per frame itself, or of sessions
	}
	work := comparison.Question{Figure: rates.Figure.WorkBeside()}
	var candidateTimed, baselineTimed bool
	work.Candidate, candidateTimed = timesOf(s.answers, work.Figure)
	work.Baseline, baselineTimed = timesOf(baseline.answers, work.Figure)
	if !candidateTimed || !baselineTimed {
		return
	}
	asked := rates.Allowance != nil && rates.Allowance.MaxWorkRegression != nil && answer.Outcome == report.Undecided
	if asked {
		work.Allowance = &comparison.Allowance{MaxRegression: *rates.Allowance.MaxWorkRegression,
			Tries: rates.Allowance.Tries}
	}
	compared := comparison.Compare(work)
	if side.TimePerFrame = work.TimeChange(compared); side.TimePerFrame == nil {
		return
	}
	side.TimePerFrame.Direction = work.Figure.Direction
	if asked { // the two comparisons together are wrong as seldom as one
		compared = comparison.Holm([]comparison.Answer{answer, compared})[1]
	}
	side.Message += fmt.Sprintf("; the work for a frame changed by %s, which says nothing of the limit: %s",
		comparison.TimeChangeText(*side.TimePerFrame), compared.Sentence)
	if compared.Outcome == report.DidFail {
		side.Verdict, side.Reason = report.DidFail, report.MoreWorkPerFrame
	}
}

// timesOf are the times per frame of runs. all says that each run has one.
func timesOf(records []Record, figure comparison.Figure) (runs []comparison.Run, all bool) {
	for _, r := range records {
		found := figure.Runs(r.Report)
		if len(found) == 0 {
			return nil, false
		}
		runs = append(runs, found...)
	}
	return runs, true
}
