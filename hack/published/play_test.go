package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// scripted is a way that does as a test says, and remembers what was asked of it.
type scripted struct {
	does  func(file string) error
	asked []string
}

func (s *scripted) cannot(string) string { return "" }

func (s *scripted) forget(_ context.Context, suite string) error {
	s.asked = append(s.asked, "forget "+suite)
	return nil
}

func (s *scripted) play(_ context.Context, suite, file string, begun bool) error {
	if s.asked = append(s.asked, "play "+suite); begun {
		s.asked[len(s.asked)-1] = "go on with " + suite
	}
	return s.does(file)
}

// keeps is a play that leaves this document.
func keeps(s *report.Suite) func(string) error {
	return func(file string) error { return keepDocument(s, filepath.Dir(file)) }
}

func suiteOf(name, text string) suiteFile {
	return suiteFile{file: name + ".yaml", name: name, text: []byte(text)}
}

// What is measured isn't measured again: by the same code, of the same text. A suite that was cut short goes on.
func TestASuiteIsPlayedOnceAndInPieces(t *testing.T) {
	cut := flooded()
	cut.Finished = time.Time{}
	way := &scripted{}
	p := player{method: way, form: formPublished, dir: t.TempDir(), cleanup: func() error { return nil }}
	f := suiteOf("flood", "one")
	for _, step := range []struct {
		what   string
		change func()
		leaves *report.Suite
		asks   string
		says   string
	}{
		{"it begins", func() {}, cut, "play flood", "1 of 2 cells have figures"},
		{"it goes on", func() {}, flooded(), "go on with flood", "1 of 2 cells have figures"},
		{"it is over", func() {}, flooded(), "", "is over, not played again: 1 of 2 cells have figures"},
		{"it is over, and what it lacks is wanted", func() { p.missing = true }, flooded(), "go on with flood", "1 of 2 cells have figures"},
		{"its text is another", func() { p.missing = false; f.text = []byte("two") }, flooded(), "forget flood, play flood", "1 of 2"},
		{"its code is another", func() { p.code = "other" }, flooded(), "forget flood, play flood", "1 of 2"},
		{"it is over again", func() {}, flooded(), "", "is over"},
		{"it shall begin anew", func() { p.anew = true }, flooded(), "forget flood, play flood", "1 of 2"},
	} {
		t.Run(step.what, func(t *testing.T) {
			step.change()
			way.does, way.asked = keeps(step.leaves), nil
			said, err := p.playOne(t.Context(), f)
			if got := strings.Join(way.asked, ", "); err != nil || got != step.asks || !strings.Contains(said, step.says) {
				t.Errorf("it asked %q and said %q (%v), want %q and %q", got, said, err, step.asks, step.says)
			}
		})
	}
}

// What was begun otherwise is gone when the suite is played: it would be taken for what is measured.
func TestADocumentOfAnotherTextIsGone(t *testing.T) {
	way := &scripted{does: keeps(flooded())}
	p := player{method: way, form: formPublished, dir: t.TempDir()}
	if _, err := p.playOne(t.Context(), suiteOf("flood", "one")); err != nil {
		t.Fatal(err)
	}
	way.does = func(string) error {
		if s, err := readSuite(p.path("flood", "suite.json")); s != nil || err != nil {
			t.Errorf("there still is %+v (%v)", s, err)
		}
		return keepDocument(flooded(), p.dir)
	}
	if _, err := p.playOne(t.Context(), suiteOf("flood", "two")); err != nil {
		t.Fatal(err)
	}
}

