package frames_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

func TestTheResultOfARun(t *testing.T) {
	tier.Plain(t)
	tests := map[string]struct {
		scene     *scenario
		ending    report.Ending
		reason    report.Reason
		saturated bool
		confirmed bool
		lowest    int64 // received packets per second, each direction
		highest   int64
		message   string // in the report's or the result's message
	}{
		"a device with a limit is saturated at it": {
			scene(), report.Completed, report.LossAboveLimit, true, true, 9950, 10050,
			"lowest loss, window"},
		"the whole staircase and a hold lead to the same limit": {
			scene(toTheTop, hold(30)), report.Completed, report.LossAboveLimit, true, true, 9950, 10050, ""},
		"a target of twenty times the limit": {
			scene(target("200kpps")), report.Completed, report.LossAboveLimit, true, true, 9900, 10050, ""},
		"a device that carries all that is asked is not saturated": {
			scene(deviceLimit(0)), report.Completed, report.TargetReached, false, true, 19950, 20000,
			"all that was asked for"},
		"a limit just under the target": {
			scene(deviceLimit(19900 * units.PacketPerSecond)), report.Completed, report.LossAboveLimit, true, true,
			19750, 19950, ""},
		"a generator too weak for the device is a lower bound": {
			scene(onGenerator(func(g *sim.Generator) { g.MaxRate = 7 * kpps })), report.Completed,
			report.GeneratorLimited, false, true, 6950, 7000, "Lower bound"},
		"a generator too weak for the target but not for the device": {
			scene(onGenerator(func(g *sim.Generator) { g.MaxRate = 12 * kpps })), report.Completed,
			report.LossAboveLimit, true, true, 9900, 10050, ""},
		"what the generator drops itself is not the device's loss": {
			scene(deviceLimit(0), onGenerator(func(g *sim.Generator) {
				g.ReceiveDrops,
					g.ReceiveDropsFrom = units.One/10, 6*kpps
			})),
			report.Completed, report.GeneratorLimited, false, true, 5900, 6100, "Lower bound"},
		"a generator that always drops measures nothing, and blames nobody": {
			scene(deviceLimit(0), onGenerator(func(g *sim.Generator) { g.ReceiveDrops = units.One / 10 })),
			report.Completed, report.NoCleanLoad, false, false, 0, 0, "the generator itself dropped"},
		"a device that loses at any load has no clean window": {
			scene(onDevice(func(d *sim.Device) { d.Loss = units.One / 50 })), report.Completed, report.NoCleanLoad,
			false, false, 0, 0, "lost, limit 0.1 %"},
		"a device that returns nothing under load is found in the warm-up": {
			scene(onDevice(func(d *sim.Device) { d.Capacity = func(float64) float64 { return 0 } })),
			report.Completed, report.NotMeasured, false, false, 0, 0, "Nothing of the load came back west→east"},
		"a machine that loses what the Reference's limit lets through is a lower bound": {
			scene(deviceLimit(8*kpps), reference(10_000)), report.Completed, report.MachineLimited, false, true, 7800,
			8020, "this machine lost frames that the Reference's limit lets through"},
		"a Reference is saturated at its limit": {
			scene(reference(10_000)), report.Completed, report.LossAboveLimit, true, true, 9950, 10050, ""},
		"three replicas add up": {
			scene(replicas(3)), report.Completed, report.LossAboveLimit, true, true, 9950, 10050, ""},
		"a flat read time is no loss": {
			scene(onGenerator(func(g *sim.Generator) { g.ReadTakes = 2 * time.Millisecond })), report.Completed,
			report.LossAboveLimit, true, true, 9850, 10050, ""},
		"a device that is slow is not a device that loses": {
			scene(onDevice(func(d *sim.Device) { d.Delay = 40 * time.Millisecond })), report.Completed,
			report.LossAboveLimit, true, true, 9900, 10050, ""},
		"a trouble of six seconds in the staircase is not taken for the limit": {
			scene(trouble(14, 20.5)), report.Completed, report.LossAboveLimit, true, true, 9900, 10050, ""},
		"nor when the climb goes on to the top": {
			scene(toTheTop, trouble(14, 20.5)), report.Completed, report.LossAboveLimit, true, true, 9900, 10050, ""},
		"nor where there is no limit": {
			scene(deviceLimit(0), trouble(14, 20.5)), report.Completed, report.TargetReached, false, true, 19900, 20000,
			""},
		"a saved-up burst of half a second fools short windows, not the confirmation": {
			scene(onDevice(func(d *sim.Device) { d.Burst = 500 * time.Millisecond })), report.Completed,
			report.LossAboveLimit, true, true, 9900, 10550, ""},
		"a loopback gives the generator's own capacity": {
			scene(forwarding(plan.L2), deviceLimit(0), onGenerator(func(g *sim.Generator) { g.MaxRate = 15 * kpps }),
				func(s *scenario) { s.plan.DUT.Type = "Loopback" }),
			report.Completed, report.GeneratorLimited, false, true, 14900, 15000, "Lower bound"},
		"a link that flaps leaves a figure without a claim": {
			scene(fault(0, sim.Flap, 12)), report.Completed, report.NotHeld, false, false, 9950, 10050,
			"link west changed its state 2 times 11s after traffic began"},
		"counters that somebody clears cost a window": {
			scene(fault(0, sim.Cleared, 12)), report.Completed, report.LossAboveLimit, true, true, 9950, 10050, ""},
		"pause frames cost a window": {
			scene(fault(0, sim.Paused, 12)), report.Completed, report.LossAboveLimit, true, true, 9950, 10050, ""},
		"a generator that doesn't answer for three seconds costs a window": {
			scene(fault(0, sim.StallOnce, 12)), report.Completed, report.LossAboveLimit, true, true, 9950, 10050, ""},
		"a generator that restarts ends the run, and what was measured is kept": {
			scene(fault(0, sim.Restart, 15), unreachable(0)), report.GeneratorLost, report.Inconclusive, false, false,
			5000, 7000, "another session"},
		"a generator that stops answering ends the run": {
			scene(fault(0, sim.Stall, 15), unreachable(0)), report.GeneratorLost, report.Inconclusive, false, false,
			5000, 7000, "does not answer"},
		"a robbed port ends the run": {
			scene(fault(0, sim.Robbed, 15), unreachable(0)), report.GeneratorLost, report.Inconclusive, false, false,
			5000, 7000, "belongs to eve"},
		"one lost generator of two stops the other": {
			scene(replicas(2), fault(1, sim.Restart, 15), unreachable(1)), report.GeneratorLost, report.Inconclusive,
			false, false, 5000, 7000, "generator g1"},
		"an interrupted climb is a lower bound": {
			scene(interrupted(15)), report.Interrupted, report.Inconclusive, false, false, 4000, 6000, "Lower bound"},
		"an interrupted confirmation leaves the limit unconfirmed": {
			scene(interrupted(40)), report.Interrupted, report.LossAboveLimit, true, false, 9950, 10050, ""},
		"a climb that has no time left is a lower bound": {
			scene(func(s *scenario) { s.plan.ActiveDeadline = seconds(20) }), report.Completed,
			report.Inconclusive, false, false, 6000, 8000, "Lower bound"},
		"a search that has no time left ends with its bracket": {
			scene(func(s *scenario) { s.plan.ActiveDeadline = seconds(40) }), report.Completed,
			report.LossAboveLimit, true, false, 9950, 10050, ""},
		"a window that is held up until the deadline ends a climb with its lower bound": {
			scene(fault(0, sim.StallOnce, 10.25), func(s *scenario) { s.plan.ActiveDeadline = seconds(16.5) }),
			report.Completed, report.Inconclusive, false, false, 2990, 3010, "Lower bound"},
		"the deadline ends a run that has found nothing": {
			scene(func(s *scenario) { s.plan.ActiveDeadline = seconds(3) }), report.DeadlineExceeded,
			report.NotMeasured, false, false, 0, 0, "activeDeadline"},
		"an interruption before any load has nothing to say": {
			scene(interrupted(0.4)), report.Interrupted, report.NotMeasured, false, false, 0, 0, ""},
		"a port of somebody else's is not taken": {
			scene(onGenerator(func(g *sim.Generator) { g.Owner = "eve" })), report.Failed, report.NotMeasured, false,
			false, 0, 0, "belongs to \"eve\""},
		"a port of somebody else's is taken by force": {
			scene(onGenerator(func(g *sim.Generator) { g.Owner = "eve" }), func(s *scenario) { s.frames.Force = true }),
			report.Completed, report.LossAboveLimit, true, true, 9950, 10050, ""},
		"a next hop that nobody answers for": {
			scene(onGenerator(func(g *sim.Generator) { g.Unresolved = true })), report.Failed, report.NotMeasured,
			false, false, 0, 0, "nobody answers ARP or neighbour discovery for 198.18.0.1 on link west. If the " +
				"device is a bridge, set dut.forwarding: L2"},
		"a link that is down": {
			scene(func(s *scenario) { s.world.Links[1].Down = true }), report.Failed, report.NotMeasured, false, false,
			0, 0, "link east: port 1 of generator g0 has no link"},
		"percent of an unknown line rate": {
			scene(target("95%"), func(s *scenario) { s.world.Links[0].Virtual, s.world.Links[1].Virtual = true, true }),
			report.Failed, report.NotMeasured, false, false, 0, 0, "set the link's lineRate"},
		"a target above the line rate": {
			scene(target("4mpps")), report.Failed, report.NotMeasured, false, false, 0, 0,
			"more than link west carries"},
		"percent of the line rate": {
			scene(target("1%"), deviceLimit(10*kpps)), report.Completed, report.LossAboveLimit, true, true, 9900, 10050,
			""},
		"other people's traffic that could hide loss at any load is refused": {
			scene(background(500 * units.PacketPerSecond)), report.Failed, report.NotMeasured, false, false, 0, 0,
			"background traffic of 500.00 pps on east"},
		"other people's traffic that could hide loss voids the lower steps": {
			scene(background(8 * units.PacketPerSecond)), report.Completed, report.LossAboveLimit, true, true, 9900,
			10050, ""},
		"a single frame of other people's now and then doesn't matter": {
			scene(background(units.PacketPerSecond)), report.Completed, report.LossAboveLimit, true, true, 9900, 10050,
			""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rep := test.scene.run(t)
			got := rep.Answer
			defer func() {
				if t.Failed() {
					t.Log(trace(rep))
				}
			}()
			if rep.Ending != test.ending || got.Reason != test.reason || got.Saturated != test.saturated ||
				got.Confirmed != test.confirmed {
				t.Errorf("%s, %s, saturated %v, confirmed %v; want %s, %s, %v, %v", rep.Ending, got.Reason,
					got.Saturated, got.Confirmed, test.ending, test.reason, test.saturated, test.confirmed)
			}
			if got.Measured != (test.highest > 0) {
				t.Errorf("measured is %v", got.Measured)
			}
			for _, d := range got.Directions {
				if r := d.Received.PacketsPerSecond; r < test.lowest || r > test.highest {
					t.Errorf("%s→%s received %d pps, want %d to %d", d.From, d.To, r, test.lowest, test.highest)
				}
			}
			if words := rep.Message + "\n" + got.Message + "\n" + got.EvidenceText(); !strings.Contains(words, test.message) {
				t.Errorf("%q is not said in %q", test.message, words)
			}
		})
	}
}
