package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
)

// KeptReport is a Report that serves a baseline, with its digest if that is known. Without a Report, Name is what
// should have one, and Fault why it is missing.
type KeptReport struct {
	Report *report.Report
	Digest string
	// Method is the method of the Plan that was carried out, where the Report's Plan lost its generators. Otherwise
	// it is empty.
	Method string

	Name, Fault string
}

// Candidate is how the candidate of a comparison is measured, by its Plan, and the Plan's method where the Plan
// lost its generators.
type Candidate struct {
	Plan   *plan.Plan
	Method string
}

// mostDifferences is how many of the places where two Plans differ a sentence names.
const mostDifferences = 3

// BaselineOf makes a baseline of runs for a candidate that is measured in this way. Each run counts once. A run
// that was measured in another way, or has no confirmed figure, stays in the baseline with the reason, and is
// compared with nothing. A baseline without any run says so.
func BaselineOf(kind, name string, candidate Candidate, runs []KeptReport) *report.Baseline {
	b := &report.Baseline{Kind: kind, Name: name}
	if len(runs) == 0 {
		b.Message = "it has no Report"
	}
	for _, k := range report.DistinctRuns(runs, func(k KeptReport) *report.Report { return k.Report }) {
		b.Runs = append(b.Runs, baselineRun(candidate, k))
	}
	slices.SortStableFunc(b.Runs, func(x, y report.BaselineRun) int {
		return cmp.Or(x.Started.Compare(y.Started), cmp.Compare(x.Test, y.Test))
	})
	return b
}

func baselineRun(candidate Candidate, k KeptReport) report.BaselineRun {
	if k.Report == nil {
		return report.BaselineRun{Test: k.Name, Message: k.Name + ": " + k.Fault}
	}
	run := report.BaselineRun{Test: k.Report.Plan.Test.Name, Report: k.Digest, Started: k.Report.Started,
		LineRates: k.Report.LineRates, Answer: k.Report.Answer,
		Environment: k.Report.Environment}
	run.Answer.Generators, run.Answer.MaxReceived = nil, nil // nothing is compared of them
	switch differences := candidate.differences(k); {
	case len(differences) > 0:
		run.Message = fmt.Sprintf("%s was measured in another way (first this test, then that run): %s", run.Test,
			strings.Join(differences, "; "))
	case k.Report.Ending == report.Completed && !k.Report.Answer.Measured &&
		slices.ContainsFunc(k.Report.Answer.Figures,
			func(f report.Figure) bool { return f.LatencyLoad != nil && f.Window != 0 }):
		// a baseline of latency alone is compared, as each criterion sees whether that is its figure
	case comparison.Unfit(k.Report) != "":
		run.Message = fmt.Sprintf("%s: %s", run.Test, comparison.Unfit(k.Report))
	case !k.Report.Answer.Measured:
		run.Message = notMeasured(run)
	}
	return run
}

// WhyNoRunAnswers is why no run of a baseline has the figure that the criterion is of. It is empty where some run
// has it. The baseline has runs.
func WhyNoRunAnswers(b *report.Baseline, c plan.Criterion) (why string) {
	for _, run := range b.Runs {
		reason := whyUnanswered(run, figureOf(c))
		if reason == "" {
			return ""
		}
		why = cmp.Or(why, reason)
	}
	return why
}

// whyUnanswered is why a run has no figure of this kind. It is empty where the run has one.
func whyUnanswered(run report.BaselineRun, figure comparison.Figure) string {
	if run.Message == "" && !figure.Answered(&report.Report{Answer: run.Answer}) {
		return notMeasured(run)
	}
	return run.Message
}

func notMeasured(run report.BaselineRun) string {
	return fmt.Sprintf("%s: %s", run.Test, run.Answer.Message)
}

// differences are where the candidate and a run of the baseline are measured differently. Where there are none, the
// two can be compared.
func (c Candidate) differences(k KeptReport) []string {
	if methodOf(c.Plan, c.Method) == methodOf(k.Report.Plan, k.Method) {
		return nil
	}
	if c.Method == "" && k.Method == "" {
		return plan.MethodDifferences(c.Plan, k.Report.Plan, mostDifferences)
	}
	candidatePlan, keptPlan := *c.Plan, *k.Report.Plan
	candidatePlan.Generators, keptPlan.Generators = nil, nil // one of them has none any more
	if differences := plan.MethodDifferences(&candidatePlan, &keptPlan, mostDifferences); len(differences) > 0 {
		return differences
	}
	return []string{"the generators are not the same, or have other addresses or streams"}
}

// methodOf is a Plan's method, if it is not known already.
func methodOf(p *plan.Plan, method string) string {
	if method != "" {
		return method
	}
	return p.Method()
}
