package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
)

// mix is packets of which a link of 1 Gb/s carries 10 000 a second.
var mix = units.Traffic{Packets: 1, Bytes: 12_480}

// measured is a report whose result is 9 000 pps west→east and 8 000 pps back, 90 and 80 % of line rate, 0.05 %
// lost and at least 0.02 %.
func measured(change func(*report.Answer)) *report.Report {
	r := &report.Report{Ending: report.Completed, Plan: &plan.Plan{
		Directions: []plan.Direction{{From: "west", To: "east", Mix: mix}, {From: "east", To: "west", Mix: mix}},
		Procedure:  plan.Procedure{Ramp: plan.Ramp{ConfirmDuration: plan.Duration(10 * time.Second)}},
	}, LineRates: []report.LineRate{{Link: "west", BitsPerSecond: units.Gbps}, {Link: "east", BitsPerSecond: units.Gbps}}}
	r.Answer = report.Answer{Measured: true, Reason: report.LossAboveLimit, Directions: []report.Direction{direction("west", "east", 9000, 90), direction("east", "west", 8000, 80)}, Total: &report.Sum{Received: report.Flow{PacketsPerSecond: 17000, Layer1BitsPerSecond: 170_000, Layer2BitsPerSecond: 17_000}, LossRatio: 500_000, LossRatioMin: 200_000, LineRatePercent: 85 * units.Hundred / 100}, Claim: report.Claim{Saturated: true, Confirmed: true}}
	if change != nil {
		change(&r.Answer)
	}
	return r
}

func direction(from, to string, pps int64, percent units.Percent) report.Direction {
	return report.Direction{From: from, To: to, Received: report.Flow{PacketsPerSecond: pps, Layer1BitsPerSecond: 10 * pps, Layer2BitsPerSecond: pps},
		LossRatio: 500_000, LossRatioMin: 200_000, LineRatePercent: percent * units.Hundred / 100}
}

