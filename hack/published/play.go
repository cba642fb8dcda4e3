package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/device/tunnel"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// method is how suites are measured: on this machine, or by the operator of a cluster.
type method interface {
	// cannot says why a suite can't be measured in this way; empty: it can.
	cannot(suite string) string
	// forget removes what there is of a suite outside of its directory, so that the next play begins anew.
	forget(ctx context.Context, suite string) error
	// play measures a suite of a file, or goes on with it where it was begun, and keeps its document in the file's
	// directory. When the context ends it stops, and keeps what is measured by then.
	play(ctx context.Context, suite, file string, started bool) error
}

// player plays suites, each of them in pieces where it has to.
//
//	NAME.yaml, NAME.code    what was begun, and by which code: if one of them is another now, the suite begins anew
//	NAME.version            how that code is called
//	NAME.suite.json         what is measured: a suite that is over isn't played again, one that isn't goes on
type player struct {
	method        method
	suites        []suiteFile
	form, dir     string
	anew, missing bool
	code, version string // what measures: identified by what it is built from, and as it calls itself
	cleanup       func() error
}

// errTimeIsUp ends what is played in a piece.
var errTimeIsUp = errors.New("the time of -for is over; the same command goes on")

// play measures each suite, one after the other. What fails doesn't keep the next from being played.
func (p player) play(ctx context.Context) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	var wrong []error
	for _, s := range p.suites {
		if interrupted(ctx) {
			break
		}
		start := time.Now()
		outcome, err := p.playOne(ctx, s)
		fmt.Printf("%s, %s form: %v, %s\n\n", s.name, p.form, time.Since(start).Round(time.Second), ended(outcome, err))
		wrong = append(wrong, err, p.cleanup())
	}
	if interrupted(ctx) {
		wrong = append(wrong, context.Cause(ctx))
	}
	return errors.Join(wrong...)
}

func ended(outcome string, err error) string {
	if err != nil {
		return err.Error()
	}
	return outcome
}

// playOne measures a suite, unless all that can be is measured. It fails where nothing at all was measured: how
// good a figure is stands with it, and a cell without one says why.
func (p player) playOne(ctx context.Context, s suiteFile) (outcome string, err error) {
	if reason := p.method.cannot(s.name); reason != "" {
		return "not played: " + reason, nil
	}
	text := s.text
	if p.form == formShort {
		if text, err = shortened(s); err != nil {
			return "", err
		}
	}
	started, err := p.begin(ctx, s.name, text)
	if err != nil {
		return "", err
	}
	previous, err := readSuite(p.path(s.name, "suite.json"))
	if err != nil {
		return "", err
	}
	if measured, total := measuredOf(previous); measured > 0 && !previous.Finished.IsZero() &&
		(!p.missing || previous.Whole()) {
		return fmt.Sprintf("is over, not played again: %d of %d cells have figures", measured, total), nil
	}
	failed := p.method.play(ctx, s.name, p.path(s.name, "yaml"), started)
	current, err := readSuite(p.path(s.name, "suite.json"))
	if err := errors.Join(failed, err); err != nil {
		return "", fmt.Errorf("%s: %w", s.name, err)
	}
	measured, total := measuredOf(current)
	switch {
	case interrupted(ctx):
		return fmt.Sprintf("interrupted: %d of %d cells have figures", measured, total), nil
	case measured == 0:
		return "", fmt.Errorf("%s: none of %d cells was measured: see above", s.name, total)
	}
	return fmt.Sprintf("%d of %d cells have figures", measured, total), nil
}

