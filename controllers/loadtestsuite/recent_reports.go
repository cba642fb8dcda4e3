package loadtestsuite

import (
	"slices"
	"sync"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// maxRecent is how many Reports are kept, and maxRecentMemory how many bytes of memory they may take together.
const (
	maxRecent       = 16
	maxRecentMemory = 32 << 20
)

// RecentReports keep the Reports of suites' tests from a test's end until its suite reads the Report, a moment
// later. A Report is found by its digest, and handed out once. A suite reads a missing one again. Nobody may
// change a Report that is kept. It is safe for concurrent use, and nil keeps nothing.
type RecentReports struct {
	mu      sync.Mutex
	reports []recentReport // oldest first
}

type recentReport struct {
	digest   string
	document *report.Report
	memory   int64 // bytes
}

// NewRecentReports returns an empty store.
func NewRecentReports() *RecentReports { return &RecentReports{} }

// Keep keeps the Report of a suite's test, unless it takes too much memory.
func (r *RecentReports) Keep(test *v1alpha1.LoadTest, digest string, document *report.Report, memory int64) {
	if r == nil || suiteOf(test) == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = slices.DeleteFunc(r.reports, func(k recentReport) bool { return k.digest == digest })
	r.reports = append(r.reports, recentReport{digest, document, memory})
	for len(r.reports) > maxRecent || r.memory() > maxRecentMemory {
		r.reports = slices.Delete(r.reports, 0, 1)
	}
}

// memory is how many bytes all kept Reports may take.
func (r *RecentReports) memory() (sum int64) {
	for _, k := range r.reports {
		sum += k.memory
	}
	return sum
}

// take removes and returns the Report of this digest. It is nil if the Report isn't kept.
func (r *RecentReports) take(digest string) *report.Report {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.reports, func(k recentReport) bool { return k.digest == digest })
	if i < 0 {
		return nil
	}
	document := r.reports[i].document
	r.reports = slices.Delete(r.reports, i, i+1)
	return document
}
