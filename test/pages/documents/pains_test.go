package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEachPainNamesExistingTests holds docs/user-pains.md to the tree: each row names tests, in directories that have them, or says why there
// are none.
func TestEachPainNamesExistingTests(t *testing.T) {
	text, err := os.ReadFile("../../../docs/user-pains.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, named := 0, 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what hurts") {
			continue
		}
		rows++
		proof := strings.TrimSpace(cells[2])
		if reason, none := strings.CutPrefix(proof, "docs only:"); none {
			if strings.TrimSpace(reason) == "" {
				t.Errorf("%s: why is there no test?", cells[0])
			}
			continue
		}
		tests := namedTests(proof)
		if len(tests) == 0 {
			t.Errorf("%s: it names no test", cells[0])
		}
		for _, test := range tests {
			named++
			if !exists(t, test) {
				t.Errorf("%s: %s has no %s", cells[0], test.dir, test.name)
			}
		}
	}
	if rows < 15 || named < 2*rows {
		t.Errorf("%d rows with %d tests were seen: is the table another one?", rows, named)
	}
}

// proof is a test in a directory.
type proof struct{ dir, name string }

// namedTests reads "DIR `TestX`, `TestY`; OTHER `TestZ`".
func namedTests(text string) (all []proof) {
	quoted := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	for group := range strings.SplitSeq(text, ";") {
		dir, _, _ := strings.Cut(strings.TrimSpace(group), " ")
		for _, name := range quoted.FindAllStringSubmatch(group, -1) {
			all = append(all, proof{dir, name[1]})
		}
	}
	return all
}

func exists(t *testing.T, want proof) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../..", want.dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+want.name+"(") {
			return true
		}
	}
	return false
}

func TestAMissingTestIsFound(t *testing.T) {
	if exists(t, proof{"test/pages/documents", "TestThatNobody" + "Wrote"}) || exists(t, proof{"no/such/place", "TestEachPainNamesExistingTests"}) {
		t.Error("a test that isn't there is found")
	}
	if got := namedTests("a/b `TestX`, `TestY`; c `TestZ`"); len(got) != 3 || got[2] != (proof{"c", "TestZ"}) {
		t.Errorf("%+v", got)
	}
}
