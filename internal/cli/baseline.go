package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// readBaseline reads what tests and suites are compared with. It is Reports and suites' documents in files, and the
// Reports of directories. A baseline that no criterion compares with is an error.
func readBaseline(
	stdin io.Reader, loaded inputs, paths []string, allow sidebyside.AllowDifferent,
) (*suite.Reference, error) {
	if err := allow.Check(); err != nil {
		return nil, exit.BadInput("%w", err)
	}
	if len(paths) == 0 && len(allow) > 0 {
		return nil, exit.BadInput("--allow-different %s: nothing is compared here: give a baseline with --baseline",
			strings.Join(allow, ","))
	}
	if len(paths) == 0 {
		return nil, nil // there is no --baseline, and that is no error
	}
	if !loaded.anyRelative() {
		return nil, exit.BadInput("--baseline %s: no criterion compares with it: give one maxRegression, such as "+
			"{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%%}", paths[0])
	}
	for _, f := range loaded.suites {
		if b := f.matrix.Suite().Spec.Baseline; b != nil && b.Axis != "" {
			return nil, exit.BadInput("--baseline %s: suite %s has a baseline of its own, the cells of %s %s: leave "+
				"one of the two out", paths[0], f.name(), b.Axis, b.Value)
		}
	}
	reference := &suite.Reference{Kind: suite.KindFile, Name: strings.Join(paths, ", "), AllowDifferent: allow.Parts()}
	for _, path := range paths {
		if err := sidebyside.AddBaselineDocuments(stdin, path, reference); err != nil {
			return nil, exit.BadInput("--baseline %s: %w", path, err)
		}
	}
	return reference, nil
}

// anyRelative reports whether a criterion compares with a baseline.
func (i inputs) anyRelative() bool {
	return slices.ContainsFunc(i.plans, func(p *plan.Plan) bool {
		return slices.ContainsFunc(p.Criteria,
			plan.Criterion.Relative)
	}) ||
		slices.ContainsFunc(i.suites, func(f *localSuite) bool {
			return slices.ContainsFunc(f.matrix.Suite().Spec.Criteria, v1alpha1.Criterion.Relative)
		})
}

// baselineFor is what a test is compared with. It is nil without --baseline.
func baselineFor(p *plan.Plan, reference *suite.Reference) *report.Baseline {
	if reference == nil {
		return nil
	}
	b := reference.OfTest(analysis.Candidate{Plan: p})
	b.AllowDifferent = append(slices.Clone(b.AllowDifferent), report.EnvironmentParts(p.AllowDifferent)...)
	return b
}
