package suite

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// A terminal has about 50 lines of 120 characters, and kubectl describe prints as many lines of a status as its YAML has.
func TestTheStatusOfASuiteThatIsOverFitsOnAScreen(t *testing.T) {
	const screen, width = 50, 120
	w := newWorld(t, twoByTwo+"repetitions: 2\n")
	w.live(newRandom(1))
	w.want("Complete=True Measured")
	text, err := yaml.Marshal(w.suite.Status)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		lines += 1 + (utf8.RuneCountInString(line)-2)/width
	}
	if rows := len(w.suite.Status.Table); rows != 4 || lines > screen {
		t.Errorf("%d rows, and %d lines, want 4 rows in %d lines at most:\n%s", rows, lines, screen, text)
	}
}
