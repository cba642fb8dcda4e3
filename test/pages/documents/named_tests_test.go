package documents

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// TestEveryTestThatAPageNamesExists: a claim whose proof has another name is a claim without a proof.
func TestEveryTestThatAPageNamesExists(t *testing.T) {
	declared := declaredTests(t)
	named, word := 0, regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w+`)
	for page, text := range pages(t) {
		for _, name := range word.FindAllString(text, -1) {
			named++
			if !declared[name] && name != v1alpha1.ReasonTestFailed {
				t.Errorf("%s names %s, and there is no such test", page, name)
			}
		}
	}
	if named < 50 {
		t.Errorf("%d tests are named: are they written in another way?", named)
	}
}

// declaredTests are the names of all tests, of every module here.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	declaration, names := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`), map[string]bool{}
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declaration.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
