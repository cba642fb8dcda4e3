package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// releases are two releases and the one that they are compared with, with two kinds of traffic.
const releases = `
template: {spec: {links: [{name: west}, {name: east}], dut: {type: Reference}}}
axes:
- {name: image, values: [{name: main}, {name: same}, {name: slow}]}
- {name: frames, values: [{name: imix}, {name: 64b}]}
baseline: {axis: image, value: main}
criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}]
`

func TestCellsAreComparedWithThoseOfTheBaseline(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want map[string]string // of cells: verdict and part of the message
	}{
		"five runs tell": {releases + "repetitions: 5\n", map[string]string{
			"main-imix": "Passed it is the baseline itself", "same-imix": "Passed the baseline is Cell main-imix",
			"slow-imix": "Failed 5.00 % less",
			"main-64b":  "Passed", "same-64b": "Passed the baseline is Cell main-64b",
			"slow-64b": "Failed the baseline is Cell main-64b",
		}},
		"one run doesn't": {releases, map[string]string{
			"main-imix": "Passed", "same-imix": "Undecided about 5 runs of each would decide",
			"slow-imix": "Undecided too few runs to tell it from chance",
		}},
		"a baseline that is excluded": {releases + "repetitions: 5\nexclusions: [{image: main, frames: imix}]\n",
			map[string]string{
				"same-imix": "Undecided Cell image main: it is excluded from the suite", "slow-64b": "Failed",
			}},
		"without a baseline": {strings.Replace(releases, "baseline: {axis: image, value: main}", "", 1),
			map[string]string{
				"main-imix": "Undecided there is no baseline", "slow-imix": "Undecided there is no baseline",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.spec)
			w.live(newRandom(9))
			rows := map[string]v1alpha1.SuiteRow{}
			for _, row := range w.suite.Status.Table {
				rows[row.Cell] = row
			}
			for cell, want := range c.want {
				verdict, words, _ := strings.Cut(want, " ")
				if got := rows[cell]; string(got.Verdict) != verdict || !strings.Contains(got.Message, words) {
					t.Errorf("%s: %s: %s, want %s", cell, got.Verdict, got.Message, want)
				}
			}
		})
	}
}

// One of many cells fails a suite only as seldom as a single cell does. Its row has the cell's own verdict,
// while status, condition and report agree on all cells together.
func TestOneOfManyCellsFailsASuiteOnlyAsSeldomAsOneAlone(t *testing.T) {
	spec := func(cells int) string {
		var frames []string
		for i := range cells {
			frames = append(frames, fmt.Sprintf("{name: f%02d}", i))
		}
		return "axes:\n- {name: image, values: [{name: main}, {name: new}]}\n- {name: frames, values: [" +
			strings.Join(frames, ", ") + "]}\n" +
			"baseline: {axis: image, value: main}\nrepetitions: 5\ncriteria: [{name: no-slower, metric: " +
			"PacketsPerSecond, maxRegression: 2%}]\n"
	}
	factors := []float64{1, 1.002, 0.998, 1.004, 0.996}
	for name, c := range map[string]struct {
		cells   int
		share   float64 // what the new release's first cell has of the old one's
		outcome report.Outcome
		want    string
	}{
		"a single cell that shows it":      {1, 0.972, report.DidFail, "Passed=False " + v1alpha1.ReasonCriteriaNotMet},
		"one of twenty that shows as much": {20, 0.972, report.Undecided, "Passed=Unknown " + v1alpha1.ReasonUndecided},
		"one of twenty beyond any doubt":   {20, 0.7, report.DidFail, "Passed=False " + v1alpha1.ReasonCriteriaNotMet},
		"none of twenty":                   {20, 1, report.Passed, "Passed=True " + v1alpha1.ReasonCriteriaMet},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, spec(c.cells))
			w.found = func(test string) int64 {
				cell, _, _ := strings.Cut(strings.TrimPrefix(test, w.suite.Name+"-"), "-r")
				run := 0
				if _, err := fmt.Sscanf(test[strings.LastIndex(test, "-r")+2:], "%d", &run); err != nil {
					t.Fatal(test, err)
				}
				found := 1_000_000 * factors[run-1]
				if cell == "new-f00" {
					found *= c.share
				}
				return int64(found)
			}
			w.live(newRandom(9))
			w.want(c.want)
			for _, row := range w.suite.Status.Table {
				if want := c.share < 0.98 && row.Cell == "new-f00"; want != (row.Verdict == v1alpha1.VerdictFailed) {
					t.Errorf("%s: %s: %s", row.Cell, row.Verdict, row.Message)
				}
			}
			codes := map[report.Outcome]int{report.Passed: report.ExitOK, report.DidFail: report.ExitFailed,
				report.Undecided: report.ExitNotMeasured}
			document := JudgeStored(w.matrix, w.runs, w.now, "test", nil).Report
			if got := document.Verdict.Outcome; got != c.outcome || document.ExitCode() != codes[c.outcome] {
				t.Errorf("the report says %s, and exit code %d; want %s", got, document.ExitCode(), c.outcome)
			}
			if noted := slices.ContainsFunc(document.Notes,
				func(n string) bool {
					return strings.Contains(n,
						"among so many cells")
				}); noted != (c.outcome == report.Undecided) {
				t.Errorf("the notes are %q", document.Notes)
			}
		})
	}
}

