package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
)

// transfer is a direction with 1 % of retransmits and round trips of 1.9 ms. For held of each second its receiver
// kept the sender waiting; in so many percent of the samples the path did.
func transfer(from, to string, held time.Duration, pathPercent int64) report.Direction {
	return report.Direction{From: from, To: to, Quality: report.Good, Sessions: &report.Sessions{Connections: 2, ReceivedIn: plan.Duration(time.Second), GoodputBitsPerSecond: 40_000_000, Segments: 1000,
		RetransmittedSegments: 10, RetransmitRatio: units.RatioOf(10, 1000), RoundTrip: &report.RoundTrip{MinMicroseconds: 80, MeanMicroseconds: 1900, MaxMicroseconds: 4000},
		Senders: report.SenderTime{Observed: plan.Duration(time.Second), Busy: plan.Duration(time.Second), ReceiverLimited: plan.Duration(held), Samples: 100, HeldByPath: pathPercent}}}
}

func transfers(directions ...report.Direction) *report.Report {
	total := measure.Sum(directions, nil)
	p := &plan.Plan{Version: plan.Version, Sessions: &plan.Sessions{}, Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true}}}
	return &report.Report{Plan: p, Ending: report.Completed, Answer: report.Answer{Measured: true, Reason: report.PathLimited, Directions: directions, Total: &total, Claim: report.Claim{Confirmed: true}}}
}

// TestLossesAndDelaysAtLessThanTheDeviceCarries: ends that send less lose less, and their weakness passes no test.
// What was too much already stays too much.
func TestLossesAndDelaysAtLessThanTheDeviceCarries(t *testing.T) {
	byPath, byEnd, unknown := transfer("west", "east", 0, 90), transfer("west", "east", time.Second/2, 90), transfer("west", "east", 0, 10)
	back := transfer("east", "west", 0, 90)
	const tooWeak = "and it was measured at a load below what the device can carry, where it may be more: an end of the sessions was too weak for more"
	for name, c := range map[string]struct {
		measured  []report.Direction
		criterion plan.Criterion
		want      report.Outcome
		says      string
	}{
		"retransmits within, of what the path limited":   {[]report.Direction{byPath}, plan.Criterion{Metric: "RetransmitRatio", Max: "0.01"}, report.Passed, "west→east: 1 % of the segments retransmitted, at most 1 % allowed"},
		"retransmits above, of what the path limited":    {[]report.Direction{byPath}, plan.Criterion{Metric: "RetransmitRatio", Max: "0.009"}, report.DidFail, "at most 0.9 % allowed"},
		"retransmits within, of what an end limited":     {[]report.Direction{byEnd}, plan.Criterion{Metric: "RetransmitRatio", Max: "0.01"}, report.Undecided, "at most 1 % allowed, " + tooWeak},
		"retransmits above, of what an end limited":      {[]report.Direction{byEnd}, plan.Criterion{Metric: "RetransmitRatio", Max: "0.009"}, report.DidFail, "at most 0.9 % allowed"},
		"retransmits within, of what nobody knows":       {[]report.Direction{unknown}, plan.Criterion{Metric: "RetransmitRatio", Max: "0.01"}, report.Undecided, "that the device was the limit could not be shown"},
		"retransmits above, of what nobody knows":        {[]report.Direction{unknown}, plan.Criterion{Metric: "RetransmitRatio", Max: "0.009"}, report.DidFail, ""},
		"round trips within, of what the path limited":   {[]report.Direction{byPath}, plan.Criterion{Metric: "RoundTripMicroseconds", Max: "1900"}, report.Passed, "rtt 1.9 ms"},
		"round trips within, of what an end limited":     {[]report.Direction{byEnd}, plan.Criterion{Metric: "RoundTripMicroseconds", Max: "2000"}, report.Undecided, tooWeak},
		"round trips above, of what an end limited":      {[]report.Direction{byEnd}, plan.Criterion{Metric: "RoundTripMicroseconds", Max: "1800"}, report.DidFail, ""},
		"at least so many, of what an end limited":       {[]report.Direction{byEnd}, plan.Criterion{Metric: "RetransmitRatio", Min: "0.01"}, report.Passed, ""},
		"at least more than there were, by an end":       {[]report.Direction{byEnd}, plan.Criterion{Metric: "RetransmitRatio", Min: "0.02"}, report.Undecided, tooWeak},
		"each direction, of which an end limited one":    {[]report.Direction{byEnd, back}, plan.Criterion{Metric: "RetransmitRatio", Max: "0.01"}, report.Undecided, "west→east"},
		"each direction, both above":                     {[]report.Direction{byEnd, back}, plan.Criterion{Metric: "RetransmitRatio", Max: "0.009"}, report.DidFail, "east→west: 1 % of the segments retransmitted, at most 0.9 % allowed"},
		"all directions, of which an end limited one":    {[]report.Direction{byEnd, back}, plan.Criterion{Metric: "RetransmitRatio", Direction: "Total", Max: "0.01"}, report.Undecided, tooWeak},
		"all directions, of which the path limited each": {[]report.Direction{byPath, back}, plan.Criterion{Metric: "RetransmitRatio", Direction: "Total", Max: "0.01"}, report.Passed, ""},
		"goodput that is enough, of what an end limited": {[]report.Direction{byEnd}, plan.Criterion{Metric: "GoodputBitsPerSecond", Min: "40000000"}, report.Passed, ""},
		"goodput that isn't, of what an end limited":     {[]report.Direction{byEnd}, plan.Criterion{Metric: "GoodputBitsPerSecond", Min: "40000001"}, report.Undecided, "the figure is a lower bound only: the generator was too weak for more"},
		"goodput that isn't, of what the path limited":   {[]report.Direction{byPath}, plan.Criterion{Metric: "GoodputBitsPerSecond", Min: "40000001"}, report.DidFail, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := transfers(c.measured...)
			c.criterion.Name = "it"
			r.Plan.Criteria = []plan.Criterion{c.criterion}
			v := analysis.Verdict(r)
			if v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%s: %+v; want %s: …%s…", v.Outcome, v.Criteria, c.want, c.says)
			}
		})
	}
}

// TestSeveralRunsOfWeakEndsPassNothing: of the runs' median the same holds.
func TestSeveralRunsOfWeakEndsPassNothing(t *testing.T) {
	criteria := []plan.Criterion{{Name: "it", Metric: "RetransmitRatio", Max: "0.01"}}
	weak, sound := transfers(transfer("west", "east", time.Second/2, 90)), transfers(transfer("west", "east", 0, 90))
	for name, c := range map[string]struct {
		runs []*report.Report
		want report.Outcome
	}{
		"all by weak ends": {slices.Repeat([]*report.Report{weak}, 5), report.Undecided},
		"one of five":      {append(slices.Repeat([]*report.Report{sound}, 4), weak), report.Undecided},
		"none":             {slices.Repeat([]*report.Report{sound}, 5), report.Passed},
	} {
		if v := analysis.Judge(criteria, c.runs, nil); v.Outcome != c.want {
			t.Errorf("%s: %+v, want %s", name, v, c.want)
		}
	}
}
