package lifecycle

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// TestFramesOfABurstProveADeviceToo has frames that came back at an unknown rate.
func TestFramesOfABurstProveADeviceToo(t *testing.T) {
	burst := func(returned int64) report.Direction {
		return report.Direction{Burst: &report.SentBurst{Frames: 100}, Returned: units.Traffic{Packets: returned}}
	}
	for name, c := range map[string]struct {
		directions []report.Direction
		want       bool
	}{
		"a rate in each direction": {[]report.Direction{{Received: report.Flow{PacketsPerSecond: 1}},
			{Received: report.Flow{PacketsPerSecond: 1}}}, true},
		"no rate in one":            {[]report.Direction{{Received: report.Flow{PacketsPerSecond: 1}}, {}}, false},
		"a burst in each direction": {[]report.Direction{burst(90), burst(1)}, true},
		"a burst that did not come": {[]report.Direction{burst(90), burst(0)}, false},
		"frames, though at no rate": {[]report.Direction{{Returned: units.Traffic{Packets: 5}}}, false},
	} {
		if got := forwardedToTheEnd(&report.Report{Windows: []report.Window{{},
			{Directions: c.directions}}}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
