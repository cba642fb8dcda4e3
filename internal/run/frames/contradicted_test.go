package frames_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// later lets the device have another limit from a moment on.
func later(limits ...sim.LaterLimit) option {
	return onDevice(func(d *sim.Device) { d.Later = limits })
}

// alternating is a device that is slow for so long in each period.
func alternating(period, slow time.Duration, limit, slowLimit units.PacketRate) option {
	var limits []sim.LaterLimit
	for start := period; start < forever/4; start += period {
		limits = append(limits, sim.LaterLimit{Begin: start, Limit: slowLimit}, sim.LaterLimit{Begin: start + slow,
			Limit: limit})
	}
	return later(limits...)
}

// The result says in a sentence that the device carried a load at one time and not at another, and no figure that it
// contradicts stands without the time that it was shown for.
func TestADeviceThatChangesWhileItIsMeasured(t *testing.T) {
	tier.Plain(t)
	for name, c := range map[string]struct {
		procedure option
		device    option
		kind      report.ContradictionKind
		message   string
		limited   bool // the figure is limited in time
	}{
		"a hold of a device that becomes slower": {constantLoad("8kpps"),
			later(sim.LaterLimit{Begin: 25 * time.Second, Limit: 6 * kpps}), report.Slower,
			"the device carried less later", true},
		"a hold of a device that becomes slower late in a window": {constantLoad("8kpps"),
			later(sim.LaterLimit{Begin: 43 * time.Second, Limit: 6 * kpps}), report.Slower,
			"the device carried less later", true},
		"a hold of a device that becomes faster": {constantLoad("12kpps"),
			later(sim.LaterLimit{Begin: 25 * time.Second, Limit: 16 * kpps}), report.Faster,
			"the device carried more later", true},
		"a hold of a device that is slow now and then": {constantLoad("8kpps"),
			alternating(10*time.Second, 4*time.Second, 10*kpps, 7*kpps), report.NowAndThen,
			"at one time and not at another", true},
		"an overload of a device that becomes slower": {constantLoad("12500pps"),
			later(sim.LaterLimit{Begin: 25 * time.Second, Limit: 6 * kpps}), report.Slower,
			"carried 10.00 kpps of 12.50 kpps", true},
		"all that can be offered, as a device becomes slower": {maximumOfferedLoad(3),
			later(sim.LaterLimit{Begin: 12 * time.Second, Limit: 6 * kpps}), report.Slower,
			"the device carried less later", true},
		"all that can be offered, to a device that is slow at times": {maximumOfferedLoad(3), alternating(4*time.Second,
			2*time.Second, 10*kpps, 5*kpps), report.NowAndThen, "at one time and not at another", true},
		"a hold that a bucket carries for a while": {constantLoad("12kpps"),
			onDevice(func(d *sim.Device) { d.Burst = 5 * time.Second }), report.Slower, "it spent what it had saved up",
			true},
		"a ramp of a device that becomes slower at its top": {onRamp(func(*plan.Ramp) {}),
			later(sim.LaterLimit{Begin: 27 * time.Second, Limit: 7 * kpps}), report.Slower,
			"the device carried less later", false},
		"a ramp of a policer": {target("40kpps"),
			onDevice(func(d *sim.Device) { d.Burst = 5 * time.Second }), report.Slower,
			"it spent what it had saved up, 50,000 frames", false},
		"a curve of a policer": {frameLoss,
			onDevice(func(d *sim.Device) { d.Burst = 2 * time.Second }), report.LoadBefore,
			"as a policer does whose bucket holds 20,000 frames", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := scene(c.procedure, c.device).run(t)
			if len(r.Contradictions) != 2 || r.Contradictions[0].Kind != c.kind {
				t.Fatalf("%+v\n%s\n%s", r.Contradictions, r.Answer.EvidenceText(), trace(r))
			}
			if !strings.Contains(r.Answer.EvidenceText(), c.message) {
				t.Errorf("the result says %s", r.Answer.EvidenceText())
			}
			if limited := r.Answer.ShownFor > 0; limited != c.limited {
				t.Errorf("shown for %s: %s\n%+v", r.Answer.ShownFor.Std(), r.Answer.EvidenceText(), r.Contradictions)
			}
		})
	}
}

// Where traffic without a pause loses nothing of an overload, nothing shows what a device carries whose bucket is
// empty.
func TestALeastBoundIsNotMetByALimitOfTrialsAfterPauses(t *testing.T) {
	tier.Plain(t)
	atLeast := criterion(plan.Criterion{Name: "carries", Metric: "PacketsPerSecond", Direction: "Each", Min: "5000"})
	search := searching(plan.ClassifySequential, 1, 5)
	if r := scene(search, atLeast).run(t); r.Verdict.Outcome != report.Passed {
		t.Fatalf("%s: %+v", r.Answer.EvidenceText(), r.Verdict)
	}
	ends := lastTrialEnds(scene(search, atLeast).run(t))
	r := scene(search, atLeast, later(sim.LaterLimit{Begin: ends, Limit: 100 * kpps})).run(t)
	if r.Verdict.Outcome != report.Undecided || r.Answer.ShownFor == 0 {
		t.Errorf("%s, shown for %s: %+v\n%s", r.Answer.EvidenceText(), r.Answer.ShownFor.Std(), r.Verdict, trace(r))
	}
}

