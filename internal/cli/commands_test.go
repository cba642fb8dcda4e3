package cli_test

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs linerate and demands an exit code, and that stderr is talk for people: "exits CODE ARG...".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("linerate", args[1:]...); err != nil {
		exit, exited := errors.AsType[*exec.ExitError](err)
		if !exited {
			ts.Fatalf("linerate %v: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("linerate %v: exit code %d, want %d", args[1:], got, want)
	}
	if stderr := ts.ReadFile("stderr"); strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "panic:") {
		ts.Fatalf("a stack trace reached a person:\n%s", stderr)
	}
}
