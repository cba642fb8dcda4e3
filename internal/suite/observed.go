package suite

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// Verdicts judges the runs of a cell by the suite's criteria.
type Verdicts func(criteria []plan.Criterion, runs []*report.Report) report.Verdict

// Observed is all that a decision is made from. It is only read.
type Observed struct {
	Suite  *v1alpha1.LoadTestSuite
	Matrix *Matrix
	Now    time.Time
	// Checked says that the cells were held against what a LoadTest must be; Faults are what is wrong with them then.
	Checked bool
	Faults  Faults
	// Tests are the suite's own LoadTests, by their names.
	Tests map[string]*v1alpha1.LoadTest
	// Pending are tests that were made, or asked to stop, a moment ago: Tests may not show that yet.
	Pending map[string]bool
	// Runs are the tests that are over, as far as known; Stored those of them that are in the pages; StoredAt is when the last page was written of those that were due.
	Runs     Runs
	Stored   Stored
	StoredAt time.Time
	// Sheets are the ConfigMaps that they are in, as they were written.
	Sheets Sheets
	// Unreported says that runs were stored which the suite's report may lack, which was written last at ReportAt.
	Unreported bool
	ReportAt   time.Time
	// EarlierRead says that calibrations of earlier suites were looked at, and those that could be taken are among Runs.
	EarlierRead bool
	// Obstacles are tests that the API server doesn't take, and why.
	Obstacles map[string]string
	// CreateFrom is from when tests may be made; zero: at once.
	CreateFrom time.Time
	// Unstored is why the API server doesn't take what is to be stored; empty: it does.
	Unstored string
	// Taken are names of the suite's ConfigMaps that objects of somebody else's have, in order.
	Taken []string
	// Reference is what is compared with that isn't part of the suite; nil: it wasn't looked at, or there is no such thing.
	Reference *Reference
	// Evidence says that the suite's report is to hold what a judgement needs of each run: it is the only place where that is kept.
	Evidence bool
	// Judge judges cells; nil: as single tests are judged, without a baseline. Version is linerate's own, for the suite's report.
	Judge   Verdicts
	Version string
}

// Decision is what is to be done now, and what to say of it. It is applied in the order of its fields; what is to be done again after a failure
// half-way follows from the next observation.
type Decision struct {
	// Rule is the situation that was recognised, such as working: the line of the trace.
	Rule string
	// Message says why, for people.
	Message string
	// Check asks to hold the cells against what a LoadTest must be, Read for the Reports of these tests, Store to write these pages of runs, Announce to write the
	// status, which says which runs are stored next, ReadBaseline for the suite of spec.baseline, and ReadEarlier for calibrations that earlier suites measured: then the decision is to be made again, with what came of it.
	// Nothing else of the decision is applied.
	Check        bool
	Read         []Wanted
	Store        []int
	Announce     bool
	ReadBaseline bool
	ReadEarlier  bool
	// StoreEnds says that no further page can be stored now.
	StoreEnds bool
	// Report is the suite's report to write; nil where it isn't due.
	Report *StoredReport
	// Stop are tests to stop, Create those to make.
	Stop   []string
	Create []Wanted
	// Status is the whole status to write; it is written only where it differs.
	Status v1alpha1.LoadTestSuiteStatus
	// Events are told after the status was written.
	Events []Event
	// Delete are tests that are over and stored, and more than are to be kept.
	Delete []string
	// DeleteSuite: its time to live is over.
	DeleteSuite bool
	// RequeueAt is the earliest moment at which time alone changes the decision; zero: never.
	RequeueAt time.Time
}

// StoredReport is a suite's report as it is stored.
type StoredReport struct {
	*report.Suite
	Data        map[string][]byte
	Annotations map[string]string
	// Err says why it can't be stored.
	Err error
}

func newStoredReport(s *report.Suite) *StoredReport {
	r := &StoredReport{Suite: s}
	r.Data, r.Annotations, r.Err = delivery.EncodeSuite(s)
	return r
}

// Wanted is a test: of a cell, one try of one repetition.
type Wanted struct {
	Name            string
	Cell            int
	Repetition, Try int32
}

// Event is told of the suite. Its reason is a condition's.
type Event struct {
	Warning         bool
	Reason, Message string
}
