//go:build full

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAProgramsInputOutputAndStatusAreTheCommands(t *testing.T) {
	status, stdout, stderr := typed(t.Context(), "forty-two\n", "--", "sh", "-c", "cat; nproc; pwd; echo talk >&2; exit 7")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if want := "forty-two\n2\n" + dir + "\n"; status != 7 || stdout != want || !strings.HasSuffix(stderr, "talk\n") {
		t.Errorf("status %d, stdout %q, stderr %q: want 7, %q, talk", status, stdout, stderr, want)
	}
}

func TestATimeoutEndsWith124AndAnInterruptWith130(t *testing.T) {
	if status, _, stderr := typed(t.Context(), "", "-timeout", "3s", "--", "true"); status != timedOut || !strings.Contains(stderr, "raise --timeout") {
		t.Errorf("status %d, %q: want %d and --timeout", status, stderr, timedOut)
	}
	ctx, interrupt := context.WithTimeout(t.Context(), 3*time.Second) // while it boots
	defer interrupt()
	if status, _, stderr := typed(ctx, "", "--", "true"); status != interrupted {
		t.Errorf("status %d, %q: want %d", status, stderr, interrupted)
	}
}

// TestAKilledCommandLeavesNoEmulator kills the command when its program runs.
func TestAKilledCommandLeavesNoEmulator(t *testing.T) {
	program := filepath.Join(t.TempDir(), "machine")
	if output, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	cmd := exec.Command(program, "--", "sh", "-c", "echo up; sleep 600")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 3)); err != nil {
		t.Error(err)
	}
	children, err := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(cmd.Process.Pid)).Output()
	if err != nil || strings.TrimSpace(string(children)) == "" {
		t.Fatalf("the command has no emulator: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for pid := strings.TrimSpace(string(children)); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat("/proc/" + pid); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the emulator %s still runs 10 s after its command was killed", pid)
		}
	}
}
