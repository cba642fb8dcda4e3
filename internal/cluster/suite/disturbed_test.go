package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// runsOf are Reports, each described by a sign and its figure. ≥ means that the generator was the limit, ^ the
// machine, ! that cc1 used its processors, ? that its host did, > that all offered load came back, ~ not confirmed, and - not measured. Without a sign the run is
// saturated and confirmed.
func runsOf(t *testing.T, figures string) (reports []*report.Report) {
	t.Helper()
	for _, text := range strings.Fields(figures) {
		number := strings.TrimLeft(text, "≥^!?>~-")
		var pps int64
		if _, err := fmt.Sscan(number, &pps); err != nil {
			t.Fatal(err)
		}
		r := figureOf("test", pps)
		r.Plan.Procedure.Ramp.ConfirmDuration = plan.Duration(time.Second)
		switch strings.TrimSuffix(text, number) {
		case "≥":
			r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited
		case "^":
			r.Answer.Saturated, r.Answer.Reason = false, report.MachineLimited
			r.Answer.Cause.Detail = report.BelowReference
		case "!":
			r.Answer.Saturated, r.Answer.Reason = false, report.MachineLimited
			r.Answer.Cause = report.Cause{Detail: report.OtherPrograms, Process: "cc1"}
		case "?":
			r.Answer.Saturated, r.Answer.Reason = false, report.Inconclusive
			r.Answer.Cause.Detail = report.HostOfMachine
		case ">":
			r.Answer.Saturated, r.Answer.Reason = false, report.TargetReached
		case "~":
			r.Answer.Confirmed = false
		case "-":
			r.Ending = report.Failed
		}
		reports = append(reports, r)
	}
	return reports
}

func TestWhichRunWasDisturbed(t *testing.T) {
	for name, c := range map[string]struct {
		runs string
		want int
	}{
		"one that could send half of what the others measured": {"21010 21000 ≥10420 21020 20990", 2},
		"the one that says least of two":                       {"21010 ≥15000 ≥10420 21020 20990", 2},
		"one other is enough, for it says all":                 {"≥10420 21000", 0},
		"others that are lower bounds themselves":              {"≥10420 ≥21000 ≥21000", 0},
		"others that carried all that was asked for":           {">30000 ≥10420 >30000", 1},
		"others of which most say more":                        {"≥10420 ≥10420 21000 21000 21000", 0},
		"none where all could send as little":                  {"≥10410 ≥10420 ≥10400 ≥10440 ≥10420", -1},
		"none where generators differ by some percent":         {"≥10420 ≥11000 ≥10900 ≥11200 ≥10800", -1},
		"one that differs by more":                             {"≥9000 ≥11000 ≥10900 ≥11200 ≥10800", 0},
		"none where most others say no more":                   {"≥10420 ≥10420 ≥10420 21000 ≥10420", -1},
		"none that is as good as the others, but for 1 %":      {"21000 ≥20800 21000", -1},
		"one that is a little further below":                   {"21000 ≥20700 21000", 1},
		"none that says more than the others":                  {"21000 ≥25000 21000", -1},
		"none at which frames were lost, however low":          {"21000 10420 21000 21000 21000", -1},
		"nor if that wasn't confirmed":                         {"21000 ~10420 21000 21000 21000", -1},
		"none that a machine without other work limited":       {"21000 ^10420 21000", -1},
		"one beside which another program ran":                 {"21000 !10420 21000", 1},
		"even if it says more than the others":                 {"21000 !21100 21000", 1},
		"the lowest of several":                                {"21000 !20000 ?19000 !20500", 2},
		"before one whose generator was the limit":             {"21000 ≥10420 !20000 21000", 2},
		"in either order":                                      {"21000 !20000 ≥10420 21000", 1},
		"a single one beside which another program ran":        {"!10420", 0},
		"none beside others that weren't confirmed":            {"~21000 ≥10420 ~21000", -1},
		"none beside others without figures":                   {"-21000 ≥10420 -21000", -1},
		"none that didn't come to its end":                     {"21000 21000", -1},
		"a single one":                                         {"≥10420", -1},
		"none at all":                                          {"", -1},
	} {
		t.Run(name, func(t *testing.T) {
			index, reason := Disturbed(runsOf(t, c.runs))
			if index != c.want || (index < 0) != (reason == "") {
				t.Errorf("it is run %d (%s), want %d", index, reason, c.want)
			}
		})
	}
	t.Run("none where there is no device, and the generator is what is measured", func(t *testing.T) {
		runs := runsOf(t, "≥10420 ≥21000 ≥21000")
		for i, r := range runs {
			r.Plan.DUT.Type = "Loopback"
			run := LocalRun(Wanted{Name: "test", Repetition: int32(i + 1), Try: 1}, r, "")
			if run.limited() {
				t.Error("what is stored of it doesn't tell")
			}
		}
		if index, reason := Disturbed(runs); index >= 0 {
			t.Errorf("it is run %d: %s", index, reason)
		}
	})
	for runs, want := range map[string]string{
		"21010 !20000": "cc1 used processors of the test, which reached 20.00 kpps: this run was disturbed",
		"21010 ?20000": "the host of this virtual machine used processors of the test, which reached 20.00 kpps: this run " +
			"was disturbed",
	} {
		if _, reason := Disturbed(runsOf(t, runs)); reason != want {
			t.Errorf("of %s it says %q, want %q", runs, reason, want)
		}
	}
	_, reason := Disturbed(runsOf(t, "21010 21000 ≥10420 21020 20990"))
	if want := "the generator was the limit at 10.42 kpps, but other runs measured 21.01 kpps: this run " +
		"was disturbed"; reason != want {
		t.Errorf("it says %q, want %q", reason, want)
	}
}

