package analysis

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Verdict judges the Plan's criteria by the Report's Answer, which must be filled in, and by its Baseline. A lower
// bound can meet a minimum but not fail it, for the device may be better, and it can't meet a maximum.
func Verdict(r *report.Report) report.Verdict {
	baseline := r.Baseline
	if baseline == nil && r.Plan.Baseline != "" {
		baseline = &report.Baseline{Kind: "File", Name: r.Plan.Baseline,
			Message: "it is in a cluster, and can't be read here: give its Reports with --baseline"}
	}
	return Judge(r.Plan.Criteria, []*report.Report{r}, baseline)
}

// Judge judges criteria by the runs of one thing, which are repetitions of the same measurement, each with its Plan
// and its Answer. A nil baseline leaves relative criteria undecided. Without criteria the verdict is Undecided,
// with none.
func Judge(criteria []plan.Criterion, runs []*report.Report, baseline *report.Baseline) report.Verdict {
	v := report.Verdict{Outcome: report.Undecided}
	for _, c := range criteria {
		v.Criteria = append(v.Criteria, judgeCriterion(c, runs, baseline))
	}
	if len(v.Criteria) > 0 {
		v.Outcome = worst(v.Criteria)
	}
	return v
}

// worst is the worst outcome. One failure fails all, and else one undecided criterion leaves all undecided.
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

// judgeCriterion judges a criterion by the figures of the goal that it names, or of the first goal.
func judgeCriterion(c plan.Criterion, runs []*report.Report, baseline *report.Baseline) report.CriterionResult {
	if c.Goal == "" {
		return judgeWithin(c, runs, baseline)
	}
	goalRuns := make([]*report.Report, len(runs))
	for i, r := range runs {
		view, ok := r.ForGoal(c.Goal)
		if !ok && r.Ending == report.Completed {
			return report.CriterionResult{Name: c.Name, Outcome: report.Undecided,
				Message: fmt.Sprintf("%s has no goal %s: name one of its procedure.search.goals",
					report.PlanOf(r).Test.Name, c.Goal)}
		}
		goalRuns[i] = view
	}
	if baseline != nil {
		b := baseline.ForGoal(c.Goal)
		baseline = &b
	}
	result := judgeWithin(c, goalRuns, baseline)
	result.Message = c.Goal + ": " + result.Message
	return result
}

func judgeWithin(c plan.Criterion, runs []*report.Report, baseline *report.Baseline) report.CriterionResult {
	if c.Relative() {
		return judgeRelative(runs, c, baseline)
	}
	return judgeAbsolute(runs, c)
}
