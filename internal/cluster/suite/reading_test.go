package suite

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// readAll reads the sheets that the operator stored.
func readAll(t testing.TB, m *Matrix, sheets map[string]map[string][]byte) *Reading {
	t.Helper()
	r := m.NewReading()
	for {
		data, ok := sheets[r.Name()]
		if !ok {
			return r
		}
		if err := r.Add(data); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASheetThatCannotBeReadIsNextAgain(t *testing.T) {
	m, runs := Expand(written(t, manyCells(2, 5))), Runs{}
	for _, name := range allTries(m) {
		runs[name] = wordy(newRandom(19), name)
	}
	sheet, err := m.NextSheet(runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	second := Expand(written(t, manyCells(2, 5)))
	second.suite.UID = "another"
	r, foreign := m.NewReading(), second.NewReading()
	name := r.Name()
	if r.Add(map[string][]byte{delivery.KeyRuns: []byte("spoilt")}) == nil || foreign.Add(sheet.Data) == nil ||
		len(r.Runs)+len(r.Stored)+len(r.Sheets)+len(foreign.Runs) > 0 || r.Name() != name {
		t.Errorf("%d runs are read of a spoilt sheet, %d of another suite's; %s is next", len(r.Runs),
			len(foreign.Runs), r.Name())
	}
	if err := r.Add(sheet.Data); err != nil || len(r.Runs) != len(sheet.Added) {
		t.Errorf("%d runs are read afterwards: %v", len(r.Runs), err)
	}
}

// Suites of one name in two namespaces, or one after the other, store their runs in different sheets.
func TestSuitesOfOneNameHaveSheetsOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, uid := range []string{"1", "2", "3"} {
		s := written(t, "template: {spec: {}}\n")
		s.UID = types.UID(uid)
		for number := range 3 {
			names[SheetName(s, number)] = true
		}
	}
	if len(names) != 9 {
		t.Errorf("%v", names)
	}
}

// Anyone who may edit the suite's namespace may change the copies. Only what the operator wrote last is
// accepted.
func TestCopiesAreBelievedOnlyAsTheOperatorWroteThem(t *testing.T) {
	m, runs, stored, sheets, copies := Expand(written(t, manyCells(4, 5)+"invalidRetries: 3\n")), Runs{}, Stored{},
		Sheets{}, map[string]map[string][]byte{}
	random := newRandom(23)
	m.sheetSize = 4 << 10
	for _, name := range allTries(m) {
		runs[name] = wordy(random, name)
	}
	for !runs.AllIn(stored) {
		sheet, err := m.NextSheet(runs, stored)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sheet.Added {
			stored[name] = sheet.Number
		}
		copies[CopyName(m.suite.Name, sheet.Number)] = sheet.Data
		sheets.Record(sheet.Number, sheet.Data)
	}
	m.suite.Status.Operator.StoredRuns = sheets.Published()
	first, second := CopyName(m.suite.Name, 0), CopyName(m.suite.Name, 1)
	for name, c := range map[string]struct {
		change   func(map[string]map[string][]byte)
		believed bool
	}{
		"as they are": {func(map[string]map[string][]byte) {}, true},
		"and one more": {func(configMaps map[string]map[string][]byte) {
			configMaps[CopyName(m.suite.Name, len(sheets))] = configMaps[first]
		}, true},
		"one less": {func(configMaps map[string]map[string][]byte) { delete(configMaps, second) }, false},
		"none":     {func(configMaps map[string]map[string][]byte) { clear(configMaps) }, false},
		"in another order": {func(configMaps map[string]map[string][]byte) {
			configMaps[first], configMaps[second] = configMaps[second], configMaps[first]
		}, false},
		"what can't be read": {func(configMaps map[string]map[string][]byte) {
			configMaps[first] = map[string][]byte{delivery.KeyRuns: []byte("spoilt")}
		}, false},
		"with a better figure": {func(configMaps map[string]map[string][]byte) {
			forged := maps.Clone(runs)
			forged[slices.Sorted(maps.Keys(runs))[0]] = Run{Ended: "Measured"}
			sheet, err := m.NextSheet(forged, nil)
			if err != nil {
				t.Fatal(err)
			}
			configMaps[first] = sheet.Data
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			changed := maps.Clone(copies)
			c.change(changed)
			read, err := m.ReadCopies(func(name string) (map[string][]byte, error) { return changed[name], nil })
			if believed := err == nil && len(read) == len(runs); believed != c.believed || err != nil &&
				(!errors.Is(err, ErrOtherCopies) || len(read) > 0) {
				t.Errorf("%d of %d runs are read: %v", len(read), len(runs), err)
			}
		})
	}
}
