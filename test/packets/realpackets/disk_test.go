package realpackets

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const shortTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: short}
spec:
  dut: {type: Reference, reference: {limit: {packetsPerSecond: 10000, burst: 2ms}}}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  procedure:
    ramp: {warmupDuration: 1s, targetRate: 5kpps, rampDuration: 2s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 0s, holdDuration: 0s}
`

// TestAFullDiskLosesTheReportButNotTheResult: the table is printed, an error names what could not be kept, and no half-written file stays.
func TestAFullDiskLosesTheReportButNotTheResult(t *testing.T) {
	beside(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4096"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, 0) })
	got := call(t, time.Minute, "run", writeFile(t, "short.yaml", shortTest), "--save", dir)
	if got.code != 3 {
		t.Errorf("exit code %d, want 3", got.code)
	}
	if !strings.Contains(got.stdout, "Linux reference imix: ") {
		t.Errorf("the table is not printed:\n%s", got.stdout)
	}
	if want := "the report could not be kept as " + dir + "/short.json"; !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, "no space left on device") {
		t.Errorf("stderr does not say %q and why:\n%s", want, got.stderr)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestABrokenPipeLosesNoReport: the reader of the table has gone, and the report is still kept.
func TestABrokenPipeLosesNoReport(t *testing.T) {
	beside(t)
	dir := t.TempDir()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), linerate, "run", writeFile(t, "short.yaml", shortTest), "--save", dir)
	var talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = writer, &talk
	_ = cmd.Run()
	_ = writer.Close()
	if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(talk.String(), "broken pipe") {
		t.Errorf("exit code %d, want 3 and the reason:\n%s", code, talk.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "short.json")); err != nil {
		t.Errorf("the report is lost: %v", err)
	}
}
