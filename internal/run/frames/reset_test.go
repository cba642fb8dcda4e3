package frames_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// reset has the device reset before each trial, which takes so long.
func reset(takes time.Duration) option {
	return func(s *scenario) {
		s.plan.Procedure.Reset = &plan.Reset{Timeout: seconds(5)}
		s.reset = func(w *sim.World) func(context.Context) (string, error) {
			return func(context.Context) (string, error) {
				time.Sleep(takes)
				w.Reset()
				return "tables emptied", nil
			}
		}
	}
}

// fills is a device whose table has room for the frames of two trials or so. Then it forwards half as much.
func fills(d *sim.Device) { d.Table = sim.Table{Room: 25_000, Full: 5 * kpps} }

// A table that one trial fills spoils the next. Without a reset the search finds what the full table forwards, and
// with one the device's limit.
func TestAResetKeepsATrialFromSpoilingTheNext(t *testing.T) {
	for name, c := range map[string]struct {
		options []option
		lowest  float64 // of the NDR's lower bound, both directions together
		highest float64
	}{
		"without": {[]option{onDevice(fills)}, 9_900, 10_100},
		"with":    {[]option{onDevice(fills), reset(300 * time.Millisecond)}, 19_890, 20_202},
		"with, of a device that learns anew": {[]option{onDevice(fills),
			onDevice(func(d *sim.Device) { d.Relearns = 20 }), reset(0)}, 19_890, 20_202},
		"with, of two generators": {[]option{onDevice(fills), replicas(2), reset(0)}, 19_890, 20_202},
		"with, of a device that delays": {[]option{onDevice(fills),
			onDevice(func(d *sim.Device) { d.Delay = 200 * time.Millisecond }), reset(0)}, 19_890, 20_202},
		"with, of a device that delays for long": {[]option{onDevice(fills),
			onDevice(func(d *sim.Device) { d.Delay, d.MarkedDelay = 800*time.Millisecond, 800*time.Millisecond }),
			reset(0)}, 19_890, 20_202},
		"with, of a device whose table is large": {[]option{reset(0)}, 19_890, 20_202},
	} {
		t.Run(name, func(t *testing.T) {
			r := scene(append([]option{searching(plan.ClassifyRFC9971, 1, 5)}, c.options...)...).run(t)
			if r.Ending != report.Completed {
				t.Fatalf("%s: %s", r.Ending, r.Message)
			}
			found, _, irregular := reporttest.Bounds(r, "NDR")
			if found < c.lowest || found > c.highest {
				t.Errorf("NDR is %.0f (irregular: %t), want %.0f to %.0f", found, irregular, c.lowest, c.highest)
			}
		})
	}
}

func TestEachTrialHasItsReset(t *testing.T) {
	s := scene(frameLoss, reset(300*time.Millisecond))
	var latest *report.Window
	s.options.Progress = func(p runner.Progress) {
		if p.Window != latest && p.Message == "resetting the device" {
			t.Errorf("window %d is over, and the device is said to be reset still", p.Window.Number)
		}
		latest = p.Window
	}
	r := s.run(t)
	if r.Ending != report.Completed || len(r.Windows) < 5 {
		t.Fatalf("%s: %s, %d windows", r.Ending, r.Message, len(r.Windows))
	}
	for _, w := range r.Windows {
		if w.Reset == nil || w.Reset.Action != "tables emptied" || w.Reset.Duration.Std() != 300*time.Millisecond ||
			w.Reset.Forwards <= 0 {
			t.Errorf("window %d (%s): %+v", w.Number, w.Phase, w.Reset)
		}
	}
	isNoted := func(n report.Note) bool {
		return strings.Contains(n.Message, "the device was reset before window 2 in 300ms (tables emptied), and "+
			"forwarded again after ")
	}
	if !slices.ContainsFunc(r.Notes, isNoted) {
		t.Errorf("%v", r.Notes)
	}
	for _, w := range scene(frameLoss).run(t).Windows {
		if w.Reset != nil {
			t.Errorf("nobody asked for a reset, and window %d tells of one: %+v", w.Number, w.Reset)
		}
	}
}

// What passes between two trials is in no trial, and in no total. Totals are the trials' frames and no others.
func TestLearningFramesCountNowhere(t *testing.T) {
	r := scene(frameLoss, reset(0), background(3*units.PacketPerSecond)).run(t)
	for i, total := range r.Totals {
		var sent, returned int64
		for _, w := range r.Windows {
			sent, returned = sent+w.Directions[i].Sent.Packets, returned+w.Directions[i].Returned.Packets
		}
		between := int64(len(r.Windows)) // background of the pauses that are not a reset's
		if total.Sent.Packets != sent || total.Returned.Packets < returned || total.Returned.Packets > returned+
			between {
			t.Errorf("%s→%s: totals are %d sent, %d back; the trials' are %d and %d", total.From, total.To,
				total.Sent.Packets, total.Returned.Packets, sent, returned)
		}
	}
}

func TestAResetThatFailsEndsTheRun(t *testing.T) {
	failing := func(fault func(context.Context, int) error) option {
		return func(s *scenario) {
			reset(0)(s)
			s.reset = func(w *sim.World) func(context.Context) (string, error) {
				resets := 0
				return func(ctx context.Context) (string, error) {
					resets++
					w.Reset()
					return "tables emptied", fault(ctx, resets)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		option  option
		ending  report.Ending
		windows int
		message string
	}{
		"it fails": {failing(func(_ context.Context, n int) error {
			if n == 3 {
				return errors.New("conntrack -F: exit status 1")
			}
			return nil
		}), report.Failed, 2, "reset the device before window 3: conntrack -F: exit status 1; without a reset the " +
			"trial would depend on the one before"},
		"it doesn't end": {failing(func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }),
			report.Failed, 0, "reset the device before window 1: context deadline exceeded"},
		"the device doesn't forward afterwards": {func(s *scenario) {
			reset(0)(s)
			onDevice(func(d *sim.Device) { d.Relearns = 1000 })(s)
		}, report.PathNotProven, 0, "the path west→east is not proven: 5s after the device's reset before window 1 " +
			"(tables emptied): none of 8 frames"},
		"nobody can": {func(s *scenario) {
			reset(0)(s)
			s.reset = nil
		}, report.Failed, 0, "this run has no way to do it"},
	} {
		t.Run(name, func(t *testing.T) {
			r := scene(frameLoss, c.option).run(t)
			if r.Ending != c.ending || len(r.Windows) != c.windows || !strings.Contains(r.Message, c.message) {
				t.Errorf("%s after %d windows: %s", r.Ending, len(r.Windows), r.Message)
			}
		})
	}
}
