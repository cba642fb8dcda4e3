package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func write(dir, name string) error { return os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o755) }

func TestAStoreBuildsOnce(t *testing.T) {
	s := store{dir: filepath.Join(t.TempDir(), "not", "there", "yet"), stderr: io.Discard}
	var builds atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			dir, err := s.get("v1", func(dir string) error { builds.Add(1); return write(dir, "etcd") })
			if err != nil || !exists(filepath.Join(dir, "etcd")) {
				t.Errorf("%q has no etcd (%v)", dir, err)
			}
		})
	}
	group.Wait()
	if builds.Load() != 1 {
		t.Errorf("built %d times", builds.Load())
	}
}

func TestABuildThatStoppedHalfwayIsNotTaken(t *testing.T) {
	s := store{dir: t.TempDir(), stderr: io.Discard}
	broken := errors.New("broken")
	_, err := s.get("v1", func(dir string) error { return errors.Join(write(dir, "half"), broken) })
	if !errors.Is(err, broken) {
		t.Fatalf("error is %v", err)
	}
	t.Run("what a killed build left is not mixed in", func(t *testing.T) {
		if err := os.MkdirAll(filepath.Join(s.dir, "v1.partial", "half"), 0o755); err != nil {
			t.Fatal(err)
		}
		dir, err := s.get("v1", func(dir string) error { return write(dir, "whole") })
		if err != nil || !exists(filepath.Join(dir, "whole")) || exists(filepath.Join(dir, "half")) {
			t.Errorf("whole %v, half %v (%v)", exists(filepath.Join(dir, "whole")), exists(filepath.Join(dir, "half")), err)
		}
	})
}

func TestRecipesArePinned(t *testing.T) {
	recipes, err := readRecipes(".", slices.Concat(parts, []part{kueue}))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes {
		if !strings.HasPrefix(r.version, "v") || !exists(filepath.Join(r.dir, "go.sum")) {
			t.Errorf("%s: version %q, in a module with checksums: %v", r.name, r.version, exists(filepath.Join(r.dir, "go.sum")))
		}
		if !strings.Contains(r.key(), r.version) {
			t.Errorf("%s: two versions would share %s", r.name, r.key())
		}
	}
	t.Run("a part that isn't required is an error", func(t *testing.T) {
		if _, err := pinned("etcd", "k8s.io/kubernetes"); err == nil || !strings.Contains(err.Error(), "doesn't require k8s.io/kubernetes") {
			t.Error(err)
		}
	})
	t.Run("another version of any part makes another set", func(t *testing.T) {
		for name, set := range sets {
			recipes, err := readRecipes(".", set.parts)
			if err != nil {
				t.Fatal(err)
			}
			was := set.key(recipes)
			for i := range set.parts {
				changed := slices.Clone(recipes)
				changed[i].version = "v0.0.1"
				if set.key(changed) == was {
					t.Errorf("%s: a new %s would not be noticed", name, changed[i].name)
				}
			}
		}
	})
}

func TestASetLinksToItsParts(t *testing.T) {
	s := store{dir: t.TempDir(), stderr: io.Discard}
	for _, part := range []string{"etcd", "kubelet"} {
		if _, err := s.get(part+"-v1", func(dir string) error { return write(dir, part) }); err != nil {
			t.Fatal(err)
		}
	}
	recipes := []recipe{{part: part{name: "etcd"}, version: "v1"}, {part: part{name: "kubelet"}, version: "v1"}}
	dir, err := s.assemble("both", recipes)
	if err != nil || !exists(filepath.Join(dir, "etcd")) || !exists(filepath.Join(dir, "kubelet")) {
		t.Errorf("%s lacks a part (%v)", dir, err)
	}
}

func TestOwnAssetsAreUsed(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "/opt/kube")
	if dir, err := assets(nil, io.Discard); err != nil || dir != "/opt/kube" {
		t.Errorf("%q, %v", dir, err)
	}
	t.Run("a set that doesn't exist is refused by name", func(t *testing.T) {
		if _, err := assets([]string{"clutser"}, io.Discard); err == nil || !strings.Contains(err.Error(), "clutser") {
			t.Error(err)
		}
	})
}
