package faults

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRows holds the table to what stands for it in CI, and to the document of conditions.
func TestRows(t *testing.T) {
	conditions, err := os.ReadFile(filepath.Join("..", "..", "docs", "conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, complete, _ := strings.Cut(string(conditions), "\n## Complete\n")
	phases := map[string][]phase{}
	var names []string
	for _, r := range rows() {
		names = append(names, r.name())
		if r.ci {
			phases[r.fault.name] = append(phases[r.fault.name], r.phase)
		}
		for _, reason := range r.complete {
			if !strings.Contains(complete, "| `"+reason+"` | True |") {
				t.Errorf("%s: docs/conditions.md has no reason %q of Complete", r.name(), reason)
			}
		}
		if r.survives() == (r.tells != "") {
			t.Errorf("%s: what ended the test is to be told, and only that", r.name())
		}
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(rows()) {
		t.Error("two rows have one name")
	}
	for _, r := range rows() {
		least := 1
		switch r.fault.name {
		case killGenerator.name, killDUT.name:
			least = 2 // before the run it ends another way than in it
		case deletePod.name:
			least = 0
		}
		if len(phases[r.fault.name]) < least {
			t.Errorf("%s: in CI in the phases %v, want %d", r.fault.name, phases[r.fault.name], least)
		}
	}
}
