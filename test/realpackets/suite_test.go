package realpackets

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
)

// limits are those of examples/suites/four-systems.yaml, in packets per second and direction; none: the line rate is reached before.
func limits() map[string]int64 {
	const imixLineRate = 13_095 // frames of 361.83 bytes on average at 40 Mb/s, with 20 bytes of preamble and gap each
	return map[string]int64{
		"linux-imix": 3000, "openbsd-imix": 2900, "vpp-imix": imixLineRate, "danos-imix": imixLineRate,
		"linux-64b": 3000, "openbsd-64b": 2900, "vpp-64b": 35_000, "danos-64b": 46_000,
	}
}

// TestFourSystems makes the published table by one file: the same limits come out as stand in it. In each `make test` it is three of the eight cells,
// once each, begun by a run that is interrupted and ended by another; in `make known-answers` the whole file as it is.
func TestFourSystems(t *testing.T) {
	beside(t)
	file, dir := "../../examples/suites/four-systems.yaml", t.TempDir()
	cells := 8
	if !*all {
		file, cells = writeFile(t, "four-systems.yaml", threeOf(t, file)), 3
		interrupted(t, file, dir)
	}
	got := call(t, 15*time.Minute, "run", file, "-o", "json", "--save", dir)
	documents, err := report.ReadDocuments(strings.NewReader(got.stdout))
	if err != nil || got.code != 0 || len(documents.Suites) != 1 {
		t.Fatalf("exit code %d, %v; stderr:\n%s", got.code, err, got.stderr)
	}
	if taken := strings.Contains(got.stderr, "1 measurement is of an earlier run"); taken == *all {
		t.Errorf("it took something up: %v; stderr:\n%s", taken, got.stderr)
	}
	s := documents.Suites[0]
	var words bytes.Buffer
	if err := documents.Render(&words, "text"); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", words.String())
	if len(s.Cells) != cells {
		t.Errorf("%d cells, want %d", len(s.Cells), cells)
	}
	for _, c := range s.Cells {
		checkCell(t, c, limits()[c.Name])
	}
}

func checkCell(t *testing.T, c report.SuiteCell, limit int64) {
	t.Helper()
	if c.Figures == nil {
		t.Errorf("%s is not measured: %+v", c.Name, c.Runs)
		return
	}
	if off := float64(c.Figures.PacketsPerSecond)/float64(2*limit) - 1; math.Abs(off) > 0.01 {
		t.Errorf("%s: %d packets/s of both directions, %.2f %% off the known %d", c.Name, c.Figures.PacketsPerSecond, off*100, 2*limit)
	}
	if c.Figures.Runs > 1 && c.Figures.Spread == nil {
		t.Errorf("%s: %d runs, and no spread", c.Name, c.Figures.Runs)
	}
	if reached := slices.Contains([]string{"vpp-imix", "danos-imix"}, c.Name); reached != c.Figures.LowerBound {
		t.Errorf("%s: lower bound %v, want %v", c.Name, c.Figures.LowerBound, reached)
	}
}

// threeOf is the file with three of its cells, each once.
func threeOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	short, found := strings.CutSuffix(string(text), "  repetitions: 2\n")
	if !found {
		t.Fatalf("%s doesn't end with its repetitions", file)
	}
	return short + "  exclude: [{system: linux, loadtest: 64b}, {system: openbsd, loadtest: imix}, {system: vpp, loadtest: 64b}, {system: danos}]\n"
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
