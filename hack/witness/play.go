package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// plays is how often a test is played at most, where the machine took its processors away each time.
const plays = 4

// play plays packages' tests, and again those that the machine disturbed.
type play struct {
	options []string
	rows    []string
	run     func(arguments []string, heard func(event)) (passed bool, err error)
	took    func(from, to time.Time) taken
	calm    func()
	ended   func() bool // somebody has had enough
	out     io.Writer
}

// all plays everything once, and says whether each test has passed in the end.
func (p *play) all(packages []string) bool {
	record, passed := p.once(packages)
	if longest := record.longest(); longest != "" {
		p.say("took longest: %s", longest)
	}
	if passed {
		return true
	}
	failed := record.failures(p.rows)
	if len(failed) == 0 {
		p.say("go test failed, and no test did: that stands")
		return false
	}
	good := true
	for _, f := range failed {
		good = p.settle(f) && good
	}
	return good && !record.beyond
}

// settle says what becomes of a failure, and plays it again as long as it was the machine's.
func (p *play) settle(f failure) bool {
	for n := 1; ; n++ {
		if p.ended() {
			return false
		}
		again, why := judge(f, n, p.took(f.from, f.to))
		p.say("%s of %s: %s", f.name, f.in, why)
		if !again {
			return false
		}
		p.calm()
		record, passed := p.once([]string{f.in}, "-run", f.pattern())
		if passed {
			p.say("%s of %s passed when played again", f.name, f.in)
			return true
		}
		failed := record.failures(p.rows)
		if len(failed) != 1 || record.beyond {
			p.say("%s of %s failed otherwise when played again: that stands", f.name, f.in)
			return false
		}
		f.from, f.to, f.final = failed[0].from, failed[0].to, failed[0].final
	}
}

// judge decides whether a failure is played again, and says why.
func judge(f failure, played int, t taken) (again bool, why string) {
	switch {
	case f.final:
		return false, "it panicked, or raced: that stands"
	case !t.muchOf():
		return false, fmt.Sprintf("it failed on a calm machine, and that stands: %s", t)
	case played >= plays:
		return false, fmt.Sprintf("it failed %d times: give it a machine that leaves it its processors: %s", played, t)
	}
	return true, fmt.Sprintf("it is played again, since %s", t)
}

// once runs go test, prints what that would, and returns what failed.
func (p *play) once(packages []string, more ...string) (*record, bool) {
	r := &record{out: p.out}
	passed, err := p.run(slices.Concat([]string{"test", "-json"}, p.options, more, packages), r.hear)
	if err != nil {
		p.say("%v", err)
	}
	return r, passed && err == nil
}

func (p *play) say(format string, arguments ...any) {
	_, _ = fmt.Fprintf(p.out, "witness: "+strings.TrimSpace(format)+"\n", arguments...)
}
