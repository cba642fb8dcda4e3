package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheMakefilesTestsExist: a test that the Makefile names for the race detector, and that has another name by now, would silently go without.
func TestTheMakefilesTestsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(tree, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for list, packages := range map[string][]string{
		"RUNNING":   {"test/operator"},
		"TOGETHER":  {"internal/admission", "internal/cli", "internal/frames"},
		"SIMULATED": {"controllers/loadtest", "controllers/loadtestsuite", "controllers/turns"},
	} {
		line := regexp.MustCompile(`(?m)^` + list + ` := \^\((.+)\)\$\$$`).FindSubmatch(makefile)
		if line == nil {
			t.Fatalf("the Makefile has no line %s := ^(TestA|TestB)$$", list)
		}
		var sources strings.Builder
		for _, of := range packages {
			files, err := filepath.Glob(filepath.Join(tree, of, "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s has no tests (%v)", of, err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				sources.Write(text)
			}
		}
		for name := range strings.SplitSeq(string(line[1]), "|") {
			if !strings.Contains(sources.String(), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s of the Makefile names %s, which is no test of %s", list, name, strings.Join(packages, ", "))
			}
		}
	}
}