func TestCriteria(t *testing.T) {
	lowerBound := func(r *report.Answer) { r.Saturated, r.Reason = false, report.GeneratorLimited }
	reached := func(r *report.Answer) { r.Saturated, r.Reason = false, report.TargetReached }
	unconfirmed := func(r *report.Answer) { r.Confirmed = false }
	tests := map[string]struct {
		change    func(*report.Answer)
		criterion plan.Criterion
		want      report.Outcome
		says      string
	}{
		"both directions reach it":                {nil, plan.Criterion{Metric: "LineRatePercent", Direction: "Each", Min: "80"}, report.Passed, "east→west: 80.00 % of line rate, at least 80 % demanded"},
		"one direction falls short":               {nil, plan.Criterion{Metric: "LineRatePercent", Direction: "Each", Min: "80.5"}, report.DidFail, "east→west: 80.00 % of line rate, at least 80.5 % demanded"},
		"each is the default":                     {nil, plan.Criterion{Metric: "PacketsPerSecond", Min: "8001"}, report.DidFail, "east→west: 8.00 kpps"},
		"the total is enough":                     {nil, plan.Criterion{Metric: "PacketsPerSecond", Direction: "Total", Min: "17000"}, report.Passed, "all directions: 17.00 kpps"},
		"the total is not":                        {nil, plan.Criterion{Metric: "LineRatePercent", Direction: "Total", Min: "85.0000001"}, report.DidFail, "85.00 % of line rate"},
		"bits of layer 1":                         {nil, plan.Criterion{Metric: "Layer1BitsPerSecond", Min: "80000"}, report.Passed, "80.00 kb/s"},
		"bits of layer 2":                         {nil, plan.Criterion{Metric: "Layer2BitsPerSecond", Min: "80000"}, report.DidFail, "9.00 kb/s"},
		"no more than a maximum":                  {nil, plan.Criterion{Metric: "PacketsPerSecond", Max: "9000"}, report.Passed, "at most 9,000 pps allowed"},
		"more than a maximum":                     {nil, plan.Criterion{Metric: "PacketsPerSecond", Max: "8999"}, report.DidFail, "west→east"},
		"between both":                            {nil, plan.Criterion{Metric: "PacketsPerSecond", Min: "8000", Max: "9000"}, report.Passed, "at least 8,000 pps demanded, at most 9,000 pps allowed"},
		"a lower bound that is enough":            {lowerBound, plan.Criterion{Metric: "PacketsPerSecond", Min: "8000"}, report.Passed, ""},
		"a lower bound that is not":               {lowerBound, plan.Criterion{Metric: "PacketsPerSecond", Min: "8001"}, report.Undecided, "lower bound only"},
		"a lower bound under a maximum":           {lowerBound, plan.Criterion{Metric: "PacketsPerSecond", Max: "9000"}, report.Undecided, "lower bound only"},
		"a lower bound over a maximum":            {lowerBound, plan.Criterion{Metric: "PacketsPerSecond", Max: "8999"}, report.DidFail, "at most 8,999 pps"},
		"the target reached is a lower bound":     {reached, plan.Criterion{Metric: "PacketsPerSecond", Min: "10000"}, report.Undecided, "lower bound only"},
		"an unconfirmed figure":                   {unconfirmed, plan.Criterion{Metric: "PacketsPerSecond", Min: "8000"}, report.Undecided, "not confirmed"},
		"loss within":                             {nil, plan.Criterion{Metric: "LossRatio", Max: "0.0005"}, report.Passed, "0.02 % to 0.05 % lost, at most 0.05 % allowed"},
		"loss surely above":                       {nil, plan.Criterion{Metric: "LossRatio", Max: "0.0001"}, report.DidFail, ""},
		"loss that may be the generator's":        {nil, plan.Criterion{Metric: "LossRatio", Max: "0.0003"}, report.Undecided, "part of the loss may be the generator's own"},
		"loss of all that may be the generator's": {nil, plan.Criterion{Metric: "LossRatio", Direction: "Total", Max: "0.0003"}, report.Undecided, "all directions: 0.02 % to 0.05 % lost"},
		"loss of all surely above":                {nil, plan.Criterion{Metric: "LossRatio", Direction: "Total", Max: "0.0001"}, report.DidFail, "all directions"},
		"unconfirmed loss within":                 {unconfirmed, plan.Criterion{Metric: "LossRatio", Max: "0.0005"}, report.Undecided, "not confirmed"},
		"unconfirmed loss above":                  {unconfirmed, plan.Criterion{Metric: "LossRatio", Max: "0.0001"}, report.Undecided, "not confirmed"},
		"loss at less load than asked for":        {lowerBound, plan.Criterion{Metric: "LossRatio", Max: "0.001"}, report.Undecided, "the load asked for was not reached"},
		"loss at all the load asked for":          {reached, plan.Criterion{Metric: "LossRatio", Max: "0.001"}, report.Passed, ""},
		"a bound that is no number":               {nil, plan.Criterion{Metric: "PacketsPerSecond", Min: "much"}, report.Undecided, `bound "much" is no decimal number`},
		"an unknown metric":                       {nil, plan.Criterion{Metric: "Beauty", Min: "1"}, report.Undecided, `metric "Beauty"`},
		"nothing measured":                        {func(r *report.Answer) { *r = report.Answer{Reason: report.NotMeasured, Message: "lost"} }, plan.Criterion{Metric: "PacketsPerSecond", Min: "1"}, report.Undecided, "lost"},
		"no clean window says nothing of loss":    {func(r *report.Answer) { *r = report.Answer{Reason: report.NoCleanLoad} }, plan.Criterion{Metric: "LossRatio", Max: "0.1"}, report.Undecided, "not measured"},
		"no clean window without a lossy one":     {func(r *report.Answer) { *r = report.Answer{Reason: report.NoCleanLoad} }, plan.Criterion{Metric: "PacketsPerSecond", Min: "1"}, report.Undecided, "not measured"},
		"the lower bound of the weaker decides":   {lowerBound, plan.Criterion{Metric: "PacketsPerSecond", Min: "8500"}, report.Undecided, "east→west"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := measured(test.change)
			test.criterion.Name = "it"
			r.Plan.Criteria = []plan.Criterion{test.criterion}
			v := analysis.Verdict(r)
			if v.Outcome != test.want || v.Criteria[0].Outcome != test.want || !strings.Contains(v.Criteria[0].Message, test.says) {
				t.Errorf("%s: %+v; want %s: …%s…", v.Outcome, v.Criteria, test.want, test.says)
			}
		})
	}
}

