//go:build full

package realpackets

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/calm"
	"github.com/linerate-dev/linerate/test/foursystems"
)

// TestAnInterruptedSuiteIsTakenUp: a run that is interrupted and another one that goes on make one table, of three of the eight cells.
func TestAnInterruptedSuiteIsTakenUp(t *testing.T) {
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
