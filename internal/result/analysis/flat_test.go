package analysis

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// loaded are windows of a second at these loads of one direction, in frames, of which so many were lost.
func loaded(loads ...[2]int64) (all []report.Window) {
	for n, l := range loads {
		flow := report.Flow{PacketsPerSecond: l[0]}
		all = append(all, report.Window{Number: n + 1, Phase: report.Ramping, Quality: report.Lossy, Load: units.Ratio(l[0]) * units.One / 100_000, Directions: []report.Direction{{From: "west", To: "east", Quality: report.Lossy,
			Offered: flow, Sent: units.Traffic{Packets: l[0]}, Returned: units.Traffic{Packets: l[0] - l[1]}, Reason: "lost"}}})
	}
	return all
}

// A device that loses one frame in 435 whatever the load is has no limit that a lower load would find.
func TestLossThatIsTheSameAtEveryLoadIsNoOverload(t *testing.T) {
	const same = "the device loses 0.23 % of the frames west→east at every load from 5.00 kpps to "
	for name, c := range map[string]struct {
		windows []report.Window
		says    string // how it begins; empty: nothing
	}{
		"at each load":                   {loaded([2]int64{80_000, 184}, [2]int64{40_000, 90}, [2]int64{20_000, 48}, [2]int64{5_000, 11}), same + "80.00 kpps"},
		"up to a limit":                  {loaded([2]int64{80_000, 40_000}, [2]int64{40_000, 91}, [2]int64{20_000, 47}, [2]int64{5_000, 12}), same + "40.00 kpps"},
		"at loads that are near another": {loaded([2]int64{40_000, 92}, [2]int64{30_000, 69}, [2]int64{20_000, 46}), ""},
		"of an overload":                 {loaded([2]int64{80_000, 70_000}, [2]int64{40_000, 30_000}, [2]int64{20_000, 10_000}, [2]int64{5_000, 0}), ""},
		"of an overload down to nothing": {loaded([2]int64{80_000, 800}, [2]int64{40_000, 80}, [2]int64{20_000, 8}, [2]int64{5_000, 0}), ""},
		"of few frames each, judged together": {loaded([2]int64{40_000, 92}, [2]int64{20_000, 46}, [2]int64{2_000, 4}, [2]int64{1_900, 5}, [2]int64{2_100, 5}),
			"the device loses 0.23 % of the frames west→east at every load from 1.90 kpps to 40.00 kpps"},
		"of few frames each, that lost none": {loaded([2]int64{40_000, 92}, [2]int64{20_000, 46}, [2]int64{2_000, 0}, [2]int64{1_900, 0}, [2]int64{2_100, 0}), ""},
		"of a few frames":                    {loaded([2]int64{8_000, 18}, [2]int64{4_000, 9}, [2]int64{1_000, 2}), ""},
		"less than is allowed":               {loaded([2]int64{80_000, 40}, [2]int64{40_000, 20}, [2]int64{20_000, 10}, [2]int64{5_000, 2}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Plan{Directions: []plan.Direction{{From: "west", To: "east"}}, Procedure: plan.Procedure{Type: plan.TypeRamp, MaxLossRatio: units.One / 1000}}
			r := &report.Report{Plan: p, Windows: c.windows}
			got := flatLossSentence(r)
			if (got == "") != (c.says == "") || !strings.HasPrefix(got, c.says) {
				t.Fatalf("%q, want %q…", got, c.says)
			}
			if c.says == "" {
				return
			}
			if !strings.Contains(got, "more than the 0.10 % allowed: it isn't overload. Look for the cause") {
				t.Error(got)
			}
			for _, conclusion := range []procedure.Conclusion{{Reason: report.NoCleanLoad, Lossy: 3}, {Unproven: true, Lossy: 3}} {
				rows := evidenceWithoutFigure(r, conclusion)
				if rows[0].Text != got || rows[len(rows)-1].Window != 4 {
					t.Errorf("it comes first, and the windows below: %+v", rows)
				}
			}
			conclusion := procedure.Conclusion{Reason: report.NoCleanLoad, Window: procedure.NoWindow, Lossy: 3}
			if cause := causeOf(r, conclusion, conclusion, report.Answer{}); cause.Detail != report.LossAtEveryLoad || cause.Acceptable <= cause.Lost {
				t.Errorf("%+v", cause)
			}
		})
	}
}

func TestAcceptableLossIsARoundNumberAboveIt(t *testing.T) {
	for share, want := range map[float64]string{0.0023: "0.003", 0.002: "0.003", 0.01: "0.02", 0.3: "0.4"} {
		if got := acceptable(share).String(); got != want {
			t.Errorf("of %g: %s, want %s", share, got, want)
		}
	}
}
