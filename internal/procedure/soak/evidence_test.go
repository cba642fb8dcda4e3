package soak

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
	"github.com/linerate-dev/linerate/internal/units"
)

// Of 1000 frames 200 are missing, and the generator dropped half of those itself: 10 before they left, 90 after
// they came back.
func TestWhatTheGeneratorDroppedIsNeitherSentNorLost(t *testing.T) {
	s := New(plan.Procedure{Type: plan.TypeSoak, Soak: &plan.Soak{LossRatio: units.One / 1000}})
	got := s.directionsOf([]report.Window{{Load: units.One, Directions: []report.Direction{{
		Quality: report.Lossy, Offered: report.Flow{PacketsPerSecond: 500},
		Sent: units.Traffic{Packets: 1000}, Returned: units.Traffic{Packets: 800}, SendDrops: 10, ReceiveErrors: 90,
	}}}})[0]
	want := losscurve.Trial{Load: 500, Sent: 900, Lost: 100}
	if got.sent != 900 || got.lost != 100 || got.doubtful != 0 || len(got.worst) != 1 || got.worst[0] != want ||
		len(got.best) != 1 || got.best[0] != want {
		t.Errorf("%+v", got)
	}
}
