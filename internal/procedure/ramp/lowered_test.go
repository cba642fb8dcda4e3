package ramp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
)

// lateAbove lets the counters of all windows above a load come too late.
func lateAbove(load units.Ratio) func(*report.Window) {
	return func(w *report.Window) {
		if w.Load <= load || w.Phase == report.WarmUp {
			return
		}
		w.Quality, w.ReadLate = report.Invalid, plan.Duration(9*time.Second)
		for i := range w.Directions {
			w.Directions[i].Quality = report.Invalid
		}
	}
}

func TestAFirstStepThatAMachineIsTooSlowForIsLowered(t *testing.T) {
	p := rampOf()
	first := units.One / units.Ratio(ramp.Steps(p.Ramp))
	for name, c := range map[string]struct {
		limit  float64 // of the device, in packets per second
		judged units.Ratio
		reason report.Reason
		least  units.Ratio // of the answer's load
		most   units.Ratio
	}{
		"to the machine's bound": {1e9, first / 9, report.MachineLimited, first / 32, first / 9},
		"to the device's limit": {float64(first) / 64 * target / float64(units.One), first / 3, report.LossAboveLimit,
			first / 66, first / 63},
	} {
		t.Run(name, func(t *testing.T) {
			history, trace := carryOut(t, p, limited(c.limit, 0), lateAbove(c.judged))
			got := ramp.New(p).Conclude(history)
			if got.Reason != c.reason || got.Window == procedure.NoWindow || history[got.Window].Load < c.least ||
				history[got.Window].Load > c.most {
				t.Errorf("%+v\n%s", got, strings.Join(trace, "\n"))
			}
		})
	}
}

func TestAClimbEndsWhereCountersComeTooLate(t *testing.T) {
	p := rampOf()
	history, trace := carryOut(t, p, limited(1e9, 0), lateAbove(units.One/3))
	got := ramp.New(p).Conclude(history)
	if got.Reason != report.MachineLimited || got.Window == procedure.NoWindow ||
		history[got.Window].Load < units.One/4 {
		t.Errorf("%+v\n%s", got, strings.Join(trace, "\n"))
	}
	for _, w := range history {
		if w.Phase != report.WarmUp && w.Load > 6*units.One/10 {
			t.Errorf("window %d asks for %s", w.Number, w.Load)
		}
	}
}
