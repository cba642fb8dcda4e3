package analysis_test

import (
	"math"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// seen is what an observer saw of a processor in the result's windows.
func seen(of string, mean float64) report.Observed {
	return report.Observed{Observer: "cpu", Series: "busy", Subject: of, Unit: "s/s", Mean: new(mean)}
}

// cool is a demand on how busy processors are.
func cool(of, statistic, least, most string) plan.Criterion {
	return plan.Criterion{Name: "cool", Metric: "Observed", Direction: "Each", Min: least, Max: most,
		Observed: &plan.ObservedSeries{Observer: "cpu", Series: "busy", Scope: of, Statistic: statistic}}
}

func TestCriteriaOfWhatObserversSaw(t *testing.T) {
	two := []report.Observed{seen("all processors", 1.25), seen("processor 0", 0.5), seen("processor 1", 0.75),
		{Observer: "cpu", Series: "softirq", Subject: "processor 0", Unit: "s/s", Mean: new(0.99)}, {Observer: "other", Series: "busy", Subject: "processor 0", Unit: "s/s", Mean: new(0.99)}}
	peak := []report.Observed{{Observer: "cpu", Series: "busy", Subject: "processor 0", Unit: "s/s", Mean: new(0.5), Min: new(0.25), Max: new(0.875)}}
	steps := seen("processor 0", 0.75)
	steps.Unsure = 0.005
	coarse, idle := []report.Observed{steps}, seen("processor 0", 0.001)
	idle.Unsure = 0.005
	for name, c := range map[string]struct {
		seen      []report.Observed
		criterion plan.Criterion
		want      report.Outcome
		says      string
	}{
		"each is cool enough": {two, cool("Each", "Mean", "", "0.75"), report.Passed,
			"cpu: mean busy of processor 0: 0.5 processors, at most 0.75 processors allowed; cpu: mean busy of processor 1: 0.75 processors, at most 0.75 processors allowed"},
		"one is too busy": {two, cool("Each", "Mean", "", "0.74"), report.DidFail,
			"cpu: mean busy of processor 1: 0.75 processors, at most 0.74 processors allowed"},
		"all together, added up":                     {two, cool("All", "Mean", "", "1.2"), report.DidFail, "cpu: mean busy of all processors: 1.25 processors, at most 1.2 processors allowed"},
		"all together are enough":                    {two, cool("All", "Mean", "1.25", "2"), report.Passed, "at least 1.25 processors demanded, at most 2 processors allowed"},
		"one is idle":                                {two, cool("Each", "Mean", "0.6", ""), report.DidFail, "processor 0: 0.5 processors, at least 0.6 processors demanded"},
		"the mean is enough":                         {peak, cool("Each", "Mean", "", "0.8"), report.Passed, "mean busy"},
		"the most is not":                            {peak, cool("Each", "Max", "", "0.8"), report.DidFail, "cpu: highest busy of processor 0: 0.875 processors, at most 0.8 processors allowed"},
		"a counter of one window has its rate":       {two, cool("All", "Max", "", "1.25"), report.Passed, "highest busy of all processors: 1.25 processors"},
		"a generator's machine of several":           {[]report.Observed{seen("generator-1 all processors", 1)}, cool("All", "Mean", "", "1"), report.Passed, "generator-1 all processors"},
		"a machine with more than eight processors":  {[]report.Observed{seen("all processors", 1)}, cool("Each", "Mean", "", "1"), report.Undecided, "cpu: busy is known of all processors together only, as the machine has many: say observed.scope: All"},
		"surely below, whatever the steps":           {coarse, cool("Each", "Mean", "", "0.76"), report.Passed, ""},
		"surely above, whatever the steps":           {coarse, cool("Each", "Mean", "", "0.74"), report.DidFail, "processor 0: 0.75 processors, at most 0.74 processors allowed"},
		"within a step of the most":                  {coarse, cool("Each", "Mean", "", "0.751"), report.Undecided, "at most 0.751 processors allowed, and it is known to 0.005 processors only, as its counter grows in steps, or took long to answer: hold the load for longer"},
		"within a step of the least":                 {coarse, cool("Each", "Mean", "0.754", ""), report.Undecided, "known to 0.005 processors only"},
		"within a step of the least, above the most": {coarse, cool("Each", "Mean", "0.7", "0.74"), report.DidFail, ""},
		"no less than nothing":                       {[]report.Observed{idle}, cool("Each", "Mean", "0", "0.1"), report.Passed, ""},
		"missing in the windows":                     {[]report.Observed{{Observer: "cpu", Series: "busy", Subject: "processor 0", Missing: "in window 7 the counter went back"}}, cool("Each", "Mean", "", "1"), report.Undecided, "cpu: mean busy of processor 0 is missing: in window 7 the counter went back"},
		"one is missing, and another is too busy":    {[]report.Observed{{Observer: "cpu", Series: "busy", Subject: "processor 0", Missing: "lost"}, seen("processor 1", 1)}, cool("Each", "Mean", "", "0.9"), report.DidFail, "processor 1: 1 processors"},
		"one is missing, and another is cool":        {[]report.Observed{{Observer: "cpu", Series: "busy", Subject: "processor 0", Missing: "lost"}, seen("processor 1", 0)}, cool("Each", "Mean", "", "0.9"), report.Undecided, "processor 0 is missing: lost"},
		"one node of several tells nothing": {[]report.Observed{seen("node-1 all processors", 0), seen("node-1 processor 0", 0), {Observer: "cpu", Series: "busy", Subject: "node-10 all processors", Missing: "it is gone"}},
			cool("Each", "Mean", "", "1"), report.Undecided, "cpu: mean busy of node-10 all processors is missing: it is gone"},
		"one node of several has many": {[]report.Observed{seen("node-1 all processors", 0), seen("node-1 processor 0", 0), seen("node-10 all processors", 1)},
			cool("Each", "Mean", "", "1"), report.Undecided, "cpu: mean busy of node-10 all processors is missing: it is known of all together only, as the machine has many: say observed.scope: All"},
		"one node of several is too busy, whatever others are": {[]report.Observed{seen("node-1 all processors", 1), seen("node-1 processor 0", 1), {Observer: "cpu", Series: "busy", Subject: "node-10 all processors", Missing: "it is gone"}},
			cool("Each", "Mean", "", "0.9"), report.DidFail, "node-1 processor 0: 1 processors, at most 0.9 processors allowed"},
		"a processor that is missing, and all together are demanded": {[]report.Observed{seen("all processors", 1), {Observer: "cpu", Series: "busy", Subject: "processor 0", Missing: "lost"}}, cool("All", "Mean", "", "1"), report.Passed, ""},
		"nothing could be read at all":                               {[]report.Observed{{Observer: "cpu", Missing: "generator g doesn't tell of its processors"}}, cool("Each", "Mean", "", "1"), report.Undecided, "cpu: busy is missing: generator g doesn't tell of its processors"},
		"a Report that says nothing of the observer":                 {nil, cool("Each", "Mean", "", "1"), report.Undecided, "the Report doesn't say what observer cpu saw of busy"},
		"a value that isn't there":                                   {[]report.Observed{{Observer: "cpu", Series: "busy", Subject: "processor 0"}}, cool("Each", "Mean", "", "1"), report.Undecided, "the Report has no value of it"},
		"a value that is no number":                                  {[]report.Observed{seen("processor 0", math.NaN())}, cool("Each", "Mean", "", "1"), report.Undecided, "NaN is no number"},
		"a bound that is no number":                                  {two, cool("Each", "Mean", "", "much"), report.Undecided, `bound "much" is no decimal number`},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(func(result *report.Answer) { result.Observed = c.seen })
			r.Plan.Criteria = []plan.Criterion{c.criterion}
			if v := analysis.Verdict(r); v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%+v\nwant %s: …%s…", v, c.want, c.says)
			}
		})
	}
}

