package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// suiteFile is one suite of a file.
type suiteFile struct {
	file, name string
	text       []byte
}

// readSuites are the suites of a directory's files, in the order of the published loadtests.
func readSuites(dir string) (files []suiteFile, err error) {
	for _, name := range []string{"routers.yaml", "flood.yaml", "modes.yaml", "sessions.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		for _, document := range strings.Split(string(text), "\n---\n") {
			var head struct {
				Metadata struct {
					Name string `json:"name"`
				} `json:"metadata"`
			}
			if err := yaml.Unmarshal([]byte(document), &head); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			files = append(files, suiteFile{file: name, name: head.Metadata.Name, text: []byte(document)})
		}
	}
	return files, nil
}

//go:embed short.yaml
var shortForms []byte

// shortForm is how a suite is shortened: which values of its axes are kept, and a merge patch (RFC 7396) of its
// spec. What the values' own patches say stays as it is, so that a cell's name never tells of another duration
// than it had.
type shortForm struct {
	Keep  map[string][]string `json:"keep"`
	Patch map[string]any      `json:"patch"`
}

// shortened is a suite in its short form.
func shortened(s suiteFile) ([]byte, error) {
	forms := map[string]shortForm{}
	if err := yaml.UnmarshalStrict(shortForms, &forms); err != nil {
		return nil, fmt.Errorf("short.yaml: %w", err)
	}
	form, ok := forms[s.name]
	if !ok {
		return nil, fmt.Errorf("short.yaml has no form of the suite %s: add one", s.name)
	}
	return edited(s, func(spec map[string]any) error {
		for axis, values := range form.Keep {
			if err := keep(spec, axis, values); err != nil {
				return fmt.Errorf("short.yaml, %s: %w", s.name, err)
			}
		}
		merged(spec, form.Patch)
		return nil
	})
}

// edited is a suite's text with another spec.
func edited(s suiteFile, edit func(spec map[string]any) error) ([]byte, error) {
	var object map[string]any
	if err := yaml.Unmarshal(s.text, &object); err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: the suite %s has no spec", s.file, s.name)
	}
	if err := edit(spec); err != nil {
		return nil, err
	}
	return yaml.Marshal(object)
}

// keep leaves an axis these values alone, in their order in the suite.
func keep(spec map[string]any, axis string, values []string) error {
	axes, _ := spec["axes"].([]any)
	for _, a := range axes {
		of, _ := a.(map[string]any)
		if of["name"] != axis {
			continue
		}
		all, _ := of["values"].([]any)
		kept := slices.DeleteFunc(slices.Clone(all), func(v any) bool {
			value, _ := v.(map[string]any)
			name, _ := value["name"].(string)
			return !slices.Contains(values, name)
		})
		if len(kept) != len(values) {
			return fmt.Errorf("axis %s has %d of the values %s: name values that it has", axis, len(kept),
				strings.Join(values, ", "))
		}
		of["values"] = kept
		return nil
	}
	return fmt.Errorf("there is no axis %s", axis)
}

// merged is a JSON merge patch applied.
func merged(target, patch map[string]any) map[string]any {
	if target == nil {
		target = map[string]any{}
	}
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(target, name)
		case map[string]any:
			nested, _ := target[name].(map[string]any)
			target[name] = merged(nested, value)
		default:
			target[name] = value
		}
	}
	return target
}
