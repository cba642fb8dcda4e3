package frames_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// Of a device that frames take longer through than a load settles nothing is claimed, and it is said what to
// set. Frames that were lost at first are no sign of one.
func TestFramesThatTakeLongerThanALoadSettlesAreNoLoss(t *testing.T) {
	for _, flight := range []time.Duration{0, 100 * time.Millisecond, 450 * time.Millisecond, 550 * time.Millisecond,
		800 * time.Millisecond, 1200 * time.Millisecond, 2500 * time.Millisecond} {
		t.Run(flight.String(), func(t *testing.T) {
			r := scene(onDevice(func(d *sim.Device) { d.Delay = flight })).run(t)
			if flight < 500*time.Millisecond {
				if r.Ending != report.Completed || !r.Answer.Saturated ||
					!isNear(float64(r.Answer.Directions[0].Received.PacketsPerSecond), 10_000, 10) {
					t.Errorf("%s, %s: %+v", r.Ending, r.Message, r.Answer)
				}
				return
			}
			if r.Ending != report.Failed || r.Answer.Measured ||
				!strings.Contains(r.Message, "Set procedure.ramp.settleDuration to ") {
				t.Errorf("%s, %s: %+v", r.Ending, r.Message, r.Answer)
			}
		})
	}
	t.Run("lost at first", func(t *testing.T) {
		counted := 0
		s := scene(onDevice(func(d *sim.Device) {
			d.Trouble = sim.Trouble{Begin: 2500 * time.Millisecond, End: 4500 * time.Millisecond,
				Loss: units.One * 9 / 10}
		}))
		s.engine = func(_ int, e engine.Engine) engine.Engine { return stops{e, &counted} }
		r := s.run(t)
		if r.Ending != report.Completed || !r.Answer.Saturated ||
			!isNear(float64(r.Answer.Directions[0].Received.PacketsPerSecond), 10_000, 10) {
			t.Errorf("%s, %s: %+v\n%s", r.Ending, r.Message, r.Answer, trace(r))
		}
		if counted != 2 {
			t.Errorf("traffic was stopped %d times, want once to see what comes back, and at the end", counted)
		}
	})
}
