package documents

import (
	"fmt"
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
		"RUNNING":   {"test/api/operator"},
		"TOGETHER":  {"internal/compile/admission", "internal/cli", "internal/run/frames"},
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

// TestAPageGivesATargetTheMakefilesMinutes: what a page says of a target's minutes is what `make` says of them.
func TestAPageGivesATargetTheMakefilesMinutes(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(tree, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for target, page := range map[string]struct{ name, warm, cold string }{
		"check": {name: "docs/development.md", warm: "with programs built %s, ", cold: "; the first time %s |"},
		"test":  {name: "README.md", warm: "(as root; %s, the first time", cold: ", the first time %s)"},
	} {
		minutes := regexp.MustCompile(`(?m)^` + target + `:.* ## .*\(as root; (.+), the first time (\d+)\)$`).FindSubmatch(makefile)
		if minutes == nil {
			t.Errorf("the Makefile's %s doesn't end with (as root; MINUTES, the first time MINUTES)", target)
			continue
		}
		for i, sentence := range []string{page.warm, page.cold} {
			if want := fmt.Sprintf(sentence, minutes[i+1]); !strings.Contains(pages(t)[page.name], want) {
				t.Errorf("%s doesn't say %q, as the Makefile does of %s", page.name, want, target)
			}
		}
	}
}