// The device becomes slower in the middle, is slow every other two seconds, or becomes slow in one direction only, in
// each procedure. A BackToBack's rate is of its first trial alone.
func TestADeviceThatChangesMeetsNoLeastBoundThatItMissesAtTimes(t *testing.T) {
	tier.Plain(t)
	atLeast := criterion(plan.Criterion{Name: "carries", Metric: "PacketsPerSecond", Direction: "Each", Min: "7700"})
	for name, procedure := range eachProcedure {
		if name == "BackToBack" {
			continue
		}
		start, end := healthy(t, procedure)
		slower := []sim.LaterLimit{{Begin: (start + end) / 2, Limit: 5 * kpps}}
		for kind, device := range map[string]option{
			"slower from the middle":       later(slower...),
			"slower in one direction":      func(s *scenario) { s.world.Directions[0].Device.Later = slower },
			"slow every other two seconds": alternating(4*time.Second, 2*time.Second, 10*kpps, 5*kpps),
			"loses 99 % of all from the middle on": onDevice(func(d *sim.Device) {
				d.Trouble = sim.Trouble{Begin: (start + end) / 2, End: forever, Loss: units.One * 99 / 100}
			}),
		} {
			if r := scene(procedure, atLeast, device).run(t); r.Verdict.Outcome == report.Passed {
				t.Errorf("%s, %s: %+v\n%s", name, kind, r.Verdict.Criteria, r.Answer.EvidenceText())
			}
		}
	}
}

// A device that was slow while one goal's load was held carried as much as another goal's load. The first goal claims
// no limit below that.
func TestAGoalIsNotRefutedByLossThatAnotherGoalsLoadContradicts(t *testing.T) {
	tier.Plain(t)
	search := searching(plan.ClassifySequential, 1, 5)
	var confirmations []report.Window
	for _, w := range scene(search).run(t).Windows {
		if w.Phase == report.Confirm {
			confirmations = append(confirmations, w)
		}
	}
	for n, w := range confirmations {
		r := scene(search, onDevice(func(d *sim.Device) {
			d.Trouble = sim.Trouble{Begin: w.Start.Std(), End: w.Start.Std() + 4*time.Second, Loss: units.One * 6 / 10}
		})).run(t)
		for _, g := range r.Answer.Goals {
			answer, _ := r.ForGoal(g.Name)
			for _, f := range figures.OfAnswer(answer, figures.PacketsPerSecond) {
				if limit := map[bool]float64{true: 20_000,
					false: 10_000}[f.Direction == report.AllDirections]; f.High != "" && f.High.Float() < 0.99*limit {
					t.Errorf("slow as load %d of %d is held: %s claims %s to %s of %s: %s", n+1, len(confirmations),
						g.Name, f.Low, f.High, f.Direction, g.Answer.EvidenceText())
				}
			}
		}
	}
}

// lastTrialEnds is when a run's last trial is over.
func lastTrialEnds(r *report.Report) (ends time.Duration) {
	for _, w := range r.Windows {
		if w.Took > 0 {
			ends = (w.Start + w.Took).Std()
		}
	}
	return ends
}

// Neither a limit nor a queue, neither loss of any load nor a device that loses more of less load, is a device that
// changes.
func TestADeviceThatStaysTheSameContradictsNothing(t *testing.T) {
	tier.Plain(t)
	for name, device := range map[string]option{
		"a limit":                   func(*scenario) {},
		"loss of any load":          onDevice(func(d *sim.Device) { d.Loss = units.One / 50 }),
		"frames are long under way": onDevice(func(d *sim.Device) { d.Delay = 200 * time.Millisecond }),
		"loss of a band of loads": onDevice(func(d *sim.Device) {
			d.Capacity = func(offered float64) float64 {
				if offered > 5_000 && offered < 6_000 {
					return 0.9 * offered
				}
				return min(offered, 10_000)
			}
		}),
		"less comes back of more": onDevice(func(d *sim.Device) {
			d.Capacity = func(offered float64) float64 { return min(offered, max(2_000, 20_000-offered)) }
		}),
	} {
		for procedure, variant := range eachProcedure {
			if r := scene(variant, device).run(t); len(r.Contradictions) > 0 {
				t.Errorf("%s, %s: %+v\n%s", name, procedure, r.Contradictions, trace(r))
			}
		}
	}
}

// The mean of a hold whose device became slower, or spent its bucket, is more than the device carries now.
func TestALeastBoundIsNotMetByWhatTheDeviceCarriedForAWhile(t *testing.T) {
	atLeast := func(n string) option {
		return criterion(plan.Criterion{Name: "carries", Metric: "PacketsPerSecond", Direction: "Each", Min: n})
	}
	slower := later(sim.LaterLimit{Begin: 25 * time.Second, Limit: 6 * kpps})
	for name, c := range map[string]struct {
		device, demand option
		want           report.Outcome
	}{
		"it became slower than that": {slower, atLeast("6500"), report.Undecided},
		"even later it carries that": {slower, atLeast("5900"), report.Passed},
		"it never carried that":      {slower, atLeast("8500"), report.DidFail},
		"it is slower than that at times": {alternating(10*time.Second, 4*time.Second, 10*kpps, 7*kpps),
			atLeast("7500"), report.Undecided},
		"overloaded, it became slower": {func(s *scenario) {
			s.plan.Procedure.ConstantLoad.Rate = unitstest.Rate("12500pps")
			slower(s)
		}, atLeast("6500"), report.Undecided},
		"it became faster": {later(sim.LaterLimit{Begin: 0, Limit: 7 * kpps},
			sim.LaterLimit{Begin: 15 * time.Second, Limit: 12 * kpps}), atLeast("6500"), report.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			if r := scene(constantLoad("8kpps"), c.device, c.demand).run(t); r.Verdict.Outcome != c.want {
				t.Errorf("%s: %+v\n%s", r.Verdict.Outcome, r.Verdict.Criteria, r.Answer.EvidenceText())
			}
		})
	}
}