// A demand on power that was told over the network names who told it, and of what.
func TestCriteriaOfPower(t *testing.T) {
	drawn := []report.Observed{{Observer: "outlet", Series: "value", Subject: ".1.3.6.1.4.1.318.7.4", Unit: "W", Mean: new(412.5)},
		{Observer: "outlet", Series: "joulesPerPacket", Subject: ".1.3.6.1.4.1.318.7.4", Unit: "J", Mean: new(0.0000275)}}
	unsettled := []report.Observed{{Observer: "outlet", Series: "value", Subject: ".1.3.6.1.4.1.318.7.4", Unit: "W", Missing: "it had not settled"}}
	for name, c := range map[string]struct {
		seen         []report.Observed
		series, most string
		want         report.Outcome
		says         string
	}{
		"too much":      {drawn, "value", "350", report.DidFail, "outlet: mean value of .1.3.6.1.4.1.318.7.4: 412.5 W, at most 350 W allowed"},
		"little enough": {drawn, "value", "450", report.Passed, "412.5 W"},
		"a packet's":    {drawn, "joulesPerPacket", "0.00002", report.DidFail, "outlet: mean joulesPerPacket of .1.3.6.1.4.1.318.7.4: 0.0000275 J, at most 0.00002 J allowed"},
		"not settled":   {unsettled, "value", "450", report.Undecided, "outlet: mean value of .1.3.6.1.4.1.318.7.4 is missing: it had not settled"},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(func(result *report.Answer) { result.Observed = c.seen })
			r.Plan.Criteria = []plan.Criterion{{Name: "power", Metric: "Observed", Direction: "Each", Max: c.most, Observed: &plan.ObservedSeries{Observer: "outlet", Series: c.series, Scope: "Each", Statistic: "Mean"}}}
			if v := analysis.Verdict(r); v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%+v\nwant %s: …%s…", v, c.want, c.says)
			}
		})
	}
}