func TestRepetitionsWithoutAFigureCountAgainstAVerdict(t *testing.T) {
	const fast = "template: {spec: {}}\nrepetitions: 5\ninvalidRetries: 0\ncriteria: [{name: fast, metric: " +
		"PacketsPerSecond, min: \"1000\"}]\n"
	lost := func(names ...string) func(string) string {
		return func(test string) string {
			for _, name := range names {
				if strings.HasSuffix(test, name) {
					return v1alpha1.ReasonGeneratorLost
				}
			}
			return ""
		}
	}
	for name, c := range map[string]struct {
		ends    func(string) string
		verdict v1alpha1.SuiteVerdict
		message string
	}{
		"all were measured": {nil, v1alpha1.VerdictPassed, "all 5 runs meet it"},
		"most were measured": {lost("r2", "r4"), v1alpha1.VerdictPassed,
			"all 3 runs meet it; 2 of 5 runs set aside (the run did not come to its own end (GeneratorLost): " +
				"it ended so)"},
		"few were measured": {lost("r1", "r2", "r4"), v1alpha1.VerdictUndecided,
			"only 2 of 5 runs gave a figure that can be judged"},
		"a single was": {lost("r1", "r2", "r3", "r4"), v1alpha1.VerdictUndecided,
			"only 1 of 5 runs gave a figure that can be judged"},
		"none of them was": {lost("r1", "r2", "r3", "r4", "r5"), v1alpha1.VerdictUndecided, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, fast)
			w.ends = c.ends
			w.live(newRandom(10))
			if row := w.suite.Status.Table[0]; row.Verdict != c.verdict || !strings.Contains(row.Message, c.message) {
				t.Errorf("%s: %s, want %s: …%s…", row.Verdict, row.Message, c.verdict, c.message)
			}
		})
	}
	t.Run("it was stopped after the first", func(t *testing.T) {
		w := newWorld(t, fast)
		w.pass()
		w.end("night-test-r1")
		w.suite.Spec.Stop = true
		w.pass()
		w.want("Complete=True Stopped", "Passed=Unknown Undecided")
	})
}

// Each further run may change a median of the cell or of its baseline. So there is no verdict before all runs
// are complete, and the row says how many are.
func TestThereIsNoVerdictWhileRepetitionsAreToCome(t *testing.T) {
	w := newWorld(t, strings.Replace(releases, "{name: slow}", "", 1)+
		"repetitions: 2\nparallelism: 8\nplacement: {sameNodes: false}\nexclusions: [{frames: 64b}]\n")
	w.pass()
	rowsAfter := func(ends ...string) map[string]v1alpha1.SuiteRow {
		t.Helper()
		for _, name := range ends {
			w.end("night-" + name)
		}
		w.now = w.now.Add(storeEvery)
		w.pass()
		rows := map[string]v1alpha1.SuiteRow{}
		for i, row := range w.suite.Status.Table {
			rows[row.Cell] = row
			if c := w.report.Cells[i]; (c.Verdict.Outcome == report.Undecided) != (row.Verdict == "" ||
				row.Verdict == v1alpha1.VerdictUndecided) || !strings.Contains(row.Message, c.Message) {
				t.Errorf("the row of %s says %s: %s, and the report %s: %s", row.Cell, row.Verdict, row.Message,
					c.Verdict.Outcome, c.Message)
			}
		}
		return rows
	}
	if rows := rowsAfter("same-imix-r1"); rows["same-imix"].Verdict != "" ||
		rows["same-imix"].Message != "1 of 2 repetitions are in, no verdict yet" || rows["main-imix"].Message != "" {
		t.Errorf("after one: %+v", rows)
	}
	if rows := rowsAfter("same-imix-r2", "main-imix-r1"); rows["same-imix"].Verdict != "" ||
		rows["same-imix"].Message != "1 of 2 repetitions of its baseline, main-imix, are in, no verdict yet" {
		t.Errorf("before its baseline: %+v", rows["same-imix"])
	}
	w.want("Passed=Unknown Undecided")
	if rows := rowsAfter("main-imix-r2"); rows["same-imix"].Verdict != v1alpha1.VerdictUndecided ||
		rows["main-imix"].Verdict != v1alpha1.VerdictPassed || strings.Contains(rows["same-imix"].Message, "yet") {
		t.Errorf("in the end: %+v", rows)
	}
}

