package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

const night = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: night}
spec:
  template:
    spec:
      dut: {type: Reference, reference: {limit: {packetsPerSecond: 1000}}}
      links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  axes:
  - {name: system, values: [{name: apu6}, {name: vpp, patch: {dut: {reference: {limit: {packetsPerSecond: 9000}}}}}]}
  - {name: frames, values: [{name: imix}, {name: 64b, patch: {traffic: {profile: FixedSize, frameSize: 64}}}]}
  parallelism: 4
  order: Interleaved
`

// stage measures suites without any packet: each test gives its device's limit, and a hundredth more with each
// repetition.
type stage struct {
	t      *testing.T
	dir    string
	stderr bytes.Buffer
	// measured are the titles of the tests, in their order.
	measured []string
	// day is how many days after the first night its tests begin.
	day int
	// recently: its tests ended an hour ago instead.
	recently bool
	// cores is the value of --cores. 0 means that the flag isn't given.
	cores int
	// play says how a test ends: nil as measured. It gets the test's name.
	play func(name string) (report.Ending, error)
	// bounds are what the generators of some tests could send, in packets per second and direction.
	bounds map[string]int64
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return &stage{t: t, dir: t.TempDir()}
}

// run runs the suite of a text to its end, and returns what it reports.
func (st *stage) run(ctx context.Context, text string, baselines ...string) (*report.Suite, error) {
	st.t.Helper()
	file := filepath.Join(st.t.TempDir(), "suite.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		st.t.Fatal(err)
	}
	loaded, err := readInputs(nil, []string{file})
	if err != nil {
		st.t.Fatal(err)
	}
	o := runOptions{cores: max(st.cores, 1), save: st.dir, baselines: baselines}
	if o.baseline, err = readBaseline(nil, loaded, baselines, nil); err != nil {
		st.t.Fatal(err)
	}
	st.measured = nil
	st.stderr.Reset()
	f := loaded.suites[0]
	f.measureOne = st.test
	return f.measure(ctx, Streams{Stderr: &st.stderr}, o, reportFolder{st.dir})
}

func (st *stage) test(_ context.Context, _ Streams, o runOptions, p *plan.Plan, _ site, title string,
	_ *report.Baseline) (*report.Report, error) {
	st.measured = append(st.measured, title)
	ending := report.Completed
	if st.play != nil {
		var err error
		if ending, err = st.play(p.Test.Name); err != nil {
			return nil, err
		}
	}
	carries := int64(1_000_000)
	if p.DUT.Reference != nil {
		carries = p.DUT.Reference.Limit.PacketsPerSecond
	}
	pps := carries * int64(100+len(st.measured)%2) / 100
	reason, bound := report.LossAboveLimit, st.bounds[p.Test.Name]
	if bound > 0 {
		pps, reason = bound, report.GeneratorLimited
	}
	flow := report.Flow{PacketsPerSecond: pps, Layer1BitsPerSecond: pps * 672}
	start := time.Date(2026, 3, 1+st.day, 0, len(st.measured), 0, 0, time.UTC)
	if st.recently {
		start = time.Now().Add(-time.Hour)
	}
	return &report.Report{
		Version: report.Version, Plan: p, Started: start, Finished: start.Add(time.Minute), Ending: ending,
		Generators: []report.Generator{{
			Name: "generator-0", Cores: 2 * o.cores, Ports: make([]report.GeneratorPort, 2),
		}},
		Environment: &report.Environment{Generators: []report.GeneratorEnvironment{{
			Name: "generator-0", Cores: 2 * o.cores, Ports: make([]report.PortEnvironment, 2),
		}}},
		Answer: report.Answer{Measured: ending == report.Completed, Reason: reason, Message: "frames were lost above it", Directions: []report.Direction{
			{From: "west", To: "east", Received: flow}, {From: "east", To: "west", Received: flow},
		}, Total: &report.Sum{Received: report.Flow{PacketsPerSecond: 2 * pps, Layer1BitsPerSecond: 2 * pps * 672}}, Claim: report.Claim{Saturated: bound == 0, Confirmed: true, Resolution: units.One / 200}},
	}, nil
}

// later is a stage where what was kept on this one lies, so much older.
func (st *stage) later(t *testing.T, delay time.Duration) *stage {
	t.Helper()
	early, document := newStage(t), map[string]any{}
	file := filepath.Join(early.dir, "night.suite.json")
	err := os.CopyFS(early.dir, os.DirFS(st.dir))
	text, err2 := os.ReadFile(file)
	if err := errors.Join(err, err2, json.Unmarshal(text, &document)); err != nil {
		t.Fatal(err)
	}
	document["finished"] = time.Now().Add(-delay)
	text, err = json.Marshal(document)
	if err := errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	return early
}

func (st *stage) wantMeasured(titles ...string) {
	st.t.Helper()
	if got := strings.Join(st.measured, "\n"); got != strings.Join(titles, "\n") {
		st.t.Errorf("measured:\n%s\nwant:\n%s", got, strings.Join(titles, "\n"))
	}
}

func (st *stage) wantSaid(words ...string) {
	st.t.Helper()
	for _, w := range words {
		if !strings.Contains(st.stderr.String(), w) {
			st.t.Errorf("it doesn't say %q, but:\n%s", w, st.stderr.String())
		}
	}
}

func TestASuiteIsMeasuredTestByTest(t *testing.T) {
	tier.Plain(t)
	st := newStage(t)
	s, err := st.run(t.Context(), night+"  repetitions: 2\n")
	if err != nil || s.ExitCode() != report.ExitOK || s.Finished.IsZero() {
		t.Fatalf("%v, exit code %d", err, s.ExitCode())
	}
	st.wantMeasured("night: 1 of 8, cell apu6-imix run 1", "night: 2 of 8, cell apu6-64b run 1",
		"night: 3 of 8, cell vpp-imix run 1", "night: 4 of 8, cell vpp-64b run 1",
		"night: 5 of 8, cell apu6-imix run 2", "night: 6 of 8, cell apu6-64b run 2",
		"night: 7 of 8, cell vpp-imix run 2", "night: 8 of 8, cell vpp-64b run 2")
	st.wantSaid("spec.parallelism is 4; here tests run one at a time",
		"night: 3 of 8, cell vpp-imix run 1: measured 18.18 kpps")
	for _, c := range s.Cells {
		if c.Figures == nil || c.Figures.Runs != 2 || c.Figures.Spread == nil {
			t.Errorf("cell %s has no figures with a spread: %+v", c.Name, c.Figures)
		}
	}
	for _, file := range []string{"night.suite.json", "night.html", "night-vpp-64b-r2.json", "night-vpp-64b-r2.html"} {
		if _, err := os.Stat(filepath.Join(st.dir, file)); err != nil {
			t.Error(err)
		}
	}
	t.Run("one that is over is measured anew", func(t *testing.T) {
		if _, err := st.run(t.Context(), night); err != nil || len(st.measured) != 4 {
			t.Errorf("%v, measured %q", err, st.measured)
		}
	})
	t.Run("one that never began leaves what was kept", func(t *testing.T) {
		cancelled, interrupt := context.WithCancel(t.Context())
		interrupt()
		if _, err := st.run(cancelled, night); exit.Code(err) != report.ExitInterrupted || len(st.measured) != 0 {
			t.Errorf("%v, measured %q", err, st.measured)
		}
	})
	t.Run("and rendered again from its file", func(t *testing.T) {
		var stdout bytes.Buffer
		if code := Main("linerate", []string{"report", filepath.Join(st.dir, "night.suite.json"), "-o", "markdown"},
			Streams{Stdout: &stdout, Stderr: &st.stderr}); code != report.ExitOK || !strings.Contains(stdout.String(),
			"| vpp | 64b | 18.") {
			t.Errorf("exit code %d:\n%s", code, stdout.String())
		}
	})
}

func TestASuiteThatIsInterruptedGoesOn(t *testing.T) {
	tier.Plain(t)
	st := newStage(t)
	ctx, interrupt := context.WithCancel(t.Context())
	st.play = func(name string) (report.Ending, error) {
		if name == "night-vpp-imix-r1" {
			interrupt()
			return report.Interrupted, nil
		}
		return report.Completed, nil
	}
	s, err := st.run(ctx, night)
	if exit.Code(err) != report.ExitInterrupted ||
		!strings.Contains(err.Error(), "night: interrupted: 2 of 4 tests are measured, and kept in "+st.dir+
			": the same command goes on from there") {
		t.Fatalf("%v", err)
	}
	if !s.Finished.IsZero() || s.Cells[1].Figures == nil || s.Cells[2].Figures != nil {
		t.Errorf("the report of what was measured: %+v", s)
	}
	if _, err := os.Stat(filepath.Join(st.dir, "night-vpp-imix-r1-interrupted.json")); err != nil {
		t.Error(err)
	}
	st.play = nil
	t.Run("elsewhere it begins anew", func(t *testing.T) {
		elsewhere := newStage(t)
		if _, err := elsewhere.run(t.Context(), night); err != nil || len(elsewhere.measured) != 4 {
			t.Errorf("%v, measured %q", err, elsewhere.measured)
		}
	})
	s, err = st.run(t.Context(), night)
	if err != nil || s.ExitCode() != report.ExitOK {
		t.Fatal(err)
	}
	st.wantMeasured("night: 3 of 4, cell vpp-imix run 1", "night: 4 of 4, cell vpp-64b run 1")
	st.wantSaid("2 measurements are of an earlier run, begun ", "to begin anew, remove "+
		filepath.Join(st.dir, "night.suite.json"))
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "2 measurements are of an earlier run") {
		t.Errorf("the notes are %q", s.Notes)
	}
}

func TestOnlyRunsOfTheSamePlanAreReused(t *testing.T) {
	tier.Plain(t)
	for name, c := range map[string]struct {
		change   func(dir, text string) string
		message  string
		measured int
	}{
		"another limit of one system": {func(_, text string) string { return strings.Replace(text, "9000", "8000", 1) },
			"night-vpp-imix-r1: its Plan was another (the one is now, the other was then): " +
				"dut.reference.limit.packetsPerSecond is 8000 in the one and 9000 in the other", 2},
		"another template": {func(_, text string) string {
			return strings.Replace(text, "1gbps}, {name: east", "2gbps}, {name: east", 1)
		},
			"night-apu6-imix-r1: its Plan was another", 4},
		"a system more": {func(_, text string) string {
			return strings.Replace(text, "[{name: apu6}", "[{name: bsd}, {name: apu6}", 1)
		}, "night: 4 of 6, cell bsd-imix run 1", 3},
		"other criteria of the suite": {func(_, text string) string {
			return text + "  criteria: [{name: a, metric: PacketsPerSecond, min: \"1\"}]\n"
		}, "night: 4 of 4", 1},
		"a Report that is gone": {func(dir, text string) string {
			_ = os.Remove(filepath.Join(dir, "night-apu6-64b-r1.json"))
			return text
		}, "night-apu6-64b-r1: its Report is gone", 2},
		"a Report that is another": {func(dir, text string) string {
			_ = os.WriteFile(filepath.Join(dir, "night-apu6-64b-r1.json"), []byte("{}"), 0o600)
			return text
		}, "is another Report than the one that was measured", 2},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStage(t)
			st.play = func(name string) (report.Ending, error) {
				if name == "night-vpp-64b-r1" {
					return "", exit.BadInput("the machine is wanted for something else")
				}
				return report.Completed, nil
			}
			if _, err := st.run(t.Context(), night); exit.Code(err) != report.ExitBadInput {
				t.Fatal(err)
			}
			st.play = nil
			s, err := st.run(t.Context(), c.change(st.dir, night))
			if err != nil || s.ExitCode() != report.ExitOK || len(st.measured) != c.measured {
				t.Errorf("%v, exit code %d, measured %q", err, s.ExitCode(), st.measured)
			}
			st.wantSaid(c.message)
		})
	}
	t.Run("a document that nobody can read is no reason to guess", func(t *testing.T) {
		st := newStage(t)
		if err := os.WriteFile(filepath.Join(st.dir, "night.suite.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := st.run(t.Context(), night); exit.Code(err) != report.ExitBadInput ||
			!strings.Contains(err.Error(), "remove it to begin anew") {
			t.Error(err)
		}
	})
}

// Figures of a generator with one sending thread and of one with four are of two set-ups: they never stand in
// one table unseen.
func TestATestSentWithOtherThreadsIsMeasuredAgain(t *testing.T) {
	tier.Plain(t)
	for name, c := range map[string]struct{ earlierCores, presentCores, measured int }{"more threads": {1, 4, 4},
		"fewer": {4, 1, 4}, "as many": {4, 4, 1}} {
		t.Run(name, func(t *testing.T) {
			st := newStage(t)
			st.cores = c.earlierCores
			st.play = func(name string) (report.Ending, error) {
				if name == "night-vpp-64b-r1" {
					return "", exit.BadInput("the machine is wanted for something else")
				}
				return report.Completed, nil
			}
			if _, err := st.run(t.Context(), night); exit.Code(err) != report.ExitBadInput {
				t.Fatal(err)
			}
			st.cores, st.play = c.presentCores, nil
			if s, err := st.run(t.Context(), night); err != nil || s.ExitCode() != report.ExitOK ||
				len(st.measured) != c.measured {
				t.Errorf("%v, measured %q", err, st.measured)
			}
			if c.earlierCores != c.presentCores {
				st.wantSaid(fmt.Sprintf("night-apu6-imix-r1: it was measured with --cores %d, and --cores is %d now: "+
					"give --cores %d to go on", c.earlierCores, c.presentCores, c.earlierCores))
			}
		})
	}
}

func TestDisturbedTestsAreRepeated(t *testing.T) {
	tier.Plain(t)
	st := newStage(t)
	st.bounds = map[string]int64{"night-apu6-imix-r2": 100}
	s, err := st.run(t.Context(), night+"  repetitions: 2\n")
	if err != nil || s.ExitCode() != report.ExitOK {
		t.Fatalf("%v, exit code %d", err, s.ExitCode())
	}
	st.wantMeasured("night: 1 of 8, cell apu6-imix run 1", "night: 2 of 8, cell apu6-64b run 1",
		"night: 3 of 8, cell vpp-imix run 1", "night: 4 of 8, cell vpp-64b run 1",
		"night: 5 of 8, cell apu6-imix run 2", "night: 5 of 8, cell apu6-imix run 2, try 2",
		"night: 6 of 8, cell apu6-64b run 2", "night: 7 of 8, cell vpp-imix run 2", "night: 8 of 8, cell vpp-64b run 2")
	st.wantSaid("night: 5 of 8, cell apu6-imix run 2, try 2: measured again: the generator was the limit at 200.00 " +
		"pps, but other runs measured 2.02 kpps: this run was disturbed")
	if c := s.Cells[0]; c.Figures.Runs != 2 || c.Figures.LowerBound || len(c.Runs) != 3 || c.Runs[1].Repeated == "" {
		t.Errorf("the cell is %+v", c)
	}
}

func TestTestsWithoutAMeasurementAreRepeated(t *testing.T) {
	tier.Plain(t)
	lost := func(name string) (report.Ending, error) {
		switch {
		case strings.HasPrefix(name, "night-apu6-64b"):
			return report.GeneratorLost, nil
		case name == "night-vpp-imix-r1":
			return "", exit.NotMeasured("no lab today")
		}
		return report.Completed, nil
	}
	t.Run("as often as was asked for", func(t *testing.T) {
		st := newStage(t)
		st.play = lost
		s, err := st.run(t.Context(), night)
		if err != nil || s.ExitCode() != report.ExitNotMeasured {
			t.Fatalf("%v, exit code %d", err, s.ExitCode())
		}
		st.wantMeasured("night: 1 of 4, cell apu6-imix run 1", "night: 2 of 4, cell apu6-64b run 1",
			"night: 2 of 4, cell apu6-64b run 1, try 2",
			"night: 3 of 4, cell vpp-imix run 1", "night: 3 of 4, cell vpp-imix run 1, try 2",
			"night: 4 of 4, cell vpp-64b run 1")
		st.wantSaid("night: 2 of 4, cell apu6-64b run 1, try 2: not measured: GeneratorLost",
			"not measured: RunnerFailed: no lab today")
		t.Run("and all is measured anew the night after", func(t *testing.T) {
			st := st.later(t, 13*time.Hour)
			if _, err := st.run(t.Context(), night); err != nil || len(st.measured) != 4 {
				t.Errorf("%v, measured %q", err, st.measured)
			}
		})
		t.Run("and what came to nothing is tried again by the next run", func(t *testing.T) {
			st.play = nil
			if s, err := st.run(t.Context(), night); err != nil || s.ExitCode() != report.ExitOK {
				t.Errorf("%v", err)
			}
			st.wantMeasured("night: 4 of 4, cell apu6-64b run 1")
			st.wantSaid("of an earlier run, begun ", ", which didn't measure all; it goes on from there")
		})
	})
	t.Run("unless the first failure ends it", func(t *testing.T) {
		st := newStage(t)
		st.play = lost
		s, err := st.run(t.Context(), night+"  failurePolicy: Stop\n  invalidRetries: 0\n")
		if err != nil || s.ExitCode() != report.ExitNotMeasured || len(st.measured) != 2 {
			t.Errorf("%v, exit code %d, measured %q", err, s.ExitCode(), st.measured)
		}
	})
}

func TestASuiteIsComparedWithASavedOne(t *testing.T) {
	tier.Plain(t)
	main := newStage(t)
	if _, err := main.run(t.Context(), night+"  repetitions: 5\n"); err != nil {
		t.Fatal(err)
	}
	const criteria = "  repetitions: 5\n  criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}]\n"
	slower := strings.Replace(night, "9000", "8500", 1) + criteria
	changed := strings.Replace(night, "[{name: apu6}", "[{name: bsd}, {name: apu6}", 1) + criteria
	notReusable := strings.Replace(night, "frameSize: 64}", "frameSize: 128}", 1) + criteria
	for name, c := range map[string]struct {
		text, baseline string
		code           int
		message        map[string]string
		foreseen       string
	}{
		"the same": {night + criteria, "night.suite.json", report.ExitOK,
			map[string]string{"apu6-imix": "Passed", "vpp-64b": "Passed"}, ""},
		"its document against a slower one": {slower, "night.suite.json", report.ExitFailed,
			map[string]string{"apu6-imix": "Passed", "vpp-64b": "Failed 5.5", "vpp-imix": "Failed"}, ""},
		"its Reports against a slower one": {slower, ".", report.ExitFailed, map[string]string{"apu6-imix": "Passed",
			"vpp-64b": "Failed 5.5"}, ""},
		"a cell that it hasn't": {changed, "night.suite.json", report.ExitNotMeasured,
			map[string]string{"bsd-imix": "Undecided it has no cell system bsd, frames imix", "vpp-64b": "Passed"},
			"bsd-imix has nothing to be compared with"},
		"another way": {notReusable, "night.suite.json", report.ExitNotMeasured,
			map[string]string{"vpp-imix": "Passed",
				"vpp-64b": "Undecided directions[0].mix.bytes is 128 in the one and 64 in the other"},
			"vpp-64b can't be compared with"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStage(t)
			st.day = 1
			s, err := st.run(t.Context(), c.text, filepath.Join(main.dir, c.baseline))
			if err != nil || s.ExitCode() != c.code {
				t.Fatalf("%v, exit code %d, want %d", err, s.ExitCode(), c.code)
			}
			if words := "night: known before the first run: " + c.foreseen; c.foreseen != "" {
				st.wantSaid(words)
			} else if strings.Contains(st.stderr.String(), words) {
				t.Errorf("it foresees what doesn't come:\n%s", st.stderr.String())
			}
			if s.Baseline == nil || s.Baseline.Kind != "File" {
				t.Errorf("the baseline is %+v", s.Baseline)
			}
			for _, cell := range s.Cells {
				outcome, words, _ := strings.Cut(c.message[cell.Name], " ")
				if outcome == "" {
					continue
				}
				if v := cell.Verdict; string(v.Outcome) != outcome || !strings.Contains(fmt.Sprint(v.Criteria), words) {
					t.Errorf("%s: %+v, want %s %s", cell.Name, v, outcome, words)
				}
			}
		})
	}
	t.Run("what is in a cluster isn't at hand", func(t *testing.T) {
		s, err := newStage(t).run(t.Context(), night+criteria+"  baseline: {suite: nightly-1}\n")
		if err != nil || s.ExitCode() != report.ExitNotMeasured ||
			!strings.Contains(fmt.Sprint(s.Cells[0].Verdict.Criteria),
				"it is in a cluster, and can't be read here: give its Reports with --baseline") {
			t.Errorf("%v, %+v", err, s.Cells[0].Verdict)
		}
	})
	t.Run("what is undecided was measured: the next run begins anew", func(t *testing.T) {
		st := newStage(t)
		for range 2 {
			s, err := st.run(t.Context(), night+
				"  criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}]\n",
				filepath.Join(main.dir, "night.suite.json"))
			st.wantSaid("known before the first run: apu6-imix, criterion no-slower: even a device equal to the baseline's",
				"too few runs to tell it from chance, about ")
			if err != nil || s.ExitCode() != report.ExitNotMeasured || len(st.measured) != 4 {
				t.Errorf("%v, exit code %d, measured %q", err, s.ExitCode(), st.measured)
			}
		}
	})
}

func TestWhichSuitesAreRefusedOnOneMachine(t *testing.T) {
	for name, c := range map[string]struct{ oldText, newText, want string }{
		"one that waits": {"  parallelism: 4", "  suspend: true",
			"spec.suspend is true: only a cluster can hold a suite back"},
		"one that is stopped": {"  parallelism: 4", "  stop: true", "suite.yaml:12: spec.stop is true"},
		"a cell of pods": {"[{name: apu6}", "[{name: apu6, patch: {generator: {engine: TRex, trex: {image: x}}}}",
			"suite.yaml:10: cells apu6-imix, apu6-64b: spec.generator.engine is \"TRex\": "},
		"a misspelt cell": {"frameSize: 64", "framesize: 64",
			"suite.yaml:11: cells apu6-64b, vpp-64b: spec.traffic.framesize is not a field"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "suite.yaml")
			if err := os.WriteFile(file, []byte(strings.Replace(night, c.oldText, c.newText, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readInputs(nil, []string{file}); exit.Code(err) != report.ExitBadInput ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant …%s…", err, c.want)
			}
		})
	}
	t.Run("ports that a Reference hasn't", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "suite.yaml")
		if err := os.WriteFile(file, []byte(night), 0o600); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		if code := Main("linerate", []string{"run", file, "--save", "", "--ports", "a,b"},
			Streams{Stderr: &stderr}); code != report.ExitBadInput || !strings.Contains(stderr.String(),
			"night: cell apu6-imix") {
			t.Errorf("exit code %d: %s", code, stderr.String())
		}
	})
	t.Run("two baselines", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "suite.yaml")
		text := night + "  baseline: {axis: system, value: apu6}\n" +
			"  criteria: [{name: a, metric: PacketsPerSecond, maxRegression: 2%}]\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := readInputs(nil, []string{file})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readBaseline(nil, loaded, []string{"x.json"}, nil); err == nil ||
			!strings.Contains(err.Error(), "leave one of the two out") {
			t.Error(err)
		}
	})
}

func TestACalibrationIsReusedFromASavedSuite(t *testing.T) {
	tier.Plain(t)
	aged := strings.Replace(night, "spec:\n", "spec:\n  calibration: {maxAge: 24h}\n", 1)
	st := newStage(t)
	st.recently = true
	if _, err := st.run(t.Context(), aged); err != nil || len(st.measured) != 6 {
		t.Fatalf("%v, measured %q", err, st.measured)
	}
	s, err := st.run(t.Context(), aged)
	if err != nil || len(st.measured) != 4 || !s.Cells[0].Calibration || s.Cells[0].Figures == nil {
		t.Fatalf("%v, measured %q", err, st.measured)
	}
	st.wantSaid("night: not measured again: generator-imix: night-generator-imix-r1 of suite night measured it on ")
	if _, err = st.run(t.Context(), strings.Replace(aged, "24h", "1m", 1)); err != nil || len(st.measured) != 6 {
		t.Errorf("of %v, long ago: measured %q", err, st.measured)
	}
	if err := os.WriteFile(filepath.Join(st.dir, "broken.suite.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := st.run(t.Context(), aged); err != nil {
		t.Error(err)
	}
	st.wantSaid("no calibration is reused from " + filepath.Join(st.dir, "broken.suite.json"))
}
