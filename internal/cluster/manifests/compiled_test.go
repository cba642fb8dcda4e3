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

// A compiled test is kept, and read by several passes at a time: whatever objects are made of it, it stays as it was.
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
			in := sample(t, name)
			in.ExcludedNodes = []string{"broken"}
			before := written(t, in)
			manifests.Links(in)
			manifests.DUT(in)
			manifests.Devices(in)
			manifests.Generators(in)
			manifests.Collector(in)
			manifests.Vitals(in, "node-1")
			manifests.Setup(in)
			manifests.Teardown(in)
			_ = manifests.Check(in)
			if _, err := manifests.Run(in, plan.Sites{}); err != nil {
				t.Logf("no run: %v", err) // of a test whose sites aren't known; the Plan was copied by then
			}
			if after := written(t, in); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// written is a compiled test as text.
func written(t *testing.T, in manifests.Input) string {
	t.Helper()
	text, err := json.Marshal(in.Compiled)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
