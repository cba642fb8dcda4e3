package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// calmMachine and busyMachine are what a witness saw.
var (
	calmMachine = taken{seconds: 60, share: 0.001, worst: 0.01, latest: 2 * time.Millisecond, realTime: true}
	busyMachine = taken{seconds: 60, share: 0.04, worst: 0.3, latest: 80 * time.Millisecond, realTime: true}
)

func TestWhatIsMuch(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds []second
		ranked  bool
		want    bool
	}{
		{"nothing taken", make([]second, 60), true, false},
		{"a fifth of one of two processors in one second", []second{{}, {stolen: time.Second / 5}, {}, {}}, true, true},
		{"as much as that, but over ten seconds", slices.Repeat([]second{{stolen: time.Second / 50}}, 10), true, false},
		{"a beat that came late", []second{{}, {latest: 25 * time.Millisecond}}, true, true},
		{"a beat that came late where others may come first", []second{{}, {latest: 25 * time.Millisecond}}, false, false},
	} {
		if got := sum(c.seconds, 2, c.ranked).muchOf(); got != c.want {
			t.Errorf("%s: much is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhatBecomesOfAFailure(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      failure
		played int
		took   taken
		want   bool
		says   string
	}{
		{"on a calm machine", failure{}, 1, calmMachine, false, "failed on a calm machine, and that stands"},
		{"on a busy machine", failure{}, 1, busyMachine, true, "is played again, since the machine took 4.0 % of its processors away in 60 s, 30.0 % in the worst 2 s"},
		{"a third time on a busy machine", failure{}, 3, busyMachine, true, "is played again"},
		{"a fourth time on a busy machine", failure{}, 4, busyMachine, false, "failed 4 times"},
		{"a panic on a busy machine", failure{final: true}, 1, busyMachine, false, "panicked"},
	} {
		if again, why := judge(c.f, c.played, c.took); again != c.want || !strings.Contains(why, c.says) {
			t.Errorf("%s: again is %v, and it says %q, want %v and %q", c.name, again, why, c.want, c.says)
		}
	}
}

// script is go test as it was: each run hears the next list of lines.
type script struct {
	t     *testing.T
	runs  [][]string
	asked []string
}

func (s *script) run(arguments []string, heard func(event)) (bool, error) {
	s.asked = append(s.asked, strings.Join(arguments, " "))
	if len(s.runs) == 0 {
		s.t.Fatalf("go %s wasn't expected", s.asked[len(s.asked)-1])
	}
	passed := true
	for _, line := range s.runs[0] {
		e := parse([]byte(line + "\n"))
		passed = passed && e.Action != "fail"
		heard(e)
	}
	s.runs = s.runs[1:]
	return passed, nil
}

// says is an event of package p.
func says(action, test, output string) string {
	return fmt.Sprintf(`{"Time":"2026-01-01T00:00:00Z","Action":%q,"Package":"p","Test":%q,"Output":%q}`, action, test, output)
}

var (
	failing = []string{
		says("run", "TestA", ""), says("output", "TestA", "=== RUN   TestA\n"), says("run", "TestA/one_b", ""), says("output", "TestA/one_b", "    a_test.go:1: 5 % off\n"),
		says("output", "TestA/one_b", "    --- FAIL: TestA/one_b (0.00s)\n"), says("fail", "TestA/one_b", ""), says("output", "TestA", "--- FAIL: TestA (0.00s)\n"), says("fail", "TestA", ""),
		says("run", "TestB", ""), says("output", "TestB", "--- PASS: TestB (0.00s)\n"), says("pass", "TestB", ""), says("output", "", "FAIL\n"), says("fail", "", ""),
	}
	passing   = []string{says("run", "TestA", ""), says("pass", "TestA", ""), says("output", "", "PASS\n"), says("output", "", "ok  \tp\t1s\n"), says("pass", "", "")}
	panicking = []string{says("run", "TestA", ""), says("output", "TestA", "panic: boom\n"), says("fail", "TestA", ""), says("fail", "", "")}
	unbuilt   = []string{`{"ImportPath":"p","Action":"build-output","Output":"a.go:1:1: no\n"}`, `{"ImportPath":"p","Action":"build-fail"}`, says("fail", "", "")}
)

func TestPlays(t *testing.T) {
	for _, c := range []struct {
		name  string
		runs  [][]string
		rows  []string
		took  taken
		want  bool
		asked []string
		says  string
	}{
		{"what passes is played once", [][]string{passing}, nil, busyMachine, true, []string{"test -json -count=1 ./p"}, "ok  \tp\t1s\n"},
		{"what fails on a calm machine fails", [][]string{failing}, nil, calmMachine, false, []string{"test -json -count=1 ./p"}, "a_test.go:1: 5 % off\n    --- FAIL: TestA/one_b"},
		{"what a busy machine failed is played again", [][]string{failing, passing}, nil, busyMachine, true,
			[]string{"test -json -count=1 ./p", "test -json -count=1 -run ^TestA$ p"}, "TestA of p passed when played again"},
		{"a row is played by itself", [][]string{failing, passing}, []string{"TestA"}, busyMachine, true,
			[]string{"test -json -count=1 ./p", "test -json -count=1 -run ^TestA$/^one_b$ p"}, "TestA/one_b of p passed when played again"},
		{"what fails four times has failed", [][]string{failing, failing, failing, failing}, nil, busyMachine, false,
			[]string{"test -json -count=1 ./p", "test -json -count=1 -run ^TestA$ p", "test -json -count=1 -run ^TestA$ p", "test -json -count=1 -run ^TestA$ p"}, "failed 4 times"},
		{"a panic isn't played again", [][]string{panicking}, nil, busyMachine, false, []string{"test -json -count=1 ./p"}, "panicked"},
		{"what panics when played again has failed", [][]string{failing, panicking}, nil, busyMachine, false,
			[]string{"test -json -count=1 ./p", "test -json -count=1 -run ^TestA$ p"}, "panicked, or raced"},
		{"what doesn't compile isn't played again", [][]string{unbuilt}, nil, busyMachine, false, []string{"test -json -count=1 ./p"}, "a.go:1:1: no\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{t: t, runs: c.runs}
			var out bytes.Buffer
			p := play{options: []string{"-count=1"}, rows: c.rows, run: s.run, took: func(time.Time, time.Time) taken { return c.took }, calm: func() {}, ended: func() bool { return false }, out: &out}
			if got := p.all([]string{"./p"}); got != c.want {
				t.Errorf("passed is %v, want %v", got, c.want)
			}
			if diff := cmp.Diff(c.asked, s.asked); diff != "" {
				t.Errorf("it asked (-want +got):\n%s", diff)
			}
			if !strings.Contains(out.String(), c.says) || strings.Contains(out.String(), "=== ") || strings.Contains(out.String(), "TestB") {
				t.Errorf("it printed:\n%s\nwant %q, and nothing of what passed", out.String(), c.says)
			}
		})
	}
}

func TestWhatTookLongest(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	r := &record{tests: []*test{{name: "TestA", from: at(0), to: at(9)}, {name: "TestB", from: at(0), to: at(20)}, {name: "TestB/part", from: at(0), to: at(20)},
		{name: "TestC", from: at(20), to: at(60)}, {name: "TestStillRunning", from: at(20)}}}
	if got, want := r.longest(), "TestC 40 s, TestB 20 s"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestPackagesComeLast(t *testing.T) {
	options, packages := splitArguments(strings.Fields("-count=1 -timeout 20m -p 1 ./a ./b/..."))
	if diff := cmp.Diff([][]string{{"-count=1", "-timeout", "20m", "-p", "1"}, {"./a", "./b/..."}}, [][]string{options, packages}); diff != "" {
		t.Error(diff)
	}
}

// TestAWitnessHears: each processor beats.
func TestAWitnessHears(t *testing.T) {
	w, err := watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); w.whole().latest == 0; time.Sleep(beat) {
		if time.Now().After(end) {
			t.Fatal("no beat was heard in ten seconds")
		}
	}
}
