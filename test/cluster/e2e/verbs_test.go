//go:build full

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// TestVerbs: what people type, against a cluster in which packets are real.
func TestVerbs(t *testing.T) {
	t.Run("doctor finds nothing that fails in a lab that works", func(t *testing.T) {
		s := begin(t)
		s.types("doctor").wants(0, "ok      operator", "").never("fail ")
	})
	t.Run("doctor names what a LoadTest would miss", func(t *testing.T) {
		s := begin(t)
		s.operators(0)
		t.Cleanup(func() { s.operators(1) })
		s.network("nowhere", "linerate.dev/never")
		said := s.types("doctor").wants(1, "fail    operator", "")
		for _, want := range []string{"nowhere", "linerate.dev/never"} {
			if !strings.Contains(said.out, want) {
				t.Errorf("doctor doesn't name %s:\n%s", want, said.out)
			}
		}
	})
	t.Run("run applies, follows, prints the table and ends as the test did; then list and report know it", func(t *testing.T) {
		s := begin(t)
		file := s.file("measured", links, limited, quick)
		said := s.types("run", file).wants(0, "line rate", "ramping")
		if words := strings.TrimSpace(said.talk); !strings.Contains(words[strings.LastIndex(words, "\n")+1:], "measured: ") {
			t.Errorf("what it says doesn't end with the measurement:\n%s", words)
		}
		s.answers(s.get("measured"), 10_000)
		s.types("run", file).wants(0, "line rate", "") // there already, with the same spec: its result, not another run
		s.types("list").wants(0, "measured", "")
		s.types("report", "measured", "-o", "markdown").wants(0, "| west", "")
		var r report.Report
		if err := json.Unmarshal([]byte(s.types("report", "measured", "-o", "json").wants(0, "{", "").out), &r); err != nil || r.Ending != report.Completed {
			t.Errorf("the Report as JSON: %v, ending %q", err, r.Ending)
		}
	})
	t.Run("stop --wait keeps what was measured until then", func(t *testing.T) {
		s := begin(t)
		s.apply("stopped", links, limited, long, verdict)
		s.measured("stopped", 3)
		s.types("stop", "stopped", "--wait").wants(130, "", "stopping")
		s.want(s.get("stopped"), "Complete=True Stopped", "Passed=Unknown Undecided")
	})
	t.Run("run says what is wrong with a file, and creates nothing", func(t *testing.T) {
		s := begin(t)
		s.types("run", s.file("wrong", links, limited, `procedure: {ramp: {targetRate: fast}}`)).wants(2, "", "targetRate")
		if left, err := s.left(t.Context()); left != "" || err != nil {
			t.Errorf("there is %s (%v)", left, err)
		}
	})
}

// typed is what a command printed, and how it ended.
type typed struct {
	*scene
	command   string
	out, talk string
	code      int
}

// types runs `kubectl linerate` in the scene's namespace, not on a terminal.
func (s *scene) types(args ...string) typed {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), filepath.Join(lab.Programs, "linerate"), append([]string{"kubectl"}, append(args, "-n", s.namespace)...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+lab.Kubeconfig)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		s.Fatal(err)
	}
	return typed{scene: s, command: strings.Join(args, " "), out: out.String(), talk: talk.String(), code: cmd.ProcessState.ExitCode()}
}

// wants fails unless the command ended with the code, with these words on stdout and on stderr.
func (c typed) wants(code int, out, talk string) typed {
	c.Helper()
	if c.code != code || !strings.Contains(c.out, out) || !strings.Contains(c.talk, talk) {
		c.Errorf("%s ended with %d, want %d, %q on stdout and %q on stderr; stdout:\n%s\nstderr:\n%s", c.command, c.code, code, out, talk, c.out, c.talk)
	}
	return c
}

// never fails if the words are on stdout.
func (c typed) never(out string) {
	c.Helper()
	if strings.Contains(c.out, out) {
		c.Errorf("%s prints %q:\n%s", c.command, out, c.out)
	}
}

// file is a LoadTest as a person writes it.
func (s *scene) file(name string, parts ...string) string {
	s.Helper()
	spec := map[string]any{}
	if err := yaml.Unmarshal([]byte(strings.Join(parts, "\n")), &spec); err != nil {
		s.Fatal(err)
	}
	text, err := yaml.Marshal(map[string]any{"apiVersion": "linerate.dev/v1alpha1", "kind": "LoadTest", "metadata": map[string]any{"name": name}, "spec": spec})
	if err != nil {
		s.Fatal(err)
	}
	path := filepath.Join(s.TempDir(), name+".yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}
