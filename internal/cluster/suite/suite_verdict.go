package suite

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// suiteVerdict is the verdict on all cells. It is the worst verdict of any cell, unless chance alone would show
// that among so many cells.
func suiteVerdict(judged bool, cells []report.SuiteCell) report.Verdict {
	verdict := report.Verdict{}
	if !judged {
		return verdict
	}
	verdict.Outcome = report.Passed
	var verdicts []*report.Verdict
	for _, c := range cells {
		if c.Calibration {
			continue
		}
		verdicts = append(verdicts, c.Verdict)
		switch {
		case c.Verdict == nil || c.Verdict.Outcome == report.Undecided:
			if verdict.Outcome == report.Passed {
				verdict.Outcome = report.Undecided
			}
		case c.Verdict.Outcome == report.DidFail:
			verdict.Outcome = report.DidFail
		}
	}
	if verdict.Outcome == report.DidFail && !report.FailedTogether(verdicts) {
		verdict.Outcome = report.Undecided
	}
	return verdict
}

// amongSoMany says why a suite with a failed cell is undecided.
const amongSoMany = "among so many cells chance alone shows as much too often: more repetitions would tell"

// passed is the verdict on all cells. It is made at the end, since until then each further run may change a
// median.
func passed(v *situation, s *step) metav1.Condition {
	unknown := condition(v1alpha1.ConditionPassed, metav1.ConditionUnknown, v1alpha1.ReasonUndecided,
		"nothing to judge yet: the verdict is made when all is measured")
	switch {
	case len(v.spec.Criteria) == 0:
		unknown.Reason, unknown.Message = v1alpha1.ReasonNoCriteria, withoutCriteria(v, s)
		return unknown
	case !s.complete:
		return unknown
	case s.invalid != "":
		unknown.Message = "nothing was measured that could be judged"
		return unknown
	}
	return v.verdictOfAll()
}

// withoutCriteria is the message of Passed for a suite without criteria.
func withoutCriteria(v *situation, s *step) string {
	switch {
	case !s.complete:
		return "spec.criteria is empty: what is measured gets no verdict"
	case v.measured == 0:
		return "spec.criteria is empty, and nothing was measured that could be judged"
	}
	return "spec.criteria is empty: there are results, and no verdict"
}

// verdictOfAll counts the cells by their verdicts, and says of the cell that matters most what to do. The table has the
// figures of the others.
func (rs *cellResults) verdictOfAll() metav1.Condition {
	counts := map[v1alpha1.SuiteVerdict]int{}
	var verdicts []*report.Verdict
	measured := report.Suite{}
	for i := rs.matrix.calibrations; i < len(rs.matrix.Cells); i++ {
		row := rs.row(i)
		verdicts, measured.Cells = append(verdicts, rs.cell(i).Verdict), append(measured.Cells, rs.cell(i))
		counts[cmp.Or(row.Verdict, v1alpha1.VerdictUndecided)]++
	}
	sentence := answer.OfTable(measured.Table()).Message
	failed, open := counts[v1alpha1.VerdictFailed], counts[v1alpha1.VerdictUndecided]
	tally := fmt.Sprintf("%d of %d cells passed, %d failed, %d undecided", counts[v1alpha1.VerdictPassed],
		len(rs.matrix.Cells)-rs.matrix.calibrations, failed, open)
	tally = wording.JoinNonEmpty("; ", tally, measured.Void().Count())
	switch {
	case failed > 0 && !report.FailedTogether(verdicts):
		return condition(v1alpha1.ConditionPassed, metav1.ConditionUnknown, v1alpha1.ReasonUndecided, tally+"; "+
			amongSoMany)
	case failed > 0:
		return condition(v1alpha1.ConditionPassed, metav1.ConditionFalse, v1alpha1.ReasonCriteriaNotMet, tally+". "+
			sentence)
	case open > 0:
		return condition(v1alpha1.ConditionPassed, metav1.ConditionUnknown, v1alpha1.ReasonUndecided, tally+". "+
			sentence)
	}
	return condition(v1alpha1.ConditionPassed, metav1.ConditionTrue, v1alpha1.ReasonCriteriaMet, tally)
}
