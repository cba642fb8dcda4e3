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
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// underWay is a suite of four tests of which three are over and stored, the first two LoadTests are gone, and the last is being measured. Pages are what was stored
// after the first, the second and the third.
func underWay(t *testing.T) (w *world, pages []map[string]map[string][]byte) {
	t.Helper()
	w = newWorld(t, twoByTwo+"parallelism: 1\nhistoryLimit: 1\ninvalidRetries: 0\n")
	w.pass()
	for range 3 {
		w.end(w.made[len(w.made)-1])
		w.now = w.now.Add(storeEvery)
		w.pass() // reads, says what is stored next, and makes the next one
		w.pass() // stores
		pages = append(pages, maps.Clone(w.sheets))
	}
	if len(w.tests) != 2 || len(w.stored) != 3 || len(w.made) != 4 || w.suite.Status.StoredRuns == nil {
		t.Fatalf("%d LoadTests are there, %d runs are stored, %q were made: this life proves nothing", len(w.tests), len(w.stored), w.made)
	}
	return w, pages
}

// forge changes what is stored as somebody would who knows how it is written.
func (w *world) forge(change func(Runs)) {
	w.t.Helper()
	open := w.suite.DeepCopy()
	open.Status.StoredRuns = nil
	m := Expand(open)
	runs, _ := readBack(w.t, m, w.sheets)
	change(runs)
	for number := range m.Pages() {
		sheets, _, err := m.EncodePage(number, runs, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range sheets {
			w.sheets[s.Name] = s.Data
		}
	}
}

// tenfold is what somebody would like to have measured.
func tenfold(run Run) Run {
	figures, evidence := *run.Figures, *run.Evidence
	figures.PacketsPerSecond *= 10
	total := *evidence.Result.Total
	total.Received.PacketsPerSecond *= 10
	evidence.Result.Total = &total
	evidence.Result.Directions = slices.Clone(evidence.Result.Directions)
	for i := range evidence.Result.Directions {
		evidence.Result.Directions[i].Received.PacketsPerSecond *= 10
	}
	run.Figures, run.Evidence = &figures, &evidence
	return run
}

// Whoever changes what a suite stored while the operator is down changes no figure: what LoadTests still vouch for is read again, what nothing vouches for is not
// measured, and says so; nothing is measured twice.
func TestAForgedPageIsNotBelieved(t *testing.T) {
	honest, _ := underWay(t)
	honest.restart()
	honest.live(newRandom(1))
	honest.want("Complete=True Measured")
	want := map[string]int64{}
	for _, row := range honest.suite.Status.Table {
		want[row.Cell] = row.PacketsPerSecond
	}
	first := func(w *world) string { return w.made[0] }
	for name, c := range map[string]struct {
		forge func(w *world, pages []map[string]map[string][]byte)
		lost  int32
		fits  bool // the page is one of those that the status vouches for
	}{
		"nobody changed anything": {func(*world, []map[string]map[string][]byte) {}, 0, true},
		"better figures": {func(w *world, _ []map[string]map[string][]byte) {
			w.forge(func(runs Runs) {
				for name, run := range runs {
					runs[name] = tenfold(run)
				}
			})
		}, 2, false},
		"one better figure": {func(w *world, _ []map[string]map[string][]byte) {
			w.forge(func(runs Runs) { runs[first(w)] = tenfold(runs[first(w)]) })
		}, 2, false},
		"a run that never was": {func(w *world, _ []map[string]map[string][]byte) {
			w.forge(func(runs Runs) {
				run := tenfold(runs[first(w)])
				run.Test = w.made[3]
				runs[run.Test] = run
			})
		}, 2, false},
		"a run under another name": {func(w *world, _ []map[string]map[string][]byte) {
			w.forge(func(runs Runs) { runs[w.made[0]], runs[w.made[1]] = runs[w.made[1]], runs[w.made[0]] })
		}, 2, false},
		"a run less":    {func(w *world, _ []map[string]map[string][]byte) { w.forge(func(runs Runs) { delete(runs, first(w)) }) }, 2, false},
		"no page":       {func(w *world, _ []map[string]map[string][]byte) { clear(w.sheets) }, 2, false},
		"no run at all": {func(w *world, _ []map[string]map[string][]byte) { w.sheets["night-suite-runs-0"] = map[string][]byte{} }, 2, false},
		"what can't be read": {func(w *world, _ []map[string]map[string][]byte) {
			w.sheets["night-suite-runs-0"] = map[string][]byte{delivery.KeyRuns: []byte("spoilt")}
		}, 2, false},
		"the page of long ago":                      {func(w *world, pages []map[string]map[string][]byte) { w.sheets = pages[0] }, 2, false},
		"the page before the last":                  {func(w *world, pages []map[string]map[string][]byte) { w.sheets = pages[1] }, 0, true},
		"the page before the last, and no LoadTest": {func(w *world, pages []map[string]map[string][]byte) { w.sheets = pages[1]; delete(w.tests, w.made[2]) }, 1, true},
		"no LoadTest":                               {func(w *world, _ []map[string]map[string][]byte) { delete(w.tests, w.made[2]) }, 0, true},
		"neither page nor LoadTest":                 {func(w *world, _ []map[string]map[string][]byte) { clear(w.sheets); delete(w.tests, w.made[2]) }, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, pages := underWay(t)
			w.robbed = true
			c.forge(w, pages)
			w.restart()
			if told := len(w.told) > 0; told == c.fits {
				t.Errorf("not believed are %q", w.told)
			}
			w.restart() // and again, before anything is stored
			w.live(newRandom(1))
			w.restart()
			if counts := w.suite.Status.Counts; !w.complete() || counts.NotMeasured != c.lost || counts.Measured != 4-c.lost || len(w.made) != 4 {
				t.Errorf("%d were made, %+v", len(w.made), counts)
			}
			silent := int32(0)
			for _, row := range w.suite.Status.Table {
				if row.Runs > 0 && row.PacketsPerSecond != want[row.Cell] {
					t.Errorf("cell %s has %d packets/s, and %d were measured", row.Cell, row.PacketsPerSecond, want[row.Cell])
				}
				if row.Runs == 0 && strings.Contains(row.Message, "RunsChanged: ConfigMap night-suite-runs-0 lacks it or was changed, its LoadTest is gone: run the suite anew") {
					silent++
				}
			}
			if silent != c.lost {
				t.Errorf("%d cells say why they have no figure, of %d: %+v", silent, c.lost, w.suite.Status.Table)
			}
		})
	}
}

