package frameloss

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Of a load that was tried again the last trial that could be judged counts, with the loss of the direction that lost
// most, in any place.
func TestAPointIsOfTheLastTrialAndTheWorstDirection(t *testing.T) {
	trial := func(q report.Quality, lost ...units.Ratio) report.Window {
		w := report.Window{Phase: report.Trial, Load: units.One / 2, Quality: q}
		for _, l := range lost {
			w.Directions = append(w.Directions, report.Direction{Quality: q, LossRatio: l, LossRatioMin: l})
		}
		return w
	}
	for name, c := range map[string]struct {
		history []report.Window
		window  int
		lost    units.Ratio
	}{
		"tried again": {[]report.Window{trial(report.Short, 0, 0), trial(report.Lossy, units.One/4,
			units.One/8)}, 1, units.One / 4},
		"again, and it was not judged": {[]report.Window{trial(report.Lossy, units.One/8, units.One/4),
			trial(report.Invalid, units.One/2, units.One/2)}, 0, units.One / 4},
		"the second direction is worse": {[]report.Window{trial(report.Lossy, units.One/8, units.One/2)}, 0,
			units.One / 2},
	} {
		if curve := curveOf(c.history); len(curve) != 1 || curve[0].index != c.window || curve[0].lossRatio != c.lost {
			t.Errorf("%s: %+v, want window %d with %s", name, curve, c.window, c.lost)
		}
	}
}
