package analysis

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// A real TRex reads received frames a moment after sent ones: in each of five windows some more came back than were
// sent, and one frame of the whole run is missing. Those are the windows' edges, and no loss between them.
func TestSurplusesAtWindowsEdgesAreNoLossBetweenThem(t *testing.T) {
	r := &report.Report{Plan: &plan.Plan{Procedure: plan.Procedure{Type: plan.TypeConstantLoad}},
		Totals: []report.Total{{From: "west", To: "east", Sent: units.Traffic{Packets: 28_087}, Returned: units.Traffic{Packets: 28_086}, Drained: true}}}
	for n, more := range []int64{0, 1, 3, 3, 1} {
		r.Windows = append(r.Windows, report.Window{Number: n + 1, Directions: []report.Direction{{From: "west", To: "east", EdgeFrames: 3,
			Sent: units.Traffic{Packets: 5_002}, Returned: units.Traffic{Packets: 5_002 + more}}}})
	}
	clean := procedure.Conclusion{Window: 0, Reason: report.TargetReached}
	if why := uncountedSentence(r, clean); why != "" {
		t.Error(why)
	}
	r.Totals[0].Returned.Packets -= 10
	if why := uncountedSentence(r, clean); why == "" {
		t.Error("eleven frames that no edge explains are not told")
	}
}
