package truth

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// measured is a Report of one direction whose only window came to so many packets/s.
func measured(packetsPerSecond int64, change func(*report.Report)) *report.Report {
	flow := report.Flow{PacketsPerSecond: packetsPerSecond}
	m := report.Measured{From: "west", To: "east", Offered: flow, Received: flow, Quality: report.Good}
	r := &report.Report{Ending: report.Completed, Plan: &plan.Plan{Procedure: plan.Procedure{MaxLossRatio: units.One / 1000}},
		Windows: []report.Window{{Number: 1, Duration: plan.Duration(5 * time.Second), Quality: report.Good, Directions: []report.Measured{m}}},
		Result: report.Result{Measured: true, Saturated: true, Confirmed: true, Reason: report.LossAboveLimit, Message: "saturated", Window: 1,
			Resolution: units.One / 200, Directions: []report.Measured{m}}}
	change(r)
	return r
}

func TestWhatAReportMayClaim(t *testing.T) {
	device := Device{Limits: map[string]int64{"west→east": 10_000}, Burst: 20 * time.Millisecond}
	asItIs := func(*report.Report) {}
	bound := func(reason report.Reason) func(*report.Report) {
		return func(r *report.Report) { r.Result.Saturated, r.Result.Reason = false, reason }
	}
	for _, c := range []struct {
		name string
		r    *report.Report
		says string // "": nothing is wrong
	}{
		{"the limit", measured(10_000, asItIs), ""},
		{"a little below it, within the resolution", measured(9_960, asItIs), ""},
		{"the limit and what the device saved up", measured(10_045, asItIs), ""},
		{"a limit that is 1 % too low", measured(9_900, asItIs), "are said to be lost at 9950"},
		{"a limit that is 1 % too high", measured(10_100, asItIs), "10100 packets/s are said to have come back"},
		{"a lower bound", measured(4_000, bound(report.GeneratorLimited)), ""},
		{"a lower bound above the limit", measured(10_100, bound(report.GeneratorLimited)), "10100 packets/s are said to have come back"},
		{"a lower bound that says that the device is the limit", measured(4_000, bound(report.LossAboveLimit)), "a lower bound for the reason LossAboveLimit"},
		{"another direction", measured(10_000, func(r *report.Report) { r.Result.Directions[0].From = "north" }), "north→east is no direction"},
		{"a run that failed", measured(10_000, func(r *report.Report) { r.Ending = report.Failed }), "ending Failed"},
		{"loss where the device loses nothing", measured(5_000, func(r *report.Report) {
			bound(report.Inconclusive)(r)
			r.Windows[0].Directions[0].Quality = report.Lossy
		}), "is Lossy at 5000 packets/s"},
		{"no figure, and a window that could be judged", measured(5_000, func(r *report.Report) { r.Result.Measured = false }), "there is no figure, and window 1 is Good"},
		{"no figure, as the only window says nothing", measured(5_000, func(r *report.Report) {
			r.Result.Measured, r.Windows[0].Quality, r.Windows[0].Reason = false, report.Invalid, "a generator sent in bursts"
		}), ""},
		{"no figure and no window", measured(5_000, func(r *report.Report) { r.Result.Measured, r.Windows = false, nil }), "no window says why"},
	} {
		got := strings.Join(device.Faults(c.r), "; ")
		if (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", c.name, got, c.says)
		}
	}
}
