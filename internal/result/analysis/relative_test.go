package analysis_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
)

// ratio is a share as somebody writes it.
func ratio(text string) *units.Ratio {
	r, err := units.ParseShare(text)
	if err != nil {
		panic(err)
	}
	return &r
}

func kept(reports []*report.Report) (all []analysis.KeptReport) {
	for i, r := range reports {
		own := *r
		own.Started = r.Started.Add(-time.Hour + time.Duration(i)) // no two runs began at once
		all = append(all, analysis.KeptReport{Report: &own, Digest: "sha256:of-" + r.Plan.Test.Name})
	}
	return all
}

func baselineOf(reports ...*report.Report) *report.Baseline {
	return analysis.BaselineOf("LoadTestSuite", "nightly", analysis.Candidate{Plan: at(1).Plan}, kept(reports))
}

func TestARelativeCriterion(t *testing.T) {
	steady := []int64{9974, 9966, 9973, 9965, 9977}
	lost := func(r *report.Report) { r.Ending, r.Message = report.GeneratorLost, "the generator went away" }
	bound := func(r *report.Report) { r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited }
	reached := func(r *report.Report) { r.Answer.Saturated, r.Answer.Reason = false, report.TargetReached }
	unconfirmed := func(r *report.Report) { r.Answer.Confirmed = false }
	faster := func(r *report.Report) {
		r.LineRates = []report.LineRate{{Link: "west", BitsPerSecond: 25 * units.Gbps}, {Link: "east", BitsPerSecond: 25 * units.Gbps}}
	}
	longer := func(r *report.Report) { r.Plan.Procedure.Ramp.HoldDuration = 7 }
	broken := func(r *report.Report) {
		r.Windows = []report.Window{{Phase: report.Ramping, Quality: report.Lossy, Load: units.One / 100, Directions: []report.Direction{
			{From: "west", To: "east", Quality: report.Lossy, Offered: report.Flow{PacketsPerSecond: 100, Layer1BitsPerSecond: 100_000}},
			{From: "east", To: "west", Quality: report.Good, Offered: report.Flow{PacketsPerSecond: 100, Layer1BitsPerSecond: 100_000}}}}}
		r.Answer = report.Answer{Reason: report.NoCleanLoad, Message: "no window was clean"}
	}
	all := func(r *report.Report) { // of what the links carry
		for i, d := range r.Answer.Directions {
			r.Answer.Directions[i].Intended = d.Received
		}
	}
	times := func(n int, pps int64, changes ...func(*report.Report)) (all []*report.Report) {
		for range n {
			all = append(all, at(pps, changes...))
		}
		return all
	}
	two := plan.Criterion{Metric: "PacketsPerSecond", MaxRegression: ratio("2%")}
	tests := map[string]struct {
		criterion plan.Criterion
		runs      []*report.Report
		baseline  *report.Baseline
		want      report.Outcome
		says      string
	}{
		"no change": {two, runs(9975, 9971, 9974, 9983, 9968), baselineOf(runs(steady...)...), report.Passed,
			"west→east: 9.97 kpps in 5 runs, 9.97 kpps in 5 runs of the baseline: 0.01 % more (95.0 % interval: 0.49 % less to 0.52 % more), at most 2 % less allowed; east→west: "},
		"it names the baseline": {two, runs(9975, 9971, 9974, 9983, 9968), baselineOf(runs(steady...)...), report.Passed, "; the baseline is LoadTestSuite nightly"},
		"5 % less":              {two, runs(9476, 9472, 9475, 9484, 9470), baselineOf(runs(steady...)...), report.DidFail, "west→east: 9.48 kpps in 5 runs, 9.97 kpps in 5 runs of the baseline: 4.99 % less"},
		"5 % less of all": {plan.Criterion{Metric: "Layer1BitsPerSecond", Direction: "Total", MaxRegression: ratio("2%")}, runs(9476, 9472, 9475, 9484, 9470), baselineOf(runs(steady...)...), report.DidFail,
			"all directions: 18.95 Mb/s in 5 runs, 19.95 Mb/s in 5 runs of the baseline"},
		"5 % less of line rate": {plan.Criterion{Metric: "LineRatePercent", MaxRegression: ratio("2%")}, runs(9476, 9472, 9475, 9484, 9470), baselineOf(runs(steady...)...), report.DidFail,
			"47.38 % of line rate in 5 runs, 49.87 % of line rate in 5 runs of the baseline"},
		"one run against one":                 {two, runs(9000), baselineOf(runs(10_000)...), report.Undecided, "too few runs to tell it from chance, about 5 runs of each would decide"},
		"one run against one, vouched for":    {plan.Criterion{Metric: "PacketsPerSecond", MaxRegression: ratio("2%"), AssumedSpread: *ratio("0.3%")}, runs(9000), baselineOf(runs(10_000)...), report.DidFail, "assumedSpread vouches for"},
		"without a baseline":                  {two, runs(steady...), nil, report.Undecided, "there is no baseline: name one in spec.baseline, or give its Reports with --baseline"},
		"a baseline that isn't there":         {two, runs(steady...), &report.Baseline{Kind: "LoadTest", Name: "main", Message: "there is no such LoadTest"}, report.Undecided, "there is nothing to compare with: LoadTest main: there is no such LoadTest"},
		"a baseline without Reports":          {two, runs(steady...), baselineOf(), report.Undecided, "LoadTestSuite nightly: it has no Report"},
		"a baseline that isn't measured":      {two, runs(steady...), baselineOf(at(9970, lost)), report.Undecided, "LoadTestSuite nightly: main: the run did not come to its own end (GeneratorLost): the generator went away"},
		"a baseline measured in another way":  {two, runs(steady...), baselineOf(times(5, 9970, longer)...), report.Undecided, "5 of 5 of its runs set aside (main was measured in another way (first this test, then that run): procedure.ramp.holdDuration is \"0s\" in the one and \"7ns\" in the other)"},
		"a baseline at another line rate":     {two, runs(steady...), baselineOf(times(5, 9970, faster)...), report.Undecided, "link west is 1gbps, and was 25gbps in main"},
		"a baseline whose line rate is known": {plan.Criterion{Metric: "LineRatePercent", MaxRegression: ratio("2%")}, runs(steady...), baselineOf(times(5, 9970, func(r *report.Report) { r.LineRates = nil })...), report.Undecided, "main of the baseline has no such figure"},
		"some runs of the baseline serve":     {two, runs(steady...), baselineOf(append(runs(steady...), at(9970, lost), at(9000, unconfirmed))...), report.Passed, "; 2 of 7 of its runs set aside (main: its figure is not confirmed; main: the run did not come"},
		"some runs serve":                     {two, append(runs(steady...), at(9970, unconfirmed)), baselineOf(runs(steady...)...), report.Passed, "; 1 of 6 runs set aside (its figure is not confirmed)"},
		"few runs serve":                      {two, append(runs(9970), at(9970, unconfirmed), at(9971, lost)), baselineOf(runs(steady...)...), report.Undecided, "too few runs have a figure that counts; 2 of 3 runs set aside"},
		"nothing measured":                    {two, []*report.Report{at(9970, lost)}, baselineOf(runs(steady...)...), report.Undecided, "too few runs have a figure that counts: the run did not come to its own end"},
		"a generator too weak":                {two, times(5, 9000, bound), baselineOf(runs(steady...)...), report.Undecided, "5 of the candidate's runs found a lower bound only"},
		"a generator just strong enough":      {two, times(5, 9970, bound), baselineOf(runs(steady...)...), report.Passed, ""},
		"a baseline of a weak generator":      {two, runs(steady...), baselineOf(times(5, 9000, bound)...), report.Undecided, "5 of the baseline's runs found a lower bound only"},
		"both carried all that was asked":     {two, times(5, 10_000, reached), baselineOf(times(5, 10_000, reached)...), report.Undecided, "all that was asked for came back, so raise the target"},
		"a little less than all of that":      {two, runs(9850, 9850, 9850, 9850, 9850), baselineOf(times(5, 10_000, reached)...), report.Undecided, "5 of the baseline's runs found a lower bound only"},
		"both carried all of line rate":       {two, times(5, 10_000, reached, all), baselineOf(times(5, 10_000, reached, all)...), report.Passed, ""},
		"no more all that was asked":          {two, runs(9476, 9472, 9475, 9484, 9470), baselineOf(times(5, 10_000, reached)...), report.DidFail, ""},
		"frames are lost at any load":         {two, times(5, 0, broken), baselineOf(runs(steady...)...), report.DidFail, "at least 99.00 % less"},
		"frames are lost at any line rate":    {plan.Criterion{Metric: "LineRatePercent", Direction: "Total", MaxRegression: ratio("2%")}, times(5, 0, broken), baselineOf(runs(steady...)...), report.DidFail, "all directions"},
		"at several line rates":               {two, append(runs(9975, 9971, 9974, 9983), at(9968, faster)), baselineOf(runs(steady...)...), report.Undecided, "runs at different line rates have no common figure: link west is 1gbps in main and 25gbps in main"},
		"loss can't be compared":              {plan.Criterion{Metric: "LossRatio", MaxRegression: ratio("2%")}, runs(steady...), baselineOf(runs(steady...)...), report.Undecided, `metric "LossRatio"`},
		"an unknown metric":                   {plan.Criterion{Metric: "Beauty", MaxRegression: ratio("2%")}, runs(steady...), baselineOf(runs(steady...)...), report.Undecided, `metric "Beauty"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.criterion.Name = "it"
			v := analysis.Judge([]plan.Criterion{test.criterion}, test.runs, test.baseline)
			if v.Outcome != test.want || !strings.Contains(v.Criteria[0].Message, test.says) {
				t.Errorf("%+v\nwant %s: …%s…", v, test.want, test.says)
			}
		})
	}
}

func TestACriterionClaimsNothingAcrossEnvironments(t *testing.T) {
	on := func(node, kernel string) func(*report.Report) {
		return func(r *report.Report) {
			r.Environment = &report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0", Machine: report.Machine{Node: node, Kernel: kernel}}}}
		}
	}
	times := func(pps int64, changes ...func(*report.Report)) (all []*report.Report) {
		for i := range int64(5) {
			all = append(all, at(pps+i, changes...))
		}
		return all
	}
	unknown := func(r *report.Report) { r.Environment, r.Generators = nil, nil }
	for name, c := range map[string]struct {
		runs, baseline []*report.Report
		allowed        []report.EnvironmentPart
		want           report.Outcome
		says           string
	}{
		"the same node":         {times(9000, on("a", "6.1")), times(9970, on("a", "6.1")), nil, report.DidFail, "; the baseline is LoadTestSuite nightly"},
		"another node":          {times(9000, on("b", "6.1")), times(9970, on("a", "6.1")), nil, report.Undecided, "node of generator-0: a, then b; measure both sides in the same one, or allow it: allowedDifferences: [Node], on the command line --allow-different Node; the baseline is LoadTestSuite nightly"},
		"another node, allowed": {times(9000, on("b", "6.1")), times(9970, on("a", "6.1")), []report.EnvironmentPart{report.PartNode}, report.DidFail, "; of the environment, node of generator-0: a, then b"},
		"another kernel":        {times(9970, on("a", "6.2")), times(9970, on("a", "6.1")), nil, report.Passed, "; of the environment, kernel of generator-0: 6.1, then 6.2"},
		"an unknown baseline":   {times(9970, on("a", "6.2")), times(9970, unknown), nil, report.Passed, "; of the environment of the baseline's runs unknown: node of generator-0, kernel of generator-0"},
	} {
		t.Run(name, func(t *testing.T) {
			b := baselineOf(c.baseline...)
			b.AllowDifferent = c.allowed
			v := analysis.Judge([]plan.Criterion{{Name: "it", Metric: "PacketsPerSecond", Direction: "Total", MaxRegression: ratio("2%")}}, c.runs, b)
			if v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%+v\nwant %s: … %s", v, c.want, c.says)
			}
		})
	}
}

func TestARunIsNotComparedWithItself(t *testing.T) {
	all := runs(9974, 9966, 9973, 9965, 9977)
	b := analysis.BaselineOf("File", "nightly.suite.json", analysis.Candidate{Plan: at(1).Plan}, []analysis.KeptReport{{Report: all[0]}, {Report: all[1]}, {Report: at(9970)}})
	v := analysis.Judge([]plan.Criterion{{Metric: "PacketsPerSecond", MaxRegression: ratio("2%")}}, all, b)
	if want := "2 of the 5 runs are the baseline's own"; v.Outcome != report.Undecided || !strings.HasPrefix(v.Criteria[0].Message, want) {
		t.Errorf("%+v, want %s", v, want)
	}
}

func TestOfManyReasonsAFewAreTold(t *testing.T) {
	var lost []*report.Report
	for _, why := range []string{"e", "d", "c", "b", "a", "a", "a"} {
		lost = append(lost, at(9970, func(r *report.Report) { r.Ending, r.Message = report.Failed, why }))
	}
	v := analysis.Judge([]plan.Criterion{{MaxRegression: ratio("2%")}}, append(runs(1, 1, 1, 1, 1, 1, 1), lost...), baselineOf(runs(1)...))
	said := v.Criteria[0].Message
	if !strings.Contains(said, "7 of 14 runs set aside") || !strings.Contains(said, "(Failed): c; and for 2 more reasons)") {
		t.Error(said)
	}
}

func TestAReportsVerdictUsesItsOwnBaseline(t *testing.T) {
	r := at(9970)
	r.Plan.Criteria = []plan.Criterion{{Name: "it", Metric: "PacketsPerSecond", MaxRegression: ratio("2%"), AssumedSpread: *ratio("0.2%")}}
	r.Baseline = analysis.BaselineOf("File", "main.json", analysis.Candidate{Plan: r.Plan}, kept(runs(9974)))
	if v := analysis.Verdict(r); v.Outcome != report.Passed || !strings.HasSuffix(v.Criteria[0].Message, "the baseline is main.json") {
		t.Errorf("%+v", v)
	}
}

func TestABaselineKeepsWhatServesAndWhyTheRestDoesnt(t *testing.T) {
	b := analysis.BaselineOf("Report", "kept", analysis.Candidate{Plan: at(1).Plan}, kept([]*report.Report{at(9974), at(9000, func(r *report.Report) { r.Answer = report.Answer{Reason: report.NotMeasured, Message: "it ended"} })}))
	if len(b.Runs) != 2 || b.Runs[0].Message != "main: it ended" || b.Runs[1].Message != "" || b.Runs[1].Report != "sha256:of-main" || b.Runs[1].Answer.Directions[0].Received.PacketsPerSecond != 9974 {
		t.Errorf("%+v", b)
	}
	if got := b.String(); got != "Report kept" {
		t.Errorf("it calls itself %q", got)
	}
}

func TestPlansThatAreNotWholeAreComparedByTheirMethod(t *testing.T) {
	whole := at(1).Plan
	whole.Generators = []plan.Generator{{Name: "generator-0"}}
	other := *whole
	other.Generators = []plan.Generator{{Name: "generator-7"}}
	without := func(p plan.Plan, change func(*plan.Plan)) *report.Report {
		p.Generators = nil
		change(&p)
		r := at(9974)
		r.Plan = &p
		return r
	}
	same := func(*plan.Plan) {}
	for name, test := range map[string]struct {
		how  analysis.Candidate
		kept analysis.KeptReport
		says string
	}{
		"both, of the same method":   {analysis.Candidate{Plan: without(*whole, same).Plan, Method: whole.Method()}, analysis.KeptReport{Report: without(*whole, same), Method: whole.Method()}, ""},
		"one, of the same method":    {analysis.Candidate{Plan: whole}, analysis.KeptReport{Report: without(*whole, same), Method: whole.Method()}, ""},
		"one, with other generators": {analysis.Candidate{Plan: whole}, analysis.KeptReport{Report: without(other, same), Method: other.Method()}, "the generators are not the same"},
		"one, with another procedure": {analysis.Candidate{Plan: whole}, analysis.KeptReport{Report: without(*whole, func(p *plan.Plan) { p.Procedure.Type = "Walk" }), Method: "another"},
			"procedure.type is"},
	} {
		b := analysis.BaselineOf("LoadTestSuite", "nightly", test.how, []analysis.KeptReport{test.kept})
		if got := b.Runs[0].Message; !strings.Contains(got, test.says) || (got == "") != (test.says == "") {
			t.Errorf("%s: %q, want …%s…", name, got, test.says)
		}
	}
}

// Two directions are two comparisons: what one shows hardly by itself, with the other unchanged, fails no criterion
// of both.
func TestADirectionThatFailsHardlyFailsNotAmongSeveral(t *testing.T) {
	baseline := []int64{9974, 9966, 9973, 9965, 9977}
	each := plan.Criterion{Name: "it", Metric: "PacketsPerSecond", MaxRegression: ratio("2%")}
	found := map[report.Outcome]int{}
	for less := int64(300); less < 900; less += 10 { // in hundredths of a percent, of runs that spread by one
		var candidates []*report.Report
		for i, v := range []int64{-130, 80, 0, 120, -70} {
			lower := (baseline[i] + v) * (10_000 - less) / 10_000
			candidates = append(candidates, at(baseline[i]+1, func(r *report.Report) { r.Answer.Directions[0].Received.PacketsPerSecond = lower }))
		}
		v := analysis.Judge([]plan.Criterion{each}, candidates, baselineOf(runs(baseline...)...))
		result := v.Criteria[0]
		hardly := strings.Contains(result.Message, "by itself this would be shown, but among 2 comparisons one shows as much by chance too often")
		if hardly != (result.Outcome == report.Undecided && result.Chance <= units.One/20) || (result.Outcome == report.DidFail) != (result.Chance <= units.One/40) {
			t.Errorf("%d: %s, chance %s: %s", less, result.Outcome, result.Chance, result.Message)
		}
		if hardly {
			found["hardly"]++
		}
		found[result.Outcome]++
	}
	if found["hardly"] == 0 || found[report.DidFail] == 0 {
		t.Errorf("%v", found)
	}
}

// TestARunOfASoakCountsInTheDirectionsThatItConfirmed: the others are left out of it by themselves, and the
// sentence says so.
func TestARunOfASoakCountsInTheDirectionsThatItConfirmed(t *testing.T) {
	soak := func(pps int64, extrapolated bool) *report.Report {
		return at(pps, func(r *report.Report) {
			r.Plan.Procedure = plan.Procedure{Type: plan.TypeSoak}
			r.Answer.Reason, r.Answer.Saturated, r.Answer.Confirmed = report.LoadEstimated, false, !extrapolated
			for i := range r.Answer.Directions {
				d, open := &r.Answer.Directions[i], extrapolated && i == 1
				d.Intended, d.Offered = d.Received, d.Received
				d.Estimate = &report.Estimate{LossRatio: 1, Low: report.NumberOf(big.NewRat(pps-5, 1)), High: report.NumberOf(big.NewRat(pps+5, 1)), Extrapolated: open}
				d.Limit = &report.DirectionLimit{Reason: report.LoadEstimated, Confirmed: !open}
			}
		})
	}
	var baseline, candidates []*report.Report
	for _, pps := range []int64{9974, 9966, 9973, 9965, 9977} {
		baseline, candidates = append(baseline, soak(pps, false)), append(candidates, soak(pps+1, false))
	}
	candidates = append(candidates, soak(9970, true))
	b := analysis.BaselineOf("LoadTestSuite", "nightly", analysis.Candidate{Plan: baseline[0].Plan}, kept(baseline))
	v := analysis.Judge([]plan.Criterion{{Name: "it", Metric: "PacketsPerSecond", MaxRegression: ratio("2%")}}, candidates, b)
	said := v.Criteria[0].Message
	there, back, both := strings.Cut(said, "; east→west: ")
	if v.Outcome != report.Passed || !both || !strings.Contains(there, "in 6 runs, 9.97 kpps in 5 runs of the baseline") || strings.Contains(there, "left out") {
		t.Errorf("%s: %s", v.Outcome, said)
	}
	if !strings.Contains(back, "in 5 runs, 9.97 kpps in 5 runs of the baseline") || !strings.Contains(back, "; 1 of 6 runs left out here, as they did not confirm this figure") {
		t.Errorf("%s", back)
	}
}
