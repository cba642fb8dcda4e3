package loadtestsuite

import (
	"slices"
	"sync"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// mostRecent is how many Reports are kept, and mostRecentMemory how many bytes of memory they may take together.
const (
	mostRecent       = 16
	mostRecentMemory = 32 << 20
)

// RecentReports keep the Reports of suites' tests from when a test ends until its suite asks, a moment later. Each is found by its digest, and handed out once; a suite
// reads one that is missing again. Nobody may change a Report that is kept. It is safe for concurrent use; nil keeps nothing.
type RecentReports struct {
	mu   sync.Mutex
	kept []recentReport // oldest first
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
	r.kept = slices.DeleteFunc(r.kept, func(k recentReport) bool { return k.digest == digest })
	r.kept = append(r.kept, recentReport{digest, document, memory})
	for len(r.kept) > mostRecent || r.memory() > mostRecentMemory {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
}

// memory is how many bytes all that is kept may take.
func (r *RecentReports) memory() (sum int64) {
	for _, k := range r.kept {
		sum += k.memory
	}
	return sum
}

// take removes and returns the Report of this digest; nil: it isn't kept.
func (r *RecentReports) take(digest string) *report.Report {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.kept, func(k recentReport) bool { return k.digest == digest })
	if i < 0 {
		return nil
	}
	document := r.kept[i].document
	r.kept = slices.Delete(r.kept, i, i+1)
	return document
}
