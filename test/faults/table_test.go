package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestThePageSaysHowMuchCIPlays: whoever reads that the gate holds all this must know how much of it.
func TestThePageSaysHowMuchCIPlays(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	if says := fmt.Sprintf("plays %d of the %d rows", len(some(rows(), true)), len(rows())); !strings.Contains(string(page), says) {
		t.Errorf("docs/reliability.md doesn't say that `make e2e` %s", says)
	}
}

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
