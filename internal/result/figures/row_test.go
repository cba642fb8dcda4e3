package figures_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestATableOfReportsHasTheirFigures(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		h, f := figures.HeadlineOf(s.Report), figures.TableFigures(s.Report)
		if !h.Measured {
			if f != nil {
				t.Errorf("%s has figures, and was not measured", s.Name)
			}
			continue
		}
		if f.PacketsPerSecond != s.Report.Answer.Total.Received.PacketsPerSecond || f.LowerBound != s.Report.Answer.LowerBound() || f.LineRatePercent > units.Hundred+units.Hundred/1000 {
			t.Errorf("%s: %+v", s.Name, f)
		}
	}
}
