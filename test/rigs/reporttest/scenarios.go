package reporttest

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Scenario is a report that a run could have written, by what is special about it.
type Scenario struct {
	Name   string
	Report *report.Report
}

// Scenarios are the Reports that documents have to describe differently.
func Scenarios() []Scenario {
	return []Scenario{
		{"saturated", JudgedAs(report.Passed, Measured(Limited(150_000)))},
		{"line-rate", JudgedAs(report.Passed, Measured())},
		{"generator-limited", JudgedAs(report.Undecided, Measured(Weak(90_000)))},
		{"path-not-proven", PathNotProven()},
		{"interrupted", JudgedAs(report.Undecided, Measured(Limited(150_000), CutAfter(3)))},
		{"one-direction", inPod(JudgedAs(report.DidFail, Measured(named("OpenBSD", "64b"), Frames(64), Limited(152_090),
			Lanes("west", "east"))))},
		{"four-directions", Measured(named("two lanes", "imix"), Limited(40_000), Lanes("west", "east", "east", "west",
			"north", "south", "south", "north"))},
		{"doubtful", Doubtful()},
		{"nothing", FailedAtStart()},
		{"bursts", Bursts()},
		{"other-direction", OtherDirection()},
		{"limits-apart", LimitsApart()},
	}
}

// inPod gives the report a device in a pod, with a sidecar of unknown digest.
func inPod(r *report.Report) *report.Report {
	r.Device = &plan.Device{Pod: "imix-1-dut", Node: "node-2", Containers: []plan.Container{
		{Name: "router", Image: "lab/openbsd:7.9",
			ImageID: "docker.io/lab/openbsd@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
		{Name: "log", Image: "lab/log:latest"},
	}}
	for i := range r.Generators {
		g := &r.Generators[i]
		g.Processors, g.Kernel, g.Hypervisor = 16, "6.1.0-18-amd64", "none"
		for p := range g.Ports {
			g.Ports[p].NIC = "Ethernet Virtual Function 700 Series"
		}
	}
	r.Environment = report.EnvironmentOf(r)
	return r
}

// JudgedAs gives the report the criteria's verdict.
func JudgedAs(o report.Outcome, r *report.Report) *report.Report {
	messages := map[report.Outcome]string{
		report.Passed:    "east→west: 99.95 % of line rate, at least 95 % demanded",
		report.DidFail:   "west→east: 10.22 % of line rate, at least 95 % demanded",
		report.Undecided: "west→east: at least 27.50 % of line rate is known, at least 95 % demanded",
	}
	r.Verdict = report.Verdict{Outcome: o, Criteria: []report.CriterionResult{{Name: "imix-line-rate", Outcome: o,
		Message: messages[o]}}}
	return r
}

// Bursts is a run above whose figure the generator sent in bursts.
func Bursts() *report.Report {
	r := Measured(Limited(150_000))
	answer := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == r.Answer.Window })
	r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited
	r.Answer.Cause = report.Cause{Detail: report.SentInBursts}
	r.Answer.Evidence = []report.EvidenceRow{{Subject: "answer", Window: r.Answer.Window, Text: "clean"},
		{Subject: "load above", Window: 6, Text: "generator-0 sent in bursts"}}
	for i := range r.Windows {
		w := &r.Windows[i]
		if w.Quality != report.Lossy || w.Load <= r.Windows[answer].Load {
			continue
		}
		w.Bursts = []report.Burst{{Generator: "generator-0", Link: "west", Start: plan.Duration(300 * time.Millisecond),
			Duration: plan.Duration(21 * time.Millisecond),
			Sent:     12_000, Due: 3_400, Paused: plan.Duration(62 * time.Millisecond), Count: 1 + i%3}}
		w.Quality, w.Reason = report.Invalid, "west→east: 4.1 % lost; but generator generator-0 sent in bursts"
		for d := range w.Directions {
			w.Directions[d].Quality, w.Directions[d].Reason = report.Invalid, w.Reason
		}
	}
	return r
}