// A median says how many of its figures aren't confirmed.
func TestAMedianOfWhatIsNotConfirmedSaysSo(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\nrepetitions: 3\nparallelism: 3\n")
	w.pass()
	for i, name := range slices.Sorted(maps.Keys(w.tests)) {
		w.end(name)
		r := reportOf(w.tests[name])
		r.Plan.Procedure.Ramp.ConfirmDuration, r.Answer.Confirmed = plan.Duration(time.Minute), i > 0
		w.runs[name] = RunOf(w.tests[name], int32(i+1), 1, r, "")
	}
	w.pass()
	row, cell := w.suite.Status.Table[0], w.report.Cells[0]
	if row.Unconfirmed != 1 || row.Message != "1 of 3 figures is not confirmed" || cell.Figures.Unconfirmed != 1 {
		t.Errorf("the row is %+v, the report's figures %+v", row, cell.Figures)
	}
	if table := w.report.Table(); table.Cells[0].Message != row.Message {
		t.Errorf("the table says %q", table.Cells[0].Message)
	}
}

func TestABaselineWithoutAFigureIsNotPassed(t *testing.T) {
	w := newWorld(t, releases+"invalidRetries: 0\nexclusions: [{image: same}, {image: slow}, {frames: 64b}]\n")
	w.ends = func(string) string { return v1alpha1.ReasonNotMeasured }
	w.live(newRandom(11))
	w.want("Complete=True NotMeasured", "Passed=Unknown Undecided")
	if row := w.suite.Status.Table[0]; row.Verdict != v1alpha1.VerdictUndecided {
		t.Errorf("%s: %s", row.Verdict, row.Message)
	}
}

// A device that lost frames at any load has given its answer. A better second try doesn't withdraw it.
func TestWhatADeviceAnsweredCountsAlsoWhenItIsTriedAgain(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\ncriteria: [{name: fast, metric: PacketsPerSecond, min: \"1000\"}]\n")
	w.ends = func(test string) string {
		if strings.HasSuffix(test, "-r1") {
			return v1alpha1.ReasonNotMeasured
		}
		return ""
	}
	w.live(newRandom(12))
	if row := w.suite.Status.Table[0]; row.Verdict != v1alpha1.VerdictUndecided ||
		!strings.Contains(row.Message, "1 of 2 runs do not meet it (west→east: frames were lost at 500.00 "+
			"pps already") {
		t.Errorf("%s: %s", row.Verdict, row.Message)
	}
}

// The digest in the status is that of the stored report, also where the report had to be made smaller.
func TestTheStatusTellsTheDigestOfWhatIsStored(t *testing.T) {
	const cells = 4000
	var spec strings.Builder
	spec.WriteString("template: {spec: {}}\nstop: true\naxes:\n- name: cell\n  values:\n")
	for i := range cells {
		fmt.Fprintf(&spec, "  - {name: v%d}\n", i)
	}
	w := newWorld(t, spec.String())
	random := newRandom(13)
	for i := range cells {
		words := make([]byte, maxMessage)
		for k := range words {
			words[k] = byte('!' + random.IntN(90))
		}
		name := w.matrix.TestName(i, 1, 1)
		w.runs[name] = Run{Ended: v1alpha1.ReasonDUTFailed, SuiteRun: report.SuiteRun{Test: name, Repetition: 1,
			Reason: v1alpha1.ReasonDUTFailed, Message: string(words)}}
		w.stored[name] = 0
	}
	d := Decide(Observed{Suite: w.suite, Matrix: w.matrix, Now: w.now, Checked: true, Runs: w.runs, Stored: w.stored})
	if d.Report.Err != nil {
		t.Fatal(d.Report.Err)
	}
	read, err := delivery.DecodeSuite(d.Report.Data, d.Report.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	if stored, published := d.Report.Annotations[delivery.AnnotationDigest],
		d.Status.Report.Digest; stored != published || len(read.Notes) == 0 {
		t.Errorf("%s is stored, %s is told; notes %q", stored, published, read.Notes)
	}
}