// Of all runs whose generators were the limit, only the lowest must be examined. If it isn't below the others,
// none is.
func TestIfAnyWasDisturbedTheLeastWas(t *testing.T) {
	random, found := newRandom(31), 0
	for range 5000 {
		var runs []measuredRun
		for i := range 1 + random.IntN(7) {
			runs = append(runs, measuredRun{repetition: i, figures: &report.Figures{PacketsPerSecond: 900 +
				random.Int64N(200)}, limited: random.IntN(2) == 0, unsure: random.IntN(5) == 0})
			if runs[i].weak = runs[i].limited; runs[i].weak {
				runs[i].unsure = false
			}
		}
		expected := slices.ContainsFunc(runs, func(s measuredRun) bool { return s.weak && s.isLess(runs) })
		if got := disturbed(runs); (got != nil) != expected {
			t.Fatalf("%+v: it is %+v, and one was: %v", runs, got, expected)
		}
		if expected {
			found++
		}
	}
	if found < 500 || found > 4500 {
		t.Errorf("%d of 5000 had one: this shows little", found)
	}
}

// boundTo bounds some tests by what their generators could send.
func boundTo(bounds map[string]int64) func(string) int64 {
	return func(test string) int64 { return bounds[strings.TrimPrefix(test, "night-test-")] }
}

