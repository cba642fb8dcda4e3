package suite

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"github.com/linerate-dev/linerate/internal/delivery"
)

// Runs are stored in pages, each in a ConfigMap of its own: a page that doesn't change isn't written again, and none outgrows a ConfigMap.
//
//	SUITE-suite        the suite's report: its table, for people and programs
//	SUITE-suite-runs-0 the runs of the first cells, for the operator
//	SUITE-suite-runs-1 …
const (
	// pageRuns is of how many measurements a page has the runs. 8 directions and all repeated take 500 KiB at most.
	pageRuns = 200
	// pageVersion is the version of a page.
	pageVersion = "linerate.dev/suite-runs.v1alpha1"
)

// page is what one of the ConfigMaps holds.
type page struct {
	Version string         `json:"version"`
	Suite   string         `json:"suite"` // its UID
	Runs    map[string]Run `json:"runs"`
}

// ReportName is the ConfigMap of a suite's report.
func ReportName(suite string) string { return suite + "-suite" }

// PageName is the ConfigMap of one page of runs.
func PageName(suite string, page int) string {
	return ReportName(suite) + "-runs-" + strconv.Itoa(page)
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

// EncodePage is the data of a page's ConfigMap: those of the runs that are in it.
func (m *Matrix) EncodePage(number int, runs Runs) (map[string][]byte, error) {
	p := page{Version: pageVersion, Suite: string(m.suite.UID), Runs: map[string]Run{}}
	for cell := range m.Cells {
		if m.pageOf(cell) != number {
			continue
		}
		for name := range m.testNames(cell) {
			if run, known := runs[name]; known {
				p.Runs[name] = run
			}
		}
	}
	document, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode page %d of the runs: %w", number, err)
	}
	return delivery.EncodeRuns(document)
}

// DecodePage adds the runs of a page to those that are known. A page of another suite of this name has none of this one's.
func (m *Matrix) DecodePage(data map[string][]byte, into Runs) error {
	var p page
	if err := delivery.DecodeRuns(data, pageVersion, &p); err != nil {
		return err
	}
	if p.Suite != string(m.suite.UID) {
		return fmt.Errorf("its runs are those of suite %s, and this is %s", p.Suite, m.suite.UID)
	}
	for name, run := range p.Runs {
		if r := run.Evidence; r != nil && (r.Plan == nil || r.Result.Measured && (r.Result.Total == nil || len(r.Result.Directions) == 0)) {
			return fmt.Errorf("run %s has evidence that no run leaves: somebody changed it", name)
		}
	}
	maps.Copy(into, p.Runs)
	return nil
}

// testNames are the names that tests of a cell may have, each with its repetition and try.
func (m *Matrix) testNames(cell int) map[string][2]int32 {
	names := map[string][2]int32{}
	for r := range max(m.suite.Spec.Repetitions, 1) {
		for try := range m.retries() + 1 {
			names[m.TestName(cell, r+1, try+1)] = [2]int32{r + 1, try + 1}
		}
	}
	return names
}
