package report_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// A direction that was clean at 60 % is not one that carries less than the 40 % of a window that was outvoted,
// however little another direction carries.
func TestTheLowestLossyWindowIsOfADirectionThatWasCleanNowhereAbove(t *testing.T) {
	window := func(number int, varied string, percent units.Ratio, quality report.Quality) report.Window {
		return report.Window{Number: number, Phase: report.Refine, Varied: varied, Load: percent * units.One / 100, Quality: quality,
			Directions: []report.Direction{{From: "west", To: "east", Quality: quality}}}
	}
	r := &report.Report{Windows: []report.Window{
		window(1, "west→east", 40, report.Lossy), window(2, "west→east", 60, report.Good), window(3, "west→east", 61, report.Lossy),
		window(4, "east→west", 50, report.Lossy), window(5, "east→west", 45, report.Invalid),
	}}
	if w := r.LowestLossy(); w == nil || w.Number != 4 {
		t.Errorf("%+v, want window 4", w)
	}
	for i := range r.Windows {
		r.Windows[i].Varied = ""
	}
	if w := r.LowestLossy(); w == nil || w.Number != 1 {
		t.Errorf("%+v where all directions vary together, want window 1", w)
	}
}