// TestAnExtrapolatedEstimateDecidesNothing, while that of another direction of the same soak does.
func TestAnExtrapolatedEstimateDecidesNothing(t *testing.T) {
	r := measured(func(r *report.Answer) {
		r.Saturated, r.Confirmed, r.Reason = false, false, report.LoadEstimated
		for i := range r.Directions {
			d := &r.Directions[i]
			d.Intended, d.Offered = d.Received, d.Received
			d.Estimate = &report.Estimate{LossRatio: 10_000, Low: "8000", High: "9000", Extrapolated: i == 1}
		}
	})
	r.Plan.Procedure = plan.Procedure{Type: plan.TypeSoak}
	r.Plan.Criteria = []plan.Criterion{{Name: "it", Metric: "OfferedPacketsPerSecond", Direction: "Each", Min: "7000"}}
	v := analysis.Verdict(r)
	said := v.Criteria[0].Message
	if v.Outcome != report.Undecided || !strings.Contains(said, "not confirmed") || strings.Count(said, "not confirmed") > 1 {
		t.Errorf("%+v", v)
	}
	if r.Answer.Directions[1].Estimate.Extrapolated = false; analysis.Verdict(r).Outcome != report.Passed {
		t.Errorf("%+v", analysis.Verdict(r))
	}
}

// TestAMaximumPassesOnlyWhereTheWholeIntervalIsWithinIt, however narrow the interval is: the device may do more
// than surely came back.
func TestAMaximumPassesOnlyWhereTheWholeIntervalIsWithinIt(t *testing.T) {
	// 9000 came back, and frames were lost at 9045
	searched := measured(func(r *report.Answer) { r.Resolution = units.One / 200 })
	for maximum, want := range map[string]report.Outcome{"8999": report.DidFail, "9000": report.Undecided, "9045": report.Undecided, "9046": report.Passed} {
		searched.Plan.Criteria = []plan.Criterion{{Name: "it", Metric: "PacketsPerSecond", Max: maximum}}
		v := analysis.Verdict(searched)
		if v.Outcome != want || want == report.Undecided && !strings.Contains(v.Criteria[0].Message, "west→east: 9.00 kpps, at most "+maximum[:1]+","+maximum[1:]+" pps allowed, and the true value may be up to 9.05 kpps") {
			t.Errorf("at most %s: %+v, want %s", maximum, v, want)
		}
	}
}

func TestAPercentageOfAnUnknownLineRateIsUndecided(t *testing.T) {
	r := measured(nil)
	r.LineRates = r.LineRates[:1] // west only
	for direction, want := range map[string]string{"Each": "west→east: the line rate is unknown", "Total": "all directions: the line rate is unknown"} {
		r.Plan.Criteria = []plan.Criterion{{Metric: "LineRatePercent", Direction: direction, Min: "10"}}
		if v := analysis.Verdict(r); v.Outcome != report.Undecided || !strings.Contains(v.Criteria[0].Message, want) {
			t.Errorf("%s: %+v", direction, v)
		}
	}
}

func TestLossAtTheLowestLoadFailsADemandForMore(t *testing.T) {
	r := measured(func(r *report.Answer) { *r = report.Answer{Reason: report.NoCleanLoad} })
	lossy := report.Direction{From: "west", To: "east", Quality: report.Lossy, Offered: report.Flow{PacketsPerSecond: 500}}
	r.Windows = []report.Window{{Phase: report.WarmUp, Quality: report.Lossy, Directions: []report.Direction{{Offered: report.Flow{PacketsPerSecond: 1}, Quality: report.Lossy}}},
		{Phase: report.Ramping, Quality: report.Lossy, Load: units.One, Directions: []report.Direction{lossy}}}
	for minimum, want := range map[string]report.Outcome{"500": report.DidFail, "10000": report.DidFail, "499": report.Undecided} {
		r.Plan.Criteria = []plan.Criterion{{Metric: "PacketsPerSecond", Min: minimum}}
		if v := analysis.Verdict(r); v.Outcome != want {
			t.Errorf("at least %s: %+v, want %s", minimum, v, want)
		}
	}
}

func TestTheVerdictIsItsWorstCriterion(t *testing.T) {
	pass, fail, open := plan.Criterion{Metric: "PacketsPerSecond", Min: "1"}, plan.Criterion{Metric: "PacketsPerSecond", Min: "99999"}, plan.Criterion{Metric: "Beauty"}
	tests := map[string]struct {
		criteria []plan.Criterion
		want     report.Outcome
	}{
		"none":               {nil, report.Undecided},
		"all pass":           {[]plan.Criterion{pass, pass}, report.Passed},
		"one is open":        {[]plan.Criterion{pass, open}, report.Undecided},
		"one fails":          {[]plan.Criterion{fail, open, pass}, report.DidFail},
		"fails after others": {[]plan.Criterion{open, pass, fail}, report.DidFail},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := measured(nil)
			r.Plan.Criteria = test.criteria
			if v := analysis.Verdict(r); v.Outcome != test.want || len(v.Criteria) != len(test.criteria) {
				t.Errorf("%+v, want %s", v, test.want)
			}
		})
	}
}

