package procedure

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// NothingCameBack says of a warm-up in which direction every frame was lost, so that nothing can be measured; empty: in none.
func NothingCameBack(warmUp report.Window) string {
	for _, d := range warmUp.Directions {
		if d.Sent.Packets > 0 && d.Returned.Packets == 0 {
			return fmt.Sprintf("warm-up: none of %d frames came back from %s to %s", d.Sent.Packets, d.From, d.To)
		}
	}
	return ""
}

// Claim is the reason of an answer that nobody searched for, which decides what may be claimed of it: where frames were surely lost above the limit, what came back
// is what the device makes of that load, and the reason is the procedure's own. Else the device may do more, and either the generator or the load that was
// asked for was the end.
func Claim(answer []report.Measured, limit units.Ratio, lossy report.Reason) report.Reason {
	reason := report.ReachedTarget
	for _, d := range answer {
		switch {
		case d.LossRatioMin > limit:
			return lossy
		case 100*d.Offered.PacketsPerSecond < 99*d.Intended.PacketsPerSecond:
			reason = report.GeneratorLimited
		}
	}
	return reason
}

// Repeated is the reason of a step that repeats the one of this window.
func Repeated(w report.Window) string {
	return fmt.Sprintf("window %d is repeated, it says nothing: %s", w.Number, w.Reason)
}
