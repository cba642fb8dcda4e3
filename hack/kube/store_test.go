package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func write(dir, name string) error { return os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o755) }

func TestAStoreBuildsOnce(t *testing.T) {
	s := store{dir: filepath.Join(t.TempDir(), "not", "there", "yet"), talk: io.Discard}
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
	s := store{dir: t.TempDir(), talk: io.Discard}
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
	recipes, err := readRecipes(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes {
		if !strings.HasPrefix(r.version, "v") || !exists(filepath.Join(r.dir, "go.sum")) {
			t.Errorf("%s: version %q, in a module with checksums: %v", r.name, r.version, exists(filepath.Join(r.dir, "go.sum")))
		}
		if !strings.Contains(key(recipes), r.version) {
			t.Errorf("%s: two versions would share %s", r.name, key(recipes))
		}
	}
	t.Run("a part that isn't required is an error", func(t *testing.T) {
		if _, err := pinned("etcd", "k8s.io/kubernetes"); err == nil || !strings.Contains(err.Error(), "doesn't require k8s.io/kubernetes") {
			t.Error(err)
		}
	})
}

func TestAssetsOfOnesOwnAreTaken(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "/opt/kube")
	if dir, err := assets(io.Discard); err != nil || dir != "/opt/kube" {
		t.Errorf("%q, %v", dir, err)
	}
}
