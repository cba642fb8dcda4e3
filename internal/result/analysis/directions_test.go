package analysis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

// searched is a Report of a ramp up to 20 000 packets/s each way through a device that carries so much one way, and
// so much back.
func searched(t *testing.T, west, east float64) *report.Report {
	t.Helper()
	return searchedBoth(t, func(_ int, asked [2]float64) (offered, received [2]float64) {
		return asked, [2]float64{min(asked[0], west), min(asked[1], east)}
	})
}

func searchedBoth(t *testing.T, device proceduretest.Paired) *report.Report {
	t.Helper()
	p := plan.Procedure{Type: "Ramp", MaxLossRatio: units.One / 1000, Ramp: plan.Ramp{
		WarmupDuration: plan.Duration(5 * time.Second), RampDuration: plan.Duration(40 * time.Second), StepDuration: plan.Duration(2 * time.Second),
		SettleDuration: plan.Duration(500 * time.Millisecond), Precision: units.One / 200, ConfirmDuration: plan.Duration(10 * time.Second), StopAtSaturation: true,
	}}
	r := &report.Report{Ending: report.Completed, Plan: &plan.Plan{Procedure: p, Directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}, Test: plan.Test{Name: "main"}}}
	r.Windows, _ = proceduretest.CarryOutBoth(t, ramp.New(p), device)
	r.Answer = analysis.Answer(r)
	return r
}

func figureIn(t *testing.T, r *report.Report, direction string) report.Figure {
	t.Helper()
	for _, f := range figures.OfAnswer(r, figures.PacketsPerSecond) {
		if f.Direction == direction {
			return f
		}
	}
	t.Fatalf("no figure of %s", direction)
	return report.Figure{}
}

func TestEachDirectionHasItsOwnLimit(t *testing.T) {
	r := searched(t, 10_000, 4000)
	result := r.Answer
	if result.Saturated || result.Reason != report.OtherDirection || !result.Measured || !result.Confirmed || fmt.Sprint(result.LimitedBy()) != "[east→west]" {
		t.Errorf("%+v", result)
	}
	west, east := result.Directions[0].Limit, result.Directions[1].Limit
	if west == nil || west.Saturated || west.Reason != report.OtherDirection || west.Window != result.Window || east == nil || !east.Saturated || east.Reason != report.LossAboveLimit ||
		east.Lossy == 0 || east.Window != result.Window || east.Resolution == 0 || east.Resolution > units.One/200 {
		t.Errorf("west→east %+v\neast→west %+v", west, east)
	}
	if says := "east→west set the load of all directions, and west→east is a lower bound: no loss of its own is shown"; !strings.Contains(result.EvidenceText(), says) {
		t.Errorf("%s", result.EvidenceText())
	}
	for direction, closed := range map[string]bool{"west→east": false, "east→west": true, report.AllDirections: false} {
		if f := figureIn(t, r, direction); (f.High != "") != closed || f.Low == "" {
			t.Errorf("%s: %s to %q", direction, f.Low, f.High)
		}
	}
}

// Where directions lose frames in turns, the answer is a lower bound that says what is known of each. It doesn't
// say that nothing could be judged.
func TestDirectionsThatLoseFramesInTurnsAreTold(t *testing.T) {
	looks := map[float64]int{}
	result := searchedBoth(t, func(_ int, asked [2]float64) (offered, received [2]float64) {
		received = asked
		if turn := looks[asked[0]] % 3; asked[0] > 10_000 && turn < 2 {
			received[turn] *= 0.9
		}
		looks[asked[0]]++
		return asked, received
	}).Answer
	if result.Saturated || result.Reason != report.Inconclusive || strings.Contains(result.EvidenceText(), "could not be judged") ||
		!strings.Contains(result.EvidenceText(), "directions: west→east is a lower bound: its own loss is shown at 11.00 kpps (window 12), east→west is a lower bound: no loss of its own is shown") {
		t.Errorf("%+v", result)
	}
}

func TestADeviceThatDoesTheSameBothWaysHasALimit(t *testing.T) {
	r := searched(t, 10_000, 10_000)
	total, west := figureIn(t, r, report.AllDirections), figureIn(t, r, "west→east")
	if !r.Answer.Saturated || r.Answer.Reason != report.LossAboveLimit || len(r.Answer.LimitedBy()) != 2 || total.High.Float() < 20_000 || total.High.Float() > 20_100 || west.High.Float() < 10_000 || west.High.Float() > 10_050 {
		t.Errorf("%s to %s, one way %s to %s: %+v", total.Low, total.High, west.Low, west.High, r.Answer)
	}
}