// OtherDirection is a run in which one direction lost frames and set the load of both, so that the other direction's
// limit is unknown.
func OtherDirection() *report.Report {
	r := Measured(named("asymmetric", "imix"), Limited(150_000))
	res := &r.Answer
	res.Saturated, res.Reason = false, report.OtherDirection
	lossy := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Quality == report.Lossy })
	for i := range r.Windows {
		w := &r.Windows[i]
		if lossless := &w.Directions[0]; lossless.Quality == report.Lossy { // nothing is lost there
			lossless.Quality, lossless.Reason, lossless.LossRatio, lossless.LossRatioMin = report.Good, "all came back",
				0, 0
			lossless.Received, lossless.Returned = lossless.Offered, lossless.Sent
		}
	}
	res.Directions = slices.Clone(res.Directions)
	res.Directions[0].Limit = &report.DirectionLimit{Reason: report.OtherDirection, Confirmed: true, Window: res.Window}
	res.Directions[1].Limit = &report.DirectionLimit{Reason: report.LossAboveLimit, Saturated: true, Confirmed: true,
		Window: res.Window, Lossy: r.Windows[lossy].Number, Resolution: units.One / 200, LimitsAll: true}
	res.Message = "at 150.38 kpps each way more frames are lost than allowed; east→west set the load of all " +
		"directions, and west→east is a lower bound: no loss of its own is shown"
	return r
}

// LimitsApart is a run that found each direction's limit by itself, of a device that the directions share. With both
// at once the device carries half of each.
func LimitsApart() *report.Report {
	r := Measured(named("shared", "imix"), Limited(150_000))
	r.Plan.Procedure.EachDirection = &plan.EachDirection{Directions: []string{"west→east", "east→west"}}
	res := &r.Answer
	answer := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == res.Window })
	lossy := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Quality == report.Lossy })
	reverse, atOnce := r.Windows[answer], r.Windows[answer]
	for i := range r.Windows {
		if w := &r.Windows[i]; w.Phase != report.WarmUp {
			keepOnly(w, 0)
		}
	}
	keepOnly(&reverse, 1)
	reverse.Number = len(r.Windows) + 1
	atOnce.Number, atOnce.Phase, atOnce.Quality = reverse.Number+1, report.AllAtOnce, report.Lossy
	atOnce.Directions = slices.Clone(atOnce.Directions)
	for i := range atOnce.Directions {
		d := &atOnce.Directions[i]
		halve(&d.Received)
		d.Returned.Packets, d.Returned.Bytes, d.LineRatePercent = d.Returned.Packets/2, d.Returned.Bytes/2,
			d.LineRatePercent/2
		d.LossRatio, d.LossRatioMin, d.Quality, d.Reason = units.One/2, units.One/2, report.Lossy,
			"half of them did not come back: 50 % lost"
	}
	atOnce.Reason = "west→east: " + atOnce.Directions[0].Reason
	r.Windows = append(r.Windows, reverse, atOnce)
	limit := report.DirectionLimit{Reason: report.LossAboveLimit, Saturated: true, Confirmed: true, Window: res.Window,
		Lossy: r.Windows[lossy].Number, Resolution: units.One / 200}
	limitBack := limit
	limitBack.Window = reverse.Number
	res.Directions = []report.Direction{r.Windows[answer].Directions[0], reverse.Directions[1]}
	res.Directions[0].Limit, res.Directions[1].Limit = &limit, &limitBack
	res.Total.Directions = atOnce.Directions
	res.Saturated, res.Reason, res.Resolution, res.Window = false, report.LoadHeld, 0, atOnce.Number
	halve(&res.Total.Received)
	res.Total.Window, res.Total.LossRatio, res.Total.LossRatioMin, res.Total.LineRatePercent = atOnce.Number,
		units.One/2, units.One/2, res.Total.LineRatePercent/2
	res.Message = "west→east: 149.87 kpps, a limit; east→west: 149.87 kpps, a limit; all at once the device does " +
		"not carry them: 149.87 kpps came back of 299.75 kpps"
	return r
}

