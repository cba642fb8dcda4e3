package comparison_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestTheSmallestRegressionThatRunsShow(t *testing.T) {
	change := func(low, high string) *report.Change {
		l, h := reporttest.Percent(low), reporttest.Percent(high)
		return &report.Change{LowPercent: &l, HighPercent: &h}
	}
	half := reporttest.Percent("-0.5")
	for name, c := range map[string]struct {
		change *report.Change
		want   units.Ratio
	}{
		"runs that agree":             {change("0", "0"), units.One / 50},
		"runs within half a percent":  {change("-0.5", "0.5"), 29_751_244},
		"runs that lie wherever":      {change("-6.2", "-1.9"), 62_956_167},
		"nothing encloses it":         {&report.Change{}, 0},
		"nothing encloses it below":   {&report.Change{HighPercent: &half}, 0},
		"no change":                   {nil, 0},
		"a candidate that is nothing": {change("-100", "-100"), 0},
	} {
		if got := comparison.SmallestRegression(c.change, units.One/50); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
