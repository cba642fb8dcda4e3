package measure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
)

// A window of 1.5 s in which 15 000 frames were sent: each millisecond of waiting may cost ten.
func TestWhatADisturbanceMayHaveCost(t *testing.T) {
	waited := func(of time.Duration) report.Disturbance {
		return report.Disturbance{Over: plan.Duration(1600 * time.Millisecond), Waited: plan.Duration(of), Strangers: plan.Duration(of / 2),
			Waits:  []report.Wait{{Thread: "napi/east-12", ID: 12, Processor: 1, Waited: plan.Duration(of)}},
			Others: []report.Other{{Process: "make", PID: 1, Processor: 0, Ran: plan.Duration(time.Second)}, {Process: "sh", PID: 4711, Processor: 1, Ran: plan.Duration(770 * time.Millisecond)}}}
	}
	for name, c := range map[string]struct {
		disturbance report.Disturbance
		ourselves   bool
		lost        int64
		quality     report.Quality
		disturbed   int64
		reason      string
	}{
		"all that was lost may have been lost for it": {waited(300 * time.Millisecond), false, 2900, report.Invalid, 3000,
			"2900 of 15000 frames did not come back: 19.3333 % lost, limit 0.1 %; thread napi/east-12 (12), which carries frames, waited 300ms of 1.6s for processor 1, " +
				"which sh (process 4711) had for 48 %: up to 3000 frames may have been lost for that; keep other work off the processors of generator and device"},
		"more was lost than it can have cost":                       {waited(300 * time.Millisecond), false, 3100, report.Lossy, 3000, "3100 of 15000 frames did not come back"},
		"nothing was lost: the load is proven":                      {waited(time.Second), false, 0, report.Good, 10_000, "all 15000 frames came back"},
		"as much as any device has to hold":                         {waited(2 * time.Millisecond), false, 100, report.Lossy, 0, "100 of 15000 frames"},
		"they waited longer than the window":                        {waited(time.Minute), false, 15_000, report.Invalid, 15_000, "napi/east-12"},
		"the host took it":                                          {report.Disturbance{Over: plan.Duration(1600 * time.Millisecond), Stolen: plan.Duration(20 * time.Millisecond)}, false, 190, report.Invalid, 200, "the host of this virtual machine took 20ms of 1.6s"},
		"the device is this machine's kernel: only strangers count": {waited(300 * time.Millisecond), true, 1600, report.Lossy, 1500, "1600 of 15000"},
		"the machine didn't answer in time":                         {report.Disturbance{Missing: "context deadline exceeded"}, false, 15_000, report.Invalid, 15_000, "too busy to say who waited"},
	} {
		t.Run(name, func(t *testing.T) {
			setup, span := counted{sent: 15_000, returned: 15_000 - c.lost}.prepare()
			setup.SharesKernel, span.Disturbance = c.ourselves, &c.disturbance
			w := judged(setup, span)
			d := w.Directions[0]
			if d.Quality != c.quality || !strings.Contains(d.Reason, c.reason) {
				t.Errorf("%s: %s\nwant %s: %s", d.Quality, d.Reason, c.quality, c.reason)
			}
			if d.DisturbedFrames != c.disturbed {
				t.Errorf("%d frames may have been lost for it, want %d", d.DisturbedFrames, c.disturbed)
			}
			if lost := c.quality == report.Invalid; w.LostToDisturbance() != lost {
				t.Errorf("lost to a disturbance is %v, want %v", !lost, lost)
			}
		})
	}
}

func TestADisturbanceThatIsWorthNothingIsNotKept(t *testing.T) {
	for name, c := range map[string]struct {
		disturbance report.Disturbance
		kept        bool
	}{
		"a moment":                       {report.Disturbance{Waited: plan.Duration(time.Millisecond)}, false},
		"a wait":                         {report.Disturbance{Waited: plan.Duration(3 * time.Millisecond)}, true},
		"a sending thread's wait":        {report.Disturbance{Waits: []report.Wait{{Sends: true, Waited: plan.Duration(3 * time.Millisecond)}}}, true},
		"that the machine didn't answer": {report.Disturbance{Missing: "context deadline exceeded"}, true},
	} {
		setup, span := counted{sent: 15_000, returned: 15_000}.prepare()
		span.Disturbance = &c.disturbance
		if w := judged(setup, span); (w.Disturbance != nil) != c.kept {
			t.Errorf("%s is kept: %v", name, w.Disturbance != nil)
		}
	}
}