// Whoever has runs lost that he doesn't like gets no verdict on those that are left.
func TestACellOfWhichRunsAreLostHasNoVerdict(t *testing.T) {
	w := newWorld(t, "template: {spec: {}}\nrepetitions: 3\nhistoryLimit: 0\ninvalidRetries: 0\ncriteria: [{name: enough, metric: PacketsPerSecond, min: \"1\"}]\n")
	w.judge = func([]plan.Criterion, []*report.Report) report.Verdict { return report.Verdict{Outcome: report.Passed} }
	w.pass()
	w.end(w.made[0])
	w.now = w.now.Add(storeEvery)
	w.pass()
	w.pass()
	if len(w.tests) != 1 || len(w.stored) != 1 {
		t.Fatalf("%d LoadTests are there, and %d runs are stored: this life proves nothing", len(w.tests), len(w.stored))
	}
	w.robbed = true
	clear(w.sheets)
	w.restart()
	w.live(newRandom(3))
	w.want("Complete=True PartlyMeasured", "Passed=Unknown Undecided")
	if row := w.suite.Status.Table[0]; row.Runs != 2 || row.Verdict != v1alpha1.VerdictUndecided {
		t.Errorf("%+v", row)
	}
	if cells := ReferenceOf(w.matrix, w.runs).Cells; len(cells) != 1 || len(cells[0].Runs) != 0 {
		t.Errorf("it serves as a baseline: %+v", cells)
	}
}

// Wherever the operator ends, between any two of its writes, and however often: what it wrote itself is believed, nothing is given up, and nothing is measured twice.
// (The world says so.)
func TestHonestPagesAreBelievedWhereverTheOperatorEnds(t *testing.T) {
	for seed := range uint64(tier.Times(8, 60)) {
		random := newRandom(seed)
		w := newWorld(t, twoByTwo+fmt.Sprintf("repetitions: 3\nparallelism: %d\nhistoryLimit: %d\ninvalidRetries: 1\n", 1+random.IntN(4), random.IntN(4)))
		w.ends = func(string) string { return []string{"", "", v1alpha1.ReasonGeneratorLost}[random.IntN(3)] }
		w.dies = func() bool { return random.IntN(6) == 0 }
		if seed%2 == 0 { // many sheets
			w.sheet = 1 << 10
			w.restart()
		}
		w.live(random)
		w.dies = nil
		w.pass()
		if c := w.suite.Status.Counts; c.Tests != 12 || c.Measured+c.NotMeasured != 12 || int(c.Tests+c.Retried) != len(w.made) {
			t.Errorf("seed %d: %d were made, %+v", seed, len(w.made), c)
		}
		if w.suite.Status.StoredRuns != nil {
			t.Errorf("seed %d: a suite that is over still says which pages are to be believed: %+v", seed, w.suite.Status.StoredRuns)
		}
	}
}

