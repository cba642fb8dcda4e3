package suite

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Verdicts judges the runs of a cell by the suite's criteria.
type Verdicts func(criteria []plan.Criterion, runs []*report.Report) report.Verdict

// Observed is everything that a decision is made from. A decision doesn't change it.
type Observed struct {
	Suite  *v1alpha1.LoadTestSuite
	Matrix *Matrix
	Now    time.Time
	// Checked says that the cells were validated as LoadTests; Faults are what is wrong with them.
	Checked bool
	Faults  Faults
	// Tests are the suite's own LoadTests, by their names.
	Tests map[string]*v1alpha1.LoadTest
	// Pending are tests that were created or stopped a moment ago, which Tests may not show yet.
	Pending map[string]bool
	// Runs are the known tests that are over; Stored those of them that are in the sheets; StoredAt is when the last run that was due was written.
	Runs     Runs
	Stored   Stored
	StoredAt time.Time
	// Sheets are the digests of the sheets, as they were written.
	Sheets Sheets
	// Unreported says that the suite's report, last written at ReportAt, may lack stored runs.
	Unreported bool
	ReportAt   time.Time
	// EarlierRead says that calibrations of earlier suites were looked for, and that usable ones are among Runs.
	EarlierRead bool
	// Obstacles are why tests can't be created, by their names.
	Obstacles map[string]string
	// CreateFrom is from when on tests may be created; zero: at once.
	CreateFrom time.Time
	// Unstored is why the API server refuses to store results; empty: it doesn't.
	Unstored string
	// Taken are names of the suite's ConfigMaps that somebody else's objects have, in order.
	Taken []string
	// Reference is a baseline outside the suite; nil: it wasn't read yet, or there is none.
	Reference *Reference
	// Evidence says that the suite's report is to hold what a judgement needs of each run, since nothing else keeps it.
	Evidence bool
	// Judge judges cells; nil: as single tests are judged, without a baseline. Version is linerate's own, for the suite's report.
	Judge   Verdicts
	Version string
}

// Decision is what is to be done now, and what the status says. It is applied in the order of its fields. After a failure half-way the next observation
// leads to the rest.
type Decision struct {
	// Rule is the situation that was recognised, such as working: the line of the trace.
	Rule string
	// Message says why, for people.
	Message string
	// Check asks to validate the cells, Read to read the Reports of these tests, Store to write the next sheet of runs, ReadBaseline to read the suite of spec.baseline, and
	// ReadEarlier to read earlier suites' calibrations. Then the decision is made again, with the results observed, and nothing else of this decision is applied.
	Check        bool
	Read         []Wanted
	Store        bool
	ReadBaseline bool
	ReadEarlier  bool
	// Report is the suite's report to write; nil where it isn't due.
	Report *StoredReport
	// Stop are tests to stop, Create those to make.
	Stop   []string
	Create []Wanted
	// Status is the whole status to write; it is written only where it differs.
	Status v1alpha1.LoadTestSuiteStatus
	// Events are recorded once the status is written.
	Events []Event
	// Delete are tests that are over and stored, beyond the history limit.
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

// Event is an event to record on the suite. Its reason is that of a condition.
type Event struct {
	Warning         bool
	Reason, Message string
}