func TestDisturbedRunsAreRepeated(t *testing.T) {
	const five = "template: {spec: {}}\nrepetitions: 5\ncriteria: [{name: fast, metric: PacketsPerSecond, min: " +
		"\"900000\"}]\n"
	lost := v1alpha1.ReasonGeneratorLost
	for name, c := range map[string]struct {
		spec     string
		bounds   map[string]int64
		ends     map[string]string
		repeated string // beyond the first tries
		verdict  v1alpha1.SuiteVerdict
		messages []string
		runs     int32
		bound    bool
	}{
		"one is, and no more part of median and verdict": {spec: five, bounds: map[string]int64{"r3": 500_000},
			repeated: "r3t2", verdict: v1alpha1.VerdictPassed,
			messages: []string{"all 5 runs meet it",
				"night-test-r3 was repeated: GeneratorLimited: the generator was the limit at 500.00 kpps, but other " +
					"runs measured 1.00 Mpps: this run was disturbed"}, runs: 5},
		"what comes of it counts, whatever it is": {spec: five, bounds: map[string]int64{"r3": 500_000,
			"r3t2": 400_000}, repeated: "r3t2", verdict: v1alpha1.VerdictUndecided, runs: 5, bound: true,
			messages: []string{"1 of 5 runs leave it open (west→east: 400.00 kpps"}},
		"as often as it may be": {spec: five + "invalidRetries: 3\n", bounds: map[string]int64{"r3": 500_000,
			"r3t2": 400_000, "r5": 300_000}, repeated: "r5t2 r3t2 r3t3", verdict: v1alpha1.VerdictPassed, runs: 5,
			messages: []string{"night-test-r3t2 was repeated: GeneratorLimited"}},
		"not where none may be": {spec: five + "invalidRetries: 0\n", bounds: map[string]int64{"r3": 500_000},
			verdict: v1alpha1.VerdictUndecided, runs: 5, bound: true},
		"not where tests without a measurement took the tries": {spec: five, bounds: map[string]int64{"r3": 500_000},
			ends: map[string]string{"r1": lost}, repeated: "r1t2", verdict: v1alpha1.VerdictUndecided, runs: 5,
			bound:    true,
			messages: []string{"night-test-r1 was repeated: GeneratorLost"}},
		"not where the generator is too weak": {spec: five, bounds: map[string]int64{"r1": 500_000, "r2": 500_100,
			"r3": 500_200, "r4": 499_900, "r5": 500_000}, verdict: v1alpha1.VerdictUndecided, runs: 5, bound: true},
		"one whose second try comes to nothing stays": {spec: five, bounds: map[string]int64{"r3": 500_000},
			ends: map[string]string{"r3t2": lost}, repeated: "r3t2", verdict: v1alpha1.VerdictUndecided, runs: 5,
			bound: true,
			messages: []string{"night-test-r3t2 was to take the place of night-test-r3, and gave no figure: " +
				"GeneratorLost"}},
		"and has a third, if it may": {spec: five + "invalidRetries: 2\n", bounds: map[string]int64{"r3": 500_000},
			ends: map[string]string{"r3t2": lost}, repeated: "r3t2 r3t3", verdict: v1alpha1.VerdictPassed, runs: 5,
			messages: []string{"night-test-r3 was repeated: GeneratorLimited",
				"night-test-r3t2 was repeated: GeneratorLost"}},
		"but not when that was stopped": {spec: five + "invalidRetries: 2\n", bounds: map[string]int64{"r3": 500_000},
			ends: map[string]string{"r3t2": v1alpha1.ReasonStopped}, repeated: "r3t2",
			verdict: v1alpha1.VerdictUndecided, runs: 5, bound: true},
		"one that loses frames at any load the second time says so": {spec: five,
			bounds: map[string]int64{"r3": 500_000}, ends: map[string]string{"r3t2": v1alpha1.ReasonNotMeasured},
			repeated: "r3t2", verdict: v1alpha1.VerdictUndecided, runs: 5, bound: true,
			messages: []string{"of 6 runs do not meet it"}},
		"it isn't what failurePolicy Stop stops at": {spec: five + "failurePolicy: Stop\n",
			bounds: map[string]int64{"r1": 500_000}, ends: map[string]string{"r1t2": lost}, repeated: "r1t2",
			verdict: v1alpha1.VerdictUndecided, runs: 5, bound: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(tier.Times(2, 6)) {
				w := newWorld(t, c.spec)
				w.forgets, w.suite.Spec.Parallelism = seed%2 == 0, int32(1+seed)
				w.bound = boundTo(c.bounds)
				w.ends = func(test string) string { return c.ends[strings.TrimPrefix(test, "night-test-")] }
				w.live(newRandom(seed))
				w.want("Complete=True Measured")
				var repeated []string
				for _, name := range w.created {
					if strings.Contains(strings.TrimPrefix(name, "night-test-"), "t") {
						repeated = append(repeated, strings.TrimPrefix(name, "night-test-"))
					}
				}
				row := w.suite.Status.Table[0]
				if strings.Join(repeated, " ") != c.repeated || row.Verdict != c.verdict || row.Runs != c.runs ||
					row.LowerBound != c.bound {
					t.Errorf("repeated %q, want %q; %s of %d runs, lower bound %v: %s", repeated, c.repeated,
						row.Verdict, row.Runs, row.LowerBound, row.Message)
				}
				if strings.Contains(row.Message, "set aside") {
					t.Errorf("a repetition counts twice: %s", row.Message)
				}
				for _, words := range c.messages {
					if !strings.Contains(row.Message, words) {
						t.Errorf("it doesn't say %q, but %q", words, row.Message)
					}
				}
				if n := w.suite.Status.Counts; n.Measured != 5 || n.NotMeasured != 0 ||
					int(n.Retried) != len(repeated) {
					t.Errorf("counts are %+v", n)
				}
			}
		})
	}
}

