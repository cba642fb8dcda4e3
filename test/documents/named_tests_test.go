package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// TestEveryTestThatAPageNamesExists: a claim whose proof has another name is a claim without a proof.
func TestEveryTestThatAPageNamesExists(t *testing.T) {
	files, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "*_test.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	declared, declaration := map[string]bool{}, regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	for file := range strings.FieldsSeq(string(files)) {
		for _, found := range declaration.FindAllSubmatch(read(t, "../../"+file), -1) {
			declared[string(found[1])] = true
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	named, quoted := 0, regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w+)`")
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		for _, found := range quoted.FindAllSubmatch(read(t, page), -1) {
			named++
			if name := string(found[1]); !declared[name] && name != v1alpha1.ReasonTestFailed {
				t.Errorf("%s names %s, and there is no such test", filepath.Base(page), name)
			}
		}
	}
	if named < 50 {
		t.Errorf("%d tests are named: are they written in another way?", named)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
