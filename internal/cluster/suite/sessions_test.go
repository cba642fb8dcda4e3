package suite

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestADisturbedRunOfSessionsIsToldByItsGoodput(t *testing.T) {
	index, reason := Disturbed([]*report.Report{reporttest.Sessions(46_500_000), reporttest.SessionsBound(20_000_000),
		reporttest.Sessions(46_600_000), reporttest.Sessions(46_400_000)})
	if want := "the generator was the limit at 40.00 Mb/s goodput, but other runs measured 93.00 Mb/s goodput: this " +
		"run was disturbed"; index != 1 || reason != want {
		t.Errorf("run %d: %q, want %q", index, reason, want)
	}
}

// A suite keeps enough of a run of sessions to compare it by its goodput.
func TestASuiteKeepsTheGoodputOfSessions(t *testing.T) {
	r := reporttest.Sessions(46_500_000)
	r.Environment = report.EnvironmentOf(r)
	run := LocalRun(Wanted{Name: "tcp-r1", Repetition: 1, Try: 1}, r, "sha256:0f")
	figure := comparison.Throughput(run.Evidence)
	if found := figure.Runs(run.Evidence); len(found) != 1 || found[0].Low != 93_000_000 ||
		run.Evidence.Plan.Sender().Traffic != plan.TrafficSessions || run.Evidence.Environment == nil {
		t.Errorf("%+v: %+v, of %+v", figure, found, run.Evidence)
	}
}

func TestTheRowOfSessionsTellsOfGoodputAlone(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\nrepetitions: 2\n")
	w.sessions = true
	w.live(newRandom(1))
	if !w.complete() || len(w.suite.Status.Table) != 1 {
		t.Fatalf("%+v", w.suite.Status)
	}
	row := w.suite.Status.Table[0]
	if row.Runs != 2 || row.GoodputBitsPerSecond == nil || *row.GoodputBitsPerSecond != 93_000_000 ||
		row.PacketsPerSecond != 0 || row.LineRatePercent != "" ||
		row.SpreadPercent != "0.00" {
		t.Errorf("%+v", row)
	}
}
