package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPatientTestsAreThere: what the gate plays beside its compilers it leaves out later, so a name that is nobody's would be a test that is never played.
func TestPatientTestsAreThere(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(tree, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^PATIENT := \^\((.+)\)\$\$$`).FindStringSubmatch(string(makefile))
	if found == nil {
		t.Fatal("the Makefile has no line of PATIENT := ^(TestA|TestB)$$")
	}
	var code strings.Builder
	for _, folder := range []string{"realpackets", "e2e"} {
		files, err := filepath.Glob(filepath.Join(tree, "test", folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	for name := range strings.SplitSeq(found[1], "|") {
		if n := strings.Count(code.String(), "\nfunc "+name+"(t *testing.T) {"); n != 1 {
			t.Errorf("%d tests are called %s, want one", n, name)
		}
	}
}
