package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// typed is the command with an input.
func typed(ctx context.Context, input string, args ...string) (status int, stdout, stderr string) {
	var out, talk strings.Builder
	status = command(ctx, streams{strings.NewReader(input), &out, &talk}, args)
	return status, out.String(), talk.String()
}

func TestWhatCannotComeUpEndsWith125AndSaysTheWayOut(t *testing.T) {
	description := filepath.Join(t.TempDir(), "lab.yaml")
	if err := os.WriteFile(description, []byte("machines: [{name: a, memoryMiB: 4096}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir()) // no program of QEMU's
	for _, row := range []struct {
		name, sentence string
		args           []string
	}{
		{"no program", "name the program that is to run", nil},
		{"an unknown flag", "-colour", []string{"-colour", "--", "true"}},
		{"a missing file", "none.yaml", []string{"-f", "none.yaml", "--", "true"}},
		{"a wrong description", "memoryMiB", []string{"-f", description, "--", "true"}},
		{"no QEMU", "lacks Debian's package qemu-system-x86: as root, type: hack/ci-packages machine", []string{"--", "true"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			status, stdout, stderr := typed(t.Context(), "", row.args...)
			if status != failed || stdout != "" || !strings.Contains(stderr, row.sentence) {
				t.Errorf("status %d, stdout %q, stderr %q: want status %d and %q", status, stdout, stderr, failed, row.sentence)
			}
		})
	}
}
