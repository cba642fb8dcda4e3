package lifecycle

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// The baseline is read when the runner is made, and travels with the Plan: the Report then holds the verdict together with everything that it follows
// from, whatever happens to the baseline's objects later. A baseline that isn't measured by then doesn't count, and the message says so.
//
//	spec.baseline ──▶ Reports ──▶ NAME-A-plan: baseline.json.gz ──▶ runner ──▶ Report: baseline, verdict

// Baseline is what was found of spec.baseline.
type Baseline struct {
	// Fault is why there are no Sources; empty: there are some.
	Fault   string
	Sources []BaselineSource
}

// BaselineSource is a Report that serves as baseline, or why it can't.
type BaselineSource struct {
	Name   string
	Report *report.Report
	Digest string
	// Fault is why there is no Report.
	Fault string
}

// comparisonWanted says whether a criterion compares with a baseline that the spec names.
func (la *launch) comparisonWanted() bool {
	return la.test.Spec.Baseline != nil && slices.ContainsFunc(la.test.Spec.Criteria, v1alpha1.Criterion.Relative)
}

// baselineDocument is the document that travels with the Plan; nil: nothing is compared.
func (la *launch) baselineDocument() []byte {
	if !la.comparisonWanted() || la.baseline == nil {
		return nil
	}
	of := compile.BaselineOf(la.test.Spec.Baseline)
	b := report.Baseline{Kind: of.Kind, Name: of.Name, Message: la.baseline.Fault}
	if b.Message == "" {
		b = *analysis.BaselineOf(of.Kind, of.Name, analysis.Candidate{Plan: la.blueprint.cluster().Plan}, kept(la.baseline.Sources))
		b.AllowDifferent = report.EnvironmentParts(la.blueprint.cluster().Plan.AllowDifferent)
	}
	packed, err := delivery.EncodeBaseline(b)
	if err != nil {
		packed, _ = delivery.EncodeBaseline(report.Baseline{Kind: of.Kind, Name: of.Name, Message: err.Error()}) // that one is small
	}
	return packed
}

func kept(sources []BaselineSource) []analysis.KeptReport {
	all := make([]analysis.KeptReport, len(sources))
	for i, s := range sources {
		all[i] = analysis.KeptReport{Report: s.Report, Digest: s.Digest, Name: s.Name, Fault: s.Fault}
	}
	return all
}