// Each direction is judged by what was seen of it: one that was never stressed neither fails a least demand nor
// meets a highest one.
func TestCriteriaJudgeEachDirectionByItsOwnInterval(t *testing.T) {
	r := searched(t, 10_000, 4000)
	for name, c := range map[string]struct {
		criterion plan.Criterion
		want      report.Outcome
		says      string
	}{
		"at least what only one of them surely lacks": {plan.Criterion{Min: "5000"}, report.DidFail, "east→west: 4.00 kpps, at least 5,000 pps demanded"},
		"at least what both were seen to do":          {plan.Criterion{Min: "3900"}, report.Passed, ""},
		"at most what nobody has looked at":           {plan.Criterion{Max: "12000"}, report.Undecided, "west→east: 4.00 kpps, shown for 10s, at most 12,000 pps allowed, and the figure is a lower bound only: another direction lost frames first and set the load"},
		"all together at least what nobody knows":     {plan.Criterion{Direction: "Total", Min: "15000"}, report.Undecided, "all directions: 8.00 kpps, shown for 10s, at least 15,000 pps demanded, and the figure is a lower bound only: another direction"},
		"all together at least what was seen":         {plan.Criterion{Direction: "Total", Min: "7900"}, report.Passed, ""},
		"no loss at the answer's load":                {plan.Criterion{Metric: "LossRatio", Max: "0.001"}, report.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			criterion := c.criterion
			if criterion.Metric == "" {
				criterion.Metric = "PacketsPerSecond"
			}
			v := analysis.Judge([]plan.Criterion{criterion}, []*report.Report{r}, nil)
			if v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) || c.want == report.DidFail && strings.Contains(v.Criteria[0].Message, "west→east") {
				t.Errorf("%+v, want %s: …%s…", v, c.want, c.says)
			}
		})
	}
	v := analysis.Judge([]plan.Criterion{{Metric: "PacketsPerSecond", Min: "15000"}}, []*report.Report{searched(t, 16_000, 1e9)}, nil)
	if v.Outcome != report.Passed {
		t.Errorf("a lower bound that is enough: %+v", v)
	}
	v = analysis.Judge([]plan.Criterion{{Metric: "PacketsPerSecond", Min: "15000"}}, []*report.Report{searched(t, 10_000, 10_000)}, nil)
	if v.Outcome != report.DidFail {
		t.Errorf("a limit that isn't enough: %+v", v)
	}
}

// A baseline of 10 000 and 20 000 packets/s and a candidate of 10 000 and 12 000 both lose frames at 10 000 first:
// nothing is known of what the other direction lost since.
func TestARegressionOfADirectionThatWasNeverStressedIsNotPassed(t *testing.T) {
	var baseline, candidate []*report.Report
	for i := range 5 {
		baseline = append(baseline, searched(t, 10_000+float64(i), 19_900))
		candidate = append(candidate, searched(t, 10_000+float64(i), 12_000))
	}
	for i, r := range candidate {
		r.Started = time.Unix(int64(i), 0)
	}
	b := analysis.BaselineOf("LoadTest", "before", analysis.Candidate{Plan: candidate[0].Plan}, kept(baseline))
	for _, direction := range []string{"Each", "Total"} {
		v := analysis.Judge([]plan.Criterion{{Metric: "PacketsPerSecond", Direction: direction, MaxRegression: ratio("2%")}}, candidate, b)
		if says := "another direction set the load, so measure each direction by itself"; v.Outcome != report.Undecided || !strings.Contains(v.Criteria[0].Message, says) {
			t.Errorf("%s: %+v", direction, v)
		}
	}
}

// Of several runs, too, a criterion that stays open says what would decide it.
func TestRunsThatAllLeaveACriterionOpenSayTheWayOut(t *testing.T) {
	var runs []*report.Report
	for range 5 {
		runs = append(runs, searched(t, 10_000, 4000))
	}
	v := analysis.Judge([]plan.Criterion{{Metric: "PacketsPerSecond", Max: "12000"}}, runs, nil)
	if v.Outcome != report.Undecided || !strings.Contains(v.Criteria[0].Message, "all 5 runs leave it open (west→east") || !strings.Contains(v.Criteria[0].Message, "procedure.directions: Each") {
		t.Errorf("%+v", v)
	}
}