// Which runs are repeated depends on what was measured, and neither on which ended first nor on restarts of the
// operator.
func TestTheSameRunsAreRepeatedInWhateverOrderTheyEnd(t *testing.T) {
	const spec = twoByTwo + "repetitions: 5\ninvalidRetries: 2\n"
	bounds := map[string]int64{"night-apu6-imix-r2": 300_000, "night-apu6-imix-r4": 500_000,
		"night-apu6-imix-r4t2": 450_000, "night-vpp-64b-r1": 900_000, "night-vpp-64b-r5": 890_000,
		"night-vpp-64b-r5t2": 880_000, "night-apu6-64b-r3": 700_000}
	want := []string{"night-apu6-64b-r3t2", "night-apu6-imix-r2t2", "night-apu6-imix-r4t2", "night-vpp-64b-r5t2",
		"night-vpp-64b-r5t3"}
	var rows string
	for seed := range uint64(tier.Times(4, 20)) {
		w := newWorld(t, spec)
		w.forgets, w.suite.Spec.Parallelism = seed%2 == 0, int32(1+seed%7)
		if seed%3 == 0 {
			w.suite.Spec.Order = v1alpha1.OrderByCell
		}
		w.bound = func(test string) int64 { return bounds[test] }
		w.live(newRandom(seed))
		repeated := slices.DeleteFunc(slices.Clone(w.created),
			func(name string) bool { return !strings.Contains(name[len(name)-2:], "t") })
		slices.Sort(repeated)
		if !slices.Equal(repeated, want) {
			t.Errorf("seed %d: repeated are %q, want %q", seed, repeated, want)
		}
		if table := text(t, w.suite.Status.Table); rows != "" && table != rows {
			t.Errorf("seed %d: the table is\n%s\nand was\n%s", seed, table, rows)
		} else {
			rows = table
		}
		if notes := fmt.Sprint(w.report.Notes); notes != "[5 tests were repeated after being disturbed]" {
			t.Errorf("seed %d: the notes are %s", seed, notes)
		}
	}
}

