package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// Runs are stored in pages, by their cells. Each page has one or several sheets, which are ConfigMaps. A page that doesn't change isn't written again.
//
//	SUITE-suite          the suite's report: its table, for people and programs
//	SUITE-suite-runs-0   the runs of the first cells, for the operator
//	SUITE-suite-runs-0-1 more of them, as the sheet before is full
//	SUITE-suite-runs-1   …
//
// A run stays in the sheet where it was stored, and writes only add to sheets: so nothing that was stored is lost, wherever the operator is interrupted.
const (
	// pageRuns is how many measurements' runs a page has.
	pageRuns = 200
	// sheetSize is how large a sheet becomes before the next one is begun, in bytes: a fraction of what a ConfigMap holds, since each added run rewrites its
	// sheet.
	sheetSize = 256 << 10
	// pageVersion is the version of a sheet.
	pageVersion = "linerate.dev/suite-runs.v1alpha1"
)

// page is the content of a sheet.
type page struct {
	Version string                     `json:"version"`
	Suite   string                     `json:"suite"` // its UID
	Runs    map[string]json.RawMessage `json:"runs"`
	// Continued: the page has another sheet.
	Continued bool `json:"continued,omitempty"`
}

// Stored are the runs that are stored, each with the number of its sheet among those of its page.
type Stored map[string]int

// Has says whether a run is stored.
func (s Stored) Has(run string) bool {
	_, is := s[run]
	return is
}

// Sheet is a ConfigMap of runs.
type Sheet struct {
	Name string
	Data map[string][]byte
}

// ReportName is the ConfigMap of a suite's report.
func ReportName(suite string) string { return suite + "-suite" }

// SheetName is the ConfigMap of one sheet of a page of runs, both from 0.
func SheetName(suite string, page, sheet int) string {
	name := ReportName(suite) + "-runs-" + strconv.Itoa(page)
	if sheet > 0 {
		name += "-" + strconv.Itoa(sheet)
	}
	return name
}

// cellsPerPage is how many cells' runs are in one page.
func (m *Matrix) cellsPerPage() int {
	return max(1, pageRuns/int(max(m.suite.Spec.Repetitions, 1)))
}

// Pages is how many pages the suite's runs have.
func (m *Matrix) Pages() int {
	per := m.cellsPerPage()
	return (len(m.Cells) + per - 1) / per
}

// pageOf is the page that a cell's runs are in.
func (m *Matrix) pageOf(cell int) int { return cell / m.cellsPerPage() }

// EncodePage adds a page's runs that aren't stored yet to its last sheet, and to further sheets when that is full. The sheets must be written in the returned order:
// the last sheet first, which is ignored until the sheet before mentions it. placed says in which sheets the runs are then.
func (m *Matrix) EncodePage(number int, runs Runs, stored Stored) (sheets []Sheet, placed Stored, err error) {
	held, fresh := m.ofPage(number, runs, stored)
	placed = Stored{}
	for at := max(len(held)-1, 0); len(fresh) > 0; at++ {
		var before []string
		if at < len(held) {
			before = held[at]
		}
		data, added, err := m.fill(runs, before, fresh)
		if err != nil {
			return nil, nil, fmt.Errorf("encode page %d of the runs: %w", number, err)
		}
		for _, name := range fresh[:added] {
			placed[name] = at
		}
		sheets, fresh = append(sheets, Sheet{SheetName(m.suite.Name, number, at), data}), fresh[added:]
	}
	slices.Reverse(sheets)
	return sheets, placed, nil
}

// ofPage are a page's runs: held in each of its sheets, and fresh ones that aren't stored yet.
func (m *Matrix) ofPage(number int, runs Runs, stored Stored) (held [][]string, fresh []string) {
	first := number * m.cellsPerPage()
	for cell := first; cell < min(first+m.cellsPerPage(), len(m.Cells)); cell++ {
		for name := range m.testNames(cell) {
			if _, known := runs[name]; !known {
				continue
			}
			at, is := stored[name]
			if !is {
				fresh = append(fresh, name)
				continue
			}
			for len(held) <= at {
				held = append(held, nil)
			}
			held[at] = append(held[at], name)
		}
	}
	return held, fresh
}

