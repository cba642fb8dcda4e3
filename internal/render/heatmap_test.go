package render

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// lossGrid is a suite of one device at three frame sizes: what it loses at each load. Of one size a load wasn't
// measured, and of another nothing.
func lossGrid(t *testing.T) *report.Suite {
	t.Helper()
	curve := func(losses ...report.Number) (points []report.CurvePoint) {
		for i, load := range []string{"100%", "80%", "60%", "40%"}[:len(losses)] {
			rate, err := units.ParseRate(load)
			if err != nil {
				t.Fatal(err)
			}
			points = append(points, report.CurvePoint{Load: rate, LossRatio: losses[i], LossRatioMin: losses[i]})
		}
		return points
	}
	cell := func(size string, pps int64, points []report.CurvePoint) report.SuiteCell {
		c := report.SuiteCell{Name: "router-" + size, Product: "router", Loadtest: size, Curve: points}
		if pps > 0 {
			c.Figures = &report.Figures{Runs: 1, PacketsPerSecond: pps}
		} else {
			c.Runs = []report.SuiteRun{{Test: "grid-router-" + size + "-r1", Reason: "GeneratorLost", Message: "generator-0 didn't answer for 10s"}}
		}
		return c
	}
	return &report.Suite{Version: report.SuiteVersion, Name: "grid", Axes: []report.Axis{{Name: "device", Values: []string{"router"}}, {Name: "frames", Values: []string{"64b", "512b", "1518b", "9000b"}}},
		Cells: []report.SuiteCell{cell("64b", 500_000, curve("0.65", "0.5625", "0.4166", "0.125")), cell("512b", 200_000, curve("0.05", "0.0002", "0")), cell("1518b", 81_000, curve("0", "0", "0", "0.00000001")), cell("9000b", 0, nil)}}
}

// fourSystems is a suite of throughputs, one of which is a lower bound.
func fourSystems() *report.Suite {
	s := &report.Suite{Version: report.SuiteVersion, Name: "systems", Axes: []report.Axis{{Name: "system", Values: []string{"linux", "vpp"}}, {Name: "frames", Values: []string{"64b", "imix"}}}}
	for i, pps := range []int64{97_000, 150_000, 1_780_000, 654_000} {
		product, loadtest := s.Axes[0].Values[i/2], s.Axes[1].Values[i%2]
		s.Cells = append(s.Cells, report.SuiteCell{Name: product + "-" + loadtest, Product: product, Loadtest: loadtest, Figures: &report.Figures{Runs: 1, PacketsPerSecond: pps, LowerBound: i == 3}})
	}
	return s
}

func TestHeatmapInEachFormat(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "frame-loss.json"))
	if err != nil {
		t.Fatal(err)
	}
	curve, err := report.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	h := history.Heatmap(report.Documents{Suites: []*report.Suite{lossGrid(t), fourSystems()}, Reports: []*report.Report{curve, reporttest.FailedAtStart()}}, "")
	for format, name := range map[string]string{"text": "heatmap.txt", "markdown": "heatmap.md", "html": "heatmap.html", "csv": "heatmap.csv", "json": "heatmap.json"} {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			if err := Write(&out, format, OfHeatmap(h), TextOptions{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name, out.Bytes())
		})
	}
	if got := Formats(Heatmap); strings.Join(got, " ") != "text json markdown csv html" {
		t.Errorf("its formats are %v", got)
	}
}

// The page of a suite has its maps where there is something to see in them: several rows and columns.
func TestASuitesPageHasItsHeatmap(t *testing.T) {
	for name, c := range map[string]struct {
		suite *report.Suite
		maps  int
	}{"throughput": {fourSystems(), 1}, "loss": {lossGrid(t), 1}, "one row": {reporttest.Night(), 0}} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Write(&out, "html", OfTests(report.Documents{Suites: []*report.Suite{c.suite}}), TextOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(out.String(), `class="heatmap"`); got != c.maps {
				t.Errorf("%d maps, want %d", got, c.maps)
			}
		})
	}
}

func TestLossIsDarkerByDecades(t *testing.T) {
	g := &report.HeatGrid{Metric: figures.LossRatio}
	for loss, want := range map[float64]int{0: 0, 0.00001: 1, 0.0001: 1, 0.0002: 2, 0.005: 3, 0.01: 3, 0.09: 4, 0.5: 5, 0.51: 6, 1: 6} {
		if got := heatLevel(g, loss, 1); got != want {
			t.Errorf("loss of %g: level %d, want %d", loss, got, want)
		}
	}
	if none, little := heatClass(g, heatLevel(g, 0, 1)), heatClass(g, heatLevel(g, 1e-9, 1)); none == little {
		t.Errorf("no loss and a little look alike: %s", none)
	}
}

// Any axis of a suite may make the rows: the test of a board in rows, devices and programs in columns. Of several
// runs tables have how far they are apart.
func TestAnotherAxisMakesTheRows(t *testing.T) {
	s := &report.Suite{Version: report.SuiteVersion, Name: "boards", Axes: []report.Axis{{Name: "device", Values: []string{"nat", "bridge"}}, {Name: "load", Values: []string{"tcp", "udp"}}, {Name: "program", Values: []string{"iperf3"}}}}
	for i, goodput := range []int64{940e6, 957e6, 681e6, 460e6} {
		device, load := s.Axes[0].Values[i/2], s.Axes[1].Values[i%2]
		s.Cells = append(s.Cells, report.SuiteCell{Name: device + "-" + load, Product: device, Loadtest: load + "-iperf3",
			Values:  []report.AxisValue{{Axis: "device", Value: device}, {Axis: "load", Value: load}, {Axis: "program", Value: "iperf3"}},
			Figures: &report.Figures{Runs: 2, GoodputBitsPerSecond: &goodput, Spread: &report.Spread{Percent: reporttest.Percent("0.5")}}})
	}
	var out bytes.Buffer
	if err := Write(&out, "markdown", OfHeatmap(history.Heatmap(report.Documents{Suites: []*report.Suite{s}}, "load")), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| load ╲ device, program | nat-iperf3 | bridge-iperf3 |", "| tcp | 940.00 Mb/s ±0.50% | 681.00 Mb/s ±0.50% |", "| udp | 957.00 Mb/s ±0.50% | 460.00 Mb/s ±0.50% |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %s:\n%s", want, out.String())
		}
	}
}

// What surprises stands below a suite's table.
func TestASuitesTableTellsSurprises(t *testing.T) {
	s := lossGrid(t)
	s.Cells[0].Capacity = &report.Capacity{Cell: "generator-64b", PacketsPerSecond: 400_000}
	for _, format := range []string{"text", "markdown", "html"} {
		var out bytes.Buffer
		if err := Write(&out, format, OfTests(report.Documents{Suites: []*report.Suite{s}}), TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, "router 64b carried 500.00 kpps, though its generators did 400.00 kpps by themselves (generator-64b)") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}