// While a disturbed run is repeated the cell has no verdict, and the run isn't part of the row.
func TestACellIsNotJudgedBeforeItsRepeatsAreIn(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\nrepetitions: 3\nparallelism: 3\ncriteria: [{name: fast, metric: "+
		"PacketsPerSecond, min: \"900000\"}]\n")
	w.bound = boundTo(map[string]int64{"r1": 500_000})
	w.pass()
	for _, name := range slices.Sorted(maps.Keys(w.tests)) {
		w.end(name)
	}
	w.pass()
	w.now = w.now.Add(storeEvery)
	w.pass() // says what is stored next
	w.pass()
	row, run := w.suite.Status.Table[0], w.report.Cells[0].Runs[0]
	if w.complete() || !slices.Contains(w.created, "night-test-r1t2") || row.Verdict != "" || row.Runs != 2 ||
		row.LowerBound || !strings.Contains(row.Message, "2 of 3 repetitions are in, no verdict yet") {
		t.Errorf("made %q; %+v", w.created, row)
	}
	if run.Test != "night-test-r1" || run.Figures == nil || run.Figures.PacketsPerSecond != 500_000 ||
		!strings.Contains(run.Repeated, "this run was disturbed") {
		t.Errorf("the report has it as %+v", run)
	}
	if c := w.suite.Status.Counts; c.Measured != 2 || c.Retried != 1 {
		t.Errorf("counts are %+v", c)
	}
	t.Run("a suite that is stopped meanwhile has it as it was", func(t *testing.T) {
		w.suite.Spec.Stop = true
		w.pass()
		w.end("night-test-r1t2")
		w.pass()
		w.want("Complete=True Stopped", "Passed=Unknown Undecided")
		if row := w.suite.Status.Table[0]; row.Runs != 3 || !row.LowerBound || w.suite.Status.Counts.Measured != 3 {
			t.Errorf("%+v, %+v", row, w.suite.Status.Counts)
		}
	})
	t.Run("nor is it made when the suite is stopped", func(t *testing.T) {
		w := newWorld(t, "template: {spec: {}}\nrepetitions: 2\nparallelism: 2\ncriteria: [{name: fast, metric: "+
			"PacketsPerSecond, min: \"900000\"}]\n")
		w.bound = boundTo(map[string]int64{"r1": 500_000})
		w.pass()
		w.end("night-test-r1")
		w.end("night-test-r2")
		w.suite.Spec.Stop = true
		w.pass()
		w.want("Complete=True Stopped")
		if row := w.suite.Status.Table[0]; len(w.created) != 2 || row.Runs != 2 ||
			!strings.Contains(row.Message, "1 of 2 runs leave it open") || w.suite.Status.Counts.NotMeasured != 0 {
			t.Errorf("made %q, %+v, %+v", w.created, row, w.suite.Status.Counts)
		}
	})
}

// A complete suite is judged as it is, by its own report, by a gate and as a baseline alike.
func TestWhatIsOverIsNotRepeated(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\nrepetitions: 3\ncriteria: [{name: fast, metric: PacketsPerSecond, min: "+
		"\"900000\"}]\n")
	w.live(newRandom(1))
	run := w.runs["night-test-r2"]
	bounded(run.Evidence, 500_000)
	run.Reason, run.Figures = string(report.GeneratorLimited), figures.TableFigures(run.Evidence)
	w.runs["night-test-r2"] = run
	if d := w.pass(); d.Rule != "finished" || len(w.created) != 3 {
		t.Errorf("%s, made %q", d.Rule, w.created)
	}
	for name, finished := range map[string]time.Time{"over": w.now, "not waited for": {}} {
		judged := JudgeStored(w.matrix, w.runs, finished, "test", nil)
		if c := judged.Report.Cells[0]; len(judged.Cells[0].Runs) != 3 || c.Figures.Runs != 3 ||
			!c.Figures.LowerBound || c.Verdict.Outcome != report.Undecided || c.Runs[1].Repeated != "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if n := len(ReferenceOf(w.matrix, w.runs).Cells[0].Runs); n != 3 {
		t.Errorf("%d runs are compared with", n)
	}
}

// A replaced run stands for its repetition in no judgement of stored runs, baseline, note or document.
func TestAReplacedRunIsNoPartOfAnything(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\nrepetitions: 3\ncriteria: [{name: fast, metric: PacketsPerSecond, min: "+
		"\"900000\"}]\n")
	w.bound = boundTo(map[string]int64{"r2": 500_000})
	w.live(newRandom(2))
	wantWithout := func(runs int, found func(i int) *report.Report) {
		t.Helper()
		if runs != 3 {
			t.Errorf("there are %d runs", runs)
		}
		for i := range runs {
			if !found(i).Answer.Saturated {
				t.Errorf("run %d is the one that was replaced", i)
			}
		}
	}
	judged := JudgeStored(w.matrix, w.runs, w.now, "test", nil)
	wantWithout(len(judged.Cells[0].Runs), func(i int) *report.Report { return judged.Cells[0].Runs[i].Report })
	stored := ReferenceOf(w.matrix, w.runs)
	wantWithout(len(stored.Cells[0].Runs), func(i int) *report.Report { return stored.Cells[0].Runs[i].Report })
	for i, c := 0, &judged.Report.Cells[0]; i < len(c.Runs); i++ {
		c.Runs[i].Evidence = w.runs[c.Runs[i].Test].Evidence
	}
	document := &Reference{}
	if err := document.Add(judged.Report); err != nil {
		t.Fatal(err)
	}
	wantWithout(len(document.Cells[0].Runs), func(i int) *report.Report { return document.Cells[0].Runs[i].Report })
	if notes := judged.Report.Notes; !slices.Equal(notes, []string{"1 test was repeated after being disturbed"}) {
		t.Errorf("the notes are %q", notes)
	}
}

// One machine repeats the same runs, and resumes an unfinished suite with all of a repetition's tries.
func TestDisturbedRunsAreRepeatedOnOneMachineToo(t *testing.T) {
	const spec = "template: {spec: {}}\nrepetitions: 3\n"
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	measure := func(a *Local, w Wanted) {
		r := figureOf(w.Name, 21_000)
		if w.Name == "night-test-r1" {
			bounded(r, 10_420)
		}
		a.Record(LocalRun(w, r, "sha256:"+w.Name))
	}
	a := NewLocal(Expand(written(t, spec)), "test", now)
	var names []string
	for range 4 {
		w, ok := a.Next(now)
		if !ok {
			break
		}
		if reason := a.WhyRepeated(w); (reason != "") != (w.Try > 1) {
			t.Errorf("%s: it is said that %q", w.Name, reason)
		}
		if names = append(names, w.Name); len(names) < 4 {
			measure(a, w)
		}
	}
	if want := []string{"night-test-r1", "night-test-r2", "night-test-r3", "night-test-r1t2"}; !slices.Equal(names,
		want) {
		t.Fatalf("measured are %q, want %q", names, want)
	}
	if c := a.Counts(); c.Measured != 2 || c.Waiting != 1 {
		t.Errorf("counts are %+v", c)
	}
	cut := a.Document(now) // before the second try
	if c := cut.Cells[0]; c.Figures.Runs != 2 || c.Runs[0].Repeated == "" {
		t.Errorf("what is to be repeated counts meanwhile: %+v", c)
	}
	measure(a, Wanted{Name: "night-test-r1t2", Repetition: 1, Try: 2})
	for name, cut := range map[string]*report.Suite{"before the second try": cut, "after it": a.Document(now)} {
		t.Run("taken up "+name, func(t *testing.T) {
			tried := len(cut.Cells[0].Runs) == 4
			b := NewLocal(Expand(written(t, spec)), "test", now)
			if resumed, skipped := b.Resume(cut, func(Wanted, report.SuiteRun) string { return "" }); resumed != 3 ||
				len(skipped) > 0 {
				t.Errorf("%d are taken, left are %q", resumed, skipped)
			}
			w, ok := b.Next(now)
			if ok == tried || ok && w.Name != "night-test-r1t2" {
				t.Fatalf("next is %+v, %v", w, ok)
			}
			if ok {
				measure(b, w)
				b.Next(now)
			}
			c := b.Document(now).Cells[0]
			if c.Figures == nil || c.Figures.Runs != 3 || c.Figures.LowerBound || len(c.Runs) != 4 ||
				c.Runs[0].Repeated == "" || c.Runs[0].Figures.PacketsPerSecond != 10_420 {
				t.Errorf("it has %+v", c)
			}
		})
	}
}

// medianOfOthers is the middle of the others' figures, whatever their number.
func TestTheMiddleOfWhatOthersMeasured(t *testing.T) {
	runs := []measuredRun{{repetition: 1, figures: &report.Figures{PacketsPerSecond: 1}}}
	for i, want := range []int64{0, 40, 30, 40, 35} {
		if got, _ := medianOfOthers(runs, 1); got != want {
			t.Errorf("of %d others it is %d, want %d", i, got, want)
		}
		runs = append(runs, measuredRun{repetition: i + 2, figures: &report.Figures{PacketsPerSecond: []int64{40, 20,
			50, 30, 0}[i]}})
	}
}
