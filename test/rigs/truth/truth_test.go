package truth

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// measured is a Report of one direction whose only window has the given packets/s.
func measured(packetsPerSecond int64, change func(*report.Report)) *report.Report {
	flow := report.Flow{PacketsPerSecond: packetsPerSecond}
	m := report.Direction{From: "west", To: "east", Offered: flow, Received: flow, Quality: report.Good}
	r := &report.Report{Ending: report.Completed,
		Plan: &plan.Plan{Procedure: plan.Procedure{MaxLossRatio: units.One / 1000}},
		Windows: []report.Window{{Number: 1, Duration: plan.Duration(5 * time.Second), Quality: report.Good,
			Directions: []report.Direction{m}}},
		Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Message: "saturated", Window: 1, Directions: []report.Direction{m}, Claim: report.Claim{Saturated: true, Confirmed: true, Resolution: units.One / 200}}}
	change(r)
	return r
}

func TestWhatAReportMayClaim(t *testing.T) {
	device := Device{Limits: map[string]int64{"west→east": 10_000}, Burst: 20 * time.Millisecond}
	asItIs := func(*report.Report) {}
	bound := func(reason report.Reason) func(*report.Report) {
		return func(r *report.Report) { r.Answer.Saturated, r.Answer.Reason = false, reason }
	}
	for _, c := range []struct {
		name  string
		r     *report.Report
		fault string // "": nothing is wrong
	}{
		{"the limit", measured(10_000, asItIs), ""},
		{"a little below it, within the resolution", measured(9_960, asItIs), ""},
		{"the limit and what the device saved up", measured(10_045, asItIs), ""},
		{"a limit that is 1 % too low", measured(9_900, asItIs), "are said to be lost at 9950"},
		{"a limit that is 1 % too high", measured(10_100, asItIs), "10100 packets/s are said to have come back"},
		{"a lower bound", measured(4_000, bound(report.GeneratorLimited)), ""},
		{"a lower bound above the limit", measured(10_100, bound(report.GeneratorLimited)),
			"10100 packets/s are said to have come back"},
		{"a load of which not every window could be judged", measured(4_000, bound(report.NotHeld)), ""},
		{"a lower bound above which trials after a pause pass as bursts", measured(9_900, bound(report.BurstsOnly)),
			""},
		{"a lower bound that says that the device is the limit", measured(4_000, bound(report.LossAboveLimit)),
			"a lower bound for the reason LossAboveLimit"},
		{"another direction", measured(10_000, func(r *report.Report) { r.Answer.Directions[0].From = "north" }),
			"north→east is no direction"},
		{"a run that failed", measured(10_000, func(r *report.Report) { r.Ending = report.Failed }), "ending Failed"},
		{"loss where the device loses nothing", measured(5_000, func(r *report.Report) {
			bound(report.Inconclusive)(r)
			r.Windows[0].Directions[0].Quality = report.Lossy
		}), "is Lossy at 5000 packets/s"},
		{"no figure, and a window that could be judged",
			measured(5_000, func(r *report.Report) { r.Answer.Measured = false }),
			"there is no figure, and window 1 is Good"},
		{"no figure, as the only window says nothing", measured(5_000, func(r *report.Report) {
			r.Answer.Measured, r.Windows[0].Quality, r.Windows[0].Reason = false, report.Invalid,
				"a generator sent in bursts"
		}), ""},
		{"no figure, as a load that looked clean lost frames when it was held", measured(5_000, func(r *report.Report) {
			window := r.Windows[0]
			window.Phase, window.Quality = report.Confirm, report.Lossy
			r.Answer.Measured, r.Answer.Reason, r.Windows = false, report.Inconclusive, append(r.Windows, window)
		}), ""},
		{"no figure, as nothing is known, and no held load lost frames", measured(5_000, func(r *report.Report) {
			r.Answer.Measured, r.Answer.Reason = false, report.Inconclusive
		}), "there is no figure, and window 1 is Good"},
		{"no figure and no window", measured(5_000,
			func(r *report.Report) { r.Answer.Measured, r.Windows = false, nil }), "no window says why"},
	} {
		got := strings.Join(device.Faults(c.r), "; ")
		if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
}

func TestFramesThatANodeHoldsUpAreNoClaim(t *testing.T) {
	inCluster := Device{Limits: map[string]int64{"west→east": 10_000}, Stall: 50 * time.Millisecond}
	for missing, says := range map[int64]string{250: "", 251: "is Lossy at 5000 packets/s"} {
		r := measured(9_990, func(r *report.Report) {
			flow := report.Flow{PacketsPerSecond: 5_000}
			w := report.Window{Number: 2, Quality: report.Lossy,
				Directions: []report.Direction{{From: "west", To: "east", Quality: report.Lossy, Intended: flow,
					Offered: flow,
					Sent:    units.Traffic{Packets: 2_500}, LossRatioMin: units.RatioOf(missing, 2_500)}}}
			r.Windows = append(r.Windows, w)
		})
		if got := strings.Join(inCluster.Faults(r), "; "); (says == "") != (got == "") || !strings.Contains(got, says) {
			t.Errorf("%d frames of 5000/s are missing: %q, want %q", missing, got, says)
		}
	}
}

// A device that loses more than is allowed of any load has no limit to find. A short window without loss is chance,
// and no figure is the truth.
func TestNoFigureOfADeviceThatAlwaysLoses(t *testing.T) {
	unmeasured := measured(5_000, func(r *report.Report) { r.Answer.Measured = false })
	if faults := (Device{Limits: map[string]int64{"west→east": 0}}).Faults(unmeasured); len(faults) > 0 {
		t.Error(faults)
	}
}

// givenLoads is a Report of trials of a second at these loads, of which so many packets came back. The first trial is
// the answer.
func givenLoads(kind string, trials [][2]int64, change func(*report.Report)) *report.Report {
	r := &report.Report{Ending: report.Completed, Plan: &plan.Plan{Procedure: plan.Procedure{Type: kind,
		MaxLossRatio: units.One / 1000}},
		Answer: report.Answer{Measured: true, Reason: report.TargetReached, Message: "measured", Window: 1, Claim: report.Claim{Confirmed: true}}}
	for i, t := range trials {
		sent, returned := t[0], t[1]
		lost := units.RatioOf(sent-returned, sent)
		m := report.Direction{From: "west", To: "east", Quality: report.Good,
			Intended: report.Flow{PacketsPerSecond: sent}, Offered: report.Flow{PacketsPerSecond: sent},
			Received: report.Flow{PacketsPerSecond: returned}, Sent: units.Traffic{Packets: sent},
			Returned: units.Traffic{Packets: returned}, LossRatio: lost, LossRatioMin: lost}
		if lost > r.Plan.Procedure.MaxLossRatio {
			m.Quality = report.Lossy
		}
		r.Windows = append(r.Windows, report.Window{Number: i + 1, Phase: report.Trial,
			Load: units.RatioOf(sent, trials[0][0]), Duration: plan.Duration(time.Second),
			Quality: m.Quality, Directions: []report.Direction{m}})
		if kind == plan.TypeFrameLoss {
			r.Answer.Figures = append(r.Answer.Figures, figures.OfWindow(r, r.Windows[i],
				report.Answer{Claim: report.Claim{Confirmed: true}})...)
		}
	}
	r.Answer.Directions = r.Windows[0].Directions
	if r.Windows[0].Quality == report.Lossy {
		r.Answer.Reason = map[string]report.Reason{plan.TypeConstantLoad: report.LoadHeld,
			plan.TypeFrameLoss: report.CurveMeasured}[kind]
	}
	change(r)
	r.Figures = figures.Of(r)
	return r
}

func TestWhatMayBeClaimedOfLoadsThatAreGiven(t *testing.T) {
	device := Device{Limits: map[string]int64{"west→east": 10_000}, Burst: 20 * time.Millisecond}
	asItIs := func(*report.Report) {}
	for _, c := range []struct {
		name  string
		r     *report.Report
		fault string // "": nothing is wrong
	}{
		{"what the device forwards of more than it can", givenLoads(plan.TypeConstantLoad, [][2]int64{{20_000, 10_000}},
			asItIs), ""},
		{"and what it saved up", givenLoads(plan.TypeConstantLoad, [][2]int64{{20_000, 10_200}}, asItIs), ""},
		{"all of what it can forward", givenLoads(plan.TypeConstantLoad, [][2]int64{{8_000, 8_000}}, asItIs), ""},
		{"more than it can forward", givenLoads(plan.TypeConstantLoad, [][2]int64{{20_000, 11_000}}, asItIs),
			"PacketsPerSecond is said to be from 11000"},
		{"less loss than there is", givenLoads(plan.TypeConstantLoad, [][2]int64{{20_000, 11_000}}, asItIs),
			"LossRatio is said to be from 0.45"},
		{"less than it forwards", givenLoads(plan.TypeConstantLoad, [][2]int64{{20_000, 9_500}}, asItIs),
			"PacketsPerSecond is said to be from 9500 to 9500"},
		{"more loss than there is", givenLoads(plan.TypeConstantLoad, [][2]int64{{20_000, 9_500}}, asItIs),
			"LossRatio is said to be from 0.525"},
		{"less than it forwards, as the generator paused", givenLoads(plan.TypeConstantLoad,
			[][2]int64{{20_000, 9_500}}, func(r *report.Report) {
				m := &r.Answer.Directions[0]
				m.Sent.Packets, m.Offered.PacketsPerSecond = 19_000, 19_000
				m.LossRatio, m.LossRatioMin = units.One/2, units.One/2
			}), ""},
		{"loss where the device loses nothing", givenLoads(plan.TypeConstantLoad, [][2]int64{{8_000, 7_900}}, asItIs),
			"the reason is LoadHeld, and the device forwards all of that load"},
		{"a limit", givenLoads(plan.TypeConstantLoad, [][2]int64{{20_000, 10_000}},
			func(r *report.Report) { r.Answer.Saturated = true }), "nothing searched for one"},
		{"all of more than it can, as a lower bound", givenLoads(plan.TypeConstantLoad, [][2]int64{{20_000, 20_000}},
			asItIs), "PacketsPerSecond is said to be from 20000 to any"},
		{"a curve", givenLoads(plan.TypeFrameLoss, [][2]int64{{20_000, 10_000}, {12_500, 10_100}, {8_000, 8_000}},
			asItIs), ""},
		{"a curve with a load that lost too little", givenLoads(plan.TypeFrameLoss, [][2]int64{{20_000, 10_000},
			{12_500, 12_400}, {8_000, 8_000}}, asItIs), "window 2, west→east: PacketsPerSecond"},
		{"a curve with a load that lost too much", givenLoads(plan.TypeFrameLoss, [][2]int64{{20_000, 10_000},
			{12_500, 10_000}, {8_000, 7_900}}, asItIs), "window 3, west→east is Lossy at 8000"},
		{"a curve without one of its loads", givenLoads(plan.TypeFrameLoss, [][2]int64{{20_000, 10_000},
			{8_000, 8_000}}, func(r *report.Report) {
			r.Answer.Figures = r.Answer.Figures[:len(r.Answer.Figures)/2]
		}), "there is no figure PacketsPerSecond at load 0.4"},
		{"no figure, though a trial counts", givenLoads(plan.TypeFrameLoss, [][2]int64{{20_000, 10_000}},
			func(r *report.Report) { r.Answer.Measured = false }), "there is no figure, and window 1 is Lossy"},
		{"no figure, and only the warm-up counts", givenLoads(plan.TypeFrameLoss, [][2]int64{{20_000, 10_000}},
			func(r *report.Report) {
				r.Answer.Measured, r.Windows[0].Phase = false, report.WarmUp
			}), ""},
	} {
		got := strings.Join(device.Faults(c.r), "; ")
		if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
}

// limitsApart is a Report of two directions that climbed together until one lost frames, at 4 000 packets/s.
func limitsApart(west, east *report.DirectionLimit) *report.Report {
	return measured(4_000, func(r *report.Report) {
		reverse := r.Answer.Directions[0]
		reverse.From, reverse.To = "east", "west"
		r.Answer.Directions = append(r.Answer.Directions, reverse)
		r.Answer.Directions[0].Limit, r.Answer.Directions[1].Limit = west, east
	})
}

func TestEachDirectionIsHeldAgainstItsOwnLimit(t *testing.T) {
	device := Device{Limits: map[string]int64{"west→east": 10_000, "east→west": 4_000}}
	limit := &report.DirectionLimit{Reason: report.LossAboveLimit, Saturated: true, Window: 1,
		Resolution: units.One / 200}
	bound := &report.DirectionLimit{Reason: report.OtherDirection, Window: 1}
	for _, c := range []struct {
		name  string
		r     *report.Report
		fault string // "": nothing is wrong
	}{
		{"a limit for both, as the first that lost frames set the load of both", limitsApart(nil, nil),
			"west→east: frames are said to be lost at 4020 packets/s, and the device forwards 10000"},
		{"a limit for each", limitsApart(limit, limit), "west→east: frames are said to be lost at 4020"},
		{"a limit, and a bound", limitsApart(bound, limit), ""},
		{"a bound for each", limitsApart(bound, bound), ""},
		{"a bound that has no reason", limitsApart(&report.DirectionLimit{Window: 1}, limit),
			"west→east: a lower bound for the reason"},
		{"a limit of no window", limitsApart(&report.DirectionLimit{Saturated: true}, limit),
			"west→east: its figures are of window 0"},
	} {
		got := strings.Join(device.Faults(c.r), "; ")
		if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
}

// TestTheLossRatioAtALimit has a device that loses one frame in 500 of any load, and no less beside a limit.
func TestTheLossRatioAtALimit(t *testing.T) {
	device := Device{Limits: map[string]int64{"west→east": 10_000},
		Forwards: func(_ string, load float64) float64 { return min(load*0.998, 10_000) }}
	for _, c := range []struct {
		name, low, high, fault string
	}{
		{"an interval that the loss is within", "0.001", "0.003", ""},
		{"at least less than that", "0", "", ""},
		{"less than there is", "0", "0.0001", "a loss of 0 to 0.0001 is claimed at 10000 packets/s"},
		{"more than there is", "0.05", "", "a loss of 0.05 to any is claimed"},
	} {
		r := measured(10_000, func(r *report.Report) {
			r.Answer.Directions[0].Sent.Packets = 50_000
			r.Figures = []report.Figure{{Metric: figures.LossRatio, Direction: "west→east", Low: report.Number(c.low),
				High: report.Number(c.high)}}
		})
		if got := strings.Join(device.Faults(r), "; "); (c.fault == "") != (got == "") ||
			!strings.Contains(got, c.fault) {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
}

func TestWhatADeviceForwardsOfGivenLoads(t *testing.T) {
	collapses := Device{Limits: map[string]int64{"west→east": 10_000},
		Forwards: func(_ string, load float64) float64 { return min(load, max(0, 2*10_000-load)) }}
	asItIs := func(*report.Report) {}
	for _, c := range []struct {
		name         string
		offered, got int64
		fault        string
	}{
		{"what is left of it beyond the limit", 15_000, 5_000, ""},
		{"the limit, where less is left", 15_000, 10_000, "PacketsPerSecond is said to be from 10000"},
		{"all of a load below the limit", 8_000, 8_000, ""},
		{"nothing of a load below the limit", 8_000, 0, "LossRatio is said to be from 1"},
	} {
		got := strings.Join(collapses.Faults(givenLoads(plan.TypeConstantLoad, [][2]int64{{c.offered, c.got}}, asItIs)),
			"; ")
		if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
}

func TestADeviceMayLoseFramesInItsWeakestDirection(t *testing.T) {
	lossy := measured(9_000, func(r *report.Report) {
		r.Answer.Saturated, r.Answer.Reason = false, report.Inconclusive
		r.Windows[0].Directions[0].Quality = report.Lossy
	})
	limits := map[string]int64{"west→east": 10_000}
	weak := Device{Limits: limits, Weakest: map[string]int64{"west→east": 8_000}}
	if faults := weak.Faults(lossy); len(faults) > 0 {
		t.Errorf("above what it forwards at its weakest: %q", faults)
	}
	if faults := (Device{Limits: limits, Weakest: limits}).Faults(lossy); len(faults) != 1 {
		t.Errorf("below what it forwards at its weakest: %q", faults)
	}
}
