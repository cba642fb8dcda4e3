package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// versions are v1.2.3, and v1.2.3-rc.1 for those to be tried first.
var versions = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9a-z]+(\.[0-9a-z]+)*)?$`)

func checkVersion(version string) error {
	if !versions.MatchString(version) {
		return fmt.Errorf("-version %q: a release is called like v0.2.0, or v0.2.0-rc.1", version)
	}
	return nil
}

// check lists the places in the tree that name another version than the one to release: a user who follows them
// would get the image of that version.
func check(tree, version string) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	number := strings.TrimPrefix(version, "v")
	var chart struct{ Version, AppVersion string }
	var manager struct{ Images []struct{ NewTag string } }
	err := errors.Join(readYAML(filepath.Join(tree, "charts/linerate/Chart.yaml"), &chart),
		readYAML(filepath.Join(tree, "config/manager/kustomization.yaml"), &manager))
	if err != nil {
		return err
	}
	var faults []error
	if chart.Version != number || chart.AppVersion != number {
		faults = append(faults, fmt.Errorf("charts/linerate/Chart.yaml has version %q and appVersion %q: write %s as both", chart.Version, chart.AppVersion, number))
	}
	if len(manager.Images) != 1 || manager.Images[0].NewTag != version {
		faults = append(faults, fmt.Errorf("config/manager/kustomization.yaml has the images %v: write newTag: %s",
			manager.Images, version))
	}
	if _, err := notesOf(tree, version); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// notesOf is what CHANGELOG.md says of a version.
func notesOf(tree, version string) (string, error) {
	changes, err := os.ReadFile(filepath.Join(tree, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	_, section, found := strings.Cut(string(changes), "\n## "+version+" ")
	_, section, _ = strings.Cut(section, "\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if section = strings.TrimSpace(section); !found || section == "" {
		return "", fmt.Errorf("CHANGELOG.md has no section %q with anything in it: what is under Unreleased goes there",
			"## "+version+" (DATE)")
	}
	return section + "\n", nil
}

func readYAML(file string, folder any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, folder); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
