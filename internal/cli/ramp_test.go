package cli

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// rampOver is the Report of a ramp that is asked for by a command line, over a device in memory. A reading of
// the generator's counters takes so long.
func rampOver(t *testing.T, device sim.Device, reading time.Duration, line string) (r *report.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cmd := rampCommand(func(ctx context.Context, o rampOptions) error {
			p, err := rampPlan(t.Context(), o)
			if err != nil {
				return err
			}
			world := sim.Config{Now: time.Now, Links: []sim.Link{{Name: "port0", Virtual: true},
				{Name: "port1", Virtual: true}}, Generators: []sim.Generator{{ReadTakes: reading}}}
			for i, d := range p.Directions {
				world.Directions = append(world.Directions, sim.Direction{From: i, To: 1 - i, Mix: d.Mix,
					Device: device})
			}
			g := frames.Generator{Name: "trex", Engine: sim.New(world).Generator(0),
				PortOfLink: map[string]int{"port0": 0, "port1": 1}}
			r = runner.Run(ctx, p, frames.New([]frames.Generator{g}, frames.Options{Numbered: 100,
				PaceEvery: 250 * time.Millisecond}), runner.Options{Producer: producer(), ForceHint: "--force"})
			return nil
		})
		cmd.SetArgs(publishedFlags(append([]string{"ramp"}, strings.Fields(line)...))[1:])
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return r
}

// fieldOfALoadTest is a field that a LoadTest has, and no command line of ramp's.
var fieldOfALoadTest = regexp.MustCompile(
	`maxLossRatio|lineRate\b|\b(spec|procedure|ramp|dut|generator|links|traffic)\.[a-z]`)

// saysNoField checks that nothing that people read names a field that they can't set.
func saysNoField(t *testing.T, r *report.Report) {
	t.Helper()
	var stderr strings.Builder
	if err := render.Text(&stderr, r); err != nil {
		t.Fatal(err)
	}
	stderr.WriteString(r.Message + "\n" + r.Answer.Message)
	for _, n := range r.Notes {
		stderr.WriteString("\n" + n.Message)
	}
	for _, w := range r.Windows {
		stderr.WriteString("\n" + w.Reason)
	}
	for line := range strings.Lines(stderr.String()) {
		if field := fieldOfALoadTest.FindString(line); field != "" {
			t.Errorf("it names %q, which ramp has not: %s", field, line)
		}
	}
}

func TestARampFindsTheLimitBetweenItsSteps(t *testing.T) {
	tier.Plain(t)
	for _, limit := range []int64{3_111, 7_300, 12_345} {
		for _, line := range []string{
			"-p udp_1pkt_simple_bdir.py --line-rate 1gbps -wm 500pps -wd 2 -rt 1 -rd 60 -hd 5",
			"-p udp_1pkt_simple_bdir.py --line-rate 10gbps -wm 500pps -wd 2 -rt 0.1 -rd 60 -hd 5",
			"-p imix.py --line-rate 1gbps -wm 500pps -wd 2 -rt 4 -rd 40 -hd 5",
			"-p imix.py --line-rate 100mbps -wm 500pps -wd 2 -rt 100 -rd 100 -hd 10",
		} {
			device := sim.Device{Limit: units.PacketRate(limit) * units.PacketPerSecond, Burst: 10 * time.Millisecond}
			r := rampOver(t, device, 2*time.Millisecond, line)
			saysNoField(t, r)
			if !r.Answer.Measured || !r.Answer.Saturated || !r.Answer.Confirmed {
				t.Errorf("limit %d, %s: %s: %s", limit, line, r.Answer.Reason, r.Answer.Message)
				continue
			}
			for _, d := range r.Answer.Directions {
				if got := d.Received.PacketsPerSecond; got < limit-limit/100 || got > limit {
					t.Errorf("limit %d, %s: read as %d: %s", limit, line, got, r.Answer.Message)
				}
			}
			limit := procedures.New(r.Plan.Procedure).Bound().Whole()
			if took := r.Finished.Sub(r.Started); took > limit {
				t.Errorf("limit %d, %s: it took %s, and was to take %s at most", limit, line, took, limit)
			}
			if v := verify.Report(r, r.Producer); v.Outcome != verify.Verified {
				t.Errorf("limit %d, %s: %v", limit, line, v.Findings())
			}
		}
	}
}

// Windows of half a second have edges that hide more than the limit. The hold at the target loses frames
// whatever the limit is, and says nothing about the load that looked clean.
func TestARampOfFineStepsWithoutRefinementIsALowerBoundAndNotNothing(t *testing.T) {
	tier.Plain(t)
	device := sim.Device{Limit: 7_300 * units.PacketPerSecond, Burst: 10 * time.Millisecond}
	for _, line := range []string{
		"-p imix.py --line-rate 100mbps -wm 500pps -wd 2 -rt 100 -rd 100 -hd 10 --refine-to 0",
		"-p udp_1pkt_simple_bdir.py --line-rate 1gbps -wm 500pps -wd 2 -rt 1 -rd 10 -hd 10 --refine-to 0",
	} {
		r := rampOver(t, device, 2*time.Millisecond, line)
		saysNoField(t, r)
		if !r.Answer.Measured || r.Answer.Confirmed {
			t.Errorf("%s: %s: %s", line, r.Answer.Reason, r.Answer.Message)
		}
		for _, d := range r.Answer.Directions {
			if got := d.Received.PacketsPerSecond; got < 5_000 || got > 7_300 {
				t.Errorf("%s: read as %d: %s", line, got, r.Answer.Message)
			}
		}
	}
}
