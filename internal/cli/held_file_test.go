package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cli"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// An editor of the namespace made the ConfigMap again before the pod mounted it: each program that reads a file
// of it refuses it, before it does anything, and its termination message says what to do.
func TestAFileThatWasReplacedIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	written := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	const asked, links = `{"limits": {"rules": 10000}}`, `[{"name": "west"}]`
	replaced, good := written("replaced.json", `{"limits": {"rules": 0}}`), written("links.json", links)
	for name, arguments := range map[string][]string{
		"the Reference's": {"forwarder", "--spec", replaced, "--spec-digest=" + digest(asked)},
		"links.json of a template": {"links", "--plan", replaced, "--plan-digest=" + digest(asked), "--output",
			filepath.Join(dir, "out.json"), "--network-status="},
		"TRex's links": {"trex-launch", "--links", replaced, "--links-digest=" + digest(asked),
			"--config-file", filepath.Join(dir, "cfg.yaml")},
		"the author's part of TRex'": {"trex-launch", "--links", good, "--links-digest=" + digest(links),
			"--extra-config", replaced, "--extra-config-digest=" + digest(asked), "--config-file",
			filepath.Join(dir, "cfg.yaml")},
	} {
		t.Run(name, func(t *testing.T) {
			message := written("termination", "")
			var stdout, stderr bytes.Buffer
			code := cli.Main("linerate", append(arguments, "--termination-log", message),
				cli.Streams{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
			text, err := os.ReadFile(message)
			if err != nil {
				t.Fatal(err)
			}
			if code != report.ExitBadInput {
				t.Errorf("exit code %d, want %d", code, report.ExitBadInput)
			}
			for _, words := range []string{digest(asked), digest(`{"limits": {"rules": 0}}`),
				"it isn't what the operator wrote", "Run the test again"} {
				if !strings.Contains(string(text), words) || !strings.Contains(stderr.String(), words) {
					t.Errorf("no %q in the termination message %q, or in %q", words, text, &stderr)
				}
			}
			for _, made := range []string{"out.json", "cfg.yaml"} {
				if _, err := os.Stat(filepath.Join(dir, made)); err == nil {
					t.Errorf("it wrote %s", made)
				}
			}
		})
	}
}
