package measure_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
)

// In a window of 1.5 s 10 % of the load is missing, 150 ms of it. Whose weakness it is depends on who had the
// processors of the threads that send.
func TestOfferingLessIsTheMachinesWeaknessWhereOthersHadTheProcessors(t *testing.T) {
	const missing, all = 13_500, 15_000
	ran := func(strangers, stolen time.Duration) *report.Disturbance {
		return &report.Disturbance{Over: plan.Duration(1600 * ms), Strangers: plan.Duration(strangers),
			Stolen: plan.Duration(stolen),
			Waits:  []report.Wait{{Thread: "exe", ID: 7, Sends: true, Waited: plan.Duration(200 * ms)}}}
	}
	for name, c := range map[string]struct {
		sent        int64
		waited      time.Duration
		disturbance *report.Disturbance
		want        bool
	}{
		"senders waited, and nobody can tell for whom":     {missing, 200 * ms, nil, true},
		"senders waited while a compiler ran":              {missing, 200 * ms, ran(time.Second, 0), true},
		"senders waited for each other":                    {missing, 200 * ms, ran(20*ms, 0), false},
		"the host took the processors":                     {missing, 200 * ms, ran(0, 140*ms), true},
		"senders waited for less than half of the missing": {missing, 70 * ms, ran(time.Second, 0), false},
		"senders never waited":                             {missing, 0, nil, false},
		"senders waited, and offered all that was asked":   {all, 200 * ms, ran(time.Second, 0), false},
	} {
		t.Run(name, func(t *testing.T) {
			setup, span := counted{sent: c.sent, returned: c.sent, change: func(readings []engine.Reading) {
				edit(readings, 0, func(p *engine.PortCounters) { p.Paced, p.Waited = true, time.Hour })
				edit(readings[2:], 0, func(p *engine.PortCounters) { p.Waited += c.waited })
			}}.prepare()
			span.Disturbance = c.disturbance
			w := judged(setup, span)
			d := w.Directions[0]
			if d.HeldUp != c.want || d.WeakGenerator() != (d.UnderOffered() && !c.want) {
				t.Errorf("held up %v, a weak generator %v", d.HeldUp, d.WeakGenerator())
			}
			again := setup.Recount(w, span.Intended, measure.Goal{MaxLossRatio: perMille}).Directions[0]
			if again.HeldUp != c.want || again.SendersWaited != d.SendersWaited {
				t.Errorf("recounted: held up %v, waited %s, want %s", again.HeldUp, again.SendersWaited.Std(),
					d.SendersWaited.Std())
			}
		})
	}
}