// fill is the data of a sheet with the runs before, and as many fresh ones as fit. If they are too many, it next tries about as many as would fit if all had the same
// size. A single run may fill a ConfigMap.
func (m *Matrix) fill(runs Runs, before, fresh []string) (data map[string][]byte, added int, err error) {
	for n := len(fresh); ; {
		data, err := m.encodeSheet(runs, slices.Concat(before, fresh[:n]), n < len(fresh))
		size := len(data[delivery.KeyRuns])
		switch {
		case err == nil && (size <= m.sheetSize || len(before)+n <= 1 || n == 0):
			return data, n, nil
		case n == 0 || len(before) == 0 && n == 1:
			return nil, 0, err
		case err != nil:
			n /= 2
		default:
			all := len(before) + n
			n = max(min(all*m.sheetSize/size*9/10-len(before), n-1), 0)
		}
		if len(before) == 0 {
			n = max(n, 1)
		}
	}
}

func (m *Matrix) encodeSheet(runs Runs, names []string, continued bool) (map[string][]byte, error) {
	p := page{Version: pageVersion, Suite: string(m.suite.UID), Runs: make(map[string]json.RawMessage, len(names)), Continued: continued}
	for _, name := range names {
		run := runs[name]
		document, err := run.document()
		if err != nil {
			return nil, err
		}
		p.Runs[name] = document
	}
	document, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return delivery.EncodeRuns(document)
}

// mostRunBytes is more bytes than any stored run has.
const mostRunBytes = 2 << 20

// sheetContent is the content of a sheet, with its runs still encoded.
type sheetContent struct {
	runs      map[string]json.RawMessage
	continued bool
}

// openSheet reads what encodeSheet wrote, but only the runs of these names. A sheet of another suite of the same name is refused.
func (m *Matrix) openSheet(data map[string][]byte, names map[string]bool) (sheetContent, error) {
	var p page
	if err := delivery.DecodeRuns(data, pageVersion, &p); err != nil {
		return sheetContent{}, err
	}
	if p.Suite != string(m.suite.UID) {
		return sheetContent{}, fmt.Errorf("its runs are those of suite %s, and this is %s", p.Suite, m.suite.UID)
	}
	maps.DeleteFunc(p.Runs, func(name string, _ json.RawMessage) bool { return !names[name] })
	for name, document := range p.Runs {
		var written bytes.Buffer // as the operator writes it: without spaces
		if err := json.Compact(&written, document); err != nil {
			return sheetContent{}, fmt.Errorf("run %s: %w", name, err)
		}
		if written.Len() > mostRunBytes {
			return sheetContent{}, fmt.Errorf("run %s has %d bytes, more than any run has", name, written.Len())
		}
		p.Runs[name] = bytes.Clone(written.Bytes())
	}
	return sheetContent{runs: p.Runs, continued: p.Continued}, nil
}

// decode reads the runs.
func (s sheetContent) decode() (Runs, error) {
	runs := make(Runs, len(s.runs))
	for name, document := range s.runs {
		run, err := readRun(document)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", name, err)
		}
		if r := run.Evidence; r != nil && (r.Plan == nil || r.Result.Measured && (r.Result.Total == nil || len(r.Result.Directions) == 0)) {
			return nil, fmt.Errorf("run %s has evidence that no run leaves: somebody changed it", name)
		}
		runs[name] = run
	}
	return runs, nil
}

// testNames are the names that tests of a cell may have, in their order.
func (m *Matrix) testNames(cell int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for r := range max(m.suite.Spec.Repetitions, 1) {
			for try := range m.retriesOf(cell) + 1 {
				if !yield(m.TestName(cell, r+1, try+1)) {
					return
				}
			}
		}
	}
}
