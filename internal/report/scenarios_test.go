package report

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// scenario is a report that a run could have written, by what is special about it.
type scenario struct {
	name   string
	report *Report
}

func scenarios() []scenario {
	return []scenario{
		{"saturated", judgedAs(Passed, measured(limited(150_000)))},
		{"line-rate", judgedAs(Passed, measured())},
		{"generator-limited", judgedAs(Undecided, measured(weak(90_000)))},
		{"path-not-proven", pathNotProven()},
		{"interrupted", judgedAs(Undecided, measured(limited(150_000), cutAfter(3)))},
		{"one-direction", inPod(judgedAs(DidFail, measured(named("OpenBSD", "64b"), frames(64), limited(152_090), lanes("west", "east"))))},
		{"four-directions", measured(named("two lanes", "imix"), limited(40_000), lanes("west", "east", "east", "west", "north", "south", "south", "north"))},
		{"doubtful", doubtful()},
		{"nothing", nothing()},
		{"bursts", bursts()},
	}
}

// inPod gives the report a device in a pod, with a sidecar whose digest nobody told.
func inPod(r *Report) *Report {
	r.Device = &plan.Device{Pod: "imix-1-dut", Node: "node-2", Containers: []plan.Container{
		{Name: "router", Image: "lab/openbsd:7.9", ImageID: "docker.io/lab/openbsd@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
		{Name: "log", Image: "lab/log:latest"},
	}}
	return r
}

// judgedAs gives the report the criteria's verdict.
func judgedAs(o Outcome, r *Report) *Report {
	messages := map[Outcome]string{
		Passed:    "east→west: 99.95 % of line rate, at least 95 demanded",
		DidFail:   "west→east: 10.22 % of line rate, at least 95 demanded",
		Undecided: "west→east: at least 27.50 % of line rate is known, at least 95 demanded",
	}
	r.Verdict = Verdict{Outcome: o, Criteria: []CriterionResult{{Name: "imix-line-rate", Outcome: o, Message: messages[o]}}}
	return r
}

// bursts is a run above whose figure the generator sent in bursts.
func bursts() *Report {
	r := measured(limited(150_000))
	at := slices.IndexFunc(r.Windows, func(w Window) bool { return w.Number == r.Result.Window })
	r.Result.Saturated, r.Result.Reason = false, GeneratorLimited
	r.Result.Message = "window 12 was clean; what was lost above that may be the generator's doing, so this is a lower bound"
	for i := range r.Windows {
		w := &r.Windows[i]
		if w.Quality != Lossy || w.Load <= r.Windows[at].Load {
			continue
		}
		w.Bursts = []Burst{{Generator: "generator-0", Link: "west", At: plan.Duration(300 * time.Millisecond), Duration: plan.Duration(21 * time.Millisecond),
			Sent: 12_000, Due: 3_400, Paused: plan.Duration(62 * time.Millisecond), Count: 1 + i%3}}
		w.Quality, w.Reason = Invalid, "west→east: 4.1 % lost; but generator generator-0 sent in bursts"
		for d := range w.Directions {
			w.Directions[d].Quality, w.Directions[d].Reason = Invalid, w.Reason
		}
	}
	return r
}

// pathNotProven is a run that ended before any load.
func pathNotProven() *Report {
	r := measured(limited(150_000))
	r.Ending, r.Message = PathNotProven, "frames sent on west came back on west: the cable or the device bounces them; check the DUT's routes and where the links are plugged in"
	r.Path[0] = PathCheck{From: "west", To: "east", Sent: 8, Message: "0 of 8 frames on east; 8 came back on west"}
	r.Windows, r.Samples, r.Totals = nil, nil, nil
	r.Result = Result{Reason: NotMeasured, Message: "the path was not proven"}
	r.Finished = r.Started.Add(3 * time.Second)
	return r
}

// doubtful has every reason to doubt it that there is.
func doubtful() *Report {
	r := measured(named("Danos & <co>", "imix|64"), limited(150_000))
	r.Result.Confirmed, r.Result.NonMonotonic = false, true
	held := &r.Windows[2]
	held.Quality, held.Reason = Lossy, "west→east: 52 of 10000 frames did not come back: 0.52 % lost, limit 0.1 %"
	r.Result.Outvoted = []Outvoted{{Load: held.Load, Lossy: []int{3}, Of: 3}}
	r.Result.SharedPorts = []string{"port 0000:3b:00.0 of node gen-1 is behind link west of pod t-1-generator-0 and link east of pod t-1-dut"}
	r.Silence[1].PacketsPerSecond, r.Silence[1].Received = 12, units.Traffic{Packets: 12, Bytes: 1200}
	r.Totals[0].Drained, r.Totals[1].ReceiveErrors = false, 1234
	w := &r.Windows[3]
	w.Quality, w.Reason = Invalid, "pause frames on east"
	w.Directions[0].Quality, w.Directions[0].Reason = Invalid, "pause frames on east"
	r.Samples[9].CPUPercent, w.GeneratorCPUPercent = -1, -1
	return r
}

// nothing is the least that a run can write: it failed at its first step.
func nothing() *Report {
	r := measured()
	return &Report{Version: Version, Producer: r.Producer, Plan: &plan.Plan{Version: plan.Version, Test: plan.Test{Name: "early", Attempt: 1}},
		Started: r.Started, Finished: r.Started.Add(40 * time.Millisecond), Ending: Failed,
		Message: "no generator answers at 10.42.0.17:4501: start TRex there, or correct external.servers", Result: Result{Reason: NotMeasured}, Verdict: Verdict{Outcome: Undecided}}
}
