package suite

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// wordy is a run that came to nothing, and says so in words that can't be packed.
func wordy(random *rand.Rand, name string) Run {
	words := func() string {
		text := make([]byte, maxMessage)
		for i := range text {
			text[i] = byte('!' + random.IntN(90))
		}
		return string(text)
	}
	evidence := lossyAtAnyLoad()
	evidence.Version, evidence.Message, evidence.Result.Message = report.Version, words(), words()
	return Run{Ended: v1alpha1.ReasonDUTFailed, SuiteRun: report.SuiteRun{Test: name, Repetition: 1, Reason: v1alpha1.ReasonDUTFailed, Message: words(), Evidence: evidence}}
}

// allTries are the names of all tests that a suite can come to have, by cells.
func allTries(m *Matrix) (names []string) {
	for cell := range m.Cells {
		names = slices.AppendSeq(names, m.testNames(cell))
	}
	return names
}

// 200 repetitions of which each is repeated as often as can be, with as much to say as can be said, are more than a ConfigMap holds. They are stored all
// the same.
func TestRunsThatOutgrowAConfigMapAreStored(t *testing.T) {
	m, random, runs := Expand(written(t, manyCells(10, 20)+"invalidRetries: 8\n")), newRandom(17), Runs{}
	for _, name := range allTries(m) {
		runs[name] = wordy(random, name)
	}
	written, _, err := m.EncodePage(0, runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	sheets, whole := map[string]map[string][]byte{}, 0
	for _, s := range written {
		n := len(s.Data[delivery.KeyRuns])
		if sheets[s.Name], whole = s.Data, whole+n; n > sheetSize {
			t.Errorf("%s takes %d bytes", s.Name, n)
		}
	}
	if read, _ := readBack(t, m, sheets); len(read) != len(runs) || whole <= delivery.MaxPacked {
		t.Errorf("%d of %d runs are read from %d sheets; together they take %d bytes, and a ConfigMap takes %d", len(read), len(runs), len(sheets), whole, delivery.MaxPacked)
	}
}

// Wherever the operator is cut short between two writes, and however often, nothing is lost that was known to be stored.
func TestStoredRunsAreNeverLost(t *testing.T) {
	for seed := range uint64(3) {
		random := newRandom(seed)
		m := Expand(written(t, manyCells(4, 5)+"invalidRetries: 3\nrepetitions: 2\n"))
		m.sheetSize = 4 << 10
		names := allTries(m)
		random.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		sheets, runs, stored := map[string]map[string][]byte{}, Runs{}, Stored{}
		for len(stored) < len(names) {
			more := 1 + random.IntN(20)
			for _, name := range names {
				if _, known := runs[name]; !known && more > 0 {
					runs[name] = wordy(random, name)
					more--
				}
			}
			written, placed, err := m.EncodePage(0, runs, stored)
			if err != nil {
				t.Fatal(err)
			}
			cut := len(written)
			if random.IntN(2) == 0 {
				cut = random.IntN(len(written) + 1)
			}
			for _, s := range written[:cut] {
				sheets[s.Name] = s.Data
			}
			if cut == len(written) {
				maps.Copy(stored, placed)
			}
			read, where := readBack(t, m, sheets)
			for name, at := range stored {
				if now, is := where[name]; !is || now != at {
					t.Fatalf("seed %d: %s was stored in sheet %d, and is in %d now (%v)", seed, name, at, now, is)
				}
			}
			if random.IntN(3) == 0 { // a new operator knows what it reads
				runs, stored = read, where
			}
		}
		if len(sheets) < 10 {
			t.Errorf("seed %d: %d sheets", seed, len(sheets))
		}
	}
}

func readBack(t testing.TB, m *Matrix, sheets map[string]map[string][]byte) (Runs, Stored) {
	t.Helper()
	r, _, told := readAll(t, m, func(name string) map[string][]byte { return sheets[name] })
	if len(told) > 0 {
		t.Fatalf("%q", told)
	}
	return r.Runs, r.Stored
}

// What is spoilt, or isn't there, takes nothing else with it.
func TestASpoiltSheetTakesNoOtherWithIt(t *testing.T) {
	random := newRandom(19)
	m := Expand(written(t, manyCells(2, 5)+"invalidRetries: 3\n"))
	m.sheetSize = 4 << 10
	runs, sheets := Runs{}, map[string]map[string][]byte{}
	for _, name := range allTries(m) {
		runs[name] = wordy(random, name)
	}
	written, placed, err := m.EncodePage(0, runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range written {
		sheets[s.Name] = s.Data
	}
	sheets["night-suite-runs-0-1"] = map[string][]byte{delivery.KeyRuns: []byte("spoilt")}
	r, _, told := readAll(t, m, func(name string) map[string][]byte { return sheets[name] })
	if len(told) != 1 || !strings.HasPrefix(told[0], "night-suite-runs-0-1: ") {
		t.Errorf("told %q", told)
	}
	for name, at := range placed {
		if r.Stored.Has(name) == (at == 1) {
			t.Fatalf("%s of sheet %d: it is read %v", name, at, r.Stored.Has(name))
		}
	}
}
