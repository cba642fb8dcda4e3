package procedure_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// What the device made of a load is claimed only where it lost frames of it; a generator's weakness is never
// the device's.
func TestWhatMayBeClaimedOfALoad(t *testing.T) {
	direction := func(offered, lossMin int64) report.Direction {
		return report.Direction{Intended: report.Flow{PacketsPerSecond: 1000},
			Offered: report.Flow{PacketsPerSecond: offered}, LossRatioMin: units.Ratio(lossMin) * units.One / 1000}
	}
	heldUp := func(d report.Direction) report.Direction { d.HeldUp = true; return d }
	for name, c := range map[string]struct {
		answer         []report.Direction
		asked, offered report.Reason
	}{
		"all came back": {[]report.Direction{direction(1000, 0), direction(995, 0)},
			report.TargetReached, report.TargetReached},
		"as much was lost as may be": {[]report.Direction{direction(1000, 1)}, report.TargetReached,
			report.TargetReached},
		"more was lost": {[]report.Direction{direction(1000, 2)}, report.LoadHeld, report.LoadHeld},
		"more was lost in one direction": {[]report.Direction{direction(1000, 0), direction(1000, 500)},
			report.LoadHeld, report.LoadHeld},
		"the generator sent less": {[]report.Direction{direction(1000, 0), direction(989, 0)},
			report.GeneratorLimited, report.GeneratorLimited},
		"other programs held the generator up": {[]report.Direction{direction(1000, 0), heldUp(direction(500, 0))},
			report.MachineLimited, report.MachineLimited},
		"they did so one way, and the other way the generator was weak": {[]report.Direction{direction(500, 0),
			heldUp(direction(500, 0))}, report.GeneratorLimited, report.GeneratorLimited},
		"it sent less, and of that frames were lost": {[]report.Direction{direction(500, 100)},
			report.GeneratorLimited, report.LoadHeld},
		"it sent less one way, and the other way lost": {[]report.Direction{direction(500, 0), direction(1000, 100)},
			report.GeneratorLimited, report.LoadHeld},
	} {
		if got := procedure.ClaimAsked(c.answer, units.One/1000, report.LoadHeld); got != c.asked {
			t.Errorf("%s: %s of a load that was asked for, want %s", name, got, c.asked)
		}
		if got := procedure.ClaimOffered(c.answer, units.One/1000, report.LoadHeld); got != c.offered {
			t.Errorf("%s: %s of all that could be offered, want %s", name, got, c.offered)
		}
	}
}