// window is a window of the staircase at which so many of 10 000 asked for, times the load, came back.
func window(number int, load units.Ratio, quality report.Quality, received int64) report.Window {
	asked := 10_000 * int64(load) / int64(units.One)
	d := report.Direction{From: "west", To: "east", Quality: quality, Intended: report.Flow{PacketsPerSecond: asked}, Offered: report.Flow{PacketsPerSecond: asked},
		Received: report.Flow{PacketsPerSecond: received, Layer1BitsPerSecond: received * 100}, Sent: units.Traffic{Packets: asked}, Returned: units.Traffic{Packets: received}}
	d.LossRatio = units.RatioOf(asked-received, asked)
	return report.Window{Number: number, Phase: report.Ramping, Load: load, Quality: quality, Reason: "because", Duration: plan.Duration(time.Second), Directions: []report.Direction{d}}
}

func staircase(windows ...report.Window) *report.Report {
	return &report.Report{Ending: report.Completed, Plan: &plan.Plan{Procedure: plan.Procedure{MaxLossRatio: units.One / 1000, Ramp: plan.Ramp{
		RampDuration: plan.Duration(10 * time.Second), StepDuration: plan.Duration(time.Second), StopAtSaturation: true}}},
		LineRates: []report.LineRate{{Link: "east", BitsPerSecond: units.Mbps}}, Windows: windows}
}

func TestTheResultIsOneWindowAndTheMostReceivedAnother(t *testing.T) {
	step := units.One / 10
	r := staircase(window(1, step, report.Good, 1000), window(2, 2*step, report.Good, 2000), window(3, 3*step, report.Lossy, 2500), window(4, 4*step, report.Lossy, 2600),
		window(5, 5*step, report.Lossy, 2400))
	got := analysis.Answer(r)
	if !got.Measured || !got.Saturated || got.Confirmed || got.Window != 2 || got.Reason != report.LossAboveLimit {
		t.Errorf("%+v", got)
	}
	if got.Total.Received.PacketsPerSecond != 2000 || got.Total.Window != 2 || got.Total.LineRatePercent.String() != "20" || got.Directions[0].Received.PacketsPerSecond != 2000 {
		t.Errorf("total %+v, directions %+v", got.Total, got.Directions)
	}
	if got.MaxReceived.Received.PacketsPerSecond != 2600 || got.MaxReceived.Window != 4 {
		t.Errorf("most received %+v", got.MaxReceived)
	}
	if want := units.One / 3; got.Resolution < want || got.Resolution > want+1 {
		t.Errorf("resolution %s", got.Resolution)
	}
	for _, says := range []string{"answer, window 2: clean at 20.00 % of the target", "2.00 kpps offered", "lowest loss, window 3: at 30.00 % of the target, with 3.00 kpps offered in all directions: because"} {
		if !strings.Contains(got.EvidenceText(), says) {
			t.Errorf("%q is not said in %q", says, got.EvidenceText())
		}
	}
	if got.Message != "Not confirmed: short windows show the device's limit here, but it was not held for 10 s. Measure again, with more time. This load was held for 1 s." && got.Message != "Saturated: above it the device loses more than 0.1 % of the frames. This load was held for 1 s." {
		t.Error(got.Message)
	}
}

func TestAConfirmationThatWasOutvotedIsTold(t *testing.T) {
	step := units.One / 10
	var windows []report.Window
	for n := 1; n <= 5; n++ {
		windows = append(windows, window(n, units.Ratio(n)*step, report.Good, int64(1000*n)))
	}
	for n := 6; n <= 8; n++ {
		windows = append(windows, window(n, units.Ratio(n)*step, report.Lossy, 5000))
	}
	for i, quality := range []report.Quality{report.Lossy, report.Good, report.Good} {
		w := window(9+i, 5*step, quality, 5000)
		w.Phase, w.Duration = report.Confirm, plan.Duration(10*time.Second)
		windows = append(windows, w)
	}
	r := staircase(windows...)
	r.Plan.Procedure.Ramp.ConfirmDuration = plan.Duration(10 * time.Second)
	got := analysis.Answer(r)
	if !got.Confirmed || got.Window != 11 || len(got.Outvoted) != 1 || !slices.Equal(got.Outvoted[0].Lossy, []int{9}) {
		t.Errorf("%+v", got)
	}
	if says := "1 of 3 windows held at 50.00 % of the target lost frames (window 9)"; !strings.Contains(got.EvidenceText(), says) {
		t.Errorf("%q is not said in %q", says, got.EvidenceText())
	}
}

