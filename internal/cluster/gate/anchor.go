package gate

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// anchorSuffix ends the name of a criterion that is judged against the anchor.
const anchorSuffix = " since the anchor"

// judgeAgainstAnchor judges a cell's row against the anchor, too. A baseline that moves with each release hides a slow
// decline, whose sum shows against an anchor that doesn't move. Each criterion that compares is judged once more, and
// the worst of all is the row's outcome. A witness that the anchor has no Report of is left as it is, since an anchor
// may hold searches only.
func judgeAgainstAnchor(row *report.GateRow, m MeasuredSuite, number int) {
	if m.Anchor == nil {
		return
	}
	anchored := suite.JudgeStored(suite.Expand(m.Suite.DeepCopy()), m.Runs, finished(m.Suite), "", m.Anchor)
	c, cell := anchored.Report.Cells[number], anchored.Cells[number]
	if m.Witness && len(cell.Baseline) == 0 {
		return
	}
	row.AnchorName = report.Baseline{Kind: m.Anchor.Kind, Name: m.Anchor.Name}.String()
	if candidate, baseline := compare(c, cell, m.Suite.Spec.Criteria); baseline != nil {
		candidate.Each, candidate.Missing, candidate.Repeated = nil, nil, nil // the row has them already
		row.Anchor = &candidate
	}
	if c.Verdict == nil {
		return
	}
	for _, result := range c.Verdict.Criteria {
		if !slices.ContainsFunc(m.Suite.Spec.Criteria,
			func(c v1alpha1.Criterion) bool { return c.Name == result.Name && c.Relative() }) {
			continue
		}
		result.Name += anchorSuffix
		row.Criteria = append(row.Criteria, result)
		if result.Outcome == report.DidFail || result.Outcome == report.Undecided && row.Outcome == report.Passed {
			row.Outcome = result.Outcome
		}
	}
}
