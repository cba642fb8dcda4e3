package controllers

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/security.md names a test for what it says is held: each of them is there.
func TestWhatSecurityClaimsIsTried(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOfThisModule(t)
	named := regexp.MustCompile(`\bTest[A-Z][A-Za-z]+\b`).FindAllString(string(page), -1)
	if len(named) < 25 {
		t.Errorf("only the tests %q are named", named)
	}
	for _, name := range named {
		if !tests[name] {
			t.Errorf("docs/security.md names %s, and there is no such test", name)
		}
	}
	_, attackers, _ := strings.Cut(string(page), "\n## By attacker\n")
	attackers, _, _ = strings.Cut(attackers, "\n## ")
	var held int
	for line := range strings.Lines(attackers) {
		cells := strings.Split(line, " | ") // attacker, tries, shown by
		if len(cells) != 3 || cells[2] == "shown by |\n" {
			continue
		}
		held++
		if !strings.Contains(cells[2], "Test") {
			t.Errorf("it is said to be held, and no test is named for it: %s", line)
		}
	}
	if held < 12 {
		t.Errorf("only %d rows say what is held", held)
	}
}

// testsOfThisModule are the names of all tests.
func testsOfThisModule(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test[A-Za-z]+)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
