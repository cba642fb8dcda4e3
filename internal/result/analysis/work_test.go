package analysis_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// taking are five runs beside which trains showed about so many nanoseconds a frame, in each direction.
func taking(nanoseconds, eastwards float64, pps int64, changes ...func(*report.Report)) (all []*report.Report) {
	for i, of := range []float64{0, 0.006, -0.004, 0.003, -0.008} {
		r := at(pps+int64(i), changes...)
		for k, time := range []float64{eastwards, nanoseconds} { // east→west, and back
			middle := time * (1 + of)
			r.Answer.Directions[1-k].Own = []report.OwnFigure{{Metric: procedure.TimePerFrame,
				Low: number(middle * 0.995), High: number(middle * 1.005)}}
		}
		all = append(all, r)
	}
	return all
}

func number(v float64) report.Number { return report.Number(strconv.FormatFloat(v, 'f', 3, 64)) }

func TestTheWorkForAFrameIsJudgedWhereTheRateIsUndecided(t *testing.T) {
	bound := func(r *report.Report) { r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited }
	rule := plan.Criterion{Metric: "PacketsPerSecond", MaxRegression: ratio("2%"), MaxWorkRegression: ratio("3%")}
	without, total, worst := rule, rule, rule
	without.MaxWorkRegression, total.Direction, worst.Statistic = nil, "Total", plan.WorstOfRuns
	upper := func(runs []*report.Report) []*report.Report {
		for _, r := range runs {
			for i := range r.Answer.Directions {
				r.Answer.Directions[i].Own[0].Low = "0"
			}
		}
		return runs
	}
	for name, test := range map[string]struct {
		criterion       plan.Criterion
		runs, baseline  []*report.Report
		want            report.Outcome
		reason          report.CriterionReason
		direction, says string
	}{
		"half a microsecond more": {rule, taking(1440, 940, 9000, bound), taking(940, 940, 9970), report.DidFail,
			report.MoreWorkPerFrame, "west→east", "the work for a frame changed by +0.500 ± 0.015 µs, and the limit is undecided: " +
				"west→east: 1.440 µs a frame in 5 runs, 940.0 ns a frame in 5 runs of the baseline: 53.19 % more"},
		"of all directions": {total, taking(1440, 940, 9000, bound), taking(940, 940, 9970), report.DidFail,
			report.MoreWorkPerFrame, "Total", "all directions: 1.440 µs a frame"},
		"both sides are bounds": {rule, taking(1440, 940, 9000, bound), taking(940, 940, 9000, bound), report.DidFail,
			report.MoreWorkPerFrame, "west→east", "; of the limit, "},
		"of each run": {worst, taking(1440, 940, 9000, bound), taking(940, 940, 9970), report.DidFail,
			report.MoreWorkPerFrame, "west→east", "+0.500 ± 0.015 µs"},
		"as much": {rule, taking(941, 940, 9000, bound), taking(940, 940, 9970), report.Undecided, report.WorkPerFrameKept,
			"west→east", "; the work for a frame changed by +1 ± 10 ns, which is allowed and says nothing of the limit: "},
		"less": {rule, taking(800, 700, 9000, bound), taking(940, 940, 9970), report.Undecided, report.WorkPerFrameKept,
			"west→east", ", which is allowed and says nothing of the limit: "},
		"about as much more as is allowed": {rule, taking(968, 940, 9000, bound), taking(940, 940, 9970), report.Undecided,
			"", "west→east", "; whether the work for a frame grew is undecided, too: west→east: "},
		"only upper bounds": {rule, upper(taking(1440, 940, 9000, bound)), taking(940, 940, 9970), report.Undecided, "", "",
			"; whether the work for a frame grew is undecided, too: "},
		"no trains": {rule, taking(1440, 940, 9000, bound), runs(9974, 9966, 9973, 9965, 9977), report.Undecided, "", "",
			"; whether the work for a frame grew is undecided, too: west→east: main of the baseline has no such figure"},
		"no trains at all": {rule, withoutTrains(taking(1, 1, 9000, bound)), runs(9974, 9966, 9973, 9965, 9977),
			report.Undecided, "", "", "; the work for a frame was not compared, as no trains of frames were measured"},
		"not asked": {without, taking(1440, 940, 9000, bound), taking(940, 940, 9970), report.Undecided, "", "",
			"5 of the candidate's runs found a lower bound only"},
		"the rate passes":    {rule, taking(1440, 940, 9970), taking(940, 940, 9970), report.Passed, "", "", "at most 2 % less allowed"},
		"the rate fails":     {rule, taking(940, 940, 9000), taking(940, 940, 9970), report.DidFail, "", "", "at most 2 % less allowed"},
		"a bound that meets": {rule, taking(1440, 940, 9970, bound), taking(940, 940, 9970), report.Passed, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.criterion.Name = "no-slower"
			v := analysis.Judge([]plan.Criterion{test.criterion}, test.runs, baselineOf(test.baseline...))
			got := v.Criteria[0]
			if v.Outcome != test.want || got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s, %q: %s\nwant %s, %q: …%s…", v.Outcome, got.Reason, got.Message, test.want, test.reason, test.says)
			}
			if direction := directionOf(got.TimePerFrame); direction != test.direction {
				t.Errorf("the change is of %q, want %q", direction, test.direction)
			}
			if document, err := json.Marshal(got); err != nil || (test.reason != "") != strings.Contains(string(document),
				`"reason":"`+string(test.reason)) {
				t.Errorf("%s: %v", document, err)
			}
		})
	}
}

func directionOf(change *report.TimeChange) string {
	if change == nil {
		return ""
	}
	return change.Direction
}

func withoutTrains(runs []*report.Report) []*report.Report {
	for _, r := range runs {
		for i := range r.Answer.Directions {
			r.Answer.Directions[i].Own = nil
		}
	}
	return runs
}

// A rate that is undecided never passes by the work for a frame, whatever the runs show of that.
func TestTheWorkForAFramePassesNoRate(t *testing.T) {
	bound := func(r *report.Report) { r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited }
	rule := plan.Criterion{Name: "it", Metric: "PacketsPerSecond", MaxRegression: ratio("2%"),
		MaxWorkRegression: ratio("3%")}
	for _, nanoseconds := range []float64{1, 500, 900, 940, 960, 970, 1000, 5000} {
		for _, pps := range []int64{10, 5000, 9000} {
			v := analysis.Judge([]plan.Criterion{rule}, taking(nanoseconds, nanoseconds, pps, bound),
				baselineOf(taking(940, 940, 9970)...))
			if v.Outcome == report.Passed {
				t.Errorf("%.0f ns at %d pps: %s", nanoseconds, pps, v.Words())
			}
		}
	}
}
