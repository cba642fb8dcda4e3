package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

// goTest runs the go command with these arguments, and tells each event of it. It passed if its exit code is 0.
func goTest(arguments []string, heard func(event)) (passed bool, err error) {
	cmd := exec.Command("go", arguments...)
	cmd.Stderr = os.Stderr
	cmd.Env = os.Environ()
	if slices.Contains(arguments, "-race") {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1") // the race detector is in C
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	read := bufio.NewReader(out)
	for {
		line, err := read.ReadBytes('\n')
		if len(line) > 0 {
			heard(parse(line))
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return false, nil
	}
	return err == nil, err
}

// parse reads an event; what is none is a word of go's own.
func parse(line []byte) (e event) {
	if json.Unmarshal(line, &e) != nil {
		return event{Action: "output", Output: string(line)}
	}
	return e
}

// record is what was heard of a run of go test.
type record struct {
	out    io.Writer
	tests  []*test
	beyond bool // a package failed, and none of its tests
}

// test is a test or a subtest.
type test struct {
	in, name string
	from, to time.Time
	said     []string
	failed   bool
}

// hear prints what go test would without -v: of tests only those that failed, each when its outermost has ended.
func (r *record) hear(e event) {
	if e.Test == "" {
		r.hearPackage(e)
		return
	}
	t := r.test(e.Package, e.Test)
	switch e.Action {
	case "run", "cont": // one that waits for its turn is continued when it has it
		t.from = e.Time
	case "output":
		t.said = append(t.said, e.Output)
	case "fail", "pass", "skip":
		t.to, t.failed = e.Time, e.Action == "fail"
		r.print(t)
	}
}

func (r *record) hearPackage(e event) {
	switch e.Action {
	case "output", "build-output":
		if e.Output != "PASS\n" && !strings.HasPrefix(e.Output, "=== ") {
			_, _ = io.WriteString(r.out, e.Output)
		}
	case "fail":
		r.beyond = r.beyond || !slices.ContainsFunc(r.tests, func(t *test) bool { return t.in == e.Package && t.failed })
	case "build-fail":
		r.beyond = true
	}
}

// print prints a failed outermost test with all that it said.
func (r *record) print(t *test) {
	if !t.failed || strings.Contains(t.name, "/") {
		return
	}
	for _, part := range r.tests {
		if part.in != t.in || part != t && !strings.HasPrefix(part.name, t.name+"/") {
			continue
		}
		for _, line := range part.said {
			if !strings.HasPrefix(line, "=== ") {
				_, _ = io.WriteString(r.out, line)
			}
		}
	}
}

func (r *record) test(in, name string) *test {
	for _, t := range slices.Backward(r.tests) {
		if t.in == in && t.name == name {
			return t
		}
	}
	t := &test{in: in, name: name}
	r.tests = append(r.tests, t)
	return t
}

// longest names the outermost tests that took most of the time, for whoever wants a gate to be quicker.
func (r *record) longest() string {
	const told, worthTelling = 8, 10 * time.Second
	var outermost []*test
	for _, t := range r.tests {
		if !strings.Contains(t.name, "/") && t.took() >= worthTelling {
			outermost = append(outermost, t)
		}
	}
	slices.SortStableFunc(outermost, func(a, b *test) int { return cmp.Compare(b.took(), a.took()) })
	var out []string
	for _, t := range outermost[:min(told, len(outermost))] {
		out = append(out, fmt.Sprintf("%s %.0f s", t.name, t.took().Seconds()))
	}
	return strings.Join(out, ", ")
}

func (t *test) took() time.Duration { return t.to.Sub(t.from) }

// failure is a test that failed, as much of it as can be played alone.
type failure struct {
	in, name string // the package's folder or path, and the test's name
	from, to time.Time
	final    bool // it says itself that no machine is to blame
}

// failures are the outermost tests that failed, or the innermost of those whose subtests can be played alone.
func (r *record) failures(rows []string) (out []failure) {
	for _, t := range r.tests {
		outermost, _, inner := strings.Cut(t.name, "/")
		if t.failed && (slices.Contains(rows, outermost) && !r.failedWithin(t) || !slices.Contains(rows, outermost) && !inner) {
			out = append(out, failure{in: t.in, name: t.name, from: t.from, to: t.to, final: r.final(t)})
		}
	}
	return out
}

func (r *record) failedWithin(t *test) bool {
	return slices.ContainsFunc(r.tests, func(o *test) bool { return o.failed && o.in == t.in && strings.HasPrefix(o.name, t.name+"/") })
}

// final: a panic, a race, or a test that didn't end is no machine's doing.
func (r *record) final(t *test) bool {
	return slices.ContainsFunc(r.tests, func(o *test) bool {
		return o.in == t.in && (o == t || strings.HasPrefix(o.name, t.name+"/")) && slices.ContainsFunc(o.said, func(line string) bool {
			return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.Contains(line, "WARNING: DATA RACE")
		})
	})
}

// pattern is the -run that names this test and no other.
func (f failure) pattern() string {
	var parts []string
	for part := range strings.SplitSeq(f.name, "/") {
		parts = append(parts, fmt.Sprintf("^%s$", regexp.QuoteMeta(part)))
	}
	return strings.Join(parts, "/")
}
