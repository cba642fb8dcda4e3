package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// check says what differs, a sentence each, and which exceptions are exceptions from nothing.
func check(files []moduleFile, exceptions []exception) []string {
	var wrong []string
	for _, r := range raises(files, exceptions) {
		for _, m := range r.modules {
			wrong = append(wrong, fmt.Sprintf("%s requires %s %s, and %s %s: type go run ./hack/versions align, or give the reason in hack/versions/exceptions.go",
				r.file, m.path, m.older, m.newerIn, m.newer))
		}
	}
	for _, e := range exceptions {
		if !differs(files, e) {
			wrong = append(wrong, fmt.Sprintf("hack/versions/exceptions.go excepts %s, which requires nothing that another module file requires in another version: delete the exception",
				strings.TrimSpace(e.file+" "+e.module)))
		}
	}
	return wrong
}

// raise is a module file with what it requires in an older version than another.
type raise struct {
	file    string
	modules []older
}

type older struct{ path, older, newer, newerIn string }

// raises are all module files that require something in an older version than another, in their order.
func raises(files []moduleFile, exceptions []exception) []raise {
	newest, in := map[string]string{}, map[string]string{}
	for _, f := range files {
		for module, v := range f.versions {
			if !excepted(exceptions, f.path, module) && (newest[module] == "" || isBefore(newest[module], v)) {
				newest[module], in[module] = v, f.path
			}
		}
	}
	var raises []raise
	for _, f := range files {
		r := raise{file: f.path}
		for _, module := range slices.Sorted(maps.Keys(f.versions)) {
			if v := f.versions[module]; !excepted(exceptions, f.path, module) && v != newest[module] {
				r.modules = append(r.modules, older{module, v, newest[module], in[module]})
			}
		}
		if len(r.modules) > 0 {
			raises = append(raises, r)
		}
	}
	return raises
}

func excepted(exceptions []exception, file, module string) bool {
	return slices.ContainsFunc(exceptions, func(e exception) bool {
		return e.file == file &&
			(e.module == "" || e.module == module)
	})
}

// differs is whether another module file has what the exception is about in another version.
func differs(files []moduleFile, e exception) bool {
	i := slices.IndexFunc(files, func(f moduleFile) bool { return f.path == e.file })
	if i < 0 {
		return false
	}
	for module, v := range files[i].versions {
		if e.module != "" && e.module != module {
			continue
		}
		if slices.ContainsFunc(files, func(f moduleFile) bool {
			return f.versions[module] != "" &&
				f.versions[module] != v
		}) {
			return true
		}
	}
	return false
}

// isBefore is semantic versioning's order, by which pseudo-versions are in the order of their commits' times.
func isBefore(a, b string) bool {
	first, second := version.MustParseSemantic(a), version.MustParseSemantic(b)
	return first.LessThan(second)
}
