package render

import (
	"bytes"
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// ofEachKind is a document of each kind.
func ofEachKind() map[string]Document {
	gate := release()
	sides := &report.Comparison{Sides: []string{"v1", "v2"}, Rows: []report.ComparisonRow{{Product: "vpp", Loadtest: "64b", Sides: []report.Compared{*gate.Rows[1].Baseline, gate.Rows[1].Candidate}}}}
	return map[string]Document{
		"test":       OfReports(reporttest.Scenarios()[5].Report),
		"suite":      OfTests(report.Documents{Suites: []*report.Suite{reporttest.Night()}}),
		"table":      OfTable(repeated()),
		"comparison": OfComparison(sides),
		"trend":      OfTrend(twoNights()),
		"gate":       OfGate(gate),
	}
}

// twoNights are a measured run and one that was lost.
func twoNights() *report.Trend {
	at := time.Date(2026, 3, 14, 2, 0, 0, 0, time.UTC)
	figures := &report.Figures{Runs: 1, PacketsPerSecond: 1_780_000, Layer1BitsPerSecond: 1_196_160_000, LineRatePercent: reporttest.Percent("59.81"), LineRatePercentSum: reporttest.Percent("119.62")}
	return &report.Trend{Series: []report.Series{{Product: "vpp", Loadtest: "64b", Stretches: []report.Stretch{{First: 0, Last: 1, Figures: figures}}, Points: []report.Point{
		{Name: "a", Test: "night-1", StartTime: at, Figures: figures, FromMedian: &report.Change{}},
		{Name: "b", Test: "night-2", StartTime: at.AddDate(0, 0, 1), Missing: &report.Missing{Test: "night-2", Reason: "GeneratorLost", Message: "generator-0 didn't answer for 10s"}},
	}}}}
}

// readBack is a document as a program reads it: each row by the columns' names.
func readBack(t *testing.T, d Document) (rows []map[string]string) {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, "csv", d, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(all[0], csvColumns()) {
		t.Errorf("the columns are %q", all[0])
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func TestCSVOfEachKindReadsAsItDid(t *testing.T) {
	for name, d := range ofEachKind() {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Write(&out, "csv", d, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".csv", out.Bytes())
			known := csvColumns()
			for _, r := range recordsOf(d.source) {
				for column := range r {
					if !slices.Contains(known, column) {
						t.Errorf("%s is no column, and is lost", column)
					}
				}
			}
		})
	}
}

func TestCSVHasTheReportsFigures(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		r, windows := s.Report, 0
		for _, row := range readBack(t, OfReports(r)) {
			switch row["record"] {
			case "test":
				if f := figures.TableFigures(r); f == nil && row["received_packets_per_second"]+row["line_rate_percent"] != "" || f != nil && row["received_packets_per_second"] != strconv.FormatInt(f.PacketsPerSecond, 10) {
					t.Errorf("%s: %v", s.Name, row)
				}
			case "window":
				number, _ := strconv.Atoi(row["window"])
				d := r.Windows[number-1].Directions[windows%len(r.Plan.Directions)]
				if row["from"] != d.From || row["offered_packets_per_second"] != strconv.FormatInt(d.Offered.PacketsPerSecond, 10) || row["loss_percent"] != d.LossRatio.Percent().String() {
					t.Errorf("%s, window %d: %v", s.Name, number, row)
				}
				windows++
			}
		}
		if want := len(r.Windows) * len(r.Plan.Directions); windows != want {
			t.Errorf("%s: %d rows of windows, want %d", s.Name, windows, want)
		}
	}
}

// What is missing has its reason and no number, which a sum would take for a zero.
func TestCSVHasWhatObserversSawInEachWindow(t *testing.T) {
	r := observed()
	r.Windows[0].Observed = []report.Observed{{Observer: "cpu", Series: "busy", Subject: "all processors", Unit: "s/s", Missing: "it was read only once around the window, which is too short for it"},
		{Observer: "limit", Missing: "the Reference's limit did not answer"}}
	r.Windows[1].Observed = []report.Observed{{Observer: "cpu", Series: "busy", Subject: "all processors", Unit: "s/s", Mean: new(0.0), Over: plan.Duration(2100 * time.Millisecond)},
		{Observer: "fan", Series: "speed", Subject: "front", Unit: "rpm", Mean: new(4000.5), Min: new(3900.0), Max: new(12345678.0), Over: plan.Duration(2 * time.Second)}}
	var got []string
	for _, row := range readBack(t, OfReports(r)) {
		if row["record"] != "observed" {
			if row["observer"]+row["observed_mean"] != "" {
				t.Errorf("a row of a %s has an observer: %v", row["record"], row)
			}
			continue
		}
		var cells []string
		for _, column := range []string{"window", "observer", "series", "of", "observed_mean", "observed_least", "observed_most", "observed_unit", "observed_over_seconds", "reason", "received_packets_per_second"} {
			cells = append(cells, row[column])
		}
		got = append(got, strings.Join(cells, ","))
	}
	want := []string{
		"1,cpu,busy,all processors,,,,s/s,,it was read only once around the window, which is too short for it,",
		"1,limit,,,,,,,,the Reference's limit did not answer,",
		"2,cpu,busy,all processors,0,,,s/s,2.1,,",
		"2,fan,speed,front,4000.5,3900,12345678,rpm,2,,",
		strconv.Itoa(r.Answer.Window) + ",cpu,busy,all processors,0.5,,,s/s,0,,",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A spreadsheet may do what a formula says; figures stay numbers all the same.
func TestNoNameIsAFormulaInCSV(t *testing.T) {
	for name, want := range map[string]string{
		"=HYPERLINK(\"http://x\")": "'=HYPERLINK(\"http://x\")", "+1": "'+1", "-1": "'-1", "@SUM(1)": "'@SUM(1)", " =1": "' =1", "\t=1": "' =1", "\n@x": "' @x",
		"vpp": "vpp", "a=b": "a=b", "1,5 \"quoted\"": "1,5 \"quoted\"", "64b; x": "64b; x",
	} {
		r := reporttest.Measured()
		r.Plan.Test.Product, r.Plan.Test.Loadtest, r.Answer.Directions[0].LossRatio = name, name, -1_000_000
		rows := readBack(t, OfReports(r))
		if rows[0]["product"] != want || rows[0]["loadtest"] != want || rows[1]["loss_percent"] != "-0.1" {
			t.Errorf("%q became %q, and a loss %q", name, rows[0]["product"], rows[1]["loss_percent"])
		}
	}
}

func TestEachColumnOfCSVIsExplained(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range csvColumns() {
		if !strings.Contains(string(page), "`"+column+"`") {
			t.Errorf("docs/cli.md doesn't say what `%s` holds", column)
		}
	}
}

func TestCSVTellsBothEndsOfLoss(t *testing.T) {
	r := record{}.offered(report.Flow{PacketsPerSecond: 1000}, report.Flow{PacketsPerSecond: 900}, units.One/50, units.One/100)
	for column, want := range map[string]string{"intended_packets_per_second": "1000", "offered_packets_per_second": "900", "loss_percent": "2", "loss_at_least_percent": "1"} {
		if r[column] != want {
			t.Errorf("%s: %s, want %s", column, r[column], want)
		}
	}
}