func TestInvalidWindowsCountForNothing(t *testing.T) {
	r := staircase(window(1, units.One/10, report.Invalid, 9999))
	if got := analysis.Answer(r); got.Measured || got.MaxReceived != nil {
		t.Errorf("%+v", got)
	}
}

// What the edges of the answer's window may hide is told, where it is more than the limit allows.
func TestWhatAnAnswersEdgesHideIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		least, most units.Ratio
		says        bool
	}{
		"more than the limit":                   {0, units.One / 100, true},
		"no more than the limit":                {0, units.One / 1000, false},
		"nothing":                               {0, 0, false},
		"of what is surely more than the limit": {units.One / 500, units.One / 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := window(1, units.One, report.Good, 10_000)
			w.Directions[0].LossRatioMin, w.Directions[0].LossRatioMax = test.least, test.most
			const says = "as far as its edges and frames of others show: up to 1 % may be lost"
			if got := analysis.Answer(staircase(w)); !got.Measured || strings.Contains(got.EvidenceText(), says) != test.says {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestARunWithoutWindows(t *testing.T) {
	r := staircase()
	r.Message = "the port is taken"
	if got := analysis.Answer(r); got.Measured || got.Reason != report.NotMeasured || got.EvidenceText() != "end: the port is taken" {
		t.Errorf("%+v", got)
	}
}

func TestALowerBoundForBurstsSaysSo(t *testing.T) {
	window := func(number int, percent units.Ratio, quality report.Quality, sent, returned int64) report.Window {
		d := direction("west", "east", returned, 50)
		d.Quality, d.Sent.Packets, d.Returned.Packets = quality, sent, returned
		d.Intended.PacketsPerSecond, d.Offered.PacketsPerSecond = sent, sent
		d.LossRatio, d.LossRatioMin = units.RatioOf(sent-returned, sent), units.RatioOf(sent-returned, sent)
		return report.Window{Number: number, Phase: report.Ramping, Load: percent * units.One / 100, Quality: quality, Reason: "generator-0 sent in bursts",
			Directions: []report.Direction{d}, Bursts: []report.Burst{{Generator: "generator-0", Sent: 900, Due: 100, Count: 1}}}
	}
	r := measured(nil)
	r.Plan.Procedure.Ramp.StepDuration, r.Plan.Procedure.Ramp.RampDuration = plan.Duration(time.Second), plan.Duration(10*time.Second)
	r.Windows = []report.Window{window(1, 50, report.Good, 5000, 5000)}
	for n := range 3 {
		r.Windows = append(r.Windows, window(2+n, 60, report.Invalid, 6000, 5500))
	}
	got := analysis.Answer(r)
	want := "load above, window 2: generator-0 sent in bursts"
	if got.Saturated || got.Reason != report.GeneratorLimited || got.Window != 1 || got.Cause.Detail != report.SentInBursts || !strings.Contains(got.EvidenceText(), want) {
		t.Errorf("%+v", got)
	}
}

func TestALowerBoundForFullQueuesSaysSo(t *testing.T) {
	const kept, said = units.One / 2, "its transmit queues were full 700 times"
	window := func(number int, load units.Ratio, quality report.Quality) report.Window {
		d := direction("west", "east", 5000, 50)
		d.Quality = quality
		return report.Window{Number: number, Phase: report.Ramping, Load: load, Quality: quality, Reason: "the generator offered less", Directions: []report.Direction{d}}
	}
	r := measured(nil)
	r.Plan.Procedure.Ramp.StepDuration, r.Plan.Procedure.Ramp.RampDuration = plan.Duration(time.Second), plan.Duration(10*time.Second)
	r.Windows = []report.Window{window(1, kept/2, report.Good), window(2, kept, report.Short), window(3, units.One, report.Short)}
	for _, tt := range []struct {
		name string
		full []int64 // as read below the load that is kept, at it, and above it
		want bool
	}{
		{"they were, at the end", []int64{0, 300, 700}, true},
		{"what they were before doesn't count", []int64{90, 390, 790}, true},
		{"they never were", []int64{0, 0, 0}, false},
		{"only at loads that the generator kept", []int64{700, 700, 700}, false},
		{"nothing was read", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.Samples = nil
			for i, full := range tt.full {
				r.Samples = append(r.Samples, report.Sample{Load: r.Windows[i].Load, QueueFull: full})
			}
			got := analysis.Answer(r)
			if got.Reason != report.GeneratorLimited || strings.Contains(got.EvidenceText(), said) != tt.want || (got.Cause.Detail == report.SendingQueueFull) != tt.want {
				t.Errorf("%+v", got)
			}
		})
	}
}
