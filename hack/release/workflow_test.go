package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// step is as much of a step as the workflow uses.
type step struct {
	ID, Name, Uses, Run string
	With                map[string]any
	Env                 map[string]string
}

// releaseSteps are those of the workflow's one job.
func releaseSteps(t *testing.T) []step {
	t.Helper()
	text, err := os.ReadFile(tree + "/.github/workflows/release.yml")
	must(t, err)
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Steps       []step
		}
	}
	must(t, yaml.Unmarshal(text, &workflow))
	job, is := workflow.Jobs["release"]
	if !is || len(workflow.Jobs) != 1 || len(workflow.Permissions) != 0 || len(job.Permissions) != 4 || len(job.Steps) < 10 {
		t.Fatalf("jobs %v, rights %v", workflow.Jobs, workflow.Permissions)
	}
	return job.Steps
}

// Otherwise everybody who can move an action's tag could make releases.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(tree + "/.github/workflows/*.yml")
	must(t, err)
	pinned, used := regexp.MustCompile(`uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
			if line := lines.Text(); strings.Contains(line, "uses:") {
				used++
				if !pinned.MatchString(line) {
					t.Errorf("%s: %q isn't pinned by its commit, with its version beside", file, line)
				}
			}
		}
	}
	if used < 4 {
		t.Errorf("only %d actions were seen", used)
	}
}

// cosign stands in for the program of that name, which needs sigstore: it records its arguments.
const cosign = "#!/bin/sh\necho \"cosign $*\" >>\"$SAID\"\n[ \"$1\" != login ] || cat >/dev/null\nfor word; do case $last in --bundle) echo '{}' >\"$word\" ;; esac; last=$word; done\n"

func TestAllThatWasPushedIsSigned(t *testing.T) {
	out, bin := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "cosign"), []byte(cosign), 0o755)) //nolint:gosec // a program
	written(t, filepath.Join(out, pushedFile), "image=ghcr.io/a/linerate@sha256:1\nchart=ghcr.io/a/charts/linerate@sha256:2\n")
	written(t, filepath.Join(out, "manager_linux_amd64.cdx.json"), "{}")
	written(t, filepath.Join(out, sumsFile), "")
	sign := exec.CommandContext(t.Context(), "./sign", out)
	sign.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SAID="+filepath.Join(out, "said"))
	if stderr, err := sign.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	said, err := os.ReadFile(filepath.Join(out, "said"))
	must(t, err)
	want := "cosign sign --yes ghcr.io/a/linerate@sha256:1\n" +
		"cosign attest --yes --type cyclonedx --predicate " + out + "/manager_linux_amd64.cdx.json ghcr.io/a/linerate@sha256:1\n" +
		"cosign sign --yes ghcr.io/a/charts/linerate@sha256:2\n" +
		"cosign sign-blob --yes --bundle " + out + "/SHA256SUMS.sigstore.json " + out + "/SHA256SUMS\n"
	if string(said) != want {
		t.Errorf("asked for\n%s, want\n%s", said, want)
	}
}
