package suite

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// wordy is a run without figures, whose texts can't be compressed.
func wordy(random *rand.Rand, name string) Run {
	words := func() string {
		text := make([]byte, maxMessage)
		for i := range text {
			text[i] = byte('!' + random.IntN(90))
		}
		return string(text)
	}
	evidence := lossyAtAnyLoad()
	evidence.Version, evidence.Message, evidence.Answer.Message = report.Version, words(), words()
	return Run{Ended: v1alpha1.ReasonDUTFailed, SuiteRun: report.SuiteRun{Test: name, Repetition: 1,
		Reason: v1alpha1.ReasonDUTFailed, Message: words(), Evidence: evidence}}
}

// allTries are the names of all tests that a suite can have, by cells.
func allTries(m *Matrix) (names []string) {
	for cell := range m.Cells {
		names = slices.AppendSeq(names, m.testNames(cell))
	}
	return names
}

// 200 repetitions with the maximum of tries and the longest texts are more than a ConfigMap holds, and are
// stored.
func TestRunsThatOutgrowAConfigMapAreStored(t *testing.T) {
	m, random, runs, stored := Expand(written(t, manyCells(10, 20)+"invalidRetries: 8\n")), newRandom(17), Runs{},
		Stored{}
	for _, name := range allTries(m) {
		runs[name] = wordy(random, name)
	}
	sheets, whole := map[string]map[string][]byte{}, 0
	for !runs.AllIn(stored) {
		n := m.store(t, runs, stored, sheets)
		if whole += n; n > sheetSize {
			t.Errorf("a sheet takes %d bytes", n)
		}
	}
	if read := readAll(t, m, sheets); len(read.Runs) != len(runs) || !maps.Equal(read.Stored, stored) ||
		whole <= delivery.MaxPacked {
		t.Errorf("%d of %d runs are read from %d sheets; together they take %d bytes, and a ConfigMap takes %d",
			len(read.Runs), len(runs), len(sheets), whole, delivery.MaxPacked)
	}
}

// store writes the next sheet, and returns its size in bytes.
func (m *Matrix) store(t testing.TB, runs Runs, stored Stored, sheets map[string]map[string][]byte) int {
	t.Helper()
	sheet, err := m.NextSheet(runs, stored)
	if err != nil || len(sheet.Added) == 0 {
		t.Fatalf("%d runs are added: %v", len(sheet.Added), err)
	}
	sheets[SheetName(m.suite, sheet.Number)] = sheet.Data
	for _, name := range sheet.Added {
		stored[name] = sheet.Number
	}
	return len(sheet.Data[delivery.KeyRuns])
}

// Wherever the operator is interrupted between two writes, and however often, no stored run is lost.
func TestStoredRunsAreNeverLost(t *testing.T) {
	for seed := range uint64(3) {
		random := newRandom(seed)
		m := Expand(written(t, manyCells(4, 5)+"invalidRetries: 3\nrepetitions: 2\n"))
		m.sheetSize = 4 << 10
		names := allTries(m)
		random.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		sheets, runs, stored := map[string]map[string][]byte{}, Runs{}, Stored{}
		for len(stored) < len(names) {
			quota := 1 + random.IntN(20)
			for _, name := range names {
				if _, ok := runs[name]; !ok && quota > 0 {
					runs[name] = wordy(random, name)
					quota--
				}
			}
			for !runs.AllIn(stored) && random.IntN(4) > 0 {
				m.store(t, runs, stored, sheets)
			}
			read := readAll(t, m, sheets)
			for name, number := range stored {
				if sheet, ok := read.Stored[name]; !ok || sheet != number {
					t.Fatalf("seed %d: %s was stored in sheet %d, and is in %d now (%v)", seed, name, number, sheet, ok)
				}
			}
			if random.IntN(3) == 0 { // a new operator knows what it reads
				runs, stored = read.Runs, read.Stored
			}
		}
		if len(sheets) < 10 {
			t.Errorf("seed %d: %d sheets", seed, len(sheets))
		}
	}
}

