package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestTheREADMEsLoadTestIsValid: what a stranger copies first must work.
func TestTheREADMEsLoadTestIsValid(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```yaml\n")
	text, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("README.md shows no LoadTest")
	}
	file := filepath.Join(t.TempDir(), "known-answer.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := readInputs(nil, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	if plans := loaded.plans; len(plans) != 1 || plans[0].DUT.Reference.Limit.PacketsPerSecond != 10_000 {
		t.Errorf("%d plans; the README speaks of one with a limit of 10 000 packets/s", len(plans))
	}
	example, err := readInputs(nil, []string{"../../examples/known-answer.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(loaded.plans, example.plans) {
		t.Error("README.md says that its LoadTest is examples/known-answer.yaml, and it is another one")
	}
}