func TestWhatObserversSawBesideNoFigureIsNotJudged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Report)
		says   string
	}{
		"the figure isn't confirmed": {func(r *report.Report) { r.Answer.Confirmed = false }, "at most 0.9 processors allowed, and the figure beside which it was seen is not confirmed"},
		"the run was cut short":      {func(r *report.Report) { r.Ending, r.Message = report.Interrupted, "somebody pulled the plug" }, "somebody pulled the plug"},
		"nothing was measured": {func(r *report.Report) {
			r.Answer = report.Answer{Reason: report.NoCleanLoad, Message: "no window was clean"}
		}, "no window was clean"},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(func(result *report.Answer) { result.Observed = []report.Observed{seen("processor 0", 0.5)} })
			r.Plan.Criteria = []plan.Criterion{cool("Each", "Mean", "", "0.9")}
			c.change(r)
			if v := analysis.Verdict(r); v.Outcome != report.Undecided || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%+v, want Undecided: …%s…", v, c.says)
			}
		})
	}
}

// TestWhatObserversSawAtLessLoadThanAskedFor: a processor that a weak generator leaves idle isn't cool.
func TestWhatObserversSawAtLessLoadThanAskedFor(t *testing.T) {
	const notReached = "and the load asked for was not reached, at which it may be more"
	for name, c := range map[string]struct {
		reason      report.Reason
		least, most string
		want        report.Outcome
		says        string
	}{
		"the generator was too weak":            {report.GeneratorLimited, "", "0.9", report.Undecided, "processor 0: 0.5 processors, at most 0.9 processors allowed, " + notReached},
		"the machine was too busy":              {report.MachineLimited, "", "0.9", report.Undecided, notReached},
		"nobody knows":                          {report.Inconclusive, "", "0.9", report.Undecided, notReached},
		"all that was asked for was sent":       {report.TargetReached, "", "0.9", report.Passed, ""},
		"the device was the limit":              {report.LossAboveLimit, "", "0.9", report.Passed, ""},
		"it was so in one direction alone":      {report.OtherDirection, "", "0.9", report.Undecided, "and one direction set the load of all, so it may be more where another one carries all it can"},
		"too much already":                      {report.GeneratorLimited, "", "0.4", report.DidFail, "at most 0.4 processors allowed"},
		"at least as much, by a weak generator": {report.GeneratorLimited, "0.5", "", report.Passed, ""},
		"between both, by a weak generator":     {report.GeneratorLimited, "0.4", "0.9", report.Undecided, notReached},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(func(result *report.Answer) {
				result.Observed, result.Reason = []report.Observed{seen("processor 0", 0.5)}, c.reason
				result.Saturated = c.reason == report.LossAboveLimit
			})
			r.Plan.Criteria = []plan.Criterion{cool("Each", "Mean", c.least, c.most)}
			if v := analysis.Verdict(r); v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%+v, want %s: …%s…", v, c.want, c.says)
			}
		})
	}
}

