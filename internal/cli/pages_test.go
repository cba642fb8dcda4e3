package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
				commands = append(commands, command{page, strings.TrimPrefix(strings.TrimSpace(line), "$ "), true})
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