// The pages are written after each suite, and a piece ends where its time does.
func TestAPieceEndsWithItsTime(t *testing.T) {
	ctx, over := context.WithCancelCause(t.Context())
	written := 0
	way := &scripted{does: func(file string) error {
		over(errTimeIsUp)
		return keepDocument(flooded(), filepath.Dir(file))
	}}
	p := player{method: way, suites: []suiteFile{suiteOf("flood", "one"), suiteOf("other", "one")}, form: formPublished, dir: t.TempDir(), cleanup: func() error { written++; return nil }}
	if err := p.play(ctx); !errors.Is(err, errTimeIsUp) {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(way.asked, ", "); got != "play flood" || written != 1 {
		t.Errorf("it asked %q, and wrote the pages %d times", got, written)
	}
}

func TestWhenNothingWasMeasured(t *testing.T) {
	nothing := flooded()
	nothing.Cells = nothing.Cells[1:]
	for _, c := range []struct {
		what string
		does func(string) error
		want string
	}{
		{"no cell has a figure", keeps(nothing), "flood: none of 1 cells was measured"},
		{"nothing was kept", func(string) error { return nil }, "flood: none of 0 cells was measured"},
		{"it was refused", func(string) error { return errors.New("refused") }, "flood: refused"},
	} {
		t.Run(c.what, func(t *testing.T) {
			p := player{method: &scripted{does: c.does}, form: formPublished, dir: t.TempDir()}
			if _, err := p.playOne(t.Context(), suiteOf("flood", "one")); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// script is an executable that writes its arguments into a file, and then does as it says.
func script(t *testing.T, dir, name, does string) (program string) {
	t.Helper()
	program = filepath.Join(dir, name)
	text := fmt.Sprintf("#!/bin/sh\necho %s $* >>%s\n%s\n", name, filepath.Join(dir, "asked"), does)
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

func askedIn(t *testing.T, dir string) []string {
	t.Helper()
	return strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "asked"))), "\n")
}

func TestOnAMachineLinerateRunPlays(t *testing.T) {
	for code, failed := range map[int]bool{report.ExitOK: false, report.ExitFailed: false, report.ExitNotMeasured: false, report.ExitBadInput: true, report.ExitInterrupted: true} {
		dir := t.TempDir()
		file := filepath.Join(dir, "kept", "flood.yaml")
		err := localMachine{program: script(t, dir, "linerate", fmt.Sprintf("exit %d", code))}.play(t.Context(), "flood", file, false)
		if (err != nil) != failed {
			t.Errorf("code %d: %v", code, err)
		}
		if got, want := strings.Join(askedIn(t, dir), "; "), "linerate run "+file+" --save "+filepath.Dir(file); got != want {
			t.Errorf("it ran %q, want %q", got, want)
		}
	}
}

func TestAnInterruptedRunIsNoFailure(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	program := script(t, dir, "linerate", fmt.Sprintf("trap 'echo stopped >%s/stopped; exit 130' INT\nwhile true; do sleep 0.05; done", dir))
	if err := (localMachine{program: program}).play(ctx, "flood", filepath.Join(dir, "flood.yaml"), false); err != nil {
		t.Error(err)
	}
	if got := read(t, filepath.Join(dir, "stopped")); got != "stopped\n" {
		t.Errorf("it was not interrupted: %q", got)
	}
}

func TestASuiteWhoseProgramIsMissingIsLeftOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p := player{method: localMachine{}, form: formShort}
	if said, err := p.playOne(t.Context(), suiteFile{name: "routers-testpmd"}); err != nil || said != "not played: this machine hasn't dpdk-testpmd" {
		t.Errorf("%q, %v", said, err)
	}
}

// What a program is built from tells whether it is the same: its files, and not how its commit is called.
func TestCodeIsTheSameUntilAFileIsAnother(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/a\n")
	write("main.go", "package main\n\nfunc main() {}\n")
	code := func() string {
		text, err := codeOf(t.Context(), ".")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := code()
	write("README.md", "a page\n")
	write("main_test.go", "package main\n")
	if code() != first {
		t.Error("a page or a test has made it another")
	}
	write("main.go", "package main\n\nfunc main() { println() }\n")
	if code() == first {
		t.Error("another program has the same code")
	}
}

// The pages name what measured as it calls itself.
func TestTheVersionIsWhatTheProgramSays(t *testing.T) {
	program := filepath.Join(t.TempDir(), "linerate")
	for _, c := range []struct{ says, want string }{{"echo linerate v1.2.3-4-gabcdef go1.26.8 linux/amd64", "v1.2.3-4-gabcdef"}, {"true", ""}, {"exit 3", ""}} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.says+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := versionOf(t.Context(), program); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", c.says, got, err, c.want)
		}
	}
}