// A window together with others has the frames that each of them may have lost for a disturbance.
func TestDisturbedFramesAddUp(t *testing.T) {
	setup, span := counted{sent: 15_000, returned: 12_000}.prepare()
	span.Disturbance = &report.Disturbance{Waited: plan.Duration(150 * time.Millisecond)}
	w := judged(setup, span)
	both := measure.Combine([]report.Window{w, w})
	if d := both.Directions[0]; d.DisturbedFrames != 3000 || measure.SurelyLost(d) != 2*measure.SurelyLost(w.Directions[0]) || d.LossRatioMin != w.Directions[0].LossRatioMin {
		t.Errorf("%+v\nof one: %+v", d, w.Directions[0])
	}
}

// A window that was sent late or in bursts names the sending thread that waited, and who had its processor; a wait
// that any generator is granted explains nothing.
func TestALateSenderIsNamed(t *testing.T) {
	short := stretches{{75, 20 * ms, 150, 0}}
	bursts := stretches{{30, 20 * ms, 200, 0}, {5, 20 * ms, 0, 0}, {1, 20 * ms, 1200, 500}, {30, 20 * ms, 200, 0}}
	gap := stretches{{30, 20 * ms, 200, 0}, {1, 300 * ms, 3000, 700}, {30, 20 * ms, 200, 0}}
	sends := func(of time.Duration, processor int) report.Wait {
		return report.Wait{Thread: "linerate", ID: 31, Sends: true, Processor: processor, Waited: plan.Duration(of)}
	}
	carries := report.Wait{Thread: "napi/east-12", ID: 12, Processor: 1, Waited: plan.Duration(time.Millisecond)}
	const nobody = "meanwhile"
	for name, c := range map[string]struct {
		sent    stretches
		waits   []report.Wait
		missing string
		quality report.Quality
		says    string // nobody: no sender is named
	}{
		"short, and it waited": {short, []report.Wait{carries, sends(310*ms, 1)}, "", report.Short,
			"the generator offered 7.50 kpps of 10.00 kpps asked for; meanwhile thread linerate (31), which sends, waited 310ms of 1.6s for processor 1, which sh (process 4711) had for 48 %; give the generator processors that nothing else uses"},
		"short, and it waited where nobody ran long": {short, []report.Wait{sends(310*ms, 2)}, "", report.Short, "for processor 2; beside it ran make (process 1) for 62 %; give"},
		"short, and the longest wait is told":        {short, []report.Wait{sends(20*ms, 0), sends(310*ms, 1)}, "", report.Short, "waited 310ms"},
		"short, and it waited for a moment":          {short, []report.Wait{sends(2*ms, 1)}, "", report.Short, nobody},
		"short, and only who carries frames waited":  {short, []report.Wait{{Thread: "napi/east-12", ID: 12, Waited: plan.Duration(300 * ms)}}, "", report.Short, nobody},
		"short, and the machine didn't answer":       {short, nil, "context deadline exceeded", report.Short, nobody},
		"in bursts, and it waited": {bursts, []report.Wait{sends(100*ms, 1)}, "", report.Invalid,
			"a device may lose those at any load; meanwhile thread linerate (31), which sends, waited 100ms of 1.6s for processor 1, which sh (process 4711) had for 48 %: give the generator processors that nothing else uses"},
		"in bursts, and nobody waited": {bursts, nil, "", report.Invalid, nobody},
		"unseen, and it waited":        {gap, []report.Wait{sends(280*ms, 1)}, "", report.Invalid, "may have left in a burst; meanwhile thread linerate (31), which sends, waited 280ms"},
		"even, and it waited":          {stretches{{75, 20 * ms, 200, 0}}, []report.Wait{sends(310*ms, 1)}, "", report.Good, nobody},
	} {
		t.Run(name, func(t *testing.T) {
			setup, span := c.sent.read(1)
			span.Disturbance = &report.Disturbance{Over: plan.Duration(1600 * ms), Missing: c.missing, Waits: c.waits,
				Others: []report.Other{{Process: "make", PID: 1, Processor: 0, Ran: plan.Duration(time.Second)}, {Process: "sh", PID: 4711, Processor: 1, Ran: plan.Duration(770 * ms)}}}
			w := judged(setup, span)
			if w.Quality != c.quality {
				t.Errorf("%s: %s", w.Quality, w.Reason)
			}
			if named := strings.Contains(w.Reason, c.says); named == (c.says == nobody) {
				t.Errorf("%s: %s\nwant: %s", w.Quality, w.Reason, c.says)
			}
		})
	}
}
