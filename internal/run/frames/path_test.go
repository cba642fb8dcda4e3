package frames_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// numbered has as many numbered frames sent as outside of tests.
func numbered(s *scenario) { s.frames.Numbered = 0 }

func TestNoLoadBeforeThePathIsProven(t *testing.T) {
	tests := map[string]struct {
		scene   *scenario
		proven  bool
		message string
	}{
		"a router": {scene(), true, "8 of 8 frames on east, source MAC 02:00:00:00:dd:01, TTL 63"},
		"a bridge": {scene(forwarding(plan.L2)), true,
			"8 of 8 frames on east, source MAC 02:00:00:00:00:00, TTL 64"},
		"a MAC rewriter": {scene(forwarding(plan.MACRewrite)), true,
			"8 of 8 frames on east, source MAC 02:00:00:00:dd:01, TTL 64"},
		"two replicas": {scene(replicas(2)), true, "16 of 16 frames"},
		"a device that is still resolving": {scene(onDevice(func(d *sim.Device) { d.Resolving = 3 })), true,
			"(attempt 2; before, frames were missing)"},
		"a device that never gets to it": {scene(onDevice(func(d *sim.Device) { d.Resolving = 23 })), false,
			"1 of 8 frames sent on west arrived on east"},
		"a looped cable": {scene(onDevice(func(d *sim.Device) { d.Bounced = true })), false,
			"came back on west, the port that sent them"},
		"a cable past the device": {scene(onDevice(func(d *sim.Device) { d.Bypassed = true })), false,
			"they bypassed the device"},
		"a bridge where a router should be": {scene(func(s *scenario) {
			forwarding(plan.L2)(s)
			s.plan.DUT.Forwarding = plan.L3
			s.plan.Links[0].DUT.MAC = "02:00:00:00:00:01"
			s.plan.Links[1].DUT.MAC = "02:00:00:00:00:00"
		}), false, "bypassed"},
		"a device that spoils payloads": {scene(onDevice(func(d *sim.Device) { d.Spoils = true })), false,
			"another payload than was sent"},
		"a router that keeps the TTL": {scene(onDevice(func(d *sim.Device) { d.KeepsTTL = true })), false,
			"TTL 64 instead of 63"},
		"a loop that repeats frames": {scene(onDevice(func(d *sim.Device) { d.RepeatsOneIn = 1 })), false,
			"more than once"},
		"a device that loses 1 in 100 and sends as many twice": {scene(numbered,
			onDevice(func(d *sim.Device) { d.RepeatsOneIn = 100 })), false,
			"248 of 250 numbered frames that were sent on west arrived on east, and 2 of them more than once: each " +
				"of these may stand for one that was lost"},
		"a device that sends 1 in 3000 twice": {scene(numbered,
			onDevice(func(d *sim.Device) { d.RepeatsOneIn = 3000 })), false, "and 1 of them more than once"},
		"a device that forwards nothing": {scene(onDevice(func(d *sim.Device) { d.Silent = true })), false,
			"none of 8 frames sent on west arrived on east or anywhere else"},
		"virtual functions whose port drops all": {scene(onDevice(func(d *sim.Device) { d.Silent = true }),
			onGenerator(func(g *sim.Generator) { g.Cautions = []string{"its port may drop frames"} })), false,
			"for the networks behind east. Note: its port may drop frames"},
		"a wrong MAC of the device": {scene(func(s *scenario) { s.plan.Links[0].DUT.MAC = "02:00:00:00:00:99" }), false,
			"none of 8 frames"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rep := test.scene.run(t)
			if len(rep.Path) != 2 || rep.Path[0].Proven != test.proven || !strings.Contains(rep.Path[0].Message,
				test.message) {
				t.Errorf("path: %+v\nwant proven %v: …%s…", rep.Path, test.proven, test.message)
			}
			if test.proven {
				return
			}
			if rep.Ending != report.PathNotProven || len(rep.Windows) > 0 ||
				!strings.Contains(rep.Message, test.message) || rep.Answer.Measured {
				t.Errorf("%s: %s, %d windows, %+v", rep.Ending, rep.Message, len(rep.Windows), rep.Answer)
			}
			if test.scene.final.Forwarded(0) != 0 {
				t.Error("load was sent over an unproven path")
			}
		})
	}
}

// A device that returns all numbered frames is asked faster and faster, within two seconds. A device that sends a
// frame twice is not asked further.
func TestNumberedFramesEndWhenEnoughWasSeen(t *testing.T) {
	for name, c := range map[string]struct {
		device option
		bound  time.Duration
		sent   int // of 3 000
		proven bool
	}{
		"all come back":   {func(*scenario) {}, 2 * time.Second, 3000, true},
		"one comes twice": {onDevice(func(d *sim.Device) { d.RepeatsOneIn = 100 }), 2 * time.Second, 300, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := scene(numbered, c.device).run(t)
			first, latest := time.Duration(0), time.Duration(0)
			for _, n := range r.Notes {
				switch {
				case strings.Contains(n.Message, "numbered frames"):
					latest = n.Time.Std()
				case strings.HasPrefix(n.Message, "path "):
					first = n.Time.Std()
				}
			}
			if latest-first > c.bound {
				t.Errorf("it took %s", latest-first)
			}
			for _, p := range r.Path {
				if p.Repeats == nil || p.Repeats.Sent > c.sent || p.Repeats.Sent < min(c.sent, 100) || c.proven &&
					p.Repeats.Received != 3000 || p.Proven != c.proven {
					t.Errorf("%+v, %+v", p, p.Repeats)
				}
			}
		})
	}
}
