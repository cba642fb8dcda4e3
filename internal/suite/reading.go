package suite

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/report"
)

// Reading reads the runs that are stored of a suite, one sheet at a time: they may be many, and nothing else waits for all of them. While the suite goes on a page
// is believed only as its status vouches for it, which must be no older than the page. Its zero value is of no use; NewReading makes one. It isn't safe for
// concurrent use.
type Reading struct {
	m           *Matrix
	page, sheet int
	// Runs are those that were read so far, and Stored says in which sheets they are.
	Runs   Runs
	Stored Stored
	// Sheets are the sheets that were read so far.
	Sheets Sheets
	// Unproven are the runs that the status vouches for and that weren't in these.
	Unproven Unproven
	// at is what was read of the page so far.
	at found
}

// found is what sheets have.
type found struct {
	runs   Runs
	stored Stored
	sheets Sheets
}

func newFound() found { return found{Runs{}, Stored{}, Sheets{}} }

// NewReading begins to read.
func (m *Matrix) NewReading() *Reading {
	return &Reading{m: m, Runs: Runs{}, Stored: Stored{}, Sheets: Sheets{}, at: newFound()}
}

// Done says whether all is read.
func (r *Reading) Done() bool { return r.page >= r.m.Pages() }

// Next reads one sheet. Read gives the data of a ConfigMap, nil where there is none; where it can't, the same sheet is next again. Spoilt hears of what
// can't be understood or isn't believed, and may end it with an error.
func (r *Reading) Next(read func(name string) (map[string][]byte, error), spoilt func(name string, err error) error) error {
	name := SheetName(r.m.suite.Name, r.page, r.sheet)
	data, err := read(name)
	switch {
	case err != nil:
		return err
	case data == nil:
		return r.turn(spoilt)
	}
	r.at.sheets.Add(name, data)
	runs, continued, err := r.m.decodeSheet(data)
	if err != nil {
		r.sheet++ // what comes after it may be whole
		return spoilt(name, err)
	}
	for name, run := range runs {
		r.at.runs[name], r.at.stored[name] = run, r.sheet
	}
	if r.sheet++; !continued {
		return r.turn(spoilt)
	}
	return nil
}

// turn goes on with the next page, and keeps what this one has if it is believed.
func (r *Reading) turn(spoilt func(name string, err error) error) error {
	number, at := r.page, r.at
	r.page, r.sheet, r.at = r.page+1, 0, newFound()
	said, held := vouched(r.m.suite.Status.StoredRuns, number)
	var refused error
	if held {
		at.runs = r.m.ofThePage(number, at.runs)
		if is := digestOf(at.runs); is != said.Digest && is != said.Next {
			refused = errors.New("its runs aren't those that the suite's status vouches for (storedRuns): somebody changed them")
			at = newFound()
		}
	}
	maps.Copy(r.Runs, at.runs)
	maps.Copy(r.Sheets, at.sheets)
	for name := range at.runs {
		r.Stored[name] = at.stored[name]
	}
	r.missing(number, said)
	if refused != nil {
		return spoilt(SheetName(r.m.suite.Name, number, 0), refused)
	}
	return nil
}

// missing notes which runs of a page weren't found that the status vouches for.
func (r *Reading) missing(number int, said v1alpha1.StoredPage) {
	bits, err := base64.RawStdEncoding.DecodeString(said.Ended)
	if err != nil || len(bits) == 0 { // the operator alone writes them
		return
	}
	i := 0
	for w := range r.m.testsOfPage(number) {
		if marks(bits).has(i) && !r.Stored.Has(w.Name) {
			r.Unproven = append(r.Unproven, unproven{w, SheetName(r.m.suite.Name, number, 0)})
		}
		i++
	}
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
