//go:build full

package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// instructions reads a Dockerfile: each line's instruction and the rest. Lines aren't continued in ours.
func instructions(t *testing.T) (all [][2]string) {
	t.Helper()
	for line := range strings.Lines(read(t, "Dockerfile")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, found := strings.Cut(line, " ")
		if !found || strings.ToUpper(word) != word || strings.HasSuffix(line, `\`) {
			t.Fatalf("Dockerfile: %q isn't one instruction", line)
		}
		all = append(all, [2]string{word, rest})
	}
	return all
}

// The Dockerfile's own lines are run, on a copy of what .dockerignore lets in, and the packed programs stand beside them.
func TestTheDockerfilesCommandsBuildThePackedPrograms(t *testing.T) {
	out := t.TempDir()
	context := buildContext(t)
	built := 0
	for _, instruction := range instructions(t) {
		if instruction[0] != "RUN" || !strings.Contains(instruction[1], "go build") {
			continue
		}
		built++
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(instruction[1], "/out/", out+"/"))
		cmd.Dir = context
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "TARGETOS=linux", "TARGETARCH=", "VERSION=v0.0.0-test")
		if talk, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", instruction[1], err, talk)
		}
	}
	packed, err := pack.Programs(t.TempDir(), "v0.0.0-test")
	if err != nil {
		t.Fatal(err)
	}
	if built != 2 || len(packed) != 2 {
		t.Fatalf("%d programs are built, %d packed", built, len(packed))
	}
	for inside, program := range packed {
		t.Run(inside, func(t *testing.T) {
			want, got := versionOf(t, program), versionOf(t, out+inside)
			if !strings.Contains(got, "v0.0.0-test") || got != want {
				t.Errorf("the Dockerfile's says %q, the packed one %q", got, want)
			}
		})
	}
}

func versionOf(t *testing.T, program string) string {
	t.Helper()
	verb := "version"
	if filepath.Base(program) == "manager" {
		verb = "--version"
	}
	out, err := exec.CommandContext(t.Context(), program, verb).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

// buildContext is what .dockerignore lets in: lines with ! name what is, the others what isn't.
func buildContext(t *testing.T) string {
	t.Helper()
	context := t.TempDir()
	for line := range strings.Lines(read(t, ".dockerignore")) {
		name, allowed := strings.CutPrefix(strings.TrimSpace(line), "!")
		if !allowed {
			continue
		}
		into := filepath.Join(context, name)
		if err := os.MkdirAll(filepath.Dir(into), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "cp", "-r", root+name, into).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	forgotten := exec.CommandContext(t.Context(), "find", context, "(", "-name", "*_test.go", "-o", "-name", "testdata", ")", "-prune", "-exec", "rm", "-r", "{}", "+")
	if out, err := forgotten.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return context
}
