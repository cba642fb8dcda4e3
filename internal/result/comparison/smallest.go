package comparison

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// SmallestRegression is about the smallest regression that runs like these would show, in 95 of 100 cases, to be
// more than is allowed, as a share of the baseline. It is 0 for none, or where it is unknown. A release that is
// less by x is seen at an estimate that chance moves by as much as the interval is wide below it, and fails where
// the interval's upper end is below what is allowed:
//
//	1 - x = (1 - allowed) · low/high        low and high enclose the change
func SmallestRegression(change *report.Change, allowed units.Ratio) units.Ratio {
	if change == nil || change.LowPercent == nil || change.HighPercent == nil {
		return 0
	}
	low, high := 1+change.LowPercent.Ratio().Float(), 1+change.HighPercent.Ratio().Float()
	if low <= 0 || high <= 0 {
		return 0
	}
	return units.RatioOfShare(1 - (1-allowed.Float())*low/high)
}
