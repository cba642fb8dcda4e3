package suite

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Reading reads a suite's stored runs, one sheet at a time, so that other work needn't wait for all of them. Whoever edits the namespace may change the sheets, and make
// as many as they like, so their content is verified before it is kept:
//
//	a suite that goes on    the runs' digests, against what its status says of the page, which must be no older than the page
//	one that is complete    all sheets' digests, against its status
//	one of a release before these digests      nothing: no more is kept of it than mostUnproven
//
// If a page has several sheets, they are read twice: first to verify their digests, then to decode them. So only one sheet is in memory at a time, and runs take as much as they took when they
// were measured. NewReading makes a Reading; the zero value is useless. It isn't safe for concurrent use.
type Reading struct {
	m           *Matrix
	page, sheet int
	// Runs are the runs read so far, and Stored says in which sheets they are.
	Runs   Runs
	Stored Stored
	// Sheets are the digests of the sheets read so far.
	Sheets Sheets
	// Unproven are runs that the status mentions and that no believed sheet has.
	Unproven Unproven
	// at is what was read of the current page, names are the tests that the page is for; proven are the sheets that are read a second time; nil: the first time.
	at     found
	names  map[string]bool
	proven Sheets
	// refused is why nothing is believed of a complete suite.
	refused error
	// kept is how many bytes of memory unverified runs take.
	kept int64
}

// mostUnproven is how many bytes of memory unverified runs may take: as many as the largest suite's, with evidence, of figures in two directions.
const mostUnproven = 160 << 20

// found is what the sheets of a page have.
type found struct {
	runs   Runs
	stored Stored
	sheets Sheets
	// digests are those of its runs.
	digests map[string]string
}

func newFound() found { return found{Runs{}, Stored{}, Sheets{}, map[string]string{}} }

// NewReading begins to read.
func (m *Matrix) NewReading() *Reading {
	return &Reading{m: m, Runs: Runs{}, Stored: Stored{}, Sheets: Sheets{}, at: newFound()}
}

// Done says whether all is read.
func (r *Reading) Done() bool { return r.page >= r.m.Pages() }

// proof is what verifies runs.
type proof int

const (
	proofNone proof = iota
	proofOfPage
	proofOfAll
)

func (r *Reading) proof() proof {
	switch st := &r.m.suite.Status; {
	case st.StoredRuns != nil:
		return proofOfPage
	case st.RunsDigest != "":
		return proofOfAll
	}
	return proofNone
}

// Next reads one sheet. read returns the data of a ConfigMap, nil if there is none; after an error the same sheet is next again. spoilt is called for a sheet
// that can't be decoded or isn't believed, and may end the reading with an error.
func (r *Reading) Next(read func(name string) (map[string][]byte, error), spoilt func(name string, err error) error) error {
	name := SheetName(r.m.suite.Name, r.page, r.sheet)
	data, err := read(name)
	switch {
	case err != nil:
		return err
	case data == nil:
		return r.endPage(nil, spoilt)
	}
	if r.names == nil {
		r.names = r.m.namesOfPage(r.page)
	}
	if r.sheet >= len(r.names) { // each sheet has a run that no earlier one has
		return r.endPage(errors.New("its page has more ConfigMaps than runs: an operator makes none without one"), spoilt)
	}
	r.at.sheets.Add(name, data)
	if r.proven != nil && r.proven[name] != r.at.sheets[name] {
		return r.endPage(fmt.Errorf("ConfigMap %s was changed while it was read", name), spoilt)
	}
	content, err := r.m.openSheet(data, r.names)
	if err == nil {
		err = r.accept(content)
	}
	switch {
	case err != nil && r.proof() == proofNone:
		r.sheet++ // the next sheet may be intact
		return spoilt(name, err)
	case err != nil:
		return r.endPage(err, spoilt)
	}
	if r.sheet++; !content.continued {
		return r.endPage(nil, spoilt)
	}
	return nil
}

// accept keeps a sheet's runs if they are verified, if this single sheet is what has to be verified, or if nothing can verify them.
func (r *Reading) accept(content sheetContent) error {
	for name, written := range content.runs {
		r.at.digests[name] = report.Digest(written)
	}
	switch alone := r.sheet == 0 && !content.continued; {
	case r.proven != nil:
	case r.proof() == proofOfPage && alone && r.fits():
	case r.proof() == proofNone:
		if err := r.afford(content); err != nil {
			return err
		}
	default:
		return nil
	}
	runs, err := content.decode()
	if err != nil {
		return err
	}
	for name, run := range runs {
		r.at.runs[name], r.at.stored[name] = run, r.sheet
	}
	return nil
}