// keepOnly leaves one direction of a window, and nothing of the other one.
func keepOnly(w *report.Window, direction int) {
	w.Varied = w.Directions[direction].Name()
	w.Directions = slices.Clone(w.Directions)
	d := &w.Directions[1-direction]
	*d = report.Direction{From: d.From, To: d.To, Quality: report.Unjudged, Reason: "nothing was sent, while " +
		w.Varied + " varied"}
}

func halve(f *report.Flow) {
	f.PacketsPerSecond, f.Layer1BitsPerSecond, f.Layer2BitsPerSecond = f.PacketsPerSecond/2, f.Layer1BitsPerSecond/2,
		f.Layer2BitsPerSecond/2
}

// PathNotProven is a run that ended before any load.
func PathNotProven() *report.Report {
	r := Measured(Limited(150_000))
	r.Ending, r.Message = report.PathNotProven,
		"frames sent on west came back on west: the cable or the device bounces them; check the DUT's routes and "+
			"where the links are plugged in"
	r.Path[0] = report.PathCheck{From: "west", To: "east", Sent: 8,
		Message: "0 of 8 frames on east; 8 came back on west"}
	r.Windows, r.Samples, r.Totals = nil, nil, nil
	r.Answer = report.Answer{Reason: report.NotMeasured, Message: "the path was not proven"}
	r.Finished = r.Started.Add(3 * time.Second)
	return r
}

// Doubtful has every reason to doubt it that there is.
func Doubtful() *report.Report {
	r := Measured(named("Danos & <co>", "imix|64"), Limited(150_000))
	r.Answer.Confirmed, r.Answer.NonMonotonic = false, true
	outvoted := &r.Windows[2]
	outvoted.Quality, outvoted.Reason = report.Lossy,
		"west→east: 52 of 10000 frames did not come back: 0.52 % lost, limit 0.1 %"
	r.Answer.Outvoted = []report.Outvoted{{Load: outvoted.Load, Lossy: []int{3}, Judged: 3}}
	r.Answer.SharedPorts = []string{"port 0000:3b:00.0 of node gen-1 is behind link west of pod t-1-generator-0 " +
		"and link east of pod t-1-dut"}
	r.Silence[1].PacketsPerSecond, r.Silence[1].Received = 12, units.Traffic{Packets: 12, Bytes: 1200}
	r.Totals[0].Drained, r.Totals[1].ReceiveErrors = false, 1234
	w := &r.Windows[3]
	w.Quality, w.Reason = report.Invalid, "pause frames on east"
	w.Directions[0].Quality, w.Directions[0].Reason = report.Invalid, "pause frames on east"
	r.Samples[9].CPUPercent, w.GeneratorCPUPercent = -1, -1
	return r
}

// FailedAtStart is the least that a run can write, as it failed at its first step.
func FailedAtStart() *report.Report {
	r := Measured()
	return &report.Report{Version: report.Version, Producer: r.Producer, Plan: &plan.Plan{Version: plan.Version,
		Test: plan.Test{Name: "early", Attempt: 1}},
		Started: r.Started, Finished: r.Started.Add(40 * time.Millisecond), Ending: report.Failed,
		Message: "no generator answers at 10.42.0.17:4501: start TRex there, or correct placement.servers",
		Answer:  report.Answer{Reason: report.NotMeasured}, Verdict: report.Verdict{Outcome: report.Undecided}}
}

// Reports are the Reports of all scenarios.
func Reports() []*report.Report {
	var reports []*report.Report
	for _, s := range Scenarios() {
		reports = append(reports, s.Report)
	}
	return reports
}