// What a release before this one stored is believed as it is, once: from the next status on it is vouched for.
func TestASuiteOfAnEarlierReleaseGoesOn(t *testing.T) {
	w, _ := underWay(t)
	w.suite.Status.StoredRuns = nil
	w.restart()
	if len(w.runs) != 3 || len(w.stored) != 3 {
		t.Fatalf("%d runs are read of three", len(w.runs))
	}
	w.now = w.now.Add(detailEvery)
	w.pass()
	if w.suite.Status.StoredRuns == nil {
		t.Fatal("its status doesn't vouch for what is stored")
	}
	writes := w.writes
	if w.pass(); w.writes != writes {
		t.Error("its status is written again, and nothing changed")
	}
	w.robbed = true
	w.forge(func(runs Runs) { runs[w.made[0]] = tenfold(runs[w.made[0]]) })
	w.restart()
	w.live(newRandom(2))
	w.want("Complete=True PartlyMeasured")
}

// A run that is stored stays as it was written, whatever a later release says of it beside: else an upgrade, or the way back, would have it doubted.
func TestARunStaysAsALaterReleaseWroteIt(t *testing.T) {
	m := Expand(written(t, "template: {spec: {}}\nrepetitions: 2\n"))
	runs := Runs{"night-test-r1": FailedLocalRun(Wanted{Name: "night-test-r1", Repetition: 1, Try: 1}, "no <room> & more", time.Unix(1e9, 0))}
	sheets, _, err := m.EncodePage(0, runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	var p page
	if err := delivery.DecodeRuns(sheets[0].Data, pageVersion, &p); err != nil {
		t.Fatal(err)
	}
	later := strings.Replace(string(p.Runs["night-test-r1"]), "{", `{"later":{"a": 1},`, 1)
	document := fmt.Sprintf(`{"version":%q,"suite":%q,"runs":{"night-test-r1":%s}}`, pageVersion, m.suite.UID, later)
	data, err := delivery.EncodeRuns([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]map[string][]byte{"night-suite-runs-0": data}
	runs, stored := readBack(t, m, there)
	runs["night-test-r2"] = FailedLocalRun(Wanted{Name: "night-test-r2", Repetition: 2, Try: 1}, "again", time.Unix(1e9, 0))
	m.suite.Status.StoredRuns = &v1alpha1.StoredRuns{Pages: []v1alpha1.StoredPage{m.vouch(0, runs, stored)}}
	if before, _ := readBack(t, m, there); len(before) != 1 {
		t.Fatalf("%d runs are believed before the page is written", len(before))
	}
	if sheets, _, err = m.EncodePage(0, runs, stored); err != nil {
		t.Fatal(err)
	}
	there[sheets[0].Name] = sheets[0].Data
	if after, _ := readBack(t, m, there); len(after) != 2 {
		t.Fatalf("%d runs are believed afterwards", len(after))
	}
	if err := delivery.DecodeRuns(there["night-suite-runs-0"], pageVersion, &p); err != nil || !strings.Contains(string(p.Runs["night-test-r1"]), `"later":{"a":1}`) {
		t.Errorf("%v: %s", err, p.Runs["night-test-r1"])
	}
}

// However large a suite is, what its status says of pages stays within the schema's bounds, and names each of their tests.
func TestWhatAStatusSaysOfPagesIsBounded(t *testing.T) {
	const mostTests, mostPages, mostEnded, digest = 10_000, 100, 300, 43
	for repetitions := int32(1); repetitions <= 100; repetitions++ {
		s := &v1alpha1.LoadTestSuite{}
		s.Spec.Repetitions, s.Spec.InvalidRetries = repetitions, new(int32(8))
		m := &Matrix{suite: s, Cells: make([]Cell, mostTests/repetitions)}
		for i := range m.Cells {
			m.Cells[i].stem = fmt.Sprint("s-", i)
		}
		if n := m.Pages(); n > mostPages {
			t.Errorf("%d repetitions: %d pages", repetitions, n)
		}
		if repetitions%33 != 1 {
			continue
		}
		runs := Runs{}
		for w := range m.testsOfPage(0) {
			runs[w.Name] = Run{Ended: v1alpha1.ReasonNodeLost, SuiteRun: report.SuiteRun{Test: w.Name}}
		}
		p := m.vouch(0, runs, nil)
		if len(p.Ended) > mostEnded || len(p.Next) != digest || p.Digest != "" {
			t.Errorf("%d repetitions: %+v", repetitions, p)
		}
		s.Status.StoredRuns = &v1alpha1.StoredRuns{Pages: []v1alpha1.StoredPage{p}}
		r := m.NewReading()
		if err := r.Next(func(string) (map[string][]byte, error) { return nil, nil }, func(_ string, err error) error { return err }); err != nil {
			t.Fatal(err)
		}
		if len(r.Unproven) != len(runs) || len(r.Unproven.Lost(nil)) != len(runs) {
			t.Errorf("%d repetitions: %d of %d tests are named", repetitions, len(r.Unproven), len(runs))
		}
	}
}