// TestWhatObserversSawBesideSessionsOfWhichTheDeviceWasNotTheLimit: sessions are asked for no load, so none was not
// reached.
func TestWhatObserversSawBesideSessionsOfWhichTheDeviceWasNotTheLimit(t *testing.T) {
	const unshown = "it may be more at what the device can carry: that the device was the limit could not be shown"
	for name, c := range map[string]struct {
		reason      report.Reason
		least, most string
		want        report.Outcome
		says        string
	}{
		"the path was the limit":              {report.PathLimited, "", "0.9", report.Passed, ""},
		"an end was":                          {report.GeneratorLimited, "", "0.9", report.Undecided, "measured at a load below what the device can carry, where it may be more: an end of the sessions was too weak for more"},
		"others had the processors":           {report.MachineLimited, "", "0.9", report.Undecided, unshown},
		"nobody knows":                        {report.Inconclusive, "", "0.9", report.Undecided, unshown},
		"too much already":                    {report.GeneratorLimited, "", "0.4", report.DidFail, "at most 0.4 processors allowed"},
		"at least as much, while an end was":  {report.GeneratorLimited, "0.5", "", report.Passed, ""},
		"between both, while an end was so":   {report.GeneratorLimited, "0.4", "0.9", report.Undecided, "an end of the sessions was too weak"},
		"between both, of what the path held": {report.PathLimited, "0.4", "0.9", report.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := transfers(transfer("west", "east", 0, 90))
			r.Answer.Observed, r.Answer.Reason = []report.Observed{seen("processor 0", 0.5)}, c.reason
			r.Plan.Criteria = []plan.Criterion{cool("Each", "Mean", c.least, c.most)}
			v := analysis.Verdict(r)
			if v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) || strings.Contains(v.Criteria[0].Message, "asked for") {
				t.Errorf("%+v, want %s: …%s…", v, c.want, c.says)
			}
		})
	}
}

func TestWhatObserversSawOverSeveralRuns(t *testing.T) {
	runs := func(busy ...float64) (all []*report.Report) {
		for _, v := range busy {
			all = append(all, measured(func(result *report.Answer) {
				if v >= 0 {
					result.Observed = []report.Observed{seen("processor 0", v)}
				}
			}))
		}
		return all
	}
	for name, c := range map[string]struct {
		runs []*report.Report
		want report.Outcome
		says string
	}{
		"all are cool":       {runs(0.5, 0.625, 0.75), report.Passed, "cpu: mean busy of processor 0: median 0.625 processors of 3 runs (0.5 processors to 0.75 processors), at most 0.9 processors allowed; all 3 runs meet it"},
		"all are too busy":   {runs(0.95, 0.96), report.DidFail, "all 2 runs do not meet it"},
		"one is too busy":    {runs(0.5, 0.625, 0.95), report.Undecided, "1 of 3 runs do not meet it (cpu: mean busy of processor 0: 0.95 processors"},
		"one saw nothing":    {runs(0.5, -1), report.Undecided, "1 of 2 runs leave it open (the Report doesn't say what observer cpu saw"},
		"none saw anything":  {runs(-1, -1), report.Undecided, "the Report doesn't say what observer cpu saw of busy in the result's windows, at most 0.9 allowed; all 2 runs leave it open"},
		"a run of no figure": {append(runs(0.5, 0.5, 0.5), &report.Report{Ending: report.Failed, Plan: measured(nil).Plan}), report.Passed, "all 3 runs meet it; 1 of 4 runs set aside"},
	} {
		t.Run(name, func(t *testing.T) {
			v := analysis.Judge([]plan.Criterion{cool("Each", "Mean", "", "0.9")}, c.runs, nil)
			if v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%+v\nwant %s: …%s…", v, c.want, c.says)
			}
		})
	}
}

// An answer of several windows has what was seen in all of them.
func TestTheResultHasWhatObserversSawInItsWindow(t *testing.T) {
	r := measured(nil)
	r.Plan.Procedure = plan.Procedure{Type: "ConstantLoad", ConstantLoad: &plan.ConstantLoad{}}
	for i, busy := range []float64{0.5, 0.75} {
		w := report.Window{Number: i + 1, Phase: report.Hold, Quality: report.Good, Directions: r.Answer.Directions, Duration: 1e9, Observed: []report.Observed{seen("processor 0", busy)}}
		w.Observed[0].Over = 1e9
		for d := range w.Directions {
			w.Directions[d].Quality = report.Good
		}
		r.Windows = append(r.Windows, w)
	}
	got := analysis.Answer(r).Observed
	if len(got) != 1 || got[0].Mean == nil || *got[0].Mean != 0.625 || *got[0].Max != 0.75 {
		t.Errorf("%+v", got)
	}
}
