package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/verify"
)

// typed runs a command line in virtual time.
func typed(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	s := Streams{Stdin: strings.NewReader(stdin), Stdout: &o, Stderr: &e}
	synctest.Test(t, func(t *testing.T) { code = execute(t.Context(), simulatedRoot(t, s), args, s) })
	return o.String(), e.String(), code
}

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, code := typed(t, "", "run", "-q", "--save", dir,
		"../../examples/known-answer.yaml"); code != report.ExitOK {
		t.Fatal(stderr)
	}
	saved := filepath.Join(dir, "known-answer.json")
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"saturated": true`, `"saturated": false`, 1)
	older := strings.ReplaceAll(string(text), producer(), "linerate v0.0.1")
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		stdin  string
		args   []string
		stdout string
		stderr string
		code   int
	}{
		"what was measured": {"", []string{saved},
			"verified: 12 windows, 18 figures, 0 criteria\n", "", report.ExitOK},
		"what was changed": {changed, []string{"-"},
			"result: saturated is false, but the counters give true\n", "", report.ExitFailed},
		"both": {changed, []string{saved, "-"}, "verified: 12 windows", "",
			report.ExitFailed},
		"what another linerate wrote": {older, []string{"-"},
			"linerate v0.0.1 wrote it, but linerate dev verifies it", "", report.ExitOK},
		"no Report, and the others are verified": {"", []string{broken, saved}, "verified: 12 windows",
			"broken.json: report 1: version is", report.ExitBadInput},
		"a suite's document": {`{"version": "linerate.dev/suite-report.v1alpha1", "name": "s", "started": "2026-03-14T15:09:26Z", "cells": [], "verdict": {"outcome": "Undecided"}}`, []string{"-"}, "", "verify the Reports of its runs", report.ExitBadInput},
		"no such format": {"", []string{"-o", "html", saved}, "", "text, json",
			report.ExitBadInput},
		"nothing": {"", nil, "", "at least one Report", report.ExitBadInput},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := typed(t, c.stdin, append([]string{"verify"}, c.args...)...)
			if !strings.Contains(stdout, c.stdout) || c.stdout == "" && stdout != "" ||
				!strings.Contains(stderr, c.stderr) || code != c.code {
				t.Errorf("exit code %d, stdout %s\nstderr %s", code, stdout, stderr)
			}
		})
	}
	stdout, _, code := typed(t, changed, "verify", "-o", "json", saved, "-")
	var document verifications
	if err := json.Unmarshal([]byte(stdout), &document); err != nil || code != report.ExitFailed {
		t.Fatal(err, code)
	}
	if document.Version != verificationsVersion || len(document.Reports) != 2 ||
		document.Reports[0].Outcome != verify.Verified || document.Reports[1].Outcome != verify.Differs ||
		document.Reports[1].Findings()[0].Field != "saturated" {
		t.Errorf("%s", stdout)
	}
}

func TestWhatWasNotVerifiedIsTold(t *testing.T) {
	var stdout strings.Builder
	v := verify.Verification{Outcome: verify.Verified,
		Checks: []verify.Check{{Name: verify.CheckWindows,
			NotVerified: []string{"window 3: its readings weren't kept"}}}}
	if err := writeVerification(&stdout, v); err != nil || !strings.Contains(stdout.String(),
		"\n  not verified: window 3: its readings weren't kept\n") {
		t.Errorf("%v: %s", err, stdout.String())
	}
}
