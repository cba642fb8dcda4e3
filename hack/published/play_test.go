package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
)

// standIn is a linerate that keeps this suite, and ends with a code.
func standIn(t *testing.T, s *report.Suite, code int) (program, save string) {
	t.Helper()
	var document bytes.Buffer
	if err := s.JSON(&document); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, save = filepath.Join(dir, "linerate"), filepath.Join(dir, "kept")
	kept := filepath.Join(dir, "flood.json")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $3 $4\" = \"run --save %s\" ] || exit 2\ncp %s %s/flood.suite.json\nexit %d\n", save, kept, save, code)
	for file, text := range map[string][]byte{program: []byte(script), kept: document.Bytes()} {
		if err := os.WriteFile(file, text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(save, 0o700); err != nil {
		t.Fatal(err)
	}
	return program, save
}

func TestWhenASuiteWasPlayed(t *testing.T) {
	nothing := flooded()
	nothing.Cells = nothing.Cells[1:]
	for _, c := range []struct {
		what  string
		suite *report.Suite
		code  int
		err   string
	}{
		{"all was measured", flooded(), report.ExitOK, ""},
		{"something wasn't measured", flooded(), report.ExitNotMeasured, ""},
		{"nothing was measured", nothing, report.ExitNotMeasured, "flood: none of 1 cells was measured"},
		{"the file was refused", flooded(), report.ExitBadInput, "flood: exit status 2"},
		{"it was interrupted", flooded(), report.ExitInterrupted, "flood: exit status 130"},
	} {
		t.Run(c.what, func(t *testing.T) {
			program, save := standIn(t, c.suite, c.code)
			err := playOne(t.Context(), program, save, formPublished, suiteFile{file: "flood.yaml", name: "flood", text: []byte("kind: LoadTestSuite\n")})
			if got := fmt.Sprint(err); c.err == "" && err != nil || !strings.Contains(got, c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if text, err := os.ReadFile(filepath.Join(save, "flood.published.yaml")); err != nil || string(text) != "kind: LoadTestSuite\n" {
				t.Errorf("it played %q (%v)", text, err)
			}
		})
	}
}

func TestASuiteWhoseProgramIsMissingIsLeftOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	program, save := standIn(t, flooded(), report.ExitBadInput)
	if err := playOne(t.Context(), program, save, formShort, suiteFile{name: "routers-testpmd"}); err != nil {
		t.Error(err)
	}
}
