package render

import (
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// soakReport has an estimate of one direction, and a lower bound of the other.
func soakReport() *report.Report {
	r := reporttest.Measured()
	r.Plan.Procedure = plan.Procedure{Type: plan.TypeSoak, Soak: &plan.Soak{LossRatio: 10_000}, MaxLossRatio: 10_000}
	r.Result.Reason, r.Result.Saturated = report.LoadEstimated, false
	r.Result.Directions[0].CriticalLoad = &report.CriticalLoad{LossRatio: 10_000, PacketsPerSecond: "9700", Deviation: "30", Low: "9650", High: "9770", Trials: 40, Sent: 4_000_000, Lost: 120, Shapes: []report.CriticalLoadOfShape{
		{Shape: "stretch", PacketsPerSecond: "9690", Capacity: "10000", Spread: "40"}, {Shape: "erf", PacketsPerSecond: "9710", Capacity: "10000", Spread: "90"}}}
	r.Result.Directions[1].CriticalLoad = &report.CriticalLoad{LossRatio: 10_000, Low: "20000", Trials: 40, Sent: 4_000_000}
	return r
}

func TestSoakTable(t *testing.T) {
	if got := soakTable(reporttest.Measured()); got != nil {
		t.Errorf("without a soak %q", got.rows)
	}
	r := soakReport()
	want := [][]string{
		{r.Result.Directions[0].Name(), "0.00001", "9.70 Kpps", "30.00 pps", "9.65 Kpps", "9.77 Kpps", "9.69 Kpps", "9.71 Kpps", "40", "4,000,000", "120"},
		{r.Result.Directions[1].Name(), "0.00001", "–", "–", "≥20.00 Kpps", "–", "–", "–", "40", "4,000,000", "0"},
	}
	if got := soakTable(r).rows; !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	r.Result.Message = "with 95 % between 9.65 and 9.77 Kpps"
	if said, want := explanation(r), "in west→east the device loses 0.001% of its frames on average at this load, as far as trials of finite length show; in east→west no load that was offered is known to be too much, and the figure is a lower bound."; !strings.HasPrefix(said, want) || !strings.Contains(said, "9.77 Kpps") {
		t.Errorf("%s", said)
	}
	for i, want := range []string{"estimated", "lower bound"} {
		r.Result.Directions[i].Limit = &report.DirectionLimit{Reason: report.LoadEstimated, Confirmed: true, Window: r.Result.Window}
		if got, whole := (track{index: i}).standing(r), standing(r); got != want || whole != "estimated in part" {
			t.Errorf("direction %d is %s, want %s; the whole is %s", i, got, want, whole)
		}
	}
	if rows := directionTable(r).rows; strings.HasPrefix(rows[0][3], "≥") || !strings.HasPrefix(rows[1][3], "≥") {
		t.Errorf("%q", rows)
	}
	r.Result.NearGenerators = []string{r.Result.Directions[0].Name()}
	want[0][2], want[0][3], want[0][4], want[0][5], want[0][6], want[0][7] = "–", "–", "≥9.65 Kpps", "–", "–", "–"
	if got := soakTable(r).rows; !reflect.DeepEqual(got, want) {
		t.Errorf("near the generators' limit %q\nwant %q", got, want)
	}
	if said := explanation(r); !strings.Contains(said, "at this rate or above") || strings.Contains(said, "9.77 Kpps") {
		t.Errorf("near the generators' limit: %s", said)
	}
}

// TestSoakDrawing has a mark for each trial near the interval, a curve for each function, and the interval itself.
func TestSoakDrawing(t *testing.T) {
	r := soakReport()
	r.Windows = nil
	for i, load := range []int64{20_000, 9900, 9700, 9600} {
		w := report.Window{Number: i + 1, Phase: report.Trial, Load: 1, Quality: report.Good, Directions: make([]report.Direction, 2)}
		for d := range w.Directions {
			w.Directions[d].Quality, w.Directions[d].Offered.PacketsPerSecond, w.Directions[d].Sent.Packets = report.Good, load, 100_000
			w.Directions[d].Returned.Packets = 100_000 - max(0, (load-9700)*4)
		}
		r.Windows = append(r.Windows, w)
	}
	d, ok := newSoakDrawing(r, 0, "x", false)
	if !ok || len(d.Marks) != 3 || len(d.Paths) != 2 || len(d.Bands) != 1 {
		t.Fatalf("%v: %d marks, %d curves, %d bands", ok, len(d.Marks), len(d.Paths), len(d.Bands))
	}
	if d.Bands[0].W < 5 || !strings.Contains(d.Marks[0].Title, "800 of 100,000 lost") || !strings.HasPrefix(d.Paths[0].D, "M") {
		t.Errorf("%+v", d)
	}
	if _, ok := newSoakDrawing(&report.Report{Result: r.Result}, 0, "x", true); ok {
		t.Error("a drawing without trials")
	}
}
