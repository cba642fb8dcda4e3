package documents

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkout is a repository with hack/check-all and a Makefile whose targets only tell that they were played; red fails.
type checkout struct{ dir string }

func newCheckout(t *testing.T) checkout {
	t.Helper()
	c := checkout{t.TempDir()}
	for _, script := range []string{"check-all", "parts"} {
		text, err := os.ReadFile(filepath.Join(tree, "hack", script))
		if err != nil {
			t.Fatal(err)
		}
		c.write(t, "hack/"+script, string(text))
	}
	c.write(t, "Makefile", "%:\n\t@echo $@ >>played\n\t@[ $@ != modes ] || [ ! -e red ]\n")
	c.write(t, ".gitignore", "/played\n/red\n")
	c.write(t, "docs/measured/README.md", "# What was measured\n\n<!-- check-all: written by make check-all -->\nNot played yet.\n<!-- end of check-all -->\n")
	c.git(t, "init", "--quiet")
	c.commit(t)
	return c
}

func (c checkout) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (c checkout) git(t *testing.T, arguments ...string) string {
	t.Helper()
	said, err := c.command(t, "git", append([]string{"-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgSign=false"}, arguments...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", arguments, err, said)
	}
	return strings.TrimSpace(string(said))
}

func (c checkout) commit(t *testing.T) {
	t.Helper()
	c.git(t, "add", "--all")
	c.git(t, "commit", "--quiet", "--message", "Change something")
}

// command is a program in the repository, which no other repository's variables lead elsewhere, as in a hook of git's.
func (c checkout) command(t *testing.T, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, arguments...)
	cmd.Dir = c.dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "MAKE") })
	return cmd
}

// checkAll plays parts; played are those that were, in their order.
func (c checkout) checkAll(t *testing.T, arguments ...string) (code int, played []string, said string) {
	t.Helper()
	text, err := c.command(t, "hack/check-all", arguments...).CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if ended != nil {
		code = ended.ExitCode()
	}
	list, _ := os.ReadFile(filepath.Join(c.dir, "played"))
	_ = os.Remove(filepath.Join(c.dir, "played"))
	return code, strings.Fields(string(list)), string(text)
}

// allParts are those of the full tier.
func allParts(t *testing.T) []string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(tree, "hack/check-all"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(script), "\nall=(")
	list, _, closed := strings.Cut(list, ")\n")
	if !found || !closed {
		t.Fatal("hack/check-all has no line all=(PARTS)")
	}
	return strings.Fields(list)
}

func (c checkout) page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "docs/measured/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTheFullTierGoesOnWhereItWasEnded: a part is played again if anything but pages has changed since.
func TestTheFullTierGoesOnWhereItWasEnded(t *testing.T) {
	c := newCheckout(t)
	first := c.git(t, "rev-parse", "--short=8", "HEAD")
	c.write(t, "red", "")
	if code, played, said := c.checkAll(t, "modes", "soak"); code != 1 || !slices.Equal(played, []string{"modes", "soak"}) {
		t.Errorf("two parts, one of them red: %d, %v\n%s", code, played, said)
	}
	if page := c.page(t); !strings.Contains(page, "| `make soak` | `"+first+"` |") || !strings.Contains(page, "| **red** (2) |") {
		t.Errorf("the page has no row of %s, or no red one:\n%s", first, page)
	}
	c.commit(t) // the page
	want := slices.DeleteFunc(allParts(t), func(part string) bool { return part == "modes" || part == "soak" })
	code, rest, said := c.checkAll(t, "--rest")
	if code != 1 || !slices.Equal(rest, want) {
		t.Errorf("the rest, of another commit's page: %d, %v\n%s", code, rest, said)
	}
	if _, played, said := c.checkAll(t, "--rest"); len(played) != 0 {
		t.Errorf("nothing is left, and %v were played\n%s", played, said)
	}
	c.write(t, "program.go", "package program\n")
	c.commit(t)
	if _, played, said := c.checkAll(t, "--rest"); !slices.Equal(played, allParts(t)) {
		t.Errorf("of other code %v were played, want all parts\n%s", played, said)
	}
}

// TestTheFullTierIsOfACommit: a row that names a commit says nothing true of code that isn't in it.
func TestTheFullTierIsOfACommit(t *testing.T) {
	c := newCheckout(t)
	c.write(t, "docs/README.md", "# Another page\n")
	if code, played, said := c.checkAll(t, "soak"); code != 0 || len(played) != 1 {
		t.Errorf("a page that isn't committed: %d, %v\n%s", code, played, said)
	}
	for name, change := range map[string]struct{ file, text string }{
		"a changed file": {"Makefile", "%:\n\t@false\n"},
		"a new file":     {"internal/new.go", "package internal\n"},
	} {
		c.write(t, change.file, change.text)
		for _, arguments := range [][]string{nil, {"--rest"}, {"soak"}} {
			code, played, said := c.checkAll(t, arguments...)
			if code != 2 || len(played) > 0 || strings.Count(said, "\n") != 1 || !strings.Contains(said, "commit or stash "+change.file+"\n") {
				t.Errorf("%s, %v: %d, %v\n%s", name, arguments, code, played, said)
			}
		}
		c.git(t, "stash", "--include-untracked", "--quiet")
	}
}
