package foursystems

import (
	"fmt"
	"math"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// allowed is how far a figure may be off what is known, as a share of it.
const allowed = 0.01

// Render asks linerate for the suite in a format.
type Render func(format string) string

// Suite reads the suite's document.
func (r Render) Suite() (*report.Suite, error) {
	documents, err := report.ReadDocuments(strings.NewReader(r("json")))
	if err != nil {
		return nil, fmt.Errorf("read the suite as JSON: %w", err)
	}
	if len(documents.Suites) != 1 || len(documents.Reports) > 0 {
		return nil, fmt.Errorf("the document has %d suites and %d tests, want the suite", len(documents.Suites),
			len(documents.Reports))
	}
	return documents.Suites[0], nil
}

// Faults are what is wrong with a suite of these cells, of all if none is named: with its figures, and with its
// table as text, markdown and HTML.
func Faults(r Render, cells ...string) (faults []string) {
	s, err := r.Suite()
	if err != nil {
		return []string{err.Error()}
	}
	want := answersOf(cells)
	faults = suiteFaults(s, want)
	for _, format := range []string{"text", "markdown", "html"} {
		rows, err := rowsOf(format, r(format))
		if err != nil {
			faults = append(faults, format+": "+err.Error())
			continue
		}
		for _, f := range rowFaults(rows, s, want) {
			faults = append(faults, format+": "+f)
		}
	}
	return faults
}

func suiteFaults(s *report.Suite, want []Answer) (faults []string) {
	if s.Finished.IsZero() {
		faults = append(faults, "the suite has not ended")
	}
	found := map[string]*report.SuiteCell{}
	for i := range s.Cells {
		found[s.Cells[i].Name] = &s.Cells[i]
	}
	if len(found) != len(want) {
		faults = append(faults, fmt.Sprintf("%d cells, want %d", len(found), len(want)))
	}
	for _, a := range want {
		if c := found[a.Cell]; c == nil {
			faults = append(faults, a.Cell+" isn't there")
		} else {
			faults = append(faults, a.faults(c)...)
		}
	}
	return faults
}

// faults are a cell's.
func (a Answer) faults(c *report.SuiteCell) (faults []string) {
	f := c.Figures
	if f == nil {
		return []string{fmt.Sprintf("%s is not measured: %+v", a.Cell, c.Runs)}
	}
	if deviation := share(float64(f.PacketsPerSecond), a.PacketsPerSecond); math.Abs(deviation) > allowed {
		faults = append(faults, fmt.Sprintf("%s: %d packets/s of both directions, %+.2f %% off the known %.0f", a.Cell,
			f.PacketsPerSecond, deviation*100, a.PacketsPerSecond))
	}
	if deviation := share(float64(f.Layer1BitsPerSecond), a.Layer1BitsPerSecond); math.Abs(deviation) > allowed {
		faults = append(faults, fmt.Sprintf("%s: %d bits/s of layer 1, %+.2f %% off the known %.0f", a.Cell,
			f.Layer1BitsPerSecond, deviation*100, a.Layer1BitsPerSecond))
	}
	if f.LowerBound != a.LineRate {
		faults = append(faults, fmt.Sprintf("%s: lower bound %v, want %v", a.Cell, f.LowerBound, a.LineRate))
	}
	if f.Runs > 1 && f.Spread == nil {
		faults = append(faults, fmt.Sprintf("%s: %d runs, and no spread", a.Cell, f.Runs))
	}
	return faults
}

// rowFaults: the table has the rows that are wanted, in that order, each with the document's figure.
func rowFaults(rows []row, s *report.Suite, want []Answer) (faults []string) {
	if len(rows) != len(want) {
		return []string{fmt.Sprintf("%d rows, want %d: %+v", len(rows), len(want), rows)}
	}
	for i, a := range want {
		const rounded = 0.0051 // two digits, of a figure that may be as small as 1.00 K
		r, f := rows[i], figuresOf(s, a.Cell)
		if r.product != a.Product || r.loadtest != a.Loadtest || r.bound != f.LowerBound ||
			math.Abs(r.packetsPerSecond-float64(f.PacketsPerSecond)) > rounded*float64(f.PacketsPerSecond) {
			faults = append(faults, fmt.Sprintf("row %d is %+v, want %s, %s with %d packets/s, lower bound %v", i+1, r,
				a.Product, a.Loadtest, f.PacketsPerSecond, f.LowerBound))
		}
	}
	return faults
}

// figuresOf are a cell's, and zero where it has none.
func figuresOf(s *report.Suite, cell string) report.Figures {
	for _, c := range s.Cells {
		if c.Name == cell && c.Figures != nil {
			return *c.Figures
		}
	}
	return report.Figures{}
}

// share is how far a figure is off, as a share of what is known.
func share(got, expected float64) float64 { return got/expected - 1 }
