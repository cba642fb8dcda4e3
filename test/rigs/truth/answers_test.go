package truth

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// sought is a Report of a search for two goals, whose answers have these packets/s and resolutions.
func sought(ndr, pdr int64, resolution units.Ratio) *report.Report {
	return measured(ndr, func(r *report.Report) {
		goals := []plan.Goal{{Name: "NDR"}, {Name: "PDR", LossRatio: units.One / 200}}
		r.Plan.Procedure = plan.Procedure{Type: plan.TypeSearch, Search: &plan.Search{Goals: goals}}
		for i, rate := range []int64{ndr, pdr} {
			result := measured(rate, func(r *report.Report) { r.Answer.Resolution = resolution }).Answer
			r.Answer.Goals = append(r.Answer.Goals, report.GoalAnswer{Name: goals[i].Name, Answer: result})
		}
	})
}

func TestEachGoalOfASearchIsHeldAgainstTheDevice(t *testing.T) {
	device := Device{Limits: map[string]int64{"west→east": 10_000}}
	for _, c := range []struct {
		name  string
		r     *report.Report
		fault string // "": nothing is wrong
	}{
		{"the limit, by both", sought(9_960, 10_000, units.One/200), ""},
		{"a limit that is too low, by the first", sought(9_400, 10_000, units.One/200),
			"NDR: west→east: frames are said to be lost at 9447"},
		{"a limit that is too low, by the second", sought(9_960, 9_400, units.One/200),
			"PDR: west→east: frames are said to be lost at 9447"},
		{"a limit that is too high, by the second", sought(9_960, 10_100, units.One/200),
			"PDR: west→east: 10100 packets/s are said to have come back"},
		{"no answer of a goal, though a window counts", func() *report.Report {
			r := sought(9_960, 10_000, units.One/200)
			r.Answer.Goals[1].Answer.Measured = false
			return r
		}(), "PDR: there is no figure, and window 1 is Good"},
	} {
		got := strings.Join(device.Faults(c.r), "; ")
		if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
}

func TestASoakIsHeldAgainstTheDevice(t *testing.T) {
	device := Device{Limits: map[string]int64{"west→east": 10_000}, Burst: 10 * time.Millisecond}
	for _, c := range []struct {
		name, low, high, fault string
	}{
		{"an interval with the limit in it", "9990", "10020", ""},
		{"what the device saved up passes in a trial of a second", "10095", "10130", ""},
		{"no end above", "9000", "", ""},
		{"too low", "9500", "9800", "the critical load is said to be from 9500 to 9800"},
		{"too high", "10300", "10400", "the critical load is said to be from 10300 to 10400"},
		{"too high, with no end above", "10300", "", "from 10300 to any"},
	} {
		r := measured(10_000, func(r *report.Report) {
			r.Plan.Procedure.Type = plan.TypeSoak
			r.Windows[0].Phase, r.Windows[0].Duration = report.Trial, plan.Duration(time.Second)
			r.Answer.Directions[0].Estimate = &report.Estimate{LossRatio: units.One / 1000,
				Low: report.Number(c.low), High: report.Number(c.high)}
		})
		if got := strings.Join(device.Faults(r), "; "); (c.fault == "") != (got == "") ||
			!strings.Contains(got, c.fault) {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
	silent := measured(10_000, func(r *report.Report) { r.Plan.Procedure.Type = plan.TypeSoak })
	if got := strings.Join(device.Faults(silent), "; "); !strings.Contains(got, "says nothing of its critical load") {
		t.Errorf("a soak without a critical load: %q", got)
	}
}

func TestBurstsAreHeldAgainstWhatTheDeviceHolds(t *testing.T) {
	device := Device{Limits: map[string]int64{"west→east": 10_000}, Burst: 50 * time.Millisecond,
		Holds: 50 * time.Millisecond}
	for _, c := range []struct {
		name, low, high, fault string
	}{
		{"as many as it holds", "498", "503", ""},
		{"a lower bound", "400", "", ""},
		{"too few", "450", "480", "from 450 to 480 frames are said to be held, and the device holds 500"},
		{"too many", "520", "530", "from 520 to 530"},
	} {
		r := givenLoads(plan.TypeBackToBack, [][2]int64{{20_000, 10_000}}, func(r *report.Report) {
			r.Answer.Reason = report.BurstsMeasured
			r.Answer.Directions[0].Own = []report.OwnFigure{{Metric: procedure.BufferFrames, Low: report.Number(c.low),
				High: report.Number(c.high)}}
		})
		if got := strings.Join(device.Faults(r), "; "); (c.fault == "") != (got == "") ||
			!strings.Contains(got, c.fault) {
			t.Errorf("%s: %q, want %q", c.name, got, c.fault)
		}
	}
	device.Holds = 0
	unknown := givenLoads(plan.TypeBackToBack, [][2]int64{{20_000, 10_000}}, func(r *report.Report) {
		r.Answer.Reason = report.BurstsMeasured
		r.Answer.Directions[0].Own = []report.OwnFigure{{Metric: procedure.BufferFrames, Low: "450", High: "480"}}
	})
	if faults := device.Faults(unknown); len(faults) > 0 {
		t.Errorf("a device of which nobody knows what it holds: %v", faults)
	}
}
