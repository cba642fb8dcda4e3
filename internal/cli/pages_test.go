package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/linerate-dev/linerate/test/pages/walkthrough"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// command is a command line that a page shows; whole: as something to type, and not as part of a sentence.
type command struct {
	page, line string
	whole      bool
}

// shownCommands are all of linerate's that the documentation shows.
func shownCommands(t *testing.T) []command {
	t.Helper()
	pages := []string{"../../README.md"}
	for _, folder := range []string{"docs", "docs/measured", "docs/measured/published"} {
		files, err := filepath.Glob("../../" + folder + "/*.md")
		if err != nil || len(files) == 0 {
			t.Fatalf("%d pages in %s: %v", len(files), folder, err)
		}
		pages = append(pages, files...)
	}
	var commands []command
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		prose := fenced.ReplaceAllStringFunc(string(text), func(block string) string {
			for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
				commands = append(commands, command{page, ours(line), true})
			}
			return ""
		})
		for _, span := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(prose, -1) {
			commands = append(commands, command{page, span[1], false})
		}
	}
	return slices.DeleteFunc(commands, func(c command) bool {
		return !regexp.MustCompile(`^(kubectl |bin/)?linerate [-a-z]+( |$)`).MatchString(c.line) ||
			strings.ContainsAny(c.line, "…[")
	})
}

// ours is a shown line without the prompt, and without what has another machine run it.
func ours(line string) string {
	return regexp.MustCompile(`^(\$ )?(ip netns exec \S+ )?`).ReplaceAllString(strings.TrimSpace(line), "")
}

var fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")

// Each command that a page shows is one that there is, with flags that it has and values that they take.
func TestEachCommandInThePagesExists(t *testing.T) {
	tier.Plain(t)
	commands := shownCommands(t)
	if len(commands) < 90 {
		t.Errorf("%d commands are shown: are they written in another way?", len(commands))
	}
	for _, c := range commands {
		if err := c.parse(); err != nil {
			t.Errorf("%s: %s: %v", filepath.Base(c.page), c.line, err)
		}
	}
}

// The pages that repeat published load tests have commands that a shell reads, and files that compile, also those of the
// shorter form. Tests of the full tier type them.
func TestThePagesOfPublishedLoadTestsCanBeTyped(t *testing.T) {
	tier.Plain(t)
	for page, tests := range map[string]int{"flood": 4, "firewall": 69, "boards": 18} {
		text, err := os.ReadFile("../../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		steps, err1 := walkthrough.Read(string(text))
		shorter, err2 := walkthrough.Changes(string(text), "| the page has | shorter |")
		if err := errors.Join(err1, err2); err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		var script strings.Builder
		cells, folder := 0, t.TempDir()
		for _, action := range slices.Concat(actionsOf(steps)...) {
			script.WriteString(action.Command + "\n")
			if action.Path == "" || action.Language != "yaml" {
				continue
			}
			for form, content := range []string{action.File, walkthrough.Change(action.File, shorter)} {
				file := filepath.Join(folder, fmt.Sprint(form, action.Path))
				if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				loaded, err := readInputs(nil, []string{file})
				if err != nil {
					t.Fatalf("%s: %v", page, err)
				}
				for _, s := range loaded.suites {
					cells += len(s.matrix.Cells)
					if err := s.check(runOptions{}); err != nil {
						t.Errorf("%s: %v", page, err)
					}
				}
			}
		}
		shell := exec.Command("bash", "-n")
		shell.Stdin = strings.NewReader(script.String())
		if output, err := shell.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", page, err, output)
		}
		if cells != 2*tests {
			t.Errorf("%s has %d tests, want %d", page, cells/2, tests)
		}
	}
}

func actionsOf(steps []walkthrough.Step) (actions [][]walkthrough.Action) {
	for _, step := range steps {
		actions = append(actions, step.Actions)
	}
	return actions
}

// parse reads the command as linerate would, and stops where it would begin.
func (c command) parse() error {
	typed, _, _ := strings.Cut(regexp.MustCompile(`\s+#`).Split(c.line, 2)[0], " | ")
	args := words(regexp.MustCompile(`\s+(2?>|&).*$`).ReplaceAllString(typed, ""))
	if args[0] == "kubectl" {
		args = args[1:]
		args[0] = "kubectl"
	} else {
		args = args[1:]
	}
	cmd, rest, err := newRoot(Streams{Stdout: io.Discard, Stderr: io.Discard}).Find(publishedFlags(args))
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if c.whole {
		return cmd.ValidateArgs(cmd.Flags().Args())
	}
	return nil
}

// The tables of docs/cli.md name each verb, of people and of pods, and the sections their flags.
func TestTheCommandLinesPageNamesEveryVerbAndFlag(t *testing.T) {
	text, err := os.ReadFile(cliPage)
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(Streams{})
	verbs := map[string]*cobra.Command{}
	for _, verb := range root.Commands() {
		if verb.Hidden {
			continue
		}
		verbs[verb.Name()] = verb
		if !regexp.MustCompile("(?m)^\\| `(" + verb.Name() + "|[a-z]+`, `" + verb.Name() + ")[` ]").Match(text) {
			t.Errorf("no table names the verb %s", verb.Name())
		}
	}
	for name, verb := range verbs {
		if slices.Contains(helpAlone, name) {
			continue
		}
		verb.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !regexp.MustCompile(forms(f)).Match(text) {
				t.Errorf("the page doesn't name %s --%s", name, f.Name)
			}
		})
	}
	named := 0
	for _, section := range regexp.MustCompile(`(?m)^##+ `).Split(string(text), -1)[1:] {
		title, body, _ := strings.Cut(section, "\n")
		verb := verbs[title]
		flag := regexp.MustCompile("`(--?[a-z][-a-z]*)[^`\n]*`")
		for _, span := range flag.FindAllStringSubmatch(fenced.ReplaceAllString(body, ""), -1) {
			named++
			if !hasFlag(span[1], verb, verbs) {
				t.Errorf("## %s: there is no flag %s", title, span[1])
			}
		}
	}
	if named < 25 {
		t.Errorf("the page names %d flags: are they written in another way?", named)
	}
}

// helpAlone are the verbs whose flags the page leaves to their help: the operator types those, or another page
// has them.
var helpAlone = []string{"completion", "kubectl", "trex-launch", "collect", "forwarder", "links", "ports", "reset",
	"sessions", "vitals"}

// hasFlag says whether a verb has a flag; without a verb any will do.
func hasFlag(name string, verb *cobra.Command, verbs map[string]*cobra.Command) bool {
	if verb == nil {
		for _, v := range verbs {
			if hasFlag(name, v, nil) {
				return true
			}
		}
		return false
	}
	name = publishedFlags([]string{verb.Name(), name})[1]
	if long, ok := strings.CutPrefix(name, "--"); ok {
		return verb.Flags().Lookup(long) != nil
	}
	return verb.Flags().ShorthandLookup(strings.TrimPrefix(name, "-")) != nil
}

// forms are the ways in which a page may name a flag: by its name, its letter, or the two letters of the
// published script's.
func forms(f *pflag.Flag) string {
	forms := "--" + f.Name + `\b`
	if f.Shorthand != "" {
		forms += "|`-" + f.Shorthand + "[` ]"
	}
	if letters := regexp.MustCompile(`^-[a-z]{2}: `).FindString(f.Usage); letters != "" {
		forms += "|`" + strings.TrimSuffix(letters, ": ") + "`"
	}
	return forms
}