// begin says whether a suite was begun by this code and of this text already. What was measured otherwise it
// forgets, and notes what is begun now.
func (p player) begin(ctx context.Context, name string, text []byte) (started bool, err error) {
	sameText, begunText := compareFile(p.path(name, "yaml"), text)
	sameCode, begunCode := compareFile(p.path(name, "code"), []byte(p.code))
	if !p.anew && sameText && sameCode {
		return true, nil
	}
	switch {
	case p.anew || !begunText && !begunCode:
	case !sameText:
		fmt.Printf("%s: begins anew: the suite was another\n", name)
	default:
		fmt.Printf("%s: begins anew: it was measured by other code\n", name)
	}
	if p.anew || begunText || begunCode {
		if err := p.method.forget(ctx, name); err != nil {
			return false, err
		}
		if err := os.Remove(p.path(name, "suite.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
	}
	for ending, content := range map[string][]byte{"yaml": text, "code": []byte(p.code), "version": []byte(p.version)} {
		if err := os.WriteFile(p.path(name, ending), content, 0o600); err != nil {
			return false, err
		}
	}
	return false, nil
}

// versionOf is how the command line calls itself: a cluster's image is made from the same tree.
func versionOf(ctx context.Context, program string) (string, error) {
	output, err := exec.CommandContext(ctx, program, "version").Output()
	words := strings.Fields(string(output))
	if err == nil && len(words) < 2 {
		err = fmt.Errorf("it said %q", output)
	}
	if err != nil {
		return "", fmt.Errorf("%s version: %w (make build makes bin/linerate)", program, err)
	}
	return words[1], nil
}

// path is a file of a suite.
func (p player) path(suite, ending string) string { return filepath.Join(p.dir, suite+"."+ending) }

// compareFile says whether a file has this content, and whether there is one.
func compareFile(file string, content []byte) (agreeing, exists bool) {
	text, err := os.ReadFile(file)
	return err == nil && bytes.Equal(text, content), err == nil
}

// codeOf identifies the code of programs: it is the same as long as nothing is changed that they are built
// from. A commit isn't: it also changes with a page of the documentation.
func codeOf(ctx context.Context, programs ...string) (string, error) {
	const files = `{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{.Module.GoMod}}{{"\n"}}{{end}}{{end}}`
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-f", files}, programs...)...)
	output, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("list what %s is built from: %w (run it inside of the project)",
			strings.Join(programs, ", "), err)
	}
	arguments := strings.Fields(string(output)) // go.mod has the versions of all other modules
	slices.Sort(arguments)
	sum := sha256.New()
	for _, file := range slices.Compact(arguments) {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n", filepath.Base(file), len(text)) // it never fails
		_, _ = sum.Write(text)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// localMachine measures by linerate run.
type localMachine struct{ program string }

func (m localMachine) cannot(suite string) string {
	switch suite {
	case "routers-testpmd":
		return lacks("dpdk-testpmd")
	case "boards-iperf2":
		return lacks("iperf")
	case "modes-ipsec":
		if _, _, err := tunnel.FindIPsec(); err != nil {
			return "this machine hasn't strongSwan: " + err.Error()
		}
	}
	return ""
}

// lacks says that this machine hasn't a program; empty: it has.
func lacks(program string) string {
	if _, err := exec.LookPath(program); err != nil {
		return "this machine hasn't " + program
	}
	return ""
}

func (m localMachine) forget(context.Context, string) error { return nil }

func (m localMachine) play(ctx context.Context, _, file string, _ bool) error {
	return following(ctx, nil, m.program, "run", file, "--save", filepath.Dir(file))
}

// judged are the exit codes of a suite that was carried through, whatever became of its tests: all measured, a
// criterion failed, something not measured.
var judged = []int{report.ExitOK, report.ExitFailed, report.ExitNotMeasured}

// following runs a command that measures, until it ends; when the context ends it is interrupted, which isn't an error.
func following(ctx context.Context, stdout io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	if stdout == nil {
		cmd.Stdout = os.Stdout
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited &&
		(slices.Contains(judged, cmd.ProcessState.ExitCode()) || interrupted(ctx)) {
		return nil
	}
	if interrupted(ctx) && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func interrupted(ctx context.Context) bool { return ctx.Err() != nil }
