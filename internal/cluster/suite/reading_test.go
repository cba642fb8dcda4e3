package suite

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// wordySuite is one with a page of the largest kind: each of its tests is over, and has as much to say as can be said.
func wordySuite(t *testing.T) (m *Matrix, runs Runs, stored Stored, sheets map[string]map[string][]byte) {
	t.Helper()
	m, runs, sheets = Expand(written(t, manyCells(10, 20)+"invalidRetries: 8\n")), Runs{}, map[string]map[string][]byte{}
	random := newRandom(23)
	for _, name := range allTries(m) {
		runs[name] = wordy(random, name).seal()
	}
	encoded, stored, err := m.EncodePage(0, runs, nil)
	if err != nil || m.Pages() != 1 || len(encoded) < 3 {
		t.Fatalf("%d pages, %d sheets, %v", m.Pages(), len(encoded), err)
	}
	for _, s := range encoded {
		sheets[s.Name] = s.Data
	}
	return m, runs, stored, sheets
}

// readAll reads all, and says how many ConfigMaps it asked for and what wasn't believed.
func readAll(t testing.TB, m *Matrix, read func(name string) map[string][]byte) (r *Reading, asked int, told []string) {
	t.Helper()
	r = m.NewReading()
	for !r.Done() {
		err := r.Next(func(name string) (map[string][]byte, error) { asked++; return read(name), nil }, func(name string, err error) error {
			told = append(told, name+": "+err.Error())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return r, asked, told
}

// proofs are the ways in which a suite's status proves its runs.
func proofs(m *Matrix, runs Runs, stored Stored, sheets map[string]map[string][]byte) map[string]v1alpha1.LoadTestSuiteStatus {
	all := Sheets{}
	for name, data := range sheets {
		all.Add(name, data)
	}
	return map[string]v1alpha1.LoadTestSuiteStatus{
		"goes on":     {StoredRuns: &v1alpha1.StoredRuns{Pages: []v1alpha1.StoredPage{m.vouch(0, runs, stored)}}},
		"is complete": {RunsDigest: all.Digest()},
	}
}

func TestAPageOfTheLargestKindIsRead(t *testing.T) {
	m, runs, stored, sheets := wordySuite(t)
	for name, status := range proofs(m, runs, stored, sheets) {
		m.suite.Status = status
		r, asked, told := readAll(t, m, func(name string) map[string][]byte { return sheets[name] })
		if len(r.Runs) != len(runs) || !maps.Equal(r.Stored, stored) || len(r.Sheets) != len(sheets) || len(told)+len(r.Unproven) > 0 || r.Fits() != nil || asked != 2*len(sheets) {
			t.Errorf("a suite that %s: %d of %d runs, %d ConfigMaps were asked for, %v, %q", name, len(r.Runs), len(runs), asked, r.Fits(), told)
		}
	}
}

// What is exchanged between the two times that it is read isn't what was proven.
func TestASheetThatIsChangedWhileItIsReadIsNotBelieved(t *testing.T) {
	m, runs, stored, sheets := wordySuite(t)
	other, err := m.encodeSheet(Runs{}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, status := range proofs(m, runs, stored, sheets) {
		m.suite.Status = status
		seen := map[string]bool{}
		r, _, told := readAll(t, m, func(name string) map[string][]byte {
			if seen[name] && strings.HasSuffix(name, "-1") {
				return other
			}
			seen[name] = true
			return sheets[name]
		})
		if len(r.Runs)+len(r.Stored) > 0 || len(told) != 1 || !strings.Contains(told[0], "was changed while it was read") {
			t.Errorf("a suite that %s: %d runs are believed, told %q", name, len(r.Runs), told)
		}
	}
}

// Whoever edits the namespace may make as many ConfigMaps as there is room for, each with all the runs that it can hold: none is kept, and they have an end.
func TestSheetsWithoutEndAreReadAsFarAsAPageHasRuns(t *testing.T) {
	m, runs, stored, sheets := wordySuite(t)
	statuses := proofs(m, runs, stored, sheets)
	statuses["an earlier release began"] = v1alpha1.LoadTestSuiteStatus{}
	name := m.TestName(0, 1, 1)
	for of, c := range map[string]map[string]Run{"runs of its own": {name: runs[name]}, "runs of nobody's": {"nobody": runs[name]}, "nothing": {}} {
		data, err := m.encodeSheet(c, keysOf(c), true)
		if err != nil {
			t.Fatal(err)
		}
		for is, status := range statuses {
			m.suite.Status = status
			r, asked, told := readAll(t, m, func(string) map[string][]byte { return data })
			if len(r.Runs) > 1 || len(r.Runs) == 1 && status.StoredRuns != nil || asked > len(runs)+1 || len(told) == 0 {
				t.Errorf("sheets with %s of a suite that %s: %d runs are kept, %d ConfigMaps were read, told %q", of, is, len(r.Runs), asked, told)
			}
		}
	}
}

func keysOf(runs Runs) (names []string) {
	for name := range runs {
		names = append(names, name)
	}
	return names
}

// Of a suite that an earlier release began nothing proves what is stored: no more is kept of it than of a suite that measured.
func TestRunsThatNothingProvesAreKeptAsFarAsTheirBound(t *testing.T) {
	m := Expand(written(t, manyCells(10, 20)))
	page := func(evidence string) map[string][]byte {
		var runs []string
		for w := range m.testsOfPage(0) {
			runs = append(runs, fmt.Sprintf("%q:{%s}", w.Name, evidence))
		}
		data, err := delivery.EncodeRuns(fmt.Appendf(nil, `{"version":%q,"suite":%q,"runs":{%s}}`, pageVersion, m.suite.UID, strings.Join(runs, ",")))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	m.suite.Status = v1alpha1.LoadTestSuiteStatus{}
	small := page(`"ended":"Stopped"`)
	r, _, told := readAll(t, m, func(name string) map[string][]byte {
		if strings.HasSuffix(name, "-0") {
			return small
		}
		return nil
	})
	if len(r.Runs) == 0 || r.kept == 0 || len(told) > 0 {
		t.Fatalf("%d runs of %d bytes, told %q", len(r.Runs), r.kept, told)
	}
	r = m.NewReading()
	r.kept = mostUnproven
	told = nil
	for !r.Done() {
		if err := r.Next(func(name string) (map[string][]byte, error) {
			if strings.HasSuffix(name, "-0") {
				return small, nil
			}
			return nil, nil
		}, func(_ string, err error) error { told = append(told, err.Error()); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Runs) > 0 || len(told) != 1 || !strings.Contains(told[0], "take more memory than a suite's do") {
		t.Errorf("%d runs are kept beyond the bound, told %q", len(r.Runs), told)
	}
}
