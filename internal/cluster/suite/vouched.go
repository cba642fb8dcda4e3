package suite

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Whoever edits a suite's namespace may change its pages of runs. So its status, which only the operator writes, has the digest of each page's runs, and a restarted
// operator believes only pages with these digests. The status is written first, together with other changes, and then the page:
//
//	status   digest A            digest A            digest B
//	         next   –            next   B            next   C, where more tests ended
//	page     is A                is A, then B        is B
//
// So wherever the operator is interrupted, the page has one of the two digests, and a page that the operator wrote is never refused. A page is written with all its known
// runs, and only if these have the digest that the status announces as next.
//
// A suite whose status has no storedRuns was begun by an earlier release: its pages are believed and written without digests until its status is next written.

// RunsChanged is why a run counts as not measured: its page can't be believed, and its LoadTest is gone.
const RunsChanged = "RunsChanged"

// digestOf is the digest of some runs; empty: there are none.
func digestOf(runs Runs) string {
	each := make(map[string]string, len(runs))
	for name, run := range runs {
		each[name] = run.digest()
	}
	return digestOfAll(each)
}

// digestOfAll is the digest of the runs that have these digests; empty: there are none.
func digestOfAll(each map[string]string) string {
	if len(each) == 0 {
		return ""
	}
	lines := make([]string, 0, len(each))
	for name, digest := range each {
		lines = append(lines, name+" "+digest+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

// seal caches the run's digest, which is needed again and again.
func (r Run) seal() Run {
	r.sealed = r.digest()
	return r
}

// digest is the digest of the run's stored form.
func (r *Run) digest() string {
	if r.sealed != "" {
		return r.sealed
	}
	document, err := r.document()
	if err != nil { // then its page can't be written either, which is reported
		return ""
	}
	return report.Digest(document)
}

// document is the run's stored form. A run that was read keeps the form in which any release wrote it, so that its digest stays the same.
func (r *Run) document() (json.RawMessage, error) {
	if r.written != nil {
		return r.written, nil
	}
	return json.Marshal(r)
}

// readRun reads what document made, without spaces.
func readRun(written json.RawMessage) (Run, error) {
	var run Run
	if err := intake.JSON(written, &run, limits); err != nil {
		return Run{}, err
	}
	if again, err := json.Marshal(&run); err != nil || string(again) != string(written) {
		run.written = written
	}
	run.sealed = report.Digest(written)
	return run, nil
}

// testsOfPage are all tests whose runs a page may have, further tries after all first ones: most cells have none.
func (m *Matrix) testsOfPage(number int) iter.Seq[Wanted] {
	first := number * m.cellsPerPage()
	last := min(first+m.cellsPerPage(), len(m.Cells))
	most := int32(0)
	for cell := first; cell < last; cell++ {
		most = max(most, m.retriesOf(cell))
	}
	return func(yield func(Wanted) bool) {
		for try := int32(1); try <= most+1; try++ {
			for cell := first; cell < last; cell++ {
				if try > m.retriesOf(cell)+1 {
					continue
				}
				for r := int32(1); r <= max(m.suite.Spec.Repetitions, 1); r++ {
					if !yield(Wanted{Name: m.TestName(cell, r, try), Cell: cell, Repetition: r, Try: try}) {
						return
					}
				}
			}
		}
	}
}

// namesOfPage are the names of these tests.
func (m *Matrix) namesOfPage(number int) map[string]bool {
	names := map[string]bool{}
	for w := range m.testsOfPage(number) {
		names[w.Name] = true
	}
	return names
}

// marks are bits, one for each test of a page.
type marks []byte

func (b *marks) set(i int) {
	for len(*b) <= i/8 {
		*b = append(*b, 0)
	}
	(*b)[i/8] |= 1 << (i % 8)
}

func (b marks) has(i int) bool { return i/8 < len(b) && b[i/8]&(1<<(i%8)) != 0 }

// vouch is the status' entry for a page of runs.
func (m *Matrix) vouch(number int, runs Runs, stored Stored) v1alpha1.StoredPage {
	known, there, ended, i := Runs{}, Runs{}, marks{}, 0
	for w := range m.testsOfPage(number) {
		if run, is := runs[w.Name]; is {
			known[w.Name] = run
			ended.set(i)
			if stored.Has(w.Name) {
				there[w.Name] = run
			}
		}
		i++
	}
	p := v1alpha1.StoredPage{Digest: digestOf(there), Ended: base64.RawStdEncoding.EncodeToString(ended)}
	if len(there) < len(known) {
		p.Next = digestOf(known)
	}
	return p
}

// vouched is the status' entry for a page; held: the status has entries at all.
func vouched(of *v1alpha1.StoredRuns, number int) (page v1alpha1.StoredPage, held bool) {
	if of == nil {
		return page, false
	}
	if number < len(of.Pages) {
		page = of.Pages[number]
	}
	return page, true
}

// page is the new status' entry for a page of runs.
func (v *view) page(number int) v1alpha1.StoredPage {
	p, known := v.pages[number]
	if !known {
		p = v.Matrix.vouch(number, v.Runs, v.Stored)
		v.pages[number] = p
	}
	return p
}

// storedRuns are the new status' entries for all pages of runs.
func (v *view) storedRuns() *v1alpha1.StoredRuns {
	out := &v1alpha1.StoredRuns{}
	for number := range v.Matrix.Pages() {
		if p := v.page(number); p != (v1alpha1.StoredPage{}) {
			out.Pages = append(append(out.Pages, make([]v1alpha1.StoredPage, number-len(out.Pages))...), p)
		}
	}
	return out
}

// announced says that a page may be written: the status announces its next digest, or has no entries at all.
func (v *view) announced(status *v1alpha1.LoadTestSuiteStatus, number int) bool {
	p, held := vouched(status.StoredRuns, number)
	return !held || p.Next == v.page(number).Next
}

// unannounced says that the status doesn't announce yet what is to be stored. That a page was stored needs no write of the status, since either digest is accepted.
func (v *view) unannounced() bool {
	return v.was.StoredRuns == nil || slices.ContainsFunc(v.dirty(), func(page int) bool { return !v.announced(v.was, page) })
}

// outstanding says that the status announces a page's next digest, and that the page isn't written yet.
func (v *view) outstanding() bool {
	return slices.ContainsFunc(v.dirty(), func(page int) bool {
		p, _ := vouched(v.was.StoredRuns, page)
		return p.Next != "" && p.Next != v.page(page).Digest
	})
}

// Unproven are runs that the status mentions and no believed page has: their LoadTests are read instead.
type Unproven []unproven

type unproven struct {
	Wanted
	configMap string
}

// Lost are the unproven runs whose LoadTests are gone, too. They count as not measured for good: otherwise somebody could remove a figure to have it measured
// again until they like it.
func (u Unproven) Lost(tests map[string]*v1alpha1.LoadTest) Runs {
	lost := Runs{}
	for _, w := range u {
		if tests[w.Name] == nil {
			lost[w.Name] = Run{Ended: RunsChanged, SuiteRun: report.SuiteRun{
				Test: w.Name, Repetition: int(w.Repetition), Retry: int(w.Try) - 1, Reason: RunsChanged,
				Message: "ConfigMap " + w.configMap + " lacks it or was changed, its LoadTest is gone: run the suite anew",
			}}.seal()
		}
	}
	return lost
}
