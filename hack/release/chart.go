package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

func chartName(version string) string { return "linerate-" + strings.TrimPrefix(version, "v") + ".tgz" }

// writeChart packs the chart as "helm package" does: its files below a folder of its name. Its version must be
// the release's.
func writeChart(folder, version, path string) error {
	var chart struct{ Version string }
	if err := readYAML(filepath.Join(folder, "Chart.yaml"), &chart); err != nil {
		return err
	}
	if "v"+chart.Version != version {
		return fmt.Errorf("charts/linerate/Chart.yaml has version %q, and the release is %s: \"release check\" says all that has to be raised", chart.Version, version)
	}
	var contents []content
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inside, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		contents = append(contents, content{"linerate/" + filepath.ToSlash(inside), data, 0o644})
		return nil
	})
	if err != nil {
		return err
	}
	return writeContents(path, contents)
}

// chartDescription is Chart.yaml as JSON, which Helm wants beside a chart in a registry.
func chartDescription(text []byte) ([]byte, error) {
	var chart map[string]any
	if err := yaml.Unmarshal(text, &chart); err != nil {
		return nil, fmt.Errorf("read Chart.yaml: %w", err)
	}
	return json.Marshal(chart)
}
