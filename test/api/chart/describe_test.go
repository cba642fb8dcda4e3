package chart

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

const (
	// described has LoadTests in each state, which the lifecycle's own tests write.
	described = root + "internal/cluster/lifecycle/testdata/described/"
	// screenWidth is how many characters a line of a terminal has.
	screenWidth = 120
)

// describesWithin fails unless kubectl describe prints the status of each LoadTest in so many lines of a terminal, as
// the goldens have it. The spec beside it is what a person wrote, and its defaults.
func describesWithin(t *testing.T) {
	for name, lines := range map[string]int{"waiting": 50, "starting": 56, "running": 62, "measured": 50, "failed": 34} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(described + name + ".yaml")
			must(t, err)
			var object map[string]any
			must(t, yaml.Unmarshal(text, &object))
			status, err := yaml.Marshal(map[string]any{"status": object["status"]})
			must(t, err)
			object["metadata"] = map[string]any{"name": name, "namespace": "lab"}
			delete(object, "status")
			spec, err := yaml.Marshal(object)
			must(t, err)
			kubectl(t, string(spec), "apply", "-f", "-")
			kubectl(t, "", "patch", "loadtest", name, "-n", "lab", "--subresource=status", "--type=merge", "-p", string(status))
			text = varying.ReplaceAll([]byte(kubectl(t, "", "describe", "loadtest", name, "-n", "lab")), []byte("$1…"))
			file := filepath.Join("testdata", "describe", name+".txt")
			if *update {
				must(t, os.WriteFile(file, text, 0o600))
			}
			want, err := os.ReadFile(file)
			must(t, err)
			if string(text) != string(want) {
				t.Errorf("%s differs (-update writes it anew); kubectl prints\n%s", file, text)
			}
			if got := linesOfStatus(string(text)); got > lines {
				t.Errorf("the status takes %d lines of %d characters, want %d at most:\n%s", got, screenWidth, lines, text)
			}
		})
	}
}

// varying is what differs each time.
var varying = regexp.MustCompile(`((?:Creation Timestamp|Resource Version|UID): +).*`)

// linesOfStatus counts the terminal's lines between Status and Events.
func linesOfStatus(text string) (lines int) {
	_, status, _ := strings.Cut(text, "\nStatus:\n")
	status, _, _ = strings.Cut(status, "\nEvents:")
	for line := range strings.Lines(status) {
		lines += max(1, (utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))+screenWidth-1)/screenWidth)
	}
	return lines
}
