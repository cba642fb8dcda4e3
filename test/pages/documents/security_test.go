package documents

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/security.md names a test for what it says is held. TestEveryTestThatAPageNamesExists has that they are there.
func TestWhatSecurityClaimsIsTried(t *testing.T) {
	page, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bTest[A-Z][A-Za-z]+\b`).FindAllString(string(page), -1)
	if len(named) < 25 {
		t.Errorf("only the tests %q are named", named)
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
