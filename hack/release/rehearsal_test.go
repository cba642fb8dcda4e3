//go:build full

package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The workflow's own steps are run, one after the other, in a copy of the tree and against a registry of the test's. cosign and gh are stand-ins: both need services.
func TestTheWorkflowsStepsMakeARelease(t *testing.T) {
	project, bin, to := copied(t), t.TempDir(), aRegistry(t)
	said := filepath.Join(t.TempDir(), "said")
	must(t, os.WriteFile(filepath.Join(bin, "cosign"), []byte(cosign), 0o755))                                                                //nolint:gosec // a program
	must(t, os.WriteFile(filepath.Join(bin, "gh"), []byte("#!/bin/sh\nls \"$9\" >/dev/null || exit 1\necho \"gh $*\" >>\"$SAID\"\n"), 0o755)) //nolint:gosec // a program
	outputs := written(t, filepath.Join(t.TempDir(), "outputs"), "")
	for _, s := range releaseSteps(t) {
		if s.Run == "" {
			continue
		}
		run := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", s.Run)
		run.Dir = project
		run.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SAID="+said, "VERSION="+released, "REGISTRY="+to, "GITHUB_OUTPUT="+outputs)
		for name := range s.Env {
			run.Env = append(run.Env, name+"=stand-in")
		}
		if stderr, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", s.Name, err, stderr)
		}
	}
	dist := filepath.Join(project, "dist")
	t.Run("programs are of their architectures", func(t *testing.T) {
		for architecture, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
			data, err := os.ReadFile(filepath.Join(dist, archiveName(architecture)))
			must(t, err)
			program, err := fileOf(data, "linerate")
			must(t, err)
			file, err := elf.NewFile(bytes.NewReader(program))
			must(t, err)
			if file.Machine != machine || !bytes.Contains(program, []byte(released)) {
				t.Errorf("%s: it is for %s", architecture, file.Machine)
			}
			if dynamic, err := file.DynString(elf.DT_NEEDED); err != nil || len(dynamic) > 0 {
				t.Errorf("%s: it needs %q, %v", architecture, dynamic, err)
			}
		}
	})
	t.Run("each program has a bill of materials", func(t *testing.T) {
		for _, architecture := range architectures {
			for _, program := range []string{"linerate", "manager"} {
				text, err := os.ReadFile(filepath.Join(dist, program+"_linux_"+architecture+".cdx.json"))
				must(t, err)
				var bill struct {
					BOMFormat  string
					Components []struct{ Name, Version, PURL string }
				}
				must(t, json.Unmarshal(text, &bill))
				found := map[string]bool{}
				for _, c := range bill.Components {
					found[c.Name] = c.Version != "" && strings.HasPrefix(c.PURL, "pkg:golang/")
				}
				if bill.BOMFormat != "CycloneDX" || len(bill.Components) < 30 || !found["k8s.io/apimachinery"] || !found["std"] {
					t.Errorf("%s for %s: %s with %d components", program, architecture, bill.BOMFormat, len(bill.Components))
				}
			}
		}
	})
	t.Run("the sums are right", func(t *testing.T) {
		sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", sumsFile)
		sums.Dir = dist
		if stderr, err := sums.CombinedOutput(); err != nil || bytes.Count(stderr, []byte(": OK\n")) != 8 {
			t.Errorf("%v\n%s", err, stderr)
		}
	})
	t.Run("Helm pulls and renders the chart", func(t *testing.T) {
		folder := t.TempDir()
		helm := func(args ...string) string {
			cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "helm.sh/helm/v4/cmd/helm"}, args...)...)
			cmd.Dir = filepath.Join(project, "test/api/chart")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("helm %q: %v\n%s", args, err, out)
			}
			return string(out)
		}
		helm("pull", "oci://"+to+"/charts/linerate", "--version", strings.TrimPrefix(released, "v"), "--plain-http", "--destination", folder)
		if got := helm("template", "linerate", filepath.Join(folder, chartName(released))); !strings.Contains(got, "image: ghcr.io/linerate-dev/linerate:"+released) {
			t.Errorf("no image of this version in\n%s", got)
		}
	})
	t.Run("all is signed, and drafted", func(t *testing.T) {
		text, err := os.ReadFile(said)
		must(t, err)
		for what, times := range map[string]int{"cosign sign --yes " + to + "/linerate@sha256:": 1, "cosign sign --yes " + to + "/charts/linerate@sha256:": 1, "cosign attest --yes --type cyclonedx": 4, "gh release create " + released + " --draft": 1} {
			if n := strings.Count(string(text), what); n != times {
				t.Errorf("%d times %q, want %d:\n%s", n, what, times, text)
			}
		}
		if output, err := os.ReadFile(outputs); err != nil || !strings.Contains(string(output), "\ndigest=sha256:") {
			t.Errorf("outputs:\n%s", output)
		}
	})
}

// copied is a copy of the tree's files, in which the release's section of the changelog is there.
func copied(t *testing.T) string {
	t.Helper()
	project := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", `git -C "$1" ls-files -z --cached --others --exclude-standard | tar -C "$1" --null -T - -c | tar -C "$2" -x`, "copy", tree, project)
	if stderr, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	changes, err := os.ReadFile(filepath.Join(project, "CHANGELOG.md"))
	must(t, err)
	written(t, filepath.Join(project, "CHANGELOG.md"), strings.Replace(string(changes), "\n## Unreleased\n", "\n## Unreleased\n\n## "+released+" (2026-11-25)\n", 1))
	return project
}
