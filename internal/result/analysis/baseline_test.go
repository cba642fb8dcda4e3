package analysis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
)

// broken is a run in which even the lowest load, 100 packets/s in each direction, lost frames from west to east.
func broken() *report.Report {
	return at(0, func(r *report.Report) {
		r.Windows = []report.Window{{Phase: report.Ramping, Quality: report.Lossy, Load: units.One / 100, Directions: []report.Direction{
			{From: "west", To: "east", Quality: report.Lossy, Offered: report.Flow{PacketsPerSecond: 100, Layer1BitsPerSecond: 100_000}},
			{From: "east", To: "west", Quality: report.Good, Offered: report.Flow{PacketsPerSecond: 100, Layer1BitsPerSecond: 100_000}}}}}
		r.Answer = report.Answer{Reason: report.NoCleanLoad, Message: "no window was clean"}
	})
}

func TestRunsWithoutACleanWindowAreJudgedAmongOthers(t *testing.T) {
	for name, c := range map[string]struct {
		criterion plan.Criterion
		runs      []*report.Report
		want      report.Outcome
		says      string
	}{
		"the first, by the total": {plan.Criterion{Metric: "PacketsPerSecond", Direction: "Total", Min: "10"}, append([]*report.Report{broken()}, runs(9974, 9966)...),
			report.Undecided, "all directions: median 19.94 kpps of 2 runs"},
		"the first, by each direction": {plan.Criterion{Metric: "PacketsPerSecond", Min: "200"}, append([]*report.Report{broken()}, runs(9974, 9966)...),
			report.Undecided, "west→east: median 9.97 kpps of 2 runs"},
		"all, by the total": {plan.Criterion{Metric: "LineRatePercent", Direction: "Total", Min: "10"}, []*report.Report{broken(), broken()},
			report.Undecided, "no window was clean"},
		"all, by each direction": {plan.Criterion{Metric: "PacketsPerSecond", Min: "200"}, []*report.Report{broken(), broken()},
			report.DidFail, "frames were lost at 100.00 pps already"},
	} {
		t.Run(name, func(t *testing.T) {
			v := analysis.Judge([]plan.Criterion{c.criterion}, c.runs, nil)
			if v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%+v, want %s: …%s…", v, c.want, c.says)
			}
		})
	}
}

func TestRunsThatLackAFigureAreToldAndNotCompared(t *testing.T) {
	percent := plan.Criterion{Metric: "LineRatePercent", MaxRegression: ratio("2%")}
	unknown := at(9974, func(r *report.Report) { r.LineRates = nil })
	v := analysis.Judge([]plan.Criterion{percent}, append(runs(9974, 9966, 9973, 9965), unknown), baselineOf(runs(9974, 9966, 9973, 9965, 9977)...))
	if v.Outcome != report.Undecided || !strings.Contains(v.Criteria[0].Message, "line rate is unknown") {
		t.Errorf("%+v", v)
	}
}

func TestWhatWasCleanWhereTheOtherDirectionLostFramesIsNotCalledLess(t *testing.T) {
	var all []*report.Report
	for range 5 {
		all = append(all, broken())
	}
	v := analysis.Judge([]plan.Criterion{{Metric: "PacketsPerSecond", MaxRegression: ratio("2%")}}, all, baselineOf(runs(9974, 9966, 9973, 9965, 9977)...))
	if said := v.Criteria[0].Message; v.Outcome != report.DidFail || !strings.Contains(said, "west→east") || strings.Contains(said, "east→west") {
		t.Errorf("%+v", v)
	}
}

// One run that is named several times, or kept under several names, is one run: it must not look like several that
// agree.
func TestARunCountsOnceInABaseline(t *testing.T) {
	one := at(9974, func(r *report.Report) { r.Started = r.Started.Add(-time.Hour) })
	copied := *one
	b := analysis.BaselineOf("Report", "kept", analysis.Candidate{Plan: one.Plan}, []analysis.KeptReport{{Report: one}, {Report: &copied}, {Report: one}, kept(runs(9966))[0], {Name: "gone", Fault: "there is no such ConfigMap"}})
	if len(b.Runs) != 3 {
		t.Errorf("%d runs: %+v", len(b.Runs), b.Runs)
	}
	v := analysis.Judge([]plan.Criterion{{Metric: "PacketsPerSecond", MaxRegression: ratio("2%")}}, runs(9974, 9966, 9973, 9965, 9977), b)
	if v.Outcome != report.Undecided || !strings.Contains(v.Criteria[0].Message, "2 runs of the baseline") {
		t.Errorf("%+v", v)
	}
}
