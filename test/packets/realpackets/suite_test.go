//go:build full

package realpackets

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/packets/foursystems"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// TestAnInterruptedSuiteIsResumed: a run that is interrupted and another one that goes on make one table, of three of the eight cells.
func TestAnInterruptedSuiteIsResumed(t *testing.T) {
	needRoot(t)
	cells := []string{"linux-imix", "openbsd-64b", "vpp-imix"} // a device that is the limit, and links that are
	part, err := foursystems.Part(foursystems.File, cells...)
	if err != nil {
		t.Fatal(err)
	}
	file, dir := writeFile(t, "four-systems.yaml", part), t.TempDir()
	interrupted(t, file, dir)
	got := makeTable(t, file, dir)
	if !strings.Contains(got.stderr, "1 measurement is of an earlier run") {
		t.Errorf("it took nothing up; stderr:\n%s", got.stderr)
	}
	for _, fault := range foursystems.Faults(rendering(t, dir), cells...) {
		t.Error(fault)
	}
}

// TestFourSystems makes the published table by one file, as it is: the same limits come out as stand in it.
func TestFourSystems(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun, dir := time.Now(), t.TempDir()
	got := makeTable(t, foursystems.File, dir)
	took, rendered := watch.Since(begun), rendering(t, dir)
	if text := rendered("text"); text != got.stdout {
		t.Errorf("what is kept is printed as\n%s", text)
	}
	faults := foursystems.Faults(rendered)
	for _, fault := range faults {
		t.Logf("%s: %s (%s)", took.Outcome(faults), fault, took)
	}
	if took.Outcome(faults) == calm.Wrong {
		t.Error("figures are off on a calm machine")
	}
	if *table != "" {
		if err := foursystems.Publish(*table, "linerate run", "linerate run examples/suites/four-systems.yaml", rendered, faults, took.Row()); err != nil {
			t.Error(err)
		}
	}
}

// makeTable runs a suite to its end.
func makeTable(t *testing.T, file, dir string) outcome {
	t.Helper()
	got := call(t, 15*time.Minute, "run", file, "--save", dir)
	if got.code != 0 {
		t.Fatalf("exit code %d; stderr:\n%s", got.code, got.stderr)
	}
	t.Logf("\n%s", got.stdout)
	return got
}

// rendering prints the suite that was kept.
func rendering(t *testing.T, dir string) foursystems.Render {
	t.Helper()
	return func(format string) string {
		return call(t, time.Minute, "report", filepath.Join(dir, "four-systems.suite.json"), "-o", format).stdout
	}
}

// interrupted begins a suite, and ends it once its first test is measured.
func interrupted(t *testing.T, file, dir string) {
	t.Helper()
	cmd, talk := start(t, "run", file, "--save", dir)
	awaitLine(t, talk, "1 of 3, cell linux-imix run 1: measured")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	for _, name := range []string{"four-systems.suite.json", "four-systems.html", "four-systems-linux-imix-r1.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// curves is a suite of one curve for each frame size: of a device that forwards 10 000 packets/s each way, whatever their size.
const curves = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: curves}
spec:
  template:
    spec:
      dut: {type: Reference, reference: {limit: {packetsPerSecond: 10000, burst: 20ms}}}
      links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
      traffic: {profile: FixedSize, frameSize: 64}
      procedure: {type: FrameLoss, frameLoss: {maxRate: 20kpps, minRate: 5kpps, step: 5kpps, warmupDuration: 1s, trialDuration: 4s, cleanTrials: 0}}
  axes:
  - {name: device, values: [{name: reference}]}
  - name: frames
    values: [{name: 64b}, {name: 512b, patch: {traffic: {frameSize: 512}}}, {name: 1518b, patch: {traffic: {frameSize: 1518}}}]
`

// TestACurveOfEachFrameSize: a suite of curves ends with one table, and its runs make one page that has each curve.
func TestACurveOfEachFrameSize(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun, dir := time.Now(), t.TempDir()
	printed := makeTable(t, writeFile(t, "curves.yaml", curves), dir).stdout
	took := watch.Since(begun)
	cells, files := []string{"64b", "512b", "1518b"}, []string{"report", "-o", "html"}
	var faults []string
	var losses []float64
	for _, cell := range cells {
		file := filepath.Join(dir, "curves-reference-"+cell+"-r1.json")
		r := readReport(t, file)
		files = append(files, file)
		losses = append(losses, lossOfEachLoad(r)...)
		g := given{name: cell, limit: 10_000}
		if points := g.points(r); len(points) != 8 {
			faults = append(faults, fmt.Sprintf("%s: %d loads and directions could be judged, want 8: %s", cell, len(points), r.Answer.EvidenceText()))
		}
		for _, p := range g.points(r) {
			for _, fault := range p.faults() {
				faults = append(faults, cell+": "+fault)
			}
		}
		if !regexp.MustCompile(`(?m)^(reference)? +` + cell + ` +20\.\d+ K `).MatchString(printed) {
			faults = append(faults, fmt.Sprintf("%s: the table has no row with twice the limit of 10 000", cell))
		}
	}
	for _, fault := range faults {
		t.Logf("%s: %s (%s)", took.Outcome(faults), fault, took)
	}
	if took.Outcome(faults) == calm.Wrong {
		t.Error("figures are off on a calm machine")
	}
	page := call(t, time.Minute, files...).stdout
	if got := lossesOnPage(page); !slices.EqualFunc(got, losses, func(a, b float64) bool { return math.Abs(a-b) < 0.006 }) {
		t.Errorf("the page's tables of loads have the losses %v %%, and the Reports %v %%", got, losses)
	}
	if drawings := strings.Count(page, `<figure class="curve">`); drawings < len(cells) {
		t.Errorf("%d curves are drawn, want %d at least", drawings, len(cells))
	}
	t.Logf("losses: %v %% (%s)", losses, took)
	if suite := call(t, time.Minute, "report", filepath.Join(dir, "curves.suite.json")).stdout; suite != printed {
		t.Errorf("what is kept of the suite is printed as\n%s", suite)
	}
}

func readReport(t *testing.T, file string) *report.Report {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// lossOfEachLoad is what all directions together lost at each load of a curve, in percent.
func lossOfEachLoad(r *report.Report) (losses []float64) {
	for _, f := range r.Answer.Figures {
		if f.Metric == figures.LossRatio && f.Direction == report.AllDirections {
			losses = append(losses, 100*f.High.Float())
		}
	}
	return losses
}

// lossesOnPage are the last cells of the rows of a page's tables of loads, in percent, as they are rounded there.
func lossesOnPage(page string) (losses []float64) {
	last := regexp.MustCompile(`>([0-9.]+)%</td></tr>`)
	for _, table := range strings.Split(page, `<table class="loads">`)[1:] {
		table, _, _ = strings.Cut(table, "</table>")
		for _, cell := range last.FindAllStringSubmatch(table, -1) {
			percent, err := strconv.ParseFloat(cell[1], 64)
			if err != nil {
				percent = math.NaN()
			}
			losses = append(losses, percent)
		}
	}
	return losses
}
