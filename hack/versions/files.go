package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// moduleFile is what a go.mod, or a go.NAME.mod of tools, requires.
type moduleFile struct {
	path     string            // relative to the project, with slashes
	versions map[string]string // by module path: the version that is built, after replacements
}

// moduleFiles reads all of the project, in the order of their paths.
func moduleFiles(project string) ([]moduleFile, error) {
	var files []moduleFile
	err := filepath.WalkDir(project, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != project && (name == "testdata" || strings.HasPrefix(name, ".") ||
			strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasPrefix(name, "go.") || !strings.HasSuffix(name, ".mod") {
			return nil
		}
		file, err := readModuleFile(project, path)
		files = append(files, file)
		return err
	})
	return files, err
}

func readModuleFile(project, path string) (moduleFile, error) {
	text, err := exec.Command("go", "mod", "edit", "-json", path).Output()
	if err != nil {
		return moduleFile{}, fmt.Errorf("read %s: %w (go mod edit -json %s says why)", path, err, path)
	}
	relative, err := filepath.Rel(project, path)
	if err != nil {
		return moduleFile{}, err
	}
	file, err := parseModuleFile(text)
	file.path = filepath.ToSlash(relative)
	return file, err
}

// parseModuleFile reads what go mod edit -json prints. A module that is replaced by a folder is the project's
// own, and has no version.
func parseModuleFile(text []byte) (moduleFile, error) {
	type version struct{ Path, Version string }
	var parsed struct {
		Require []version
		Replace []struct{ Old, New version }
	}
	if err := json.Unmarshal(text, &parsed); err != nil {
		return moduleFile{}, err
	}
	file := moduleFile{versions: map[string]string{}}
	for _, r := range parsed.Require {
		file.versions[r.Path] = r.Version
	}
	for _, r := range parsed.Replace {
		required, ok := file.versions[r.Old.Path]
		switch {
		case !ok || r.Old.Version != "" && r.Old.Version != required:
		case r.New.Version == "":
			delete(file.versions, r.Old.Path)
		default:
			file.versions[r.Old.Path] = r.New.Version
		}
	}
	return file, nil
}
