package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheMakefilesTestsAreThere: a test that the Makefile names for the race detector, and that has another name by now, would silently go without.
func TestTheMakefilesTestsAreThere(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(tree, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^RUNNING := \^\((.+)\)\$\$$`).FindSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile has no line RUNNING := ^(TestA|TestB)$$")
	}
	files, err := filepath.Glob(filepath.Join(tree, "test/operator/*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of the operator (%v)", err)
	}
	var sources strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(text)
	}
	for name := range strings.SplitSeq(string(line[1]), "|") {
		if !strings.Contains(sources.String(), "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("test/operator has no test %s", name)
		}
	}
}
