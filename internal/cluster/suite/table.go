package suite

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

const (
	// maxRows is how many cells the status lists. The report lists all.
	maxRows = 256
	// liveCells is the greatest number of cells with which an ongoing suite's status has the table. The API
	// server decodes, validates, compares and encodes the whole status at each write, and in a large suite
	// tests end every second. The report has the table meanwhile.
	liveCells = 64
	// maxRowMessage is the maximum length of a row's message.
	maxRowMessage = 512
)

// table are the rows of the first cells. A large suite has none until it is complete.
func (rs *cellResults) table(s *step) []v1alpha1.SuiteRow {
	if !s.complete && len(rs.matrix.Cells) > liveCells {
		return nil
	}
	var rows []v1alpha1.SuiteRow
	for i := range rs.matrix.Cells[:min(len(rs.matrix.Cells), maxRows)] {
		rows = append(rows, rs.row(i))
	}
	return rows
}

func (rs *cellResults) row(number int) v1alpha1.SuiteRow {
	c := rs.cell(number)
	row := v1alpha1.SuiteRow{Cell: c.Name}
	var words []string
	if f := c.Figures; f != nil {
		row.Runs, row.LowerBound, row.Unconfirmed = int32(f.Runs), f.LowerBound, int32(f.Unconfirmed)
		if f.OfTrains() {
			words = append(words, figures.TimeText(f.Headline()))
		} else if f.OfSessions() {
			row.GoodputBitsPerSecond = f.GoodputBitsPerSecond
		} else {
			row.PacketsPerSecond, row.LineRatePercent = f.PacketsPerSecond, f.LineRatePercent.FormatFixed()
		}
		if f.Spread != nil {
			row.SpreadPercent = f.Spread.Percent.FormatFixed()
		}
	}
	if c.Verdict != nil && len(c.Runs) > 0 && rs.awaited(number) == "" {
		row.Verdict = verdicts(c.Verdict.Outcome)
		words = append(words, criteriaWords(c.Verdict)...)
	}
	words = append(words, runWords(&c)...)
	row.Message = wording.Limited(wording.Printable(strings.Join(words, "; ")), maxRowMessage)
	return row
}

func verdicts(o report.Outcome) v1alpha1.SuiteVerdict {
	switch o {
	case report.Passed:
		return v1alpha1.VerdictPassed
	case report.DidFail:
		return v1alpha1.VerdictFailed
	default:
		return v1alpha1.VerdictUndecided
	}
}

// criteriaWords are the sentences of the criteria that made the verdict.
func criteriaWords(verdict *report.Verdict) []string {
	var words []string
	for _, c := range verdict.Criteria {
		if c.Outcome == verdict.Outcome {
			words = append(words, c.Name+": "+c.Message)
		}
	}
	return words
}

// runWords say which figures aren't confirmed, whether several devices were measured, which tests have no
// measurement, which were repeated, and which are far from the others.
func runWords(c *report.SuiteCell) []string {
	var words []string
	if w := c.Figures.UnconfirmedWords(); w != "" {
		words = append(words, w)
	}
	if c.Message != "" {
		words = append(words, c.Message)
	}
	for _, o := range c.Outliers {
		words = append(words, o+" lies far from the others")
	}
	missing, repeated := c.Gaps()
	for _, r := range missing {
		words = append(words, fmt.Sprintf("%s: %s: %s", r.Test, r.Reason, wording.Limited(r.Message, 120)))
	}
	for _, r := range repeated {
		words = append(words, fmt.Sprintf("%s was repeated: %s: %s", r.Test, r.Reason, wording.Limited(r.Message, 120)))
	}
	return words
}
