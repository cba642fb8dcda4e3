package realpackets

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/foursystems"
)

// someOf are a device that is the limit, and where the links are.
func someOf() []string { return []string{"linux-imix", "openbsd-64b", "vpp-imix"} }

// TestFourSystems makes the published table by one file: the same limits come out as stand in it. In each `make test` it is three of the eight cells,
// once each, begun by a run that is interrupted and ended by another; in `make four-systems` the whole file as it is.
func TestFourSystems(t *testing.T) {
	beside(t)
	file, dir, cells := foursystems.File, t.TempDir(), []string(nil)
	if !*all {
		cells = someOf()
		part, err := foursystems.Part(file, cells...)
		if err != nil {
			t.Fatal(err)
		}
		file = writeFile(t, "four-systems.yaml", part)
		interrupted(t, file, dir)
	}
	got := call(t, 15*time.Minute, "run", file, "--save", dir)
	if got.code != 0 {
		t.Fatalf("exit code %d; stderr:\n%s", got.code, got.stderr)
	}
	t.Logf("\n%s", got.stdout)
	if taken := strings.Contains(got.stderr, "1 measurement is of an earlier run"); taken == *all {
		t.Errorf("it took something up: %v; stderr:\n%s", taken, got.stderr)
	}
	rendered := foursystems.Render(func(format string) string {
		return call(t, time.Minute, "report", filepath.Join(dir, "four-systems.suite.json"), "-o", format).stdout
	})
	if text := rendered("text"); text != got.stdout {
		t.Errorf("what is kept is printed as\n%s", text)
	}
	for _, fault := range foursystems.Faults(rendered, cells...) {
		t.Error(fault)
	}
	if *all && *table != "" && !t.Failed() {
		if err := foursystems.Publish(*table, "linerate run", "linerate run examples/suites/four-systems.yaml", rendered); err != nil {
			t.Error(err)
		}
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
