package frames_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// withPause is a scene of windows of a second at 8 kpps, before a device that keeps frames from a moment on,
// for so long.
func withPause(start, lasts time.Duration, options ...option) *scenario {
	return scene(append(options, constantLoad("8kpps"), func(s *scenario) {
		s.plan.Procedure.ConstantLoad.Duration, s.plan.Procedure.ConstantLoad.Window = seconds(6), seconds(1)
		s.frames.PaceEvery = 5 * time.Millisecond // paused keeps frames from the first reading on
		s.engine = func(_ int, e engine.Engine) engine.Engine {
			return &paused{Engine: e, start: start, end: start + lasts, withheld: map[int]units.Traffic{}}
		}
	})...)
}

// A device that keeps frames for a few milliseconds as a window ends has lost none of them, and the window that
// is looked at again says so.
func TestFramesThatAreKeptAsAWindowEndsAreNotLost(t *testing.T) {
	tier.Plain(t)
	extended := 0
	for k := range 50 {
		start := 9*time.Second + time.Duration(k)*20*time.Millisecond
		for _, w := range withPause(start, 30*time.Millisecond).run(t).Windows {
			if w.Quality == report.Lossy {
				t.Errorf("frames were kept from %s on; window %d is %s: %s", start, w.Number, w.Quality, w.Reason)
			}
			if took := w.Duration.Std(); took > 1040*time.Millisecond && took < 1060*time.Millisecond {
				extended++
			}
		}
	}
	if extended == 0 {
		t.Error("no window was looked at again, so no frame was kept as one ended")
	}
}

// What doesn't come back a moment later is lost, and a window that lost more than a moment may keep is not
// looked at again.
func TestALossIsStillLostAMomentLater(t *testing.T) {
	for name, c := range map[string]struct {
		loss units.Ratio
		took time.Duration
	}{
		"two in a thousand": {units.One / 500, 1050 * time.Millisecond},
		"one in ten":        {units.One / 10, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range withPause(0, 0, onDevice(func(d *sim.Device) { d.Loss = c.loss })).run(t).Windows {
				if w.Phase == report.WarmUp {
					continue
				}
				if deviation := (w.Duration.Std() - c.took).Abs(); w.Quality != report.Lossy ||
					deviation > 10*time.Millisecond {
					t.Errorf("window %d lasted %s and is %s: %s", w.Number, w.Duration.Std(), w.Quality, w.Reason)
				}
			}
		})
	}
}