// afford refuses unverified runs that would take more memory than a suite's runs do.
func (r *Reading) afford(content sheetContent) error {
	more := int64(0)
	for name, written := range content.runs {
		size, err := delivery.Measure(written)
		if err != nil {
			return fmt.Errorf("run %s: %w", name, err)
		}
		more += size.Memory()
	}
	if r.kept+more > mostUnproven {
		return errors.New("its runs and those before them take more memory than a suite's do, and its status, which an earlier release wrote, has no digest of them: run the suite anew")
	}
	r.kept += more
	return nil
}

// fits says whether the page's runs that were read have a digest that the status has.
func (r *Reading) fits() bool {
	said, _ := vouched(r.m.suite.Status.StoredRuns, r.page)
	is := digestOfAll(r.at.digests)
	return is == said.Digest || is == said.Next
}

// errNotVouched: a page's runs don't have the digest in the suite's status.
var errNotVouched = errors.New("its runs aren't those that the suite's status vouches for (storedRuns): somebody changed them")

// endPage ends a page. It refuses the page for a fault, or if its digests are wrong. A verified page that wasn't decoded yet is read again.
func (r *Reading) endPage(fault error, spoilt func(string, error) error) error {
	again := r.proven != nil
	switch by := r.proof(); {
	case by == proofOfAll:
		return r.endPageOfAll(fault, spoilt)
	case by == proofOfPage && fault == nil && !r.fits():
		fault = errNotVouched
	case by == proofOfPage && fault == nil && !again && len(r.at.runs) < len(r.at.digests):
		r.proven, r.sheet, r.at = r.at.sheets, 0, newFound()
		return nil
	}
	r.proven = nil
	return r.nextPage(fault, spoilt)
}

// endPageOfAll ends a page of a complete suite, whose runs are decoded only once all sheets are read and together have the digest that the suite was judged by.
func (r *Reading) endPageOfAll(fault error, spoilt func(string, error) error) error {
	number := r.page
	if fault == nil {
		if err := r.nextPage(nil, spoilt); err != nil || !r.Done() || r.proven != nil {
			return err
		}
		fault = r.Fits()
	}
	if fault != nil { // then the digest of all sheets is wrong, too
		clear(r.Runs)
		clear(r.Stored)
		r.page, r.refused = r.m.Pages(), fault
		return spoilt(SheetName(r.m.suite.Name, number, 0), fault)
	}
	r.proven, r.page = maps.Clone(r.Sheets), 0
	return nil
}

// nextPage goes on with the next page, and keeps this page's runs if they are believed.
func (r *Reading) nextPage(refused error, spoilt func(name string, err error) error) error {
	number, at := r.page, r.at
	r.page, r.sheet, r.at, r.names = r.page+1, 0, newFound(), nil
	if refused != nil && r.proof() == proofOfPage {
		at = newFound()
	}
	maps.Copy(r.Runs, at.runs)
	maps.Copy(r.Sheets, at.sheets)
	maps.Copy(r.Stored, at.stored)
	said, _ := vouched(r.m.suite.Status.StoredRuns, number)
	r.missing(number, said)
	if refused != nil {
		return spoilt(SheetName(r.m.suite.Name, number, 0), refused)
	}
	return nil
}

// missing records which of a page's runs the status mentions and no sheet has.
func (r *Reading) missing(number int, said v1alpha1.StoredPage) {
	bits, err := base64.RawStdEncoding.DecodeString(said.Ended)
	if err != nil || len(bits) == 0 { // can't happen: only the operator writes them
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

// Fits refuses runs other than those that a complete suite was judged by: whoever edits the namespace may change their ConfigMaps. A suite that an earlier release
// ended has no digest, and isn't checked.
func (r *Reading) Fits() error {
	if r.refused != nil {
		return r.refused
	}
	if want := r.m.suite.Status.RunsDigest; want != "" && want != r.Sheets.Digest() {
		return fmt.Errorf("the runs in ConfigMaps %s-runs-… have the digest %s, and suite %s was judged by %s: somebody changed them; run the suite anew",
			ReportName(r.m.suite.Name), r.Sheets.orNone(), r.m.suite.Name, want)
	}
	return nil
}

func (s Sheets) orNone() string {
	if len(s) == 0 {
		return "of none"
	}
	return s.Digest()
}

// Sheets are the digests of ConfigMaps of runs, by their names.
type Sheets map[string]string

// Add records the digest of a ConfigMap.
func (s Sheets) Add(name string, data map[string][]byte) {
	s[name] = report.Digest(data[delivery.KeyRuns])
}

// Digest is the digest of all of them.
func (s Sheets) Digest() string {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&all, "%s %s\n", name, s[name])
	}
	return report.Digest([]byte(all.String()))
}
