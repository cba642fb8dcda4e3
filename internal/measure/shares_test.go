package measure

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// With TRex, bursts and counters that are read apart explain a surplus. Others' traffic is named only where it was
// heard.
func TestASurplusIsOthersOnlyWhereTheyWereHeard(t *testing.T) {
	surplus := func(e report.DirectionEvidence, bursts ...report.Burst) string {
		e.Intended = 1000 * units.PacketPerSecond
		w := report.Window{Bursts: bursts, Evidence: &report.Evidence{Directions: []report.DirectionEvidence{e}},
			Directions: []report.Direction{{From: "west", To: "east", Sent: units.Traffic{Packets: 15_000}, Returned: units.Traffic{Packets: 15_100}, EdgeFrames: 2}}}
		judged := Judge(Window{w}, Goal{MaxLossRatio: units.One / 1000})
		if judged.Quality != report.Invalid {
			t.Fatalf("%s: %s", judged.Quality, judged.Reason)
		}
		return judged.Reason
	}
	if said := surplus(report.DirectionEvidence{}); strings.Contains(said, "others") || !strings.Contains(said, "more came back than the 15000 sent: the two ports' counters were read apart, or") {
		t.Error(said)
	}
	if said := surplus(report.DirectionEvidence{}, report.Burst{Generator: "trex"}); strings.Contains(said, "others") || !strings.Contains(said, "beside a burst of the generator's") {
		t.Error(said)
	}
	if said := surplus(report.DirectionEvidence{Foreign: 1}); !strings.Contains(said, "sent: others' frames, as were heard before the load, or") {
		t.Error(said)
	}
}