// underWay is a suite of four tests. Three are complete and stored, the first two LoadTests are gone, and the
// last is being measured.
func underWay(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, twoByTwo+"parallelism: 1\nhistoryLimit: 1\ninvalidRetries: 0\n")
	w.pass()
	for range 3 {
		w.end(w.created[len(w.created)-1])
		w.now = w.now.Add(storeEvery)
		w.pass()
	}
	if len(w.tests) != 2 || len(w.stored) != 3 || len(w.created) != 4 {
		t.Fatalf("%d LoadTests are there, %d runs are stored, %q were made: this life proves nothing", len(w.tests),
			len(w.stored), w.created)
	}
	return w
}

// tenfold is a run with forged figures.
func tenfold(run Run) Run {
	figures, evidence := *run.Figures, *run.Evidence
	figures.PacketsPerSecond *= 10
	total := *evidence.Answer.Total
	total.Received.PacketsPerSecond *= 10
	evidence.Answer.Total = &total
	run.Figures, run.Evidence = &figures, &evidence
	return run
}

// A user who changes the copies of a suite's runs, or deletes LoadTests, while the operator is down changes no
// figure, has nothing measured twice, and makes no command accept another figure.
func TestWhoChangesCopiesChangesNoFigure(t *testing.T) {
	honest := underWay(t)
	honest.restart()
	honest.live(newRandom(1))
	honest.want("Complete=True Measured")
	want := text(t, honest.suite.Status.Table)
	for name, forge := range map[string]func(w *world){
		"nobody changed anything": func(*world) {},
		"better figures": func(w *world) {
			better := Runs{}
			for name, run := range w.runs {
				better[name] = tenfold(run)
			}
			sheet, err := w.matrix.NextSheet(better, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.copies[CopyName(w.suite.Name, 0)] = sheet.Data
		},
		"no copy":     func(w *world) { clear(w.copies) },
		"no LoadTest": func(w *world) { delete(w.tests, w.created[2]) },
	} {
		t.Run(name, func(t *testing.T) {
			w := underWay(t)
			forge(w)
			changed := !maps.EqualFunc(w.copies, underWay(t).copies,
				func(a, b map[string][]byte) bool { return text(t, a) == text(t, b) })
			if read, err := w.published(); changed != errors.Is(err, ErrOtherCopies) || !changed && len(read) != 3 {
				t.Errorf("%d runs are believed: %v", len(read), err)
			}
			w.restart()
			w.live(newRandom(1))
			w.want("Complete=True Measured")
			if table := text(t, w.suite.Status.Table); table != want || len(w.created) != 4 {
				t.Errorf("%d were made, and the table is\n%s\nwant\n%s", len(w.created), table, want)
			}
			if read, err := w.published(); err != nil || len(read) != 4 {
				t.Errorf("in the end %d runs are believed: %v", len(read), err)
			}
		})
	}
}

// Wherever the operator ends between two of its writes, and however often, no run is lost, nothing is measured
// twice (the world checks that), and in the end the copies are what the status names.
func TestWhereverTheOperatorEndsItGoesOnFromWhatIsStored(t *testing.T) {
	for seed := range uint64(tier.Times(8, 60)) {
		random := newRandom(seed)
		w := newWorld(t, twoByTwo+fmt.Sprintf("repetitions: 3\nparallelism: %d\nhistoryLimit: %d\ninvalidRetries: 1\n",
			1+random.IntN(4), random.IntN(4)))
		w.ends = func(string) string { return []string{"", "", v1alpha1.ReasonGeneratorLost}[random.IntN(3)] }
		w.dies = func() bool { return random.IntN(6) == 0 }
		if seed%2 == 0 { // many sheets
			w.sheet = 1 << 10
			w.restart()
		}
		w.live(random)
		w.dies = nil
		w.pass()
		if c := w.suite.Status.Counts; c.Tests != 12 || c.Measured+c.NotMeasured != 12 ||
			int(c.Tests+c.Retried) != len(w.created) {
			t.Errorf("seed %d: %d were made, %+v", seed, len(w.created), c)
		}
		if read, err := w.published(); err != nil || len(read) != len(w.created) {
			t.Errorf("seed %d: %d runs are published of %d: %v", seed, len(read), len(w.created), err)
		}
	}
}
