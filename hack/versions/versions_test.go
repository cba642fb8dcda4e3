package main

import (
	"strings"
	"testing"
)

func file(path string, required ...string) moduleFile {
	f := moduleFile{path: path, versions: map[string]string{}}
	for _, r := range required {
		module, version, _ := strings.Cut(r, "@")
		f.versions[module] = version
	}
	return f
}

// TestTheProject: the rule that make verify plays, for who runs the tests alone.
func TestTheProject(t *testing.T) {
	files, err := moduleFiles("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range check(files, exceptions) {
		t.Error(wrong)
	}
	found := map[string]bool{}
	for _, f := range files {
		found[f.path] = len(f.versions) > 0
	}
	for _, path := range []string{"go.mod", "go.tools.mod", "go.actionlint.mod", "hack/kube/kubernetes/go.mod", "test/api/chart/go.mod"} {
		if !found[path] {
			t.Errorf("%s wasn't found, or requires nothing", path)
		}
	}
	for _, e := range exceptions {
		if e.reason == "" {
			t.Errorf("the exception of %s %s has no reason", e.file, e.module)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name       string
		files      []moduleFile
		exceptions []exception
		want       []string // what each sentence begins with
	}{
		{name: "one version", files: []moduleFile{file("go.mod", "a.org/x@v1.0.0", "a.org/y@v1.0.0"), file("test/go.mod", "a.org/x@v1.0.0")}},
		{
			name:  "the older one is named, whichever comes first",
			files: []moduleFile{file("go.mod", "a.org/x@v1.10.0"), file("go.tools.mod", "a.org/x@v1.9.0"), file("test/go.mod", "a.org/x@v1.10.0")},
			want:  []string{"go.tools.mod requires a.org/x v1.9.0, and go.mod v1.10.0: type "},
		},
		{
			name:  "versions of commits are older than the release that they lead to, and in the order of their times",
			files: []moduleFile{file("1/go.mod", "a.org/x@v1.36.12"), file("2/go.mod", "a.org/x@v1.36.12-0.20260120151049-f2248ac996af"), file("3/go.mod", "a.org/x@v1.36.12-0.20260220151049-000000000000")},
			want:  []string{"2/go.mod requires a.org/x v1.36.12-0.20260120151049-f2248ac996af, and 1/go.mod v1.36.12: ", "3/go.mod requires "},
		},
		{
			name:       "a file with versions of its own neither follows nor leads",
			files:      []moduleFile{file("go.mod", "a.org/x@v1.1.0", "a.org/y@v1.1.0"), file("other/go.mod", "a.org/x@v1.0.0", "a.org/y@v1.2.0")},
			exceptions: []exception{{file: "other/go.mod"}},
		},
		{
			name:       "of a file that keeps one module's, the others are held",
			files:      []moduleFile{file("go.mod", "a.org/x@v1.1.0", "a.org/y@v1.1.0"), file("other/go.mod", "a.org/x@v1.0.0", "a.org/y@v1.0.0")},
			exceptions: []exception{{file: "other/go.mod", module: "a.org/x"}},
			want:       []string{"other/go.mod requires a.org/y v1.0.0, and go.mod v1.1.0: "},
		},
		{
			name:       "an exception that is none any more is deleted",
			files:      []moduleFile{file("go.mod", "a.org/x@v1.0.0"), file("other/go.mod", "a.org/x@v1.0.0")},
			exceptions: []exception{{file: "other/go.mod", module: "a.org/x"}, {file: "gone/go.mod"}},
			want:       []string{"hack/versions/exceptions.go excepts other/go.mod a.org/x, ", "hack/versions/exceptions.go excepts gone/go.mod, "},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := check(tt.files, tt.exceptions)
			if len(got) != len(tt.want) {
				t.Fatalf("got %q, want %d", got, len(tt.want))
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("got %q, want %q", got[i], tt.want[i])
				}
			}
		})
	}
}

func TestReplacedModulesCountAsWhatTheyAreReplacedBy(t *testing.T) {
	got, err := parseModuleFile([]byte(`{
		"Require": [
			{"Path": "a.org/all", "Version": "v1.0.0"}, {"Path": "a.org/this", "Version": "v1.0.0"}, {"Path": "a.org/another", "Version": "v1.0.0"},
			{"Path": "a.org/ours", "Version": "v0.0.0"}
		],
		"Replace": [
			{"Old": {"Path": "a.org/all"}, "New": {"Path": "a.org/all", "Version": "v1.1.0"}},
			{"Old": {"Path": "a.org/this", "Version": "v1.0.0"}, "New": {"Path": "a.org/this", "Version": "v1.1.0"}},
			{"Old": {"Path": "a.org/another", "Version": "v0.0.0"}, "New": {"Path": "a.org/another", "Version": "v1.1.0"}},
			{"Old": {"Path": "a.org/ours"}, "New": {"Path": "../.."}},
			{"Old": {"Path": "a.org/not-required"}, "New": {"Path": "a.org/not-required", "Version": "v1.1.0"}}
		]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.org/all": "v1.1.0", "a.org/this": "v1.1.0", "a.org/another": "v1.0.0"}
	if len(got.versions) != len(want) {
		t.Errorf("got %v, want %v", got.versions, want)
	}
	for module, version := range want {
		if got.versions[module] != version {
			t.Errorf("%s is %q, want %s", module, got.versions[module], version)
		}
	}
}
