package render

import (
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestLatencyByLoad(t *testing.T) {
	r, loop := reporttest.WithLatency(20_000), reporttest.WithLatency(2_000)
	loop.Plan.DUT.Type = "Loopback"
	d := &reporttest.AtLoad(r, 1).Directions[0]
	name := d.Name()
	d.LossRatio = units.One / 1000
	r.Plan.Procedure.Latency.Loads = append(r.Plan.Procedure.Latency.Loads, units.One)
	reporttest.ReadLatency(r)
	table := atLoadTable(r, []*report.Report{r, loop})
	if got := table.grid(combined, nil).header; !reflect.DeepEqual(got, []string{"latency at load", "frames", "p50", "p99", "p99.9", "longest", "jitter", "lost"}) {
		t.Errorf("columns %q", got)
	}
	rows := map[string][]string{}
	for _, row := range table.rows {
		rows[row[0]] = row[1:]
	}
	for key, want := range map[string][]string{
		"50 % " + name + ", 64 bytes":                                     {"28,000", "20.1 µs", "40.2 µs", "60.2 µs", "60.2 µs", "2 µs", "0.1000%"},
		"· a cable, at " + wording.PacketRate(d.Offered.PacketsPerSecond): {"28,000", "2.01 µs", "4.01 µs", "6.01 µs", "6.01 µs", "200 ns", ""},
		"0 % " + name + ", 64 bytes":                                      {"28,000", "10 µs", "20.1 µs", "30.1 µs", "30.1 µs", "1 µs", ""},
	} {
		if got := rows[key]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if got := strings.Join(atLoadWarnings(r), "; "); got != "latency at 100 % was not measured: the run ended before the trial" {
		t.Errorf("%q", got)
	}
	if got := atLoadTable(reporttest.Measured(), nil); got != nil {
		t.Errorf("without latency there is a table: %q", got.rows)
	}
}

func TestASampleIsSaidToBeOne(t *testing.T) {
	r := reporttest.WithLatency(20_000)
	if got := atLoadWordsOf(r); got != atLoadWords {
		t.Errorf("of every frame: %q", got)
	}
	reporttest.AtLoad(r, 0).Directions[0].Latency[0].Sample = &report.LatencySample{PacketsPerSecond: 1000, ResolutionNanoseconds: 1000}
	if got := atLoadWordsOf(r); !strings.Contains(got, "a latency stream of each frame size beside the load, 1.00 kpps of one flow in each direction, and not of every frame") || !strings.Contains(got, "in steps of 1 µs") {
		t.Errorf("%q", got)
	}
}

// TestPlotsOfLatency: each direction has a plot of percentiles by load, and one of the distribution at each load,
// with a cable's beside it where there is one.
func TestPlotsOfLatency(t *testing.T) {
	r, loop := reporttest.WithLatency(20_000), reporttest.WithLatency(2_000)
	loop.Plan.DUT.Type = "Loopback"
	plots := latencyPlots(r, []*report.Report{r, loop}, "t0")
	if len(plots) != 2 || len(plots[0].ByLoad) != 2 || len(plots[0].Percentiles) != 2 {
		t.Fatalf("%+v", plots)
	}
	byLoad, tails := plots[0].ByLoad[0], plots[0].Percentiles[0]
	if len(byLoad.Paths) != 4 || len(byLoad.Marks) != 8 { // p50, p99, p99.9 and the longest at two loads
		t.Errorf("%d lines and %d marks by load", len(byLoad.Paths), len(byLoad.Marks))
	}
	if len(tails.Paths) != 4 || tails.Paths[0].Class != "cable" { // two loads of the device, and two of the cable
		t.Errorf("distributions %+v", tails.Paths)
	}
	for _, d := range []drawing{byLoad, tails} {
		for _, p := range d.Paths {
			if strings.Contains(p.D, "NaN") || strings.Contains(p.D, "Inf") {
				t.Errorf("%s: %s", d.Title, p.D)
			}
		}
	}
	reporttest.AtLoad(r, 1).Directions[0].Offered.PacketsPerSecond /= 2
	reporttest.ReadLatency(r)
	if plots := latencyPlots(r, []*report.Report{r}, "t0"); len(plots[0].Percentiles[0].Paths) != 1 {
		t.Errorf("a load that was not offered is drawn: %+v", plots[0].Percentiles[0].Paths)
	}
	for _, w := range r.Windows { // a Report that has lost them
		for i := range w.Directions {
			w.Directions[i].Latency = nil
		}
	}
	if plots := latencyPlots(r, nil, "t0"); len(plots) != 0 {
		t.Errorf("without distributions there are %d plots", len(plots))
	}
}
