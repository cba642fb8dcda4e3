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

// Observed is everything that a decision depends on. A decision doesn't change it.
type Observed struct {
	Suite  *v1alpha1.LoadTestSuite
	Matrix *Matrix
	Now    time.Time
	// Checked says that the cells were validated as LoadTests. Faults are the faults that were found.
	Checked bool
	Faults  Faults
	// Tests are the suite's own LoadTests, by their names.
	Tests map[string]*v1alpha1.LoadTest
	// Pending are tests that were created or stopped a moment ago. Tests may not show that yet.
	Pending map[string]bool
	// Runs are the runs of complete tests. Stored are those that are in the sheets. StoredAt is when the last
	// run that was due was written.
	Runs     Runs
	Stored   Stored
	StoredAt time.Time
	// Sheets are the digests of the sheets, as they were written.
	Sheets Sheets
	// Unreported says that the suite's report, last written at ReportAt, may lack stored runs.
	Unreported bool
	ReportAt   time.Time
	// EarlierRead says that earlier suites' calibrations were read, and that Runs includes the reusable ones.
	EarlierRead bool
	// Obstacles are why tests can't be created, by the tests' names.
	Obstacles map[string]string
	// CreateFrom is the time from which tests may be created. It is zero if they may be created at once.
	CreateFrom time.Time
	// Unstored is why the API server refuses to store results, or empty.
	Unstored string
	// TakenNames are names of the suite's ConfigMaps that other people's objects have, in order.
	TakenNames []string
	// Reference is a baseline outside the suite. It is nil if it wasn't read yet, or if there is none.
	Reference *Reference
	// Ahead is the same baseline as far as it can be read before the suite's first test. It is nil if it wasn't read.
	Ahead *Reference
	// Machine is what is known of where the tests will run, before any has.
	Prospect Prospect
	// Evidence says that the suite's report must hold what a judgement needs of each run, since nothing else
	// stores it.
	Evidence bool
	// Judge judges cells. If it is nil, cells are judged as single tests are, without a baseline. Version is
	// linerate's own, for the suite's report.
	Judge   Verdicts
	Version string
}

// Decision is what to do now, and the status. It is applied in the order of its fields. After a failure
// half-way the next observation leads to the rest.
type Decision struct {
	// Rule is the name of the rule that decided, such as testsNeeded, for the trace.
	Rule string
	// Message says why, for people.
	Message string
	// Check asks to validate the cells, Read to read the Reports of these tests, Store to write the next sheet
	// of runs, ReadBaseline to read the suite of spec.baseline, ReadAhead to read it before the first test, and
	// ReadEarlier to read earlier suites' calibrations. The results are observed, Decide is called again, and nothing
	// else of this decision is applied.
	Check        bool
	Read         []Wanted
	Store        bool
	ReadBaseline bool
	ReadAhead    bool
	ReadEarlier  bool
	// Report is the suite's report to write. It is nil if it isn't due.
	Report *StoredReport
	// Stop are tests to stop, and Create those to make.
	Stop   []string
	Create []Wanted
	// Status is the whole status. It is written only if it changed.
	Status v1alpha1.LoadTestSuiteStatus
	// Events are recorded once the status is written.
	Events []Event
	// Delete are complete tests beyond the history limit whose runs are stored.
	Delete []string
	// DeleteSuite says that the suite's time to live is over.
	DeleteSuite bool
	// RequeueAt is the earliest moment at which time alone changes the decision, or zero.
	RequeueAt time.Time
}

// StoredReport is a suite's report as it is stored.
type StoredReport struct {
	*report.Suite
	Data        map[string][]byte
	Annotations map[string]string
	// Err is why it can't be stored.
	Err error
}

func newStoredReport(s *report.Suite) *StoredReport {
	r := &StoredReport{Suite: s}
	r.Data, r.Annotations, r.Err = delivery.EncodeSuite(s)
	return r
}

// Wanted names the test of one try of a cell's repetition.
type Wanted struct {
	Name            string
	Cell            int
	Repetition, Try int32
	// Nodes are those that it must run on. It is nil if the scheduler may choose.
	Nodes *Nodes
}

// Event is an event to record on the suite. Its reason is that of a condition.
type Event struct {
	Warning         bool
	Reason, Message string
}
