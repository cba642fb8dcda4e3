package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// published is the table that PC Engines APU6 was published with, both directions summed over ports of 1 Gb/s.
func published() *report.Table {
	t := &report.Table{}
	for _, row := range []struct {
		product, loadtest string
		pps, bps          int64
		sum               string
	}{
		{"Linux", "imix", 150_210, 452_810_000, "45.28"},
		{"OpenBSD", "imix", 145_520, 444_510_000, "44.45"},
		{"VPP", "imix", 654_400, 2_000_000_000, "199.90"},
		{"Danos", "imix", 655_530, 2_000_000_000, "200.24"},
		{"Linux", "64b", 96_930, 65_140_000, "6.51"},
		{"OpenBSD", "64b", 152_090, 102_200_000, "10.22"},
		{"VPP", "64b", 1_780_000, 1_190_000_000, "119.49"},
		{"Danos", "64b", 2_300_000, 1_550_000_000, "154.62"},
	} {
		sum := reporttest.Percent(row.sum)
		t.Cells = append(t.Cells, report.Cell{Product: row.product, Loadtest: row.loadtest, Figures: &report.Figures{Runs: 1, PacketsPerSecond: row.pps, Layer1BitsPerSecond: row.bps,
			LineRatePercentSum: sum, LineRatePercent: sum / 2}})
	}
	return t
}

// repeated is a table of several runs each, with all that can become of them.
func repeated() *report.Table {
	spread := func(p string, low, high int64) *report.Spread {
		return &report.Spread{Percent: reporttest.Percent(p), LowPacketsPerSecond: low, HighPacketsPerSecond: high, Confidence: reporttest.Percent("95")}
	}
	return &report.Table{Title: "four-systems", Notes: []string{"the generator's node was drained at 02:10, and 3 tests were measured anew"}, Cells: []report.Cell{
		{Product: "VPP", Loadtest: "imix", Verdict: report.Passed, Message: "99.95 % of line rate, at least 95 % demanded", Figures: &report.Figures{Runs: 5, PacketsPerSecond: 654_400, Layer1BitsPerSecond: 2_000_000_000,
			LineRatePercent: reporttest.Percent("99.95"), LineRatePercentSum: reporttest.Percent("199.9"), LowerBound: true, Spread: spread("0.02", 654_300, 654_500)}},
		{Product: "VPP", Loadtest: "64b", Verdict: report.DidFail, Message: "median 1.58 Mpps, 11.2 % under the baseline's 1.78 Mpps; 2 % allowed", Figures: &report.Figures{Runs: 4, PacketsPerSecond: 1_580_000,
			Layer1BitsPerSecond: 1_061_760_000, LineRatePercent: reporttest.Percent("53.09"), LineRatePercentSum: reporttest.Percent("106.18"), Spread: spread("3.1", 1_531_000, 1_629_000)},
			Missing: []report.Missing{{Test: "four-systems-vpp-64b-r3", Reason: "GeneratorLost", Message: "generator-0 didn't answer for 10s"}}},
		{Product: "Linux", Loadtest: "imix", Verdict: report.Undecided, Message: "1 run is not enough to tell: 4 more would do", Figures: &report.Figures{Runs: 1, PacketsPerSecond: 150_210, Layer1BitsPerSecond: 452_810_000,
			LineRatePercent: reporttest.Percent("22.64"), LineRatePercentSum: reporttest.Percent("45.28")}},
		{Product: "Linux <old>|x", Loadtest: "64b", Verdict: report.Undecided, Missing: []report.Missing{
			{Test: "four-systems-linux-64b-r1", Reason: "PathNotProven", Message: "0 of 8 frames on east"}, {Test: "four-systems-linux-64b-r2", Reason: "Suspended"}}},
	}}
}

func tableFormats() map[string]func(*report.Table, io.Writer) error {
	all := map[string]func(*report.Table, io.Writer) error{}
	for ext, format := range map[string]string{"txt": "text", "md": "markdown", "html": "html", "json": "json"} {
		all[ext] = func(t *report.Table, w io.Writer) error { return Write(w, format, OfTable(t), TextOptions{}) }
	}
	return all
}

