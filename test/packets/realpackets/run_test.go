package realpackets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// outcome is what one call of the command line did.
type outcome struct {
	code   int
	stdout string
	stderr string
}

// call runs linerate with the arguments and waits for its end, at most bound.
func call(t *testing.T, bound time.Duration, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	cmd := exec.CommandContext(ctx, linerate, args...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("linerate %v did not end within %v; stderr:\n%s", args, bound, talk.String())
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("run linerate %v: %v", args, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), talk.String()}
}

// measure runs one LoadTest and returns its Report.
func measure(t *testing.T, yaml string, args ...string) *report.Report {
	t.Helper()
	file := writeFile(t, "test.yaml", yaml)
	got := call(t, 3*time.Minute, append([]string{"run", file, "-o", "json", "--save", ""}, args...)...)
	var r report.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("exit code %d, no report: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	t.Logf("%s: %s", r.Plan.Test.Name, r.Answer.EvidenceText())
	return &r
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
