package figures

import (
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// timed is the answer of a run beside which trains showed a time per frame within these ends.
func timed(low, high report.Number) report.Answer {
	return report.Answer{Measured: true, Reason: report.MachineLimited, Directions: []report.Direction{{From: "west",
		To: "east", Own: []report.OwnFigure{{Metric: procedure.TimePerFrame, Low: low, High: high}}}}, Total: &report.Sum{}}
}

func TestATimePerFrameIsSaidToBeAsInTheBaselineOnlyWhereTheIntervalsAllowIt(t *testing.T) {
	baseline := func(answers ...report.Answer) *report.Baseline {
		b := &report.Baseline{}
		for _, a := range answers {
			b.Runs = append(b.Runs, report.BaselineRun{Answer: a})
		}
		return b
	}
	near := []report.Answer{timed("930", "950"), timed("932", "951"), timed("935", "949"), timed("931", "949"),
		timed("938", "950")}
	const alike, alone = "A frame takes 940.0 ns ± 1 %, as in the baseline.", "A frame takes 940.0 ns ± 1 %."
	set := baseline(slices.Concat(near, near[:1])...)
	set.Runs[5].Message = "it was measured in another way"
	for name, c := range map[string]struct {
		answer   report.Answer
		baseline *report.Baseline
		want     []string
	}{
		"no baseline":                  {timed("930.6", "949.4"), nil, []string{alone}},
		"as in the baseline":           {timed("930.6", "949.4"), baseline(near...), []string{alike, alone}},
		"with a run that is set aside": {timed("930.6", "949.4"), set, []string{alike, alone}},
		"too few runs":                 {timed("930.6", "949.4"), baseline(near[1:]...), []string{alone}},
		"a baseline whose runs lie far apart": {timed("930.6", "949.4"),
			baseline(slices.Concat(near[1:], []report.Answer{timed("1000", "1010")})...), []string{alone}},
		"a baseline that has an upper bound": {timed("930.6", "949.4"),
			baseline(slices.Concat(near[1:], []report.Answer{timed("0", "940")})...), []string{alone}},
		"a baseline without trains": {timed("930.6", "949.4"),
			baseline(slices.Concat(near[1:], []report.Answer{{Measured: true, Total: &report.Sum{}}})...), []string{alone}},
		"more":           {timed("990", "1010"), baseline(near...), []string{"A frame takes 1.000 µs ± 1 %."}},
		"less":           {timed("890", "900"), baseline(near...), []string{"A frame takes 895.0 ns ± 0.6 %."}},
		"a wide one":     {timed("840", "1040"), baseline(near...), []string{"A frame takes 940.0 ns ± 10.7 %."}},
		"an upper bound": {timed("0", "940"), baseline(near...), []string{"A frame takes ≤ 940.0 ns."}},
		"no trains":      {report.Answer{Measured: true, Total: &report.Sum{}}, baseline(near...), nil},
	} {
		r := &report.Report{Plan: &plan.Plan{}, Answer: c.answer, Baseline: c.baseline}
		if got := TimeSentences(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A time per frame beside an answer is no part of the answer's line: a bound of a rate stays one.
func TestATimePerFrameBesideABoundLeavesItsLineAsItIs(t *testing.T) {
	r := &report.Report{Plan: &plan.Plan{}, Ending: report.Completed, Answer: timed("930", "950")}
	r.Answer.Reason = report.GeneratorLimited
	if h := HeadlineOf(r); h.OfTrains || !h.Bound || h.PicosecondsPerFrame != 0 {
		t.Errorf("%+v", h)
	}
}
