// Command published plays the suites of examples/published by linerate run, in their published form or in a short one, and writes what they measured into the pages of docs/measured/published.
//
//	published -form short                          # a smoke test: fewer cells, short trials (short.yaml)
//	published -form published -pages docs/measured/published
//	published -pages docs/measured/published                # only the pages, from what is kept in -save
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "published:", err)
		os.Exit(1)
	}
}

// run plays the suites where a form is asked for, and then writes the pages where their directory is.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("published", flag.ContinueOnError)
	form := flags.String("form", "", "short or published: play the suites in this form; empty: play nothing")
	save := flags.String("save", "linerate-reports", "directory that the suites' documents are kept in")
	pages := flags.String("pages", "", "directory of the pages to write; empty: none")
	program := flags.String("linerate", "bin/linerate", "the command line that plays")
	from := flags.String("from", "examples/published", "directory of the suites")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var played error
	switch *form {
	case "":
	case formShort, formPublished:
		played = play(ctx, *program, *from, *save, *form)
	default:
		return fmt.Errorf("-form %q: there is no such form; use %s or %s", *form, formShort, formPublished)
	}
	if *pages != "" {
		return errors.Join(played, write(*pages, *save))
	}
	return played
}

// The forms.
const (
	formShort     = "short"
	formPublished = "published"
)

// play measures each suite of the files, one after the other. What fails doesn't keep the next from being played.
func play(ctx context.Context, program, from, save, form string) error {
	suites, err := readSuites(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(save, 0o755); err != nil {
		return err
	}
	var wrong []error
	for _, s := range suites {
		if ctx.Err() != nil {
			return errors.Join(append(wrong, ctx.Err())...)
		}
		since := time.Now()
		err := playOne(ctx, program, save, form, s)
		fmt.Printf("%s, %s form: %v, %s\n\n", s.name, form, time.Since(since).Round(time.Second), ended(err))
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

func ended(err error) string {
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// installed says that this machine has a program.
func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// playOne measures a suite in a form. It fails where nothing at all was measured: how good a figure is stands with it, and a cell without one says why.
func playOne(ctx context.Context, program, save, form string, s suiteFile) error {
	if needed := needs[s.name]; needed != "" {
		if !installed(needed) {
			fmt.Printf("%s: this machine hasn't %s: not played\n", s.name, needed)
			return nil
		}
	}
	text, err := s.text, error(nil)
	if form == formShort {
		if text, err = shortened(s); err != nil {
			return err
		}
	}
	file := filepath.Join(save, s.name+"."+form+".yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "run", file, "--save", save)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	if err := cmd.Run(); err != nil && !slices.Contains(judged, cmd.ProcessState.ExitCode()) {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	kept, err := readKept(save)
	if err != nil {
		return err
	}
	if measured, all := kept.measured(s.name); measured == 0 {
		return fmt.Errorf("%s: none of %d cells was measured: see above", s.name, all)
	}
	return nil
}

// judged are the exit codes of a suite that was carried through, whatever became of its tests: all measured, a criterion failed, something not measured.
var judged = []int{report.ExitOK, report.ExitFailed, report.ExitNotMeasured}

// needs are programs that a suite can't be played without.
var needs = map[string]string{"routers-testpmd": "dpdk-testpmd", "boards-iperf2": "iperf"}
