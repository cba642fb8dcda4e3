package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

const docs = "../../docs/measured/published"

func thePages(t *testing.T) []page {
	t.Helper()
	all, err := readPages(docs)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Each cell that a page shows is one of the suites', and each of the suites' is shown.
func TestPagesShowTheCellsOfTheSuites(t *testing.T) {
	s := server(t)
	there := map[string]bool{}
	for _, f := range theSuites(t) {
		m := matrix(t, s, f.file, f.text, onOneMachine)
		for i := range m.Cells {
			there[f.name+" "+cellName(m.Cells[i].Product, m.Cells[i].Loadtest)] = m.Calibrates(i)
		}
	}
	shown := map[string]bool{}
	for _, p := range thePages(t) {
		for _, table := range p.tables {
			for _, c := range table.columns {
				if len(c.ours) != len(table.rows) {
					t.Errorf("%s, column %s: %d cells in %d rows", p.file, c.head, len(c.ours), len(table.rows))
				}
			}
		}
		for _, r := range p.refs() {
			name := r.suite + " " + r.cell
			if _, is := there[name]; !is {
				t.Errorf("%s shows the cell %s, which no suite has", p.file, name)
			}
			if !slices.Contains(p.labels, r.suite) || amounts()[r.unit] == nil {
				t.Errorf("%s shows %q of %s, which isn't one of its suites', or no figure", p.file, r.unit, name)
			}
			shown[name] = true
		}
		for _, c := range p.counterparts {
			if c.Figure == "" || len(c.Beside) == 0 && c.Apart == "" {
				t.Errorf("%s: %s has no figure, or nothing beside it and no reason", p.file, c.Cell)
			}
		}
	}
	for name, calibrates := range there {
		if !calibrates && !shown[name] {
			t.Errorf("no page shows the cell %s", name)
		}
	}
}

// copied is a directory with the project's pages, and one for what is kept.
func copied(t *testing.T) (pages, save string) {
	t.Helper()
	pages, save = t.TempDir(), t.TempDir()
	if err := os.CopyFS(pages, os.DirFS(docs)); err != nil {
		t.Fatal(err)
	}
	return pages, save
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// keep writes what a way measured of a suite in its published form.
func keepIn(t *testing.T, save, way string, s *report.Suite) {
	t.Helper()
	dir := dirOf(save, way, formPublished)
	if err := errors.Join(os.MkdirAll(dir, 0o700), keepDocument(s, dir)); err != nil {
		t.Fatal(err)
	}
}

// The pages say what published.yaml, measured.json and the suites say: go run ./hack/published -pages docs/measured/published writes them.
func TestThePagesAreFresh(t *testing.T) {
	pages, save := copied(t)
	if err := errors.Join(write(pages, save), writeMinutes(pages, reckonings(t))); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"README.md", "flood.md", measuredFile, "modes.md", "routers.md", "sessions.md"} {
		if read(t, filepath.Join(pages, file)) != read(t, filepath.Join(docs, file)) {
			t.Errorf("%s would be another: go run ./hack/published -pages docs/measured/published", file)
		}
	}
}

// What one way has measured of one suite is written beside what is there, and stays when what is kept is gone.
func TestWhatIsMeasuredOfOneSuiteFillsItsCells(t *testing.T) {
	pages, save := copied(t)
	if err := os.Remove(filepath.Join(pages, measuredFile)); err != nil {
		t.Fatal(err)
	}
	const head = "### All cells, by the operator"
	for _, step := range []struct {
		way               string
		machine, operator int // how often the figure is in the part of either way
	}{{onMachine, 1, 0}, {byOperator, 1, 1}, {"", 1, 1}} {
		if step.way != "" {
			keepIn(t, save, step.way, flooded())
		} else if err := os.RemoveAll(save); err != nil {
			t.Fatal(err)
		}
		if err := write(pages, save); err != nil {
			t.Fatal(err)
		}
		const figure = "| router | 410.00 kpps (400.00 kpps to 420.00 kpps) | ≥410.00 kpps ±2.50% | no figure: GeneratorLost |"
		machine, operator, parted := strings.Cut(read(t, filepath.Join(pages, "flood.md")), head)
		if n, m := strings.Count(machine, figure), strings.Count(operator, figure); !parted || n != step.machine || m != step.operator {
			t.Errorf("after %q the page has the figure %d and %d times:\n%s\n%s", step.way, n, m, machine, operator)
		}
		if text := read(t, filepath.Join(pages, "modes.md")); strings.Contains(text, "kpps") || !strings.Contains(text, notMeasured) {
			t.Errorf("of other suites nothing is measured:\n%s", text)
		}
	}
}

// A suite that goes on doesn't take the place of one that is over.
func TestFiguresOfASuiteThatIsOverStayUntilAnotherIs(t *testing.T) {
	pages, save := copied(t)
	all := thePages(t)
	over, begun := flooded(), flooded()
	begun.Finished, begun.Producer = time.Time{}, "linerate v1.3.0"
	m := measured{onMachine: {}}
	for i, step := range []struct {
		kept *report.Suite
		want string
	}{{begun, "cut short, begun on 2 March 2026 with linerate v1.3.0"}, {over, "measured on 2 March 2026 with linerate v1.2.3"}, {begun, "measured on 2 March 2026 with linerate v1.2.3"}} {
		keepIn(t, save, onMachine, step.kept)
		if err := m[onMachine].take(onMachine, dirOf(save, onMachine, formPublished), all); err != nil {
			t.Fatal(err)
		}
		if got := m[onMachine].Suites["flood"].Source; !strings.HasPrefix(got, step.want) {
			t.Errorf("%d: %s, want %s", i, got, step.want)
		}
	}
	if err := m.write(pages); err != nil {
		t.Fatal(err)
	}
	if again, err := readMeasured(pages); err != nil || again[onMachine].Suites["flood"].Source != m[onMachine].Suites["flood"].Source {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestMissingFiguresNameTheirCommand(t *testing.T) {
	for _, p := range thePages(t) {
		text := p.text(measured{onMachine: {}, byOperator: {}})
		if !strings.Contains(text, "`make published-loadtests FORM=published PLAY='-suite "+p.labels[0]) || !strings.Contains(text, "PLAY='-operator -suite "+p.labels[0]) || strings.Count(text, notMeasured) <= 2*len(p.labels) {
			t.Errorf("%s:\n%s", p.file, text)
		}
	}
}

// flooded is a suite of floods, of which one has been measured twice.
func flooded() *report.Suite {
	s := &report.Suite{Version: report.SuiteVersion, Producer: "linerate v1.2.3", Name: "flood", Started: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), Finished: time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC)}
	c := report.SuiteCell{Name: "router-10s", Product: "router", Loadtest: "10s", Figures: &report.Figures{Runs: 2, PacketsPerSecond: 410_000, LowerBound: true, Spread: &report.Spread{Percent: reporttest.Percent("2.5")}}}
	for i, pps := range []float64{400_000, 420_000} {
		r := &report.Report{Version: report.Version, Plan: &plan.Plan{Directions: []plan.Direction{{From: "west", To: "east"}}}, Environment: &report.Environment{Generators: []report.GeneratorEnvironment{{Machine: report.Machine{Processors: 2, CPUModel: "AMD EPYC", Kernel: "6.1"}}}}}
		r.Answer.Observed = []report.Observed{{Observer: "kernel", Series: "received", Subject: "west", Unit: "packets/s", Mean: new(1.0)}, {Observer: "kernel", Series: "received", Subject: "east", Unit: "packets/s", Mean: new(pps)},
			{Observer: "cpu", Series: "busy", Subject: report.AllProcessors, Unit: "s/s", Mean: new(1.5)}}
		c.Runs = append(c.Runs, report.SuiteRun{Test: fmt.Sprintf("flood-router-10s-r%d", i+1), Repetition: i + 1, Started: s.Started, Finished: s.Started.Add(21 * time.Second), Figures: &report.Figures{Runs: 1, PacketsPerSecond: int64(pps), LowerBound: true}, Evidence: r})
	}
	alone := report.SuiteCell{Name: "generator-10s", Product: "generator", Loadtest: "10s", Calibration: true, Figures: &report.Figures{Runs: 1, PacketsPerSecond: 800_000, LowerBound: true}}
	failed := report.SuiteCell{Name: "router-30s", Product: "router", Loadtest: "30s", Runs: []report.SuiteRun{{Test: "flood-router-30s-r1", Reason: "GeneratorLost"}}}
	s.Cells = []report.SuiteCell{c, failed, alone}
	return s
}

func TestMeasuredFiguresAreBesideThePublishedOnes(t *testing.T) {
	save := t.TempDir()
	keepIn(t, save, onMachine, flooded())
	m, all := measured{onMachine: {}, byOperator: {}}, thePages(t)
	if err := m[onMachine].take(onMachine, dirOf(save, onMachine, formPublished), all); err != nil {
		t.Fatal(err)
	}
	text := all[1].text(m)
	for _, want := range []string{
		"| FreeBSD | 154 kpps | 10s: 410.00 kpps (400.00 kpps to 420.00 kpps); 30s: no figure: GeneratorLost; 60s: not measured yet | not measured yet | Linux' router stands beside it |",
		"| generator by itself | 320 kpps | not measured yet | not measured yet |",
		"- flood: measured on 2 March 2026 with linerate v1.2.3, 3 tests in 0.7 minutes, on 2 processors (AMD EPYC), Linux 6.1; the generators by themselves (10s): ≥800.00 kpps.\n",
		"| filter | not measured yet |", "PLAY='-operator -suite flood'", // a suite of which cells are measured is over all the same
		"Against expectation:\n\n- nothing.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "PLAY='-suite flood'") {
		t.Errorf("the suite is over:\n%s", text)
	}
	if got := busy(&flooded().Cells[0]); got != "1.50" {
		t.Errorf("%s processors were busy", got)
	}
	if measured, all := measuredOf(flooded()); measured != 1 || all != 2 {
		t.Errorf("%d of %d cells are measured", measured, all)
	}
}

func TestBothWaysHaveEachInParentheses(t *testing.T) {
	both := int64(930e6)
	c := &report.SuiteCell{Name: "nat-tcp-both", Figures: &report.Figures{Runs: 1, GoodputBitsPerSecond: &both}}
	r := &report.Report{Version: report.Version}
	for _, each := range []int64{470e6, 460e6} {
		r.Answer.Directions = append(r.Answer.Directions, report.Direction{Sessions: &report.Sessions{GoodputBitsPerSecond: each}})
	}
	c.Runs = []report.SuiteRun{{Test: "r1", Figures: c.Figures, Evidence: r}}
	if got := goodput(c); got != "930.00 Mb/s (470.00 Mb/s + 460.00 Mb/s)" {
		t.Error(got)
	}
}
