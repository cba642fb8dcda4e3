package lifecycle_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// TestLoadTestsAsPeopleSeeThem writes LoadTests in four states, as an API server has them. test/api/chart has kubectl
// describe them.
func TestLoadTestsAsPeopleSeeThem(t *testing.T) {
	for name, live := range map[string]func(*world){
		"waiting": func(w *world) {
			w.inventory.Nodes = nil
			w.settle()
		},
		"starting": func(w *world) {
			w.settle()
			w.schedule()
			w.pass(time.Minute)
		},
		"running": func(w *world) {
			w.progress(w.toRun(), "Ramping", 42)
			w.settle()
		},
		"measured": func(w *world) {
			w.finish(w.toRun(), report.Completed)
			w.pass(time.Minute)
		},
		"failed": func(w *world) {
			w.progress(w.toRun(), "Ramping", 42)
			w.settle()
			w.ends("first-1-dut", 137, "out of memory")
			w.pass(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, reference)
			live(w)
			text, err := yaml.Marshal(w.test)
			if err != nil {
				t.Fatal(err)
			}
			wantGolden(t, filepath.Join("testdata", "described", name+".yaml"), string(text))
		})
	}
}

// wantGolden compares a text with its file.
func wantGolden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (go test ./internal/cluster/lifecycle -update writes it anew); got\n%s", file, text)
	}
}
