package figures

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// TestJitterIsOfAllFrames: frames without a time may have varied by any.
func TestJitterIsOfAllFrames(t *testing.T) {
	m, _ := MetricOf(LatencyJitter)
	for name, c := range map[string]struct {
		latency report.Latency
		low     report.Number
		missing string
	}{
		"all have a time": {report.Latency{Frames: 100, JitterNanoseconds: new(int64(50))}, "50", ""},
		"merged":          {report.Latency{Frames: 100, Merged: 20, JitterNanoseconds: new(int64(50))}, "", "20 of 120 frames have no time, and could change it"},
		"uncounted":       {report.Latency{Frames: 100, Uncounted: 3, JitterNanoseconds: new(int64(50))}, "", "3 of 100 frames have no time, and could change it"},
		"nobody compared": {report.Latency{Frames: 100}, "", "no two frames followed each other, or their times were not compared"},
	} {
		if low, high, missing := m.latency(c.latency); low != c.low || high != c.low || missing != c.missing {
			t.Errorf("%s: %s to %s, %q", name, low, high, missing)
		}
	}
}
