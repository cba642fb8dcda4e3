package measure_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
)

// TestABurstHasAGapLessThanFrames: eleven frames a millisecond apart leave within 10 ms, and are sent at 1 000/s
// all the same. Of a single one nobody knows its rate.
func TestABurstHasAGapLessThanFrames(t *testing.T) {
	for frames, rate := range map[int64]int64{11: 1000, 1: 2000} {
		setup, span := counted{sent: frames, returned: frames, intended: 2 * kpps, change: func(readings []engine.Reading) {
			edit(readings, 0, func(p *engine.PortCounters) { p.Sending = time.Duration(frames-1) * time.Millisecond })
		}}.prepare()
		span.Bursts = []int64{frames}
		if d := judged(setup, span).Directions[0]; d.Offered.PacketsPerSecond != rate || d.Burst.Sending.Std() != time.Duration(frames)*time.Millisecond*time.Duration(min(frames-1, 1)) {
			t.Errorf("%d frames: %+v, %+v", frames, d.Offered, d.Burst)
		}
	}
}
