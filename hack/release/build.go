package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// architectures are those of the machines that a release is for, as Go spells them.
var architectures = []string{"amd64", "arm64"}

// The names of what a release's folder holds beside its archives.
const (
	imageFolder = "image"
	sumsFile    = "SHA256SUMS"
	versionFile = "version"
	notesFile   = "notes.md"
	pushedFile  = "pushed"
	krewFile    = "linerate.yaml"
)

// programsOf are a release's programs by architecture: files by their paths in the image.
type programsOf map[string]map[string]string

// build makes the whole folder. One that is there already must be empty, so that nothing of another release is in it.
func build(ctx context.Context, tree, version, path string) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 {
		return fmt.Errorf("-o %s: there is something in it: remove it, or name another folder", path)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	notes, err := notesOf(tree, version)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "linerate-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	programs := programsOf{}
	for _, architecture := range architectures {
		dir := filepath.Join(scratch, architecture)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if programs[architecture], err = pack.ProgramsFor(dir, version, architecture); err != nil {
			return err
		}
	}
	if err := assemble(tree, version, path, programs); err != nil {
		return err
	}
	if err := materials(ctx, tree, path, programs); err != nil {
		return err
	}
	if err := writeSums(path); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(path, notesFile), []byte(notes), 0o644),
		os.WriteFile(filepath.Join(path, versionFile), []byte(version+"\n"), 0o644))
}

// assemble makes all that is made of programs and files of the tree.
func assemble(tree, version, path string, programs programsOf) error {
	sums := map[string]string{}
	for _, architecture := range architectures {
		archive := filepath.Join(path, archiveName(architecture))
		err := writeArchive(archive, []packed{{programs[architecture]["/linerate"], "linerate", 0o755},
			{filepath.Join(tree, "LICENSE"), "LICENSE", 0o644}})
		if err != nil {
			return err
		}
		if sums[architecture], err = sumOf(archive); err != nil {
			return err
		}
	}
	template, err := os.ReadFile(filepath.Join(tree, "hack/krew/linerate.yaml"))
	if err != nil {
		return err
	}
	manifest, err := krewManifest(string(template), version, sums)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(path, krewFile), []byte(manifest), 0o644),
		writeChart(filepath.Join(tree, "charts/linerate"), version, filepath.Join(path, chartName(version))),
		writeImage(filepath.Join(path, imageFolder), programs),
	)
}

func archiveName(architecture string) string { return "linerate_linux_" + architecture + ".tar.gz" }

// materials has cyclonedx-gomod write a bill of materials of each program, from what Go's linker wrote into it.
func materials(ctx context.Context, tree, path string, programs programsOf) error {
	for _, architecture := range architectures {
		for _, inside := range slices.Sorted(maps.Keys(programs[architecture])) {
			bill, err := filepath.Abs(filepath.Join(path, strings.TrimPrefix(inside, "/")+"_linux_"+architecture+
				".cdx.json"))
			if err != nil {
				return err
			}
			tool := exec.CommandContext(ctx, "go", "run", "-modfile=go.release.mod",
				"github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod",
				"bin", "-json", "-std", "-output", bill, programs[architecture][inside])
			tool.Dir = tree
			if stderr, err := tool.CombinedOutput(); err != nil {
				return fmt.Errorf("bill of materials of %s for %s: %w\n%s", inside, architecture, err, stderr)
			}
		}
	}
	return nil
}