func TestATableMarksWhatIsNotConfirmed(t *testing.T) {
	table := published()
	table.Cells[0].Figures.Runs, table.Cells[0].Figures.Unconfirmed = 5, 2
	for ext, write := range tableFormats() {
		var out bytes.Buffer
		if err := write(table, &out); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"json": `"unconfirmed": 2`}[ext]; !strings.Contains(out.String(), cmp.Or(want, "~")) || want == "" && !strings.Contains(out.String(), "is not confirmed") {
			t.Errorf("%s doesn't say it:\n%s", ext, out.String())
		}
	}
}

func TestTablesReadAsTheyDid(t *testing.T) {
	for name, table := range map[string]*report.Table{"table-published": published(), "table-repeated": repeated(), "table-empty": {Title: "nothing yet"}} {
		for ext, write := range tableFormats() {
			t.Run(name+" as "+ext, func(t *testing.T) {
				var out bytes.Buffer
				if err := write(table, &out); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+ext, out.Bytes())
			})
		}
	}
	t.Run("on a narrow terminal", func(t *testing.T) {
		var out bytes.Buffer
		if err := Write(&out, "text", OfTable(repeated()), TextOptions{Width: 60, Color: true}); err != nil {
			t.Fatal(err)
		}
		golden(t, "table-narrow.txt", out.Bytes())
	})
}

func TestThePublishedTableComesOutAsItWasPublished(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, "text", OfTable(published()), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"Linux imix 150.21 k 452.81 M 45.28", "OpenBSD imix 145.52 k 444.51 M 44.45", "VPP imix 654.40 k 2.00 G 199.90", "Danos imix 655.53 k 2.00 G 200.24",
		"Linux 64b 96.93 k 65.14 M 6.51", "OpenBSD 64b 152.09 k 102.20 M 10.22", "VPP 64b 1.78 M 1.19 G 119.49", "Danos 64b 2.30 M 1.55 G 154.62",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), row) {
			t.Errorf("no row %q in\n%s", row, out.String())
		}
	}
}

func TestOnlyTextSumsSharesOverDirections(t *testing.T) {
	for ext, write := range tableFormats() {
		var out bytes.Buffer
		if err := write(published(), &out); err != nil {
			t.Fatal(err)
		}
		shows := strings.Contains(out.String(), "199.90")
		if want := ext == "txt"; shows != want {
			t.Errorf("%s shows the sum over directions: %t, want %t", ext, shows, want)
		}
		if ext == "md" && !strings.Contains(out.String(), "| 100.12 |") {
			t.Errorf("a share is not what it is in\n%s", out.String())
		}
	}
}

func TestCellsAreArrangedByLoadtest(t *testing.T) {
	table := &report.Table{}
	for _, at := range []string{"a x", "a y", "b y", "b x", "c y", "c x"} {
		product, loadtest, _ := strings.Cut(at, " ")
		table.Cells = append(table.Cells, report.Cell{Product: product, Loadtest: loadtest})
	}
	var got []string
	for _, c := range arranged(table) {
		got = append(got, c.Product+c.Loadtest)
	}
	if want := "[ax bx cx ay by cy]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// A row that has no verdict of its own says why, instead of claiming that there are no criteria.
func TestARowWithoutAVerdictOfItsOwnSaysWhy(t *testing.T) {
	judged := published()
	judged.Cells[0].Verdict, judged.Cells[1].Unjudged, judged.Cells[2].Unjudged = report.Passed, "with NDR", "not judged"
	for format, want := range map[string][]string{
		"text":     {"with NDR", "not judged"},
		"markdown": {"| with NDR |", "| not judged |", "no criteria"},
		"html":     {">with NDR<", ">not judged<", "no criteria"},
	} {
		var out bytes.Buffer
		if err := Write(&out, format, OfTable(judged), TextOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, words := range want {
			if !strings.Contains(out.String(), words) {
				t.Errorf("%s doesn't say %q:\n%s", format, words, out.String())
			}
		}
	}
}
