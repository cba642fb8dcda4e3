package foursystems

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/units"
)

// measured is a suite in which each cell came to what is known.
func measured() *report.Suite {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := &report.Suite{Version: report.SuiteVersion, Producer: "linerate test", Name: "four-systems", Started: begun, Finished: begun.Add(5*time.Minute + 3*time.Second),
		Verdict: report.Verdict{Outcome: report.Undecided}}
	for _, a := range Answers() {
		s.Cells = append(s.Cells, report.SuiteCell{Name: a.Cell, Product: a.Product, Loadtest: a.Loadtest, Figures: &report.Figures{Runs: 2,
			PacketsPerSecond: int64(a.PacketsPerSecond), Layer1BitsPerSecond: int64(a.Layer1BitsPerSecond), LowerBound: a.LineRate,
			LineRatePercent: units.Hundred / 2, LineRatePercentSum: units.Hundred, Spread: &report.Spread{}}})
	}
	return s
}

// renderOf renders it as linerate would.
func renderOf(t *testing.T, s *report.Suite) Render {
	return func(format string) string {
		var out bytes.Buffer
		if err := render.Write(&out, format, render.OfTests(report.Documents{Suites: []*report.Suite{s}}), render.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		what  string
		spoil func(*report.Suite)
		want  string // empty: nothing is wrong
	}{
		{"what is known", func(*report.Suite) {}, ""},
		{"0.9 % less", func(s *report.Suite) { s.Cells[0].Figures.PacketsPerSecond = 5946 }, ""},
		{"1.2 % less", func(s *report.Suite) { s.Cells[0].Figures.PacketsPerSecond = 5928 }, "linux-imix: 5928 packets/s of both directions, -1.20 % off the known 6000"},
		{"frames of another size", func(s *report.Suite) { s.Cells[4].Figures.Layer1BitsPerSecond = 18_328_000 }, "linux-64b: 18328000 bits/s of layer 1"},
		{"a limit that is called a lower bound", func(s *report.Suite) { s.Cells[1].Figures.LowerBound = true }, "openbsd-imix: lower bound true, want false"},
		{"a cell without a figure", func(s *report.Suite) { s.Cells[7].Figures = nil }, "danos-64b is not measured"},
		{"a cell that isn't there", func(s *report.Suite) { s.Cells = s.Cells[:7] }, "markdown: 7 rows, want 8"},
		{"a table in another order", func(s *report.Suite) { s.Cells[0], s.Cells[1] = s.Cells[1], s.Cells[0] }, "html: row 1 is"},
		{"a suite that isn't over", func(s *report.Suite) { s.Finished = time.Time{} }, "the suite has not ended"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := measured()
			c.spoil(s)
			got := strings.Join(Faults(renderOf(t, s)), "\n")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("the faults are\n%s\nwant %q", got, c.want)
			}
		})
	}
}

// TestTheLimitsAreInTheFile: what is known is known from there.
func TestTheLimitsAreInTheFile(t *testing.T) {
	text, err := os.ReadFile(File)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range Answers() {
		if a.LineRate {
			continue
		}
		if value := fmt.Sprintf("{name: %s, patch: {dut: {reference: {limit: {packetsPerSecond: %.0f}}}}}\n", a.Product, a.PacketsPerSecond/directions); !strings.Contains(string(text), value) {
			t.Errorf("%s has no %s", File, value)
		}
	}
	if n := strings.Count(string(text), fmt.Sprintf("lineRate: %dmbps", lineRate/1_000_000)); n != directions {
		t.Errorf("%d links have the line rate that is known, want %d", n, directions)
	}
}

func TestPart(t *testing.T) {
	text, err := Part(File, "linux-imix", "vpp-64b")
	if err != nil {
		t.Fatal(err)
	}
	var suite lineratev1alpha1.LoadTestSuite
	if err := yaml.UnmarshalStrict([]byte(text), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Spec.Repetitions != 0 || len(suite.Spec.Exclusions) != 6 {
		t.Errorf("repetitions %d, exclude %v; want none and six cells", suite.Spec.Repetitions, suite.Spec.Exclusions)
	}
	for _, e := range suite.Spec.Exclusions {
		if cell := e["system"] + "-" + e["loadtest"]; cell == "linux-imix" || cell == "vpp-64b" {
			t.Errorf("%s is excluded", cell)
		}
	}
}

func TestPublish(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Page\n<!-- operator: made -->\n<!-- end of operator -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Publish(page, "operator", "kubectl linerate run", renderOf(t, measured()), []string{"vpp-imix is 2 % off"}, "0.1 % stolen"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Measured on 2 January 2026, with linerate ", "; it took 5m3s.\n", "$ kubectl linerate run\n", "\nlinux    imix", "| danos | 64b |", "The machine meanwhile: 0.1 % stolen.", "Not as it should be: vpp-imix is 2 % off.", "| vpp-imix | 26189: the links' line rate | 26189 | -0.00 % |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}
