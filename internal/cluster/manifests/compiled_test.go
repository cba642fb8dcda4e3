package manifests_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// A compiled test is kept, and read by several passes at a time. Whatever objects are made of it, it stays as it was.
func TestMakingObjectsChangesNothingInTheCompiledTest(t *testing.T) {
	files, err := filepath.Glob("../../../config/samples/loadtest*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "kind: LoadTest\n") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			input := sample(t, name)
			input.ExcludedNodes = []string{"broken"}
			golden := written(t, input)
			manifests.Links(input)
			manifests.DUT(input)
			manifests.Devices(input)
			manifests.Generators(input)
			manifests.Collector(input)
			manifests.Vitals(input, "node-1")
			manifests.Setup(input)
			manifests.Teardown(input)
			_ = manifests.Check(input)
			if _, err := manifests.Run(input, plan.Sites{}); err != nil {
				t.Logf("no run: %v", err) // of a test whose sites aren't known; the Plan was copied by then
			}
			if rewritten := written(t, input); rewritten != golden {
				t.Errorf("it was\n%s\nand is\n%s", golden, rewritten)
			}
		})
	}
}

// written is a compiled test as text.
func written(t *testing.T, input manifests.Input) string {
	t.Helper()
	text, err := json.Marshal(input.Compiled)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
