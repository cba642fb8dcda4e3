package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/report"
)

// Reading reads the runs that are stored of a suite, one sheet at a time: they may be many, and nothing else waits for all of them. Its zero value is of no
// use; NewReading makes one. It isn't safe for concurrent use.
type Reading struct {
	m           *Matrix
	page, sheet int
	// Runs are those that were read so far, and Stored says in which sheets they are.
	Runs   Runs
	Stored Stored
	// Sheets are the sheets that were read so far.
	Sheets Sheets
}

// NewReading begins to read.
func (m *Matrix) NewReading() *Reading {
	return &Reading{m: m, Runs: Runs{}, Stored: Stored{}, Sheets: Sheets{}}
}

// Done says whether all is read.
func (r *Reading) Done() bool { return r.page >= r.m.Pages() }

// Next reads one sheet. Read gives the data of a ConfigMap, nil where there is none; where it can't, the same sheet is next again. Spoilt hears of what
// can't be understood, and may end it with an error.
func (r *Reading) Next(read func(name string) (map[string][]byte, error), spoilt func(name string, err error) error) error {
	name := SheetName(r.m.suite.Name, r.page, r.sheet)
	data, err := read(name)
	switch {
	case err != nil:
		return err
	case data == nil:
		r.turn()
		return nil
	}
	r.Sheets.Add(name, data)
	p, err := r.m.decodeSheet(data)
	if err != nil {
		r.sheet++ // what comes after it may be whole
		return spoilt(name, err)
	}
	for name, run := range p.Runs {
		r.Runs[name], r.Stored[name] = run, r.sheet
	}
	if r.sheet++; !p.Continued {
		r.turn()
	}
	return nil
}

// Fits refuses runs that aren't those that a complete suite was judged by: whoever edits the namespace may change the ConfigMaps that they are in. A suite that a
// release before this one ended says of no digest, and is taken as it is.
func (r *Reading) Fits() error {
	if want := r.m.suite.Status.RunsDigest; want != "" && want != r.Sheets.Digest() {
		return fmt.Errorf("the runs in ConfigMaps %s-runs-… have the digest %s, and suite %s was judged by %s: somebody changed them; run the suite anew",
			ReportName(r.m.suite.Name), orNone(r.Sheets.Digest()), r.m.suite.Name, want)
	}
	return nil
}

func orNone(digest string) string {
	if digest == "" {
		return "of none"
	}
	return digest
}

// Sheets are the digests of ConfigMaps of runs, by their names.
type Sheets map[string]string

// Add notes what a ConfigMap holds.
func (s Sheets) Add(name string, data map[string][]byte) {
	s[name] = report.Digest(data[delivery.KeyRuns])
}

// Digest is that of all of them; empty: there are none.
func (s Sheets) Digest() string {
	if len(s) == 0 {
		return ""
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&all, "%s %s\n", name, s[name])
	}
	return report.Digest([]byte(all.String()))
}

// turn goes on with the next page.
func (r *Reading) turn() { r.page, r.sheet = r.page+1, 0 }
