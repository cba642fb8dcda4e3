package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// step is what a rule wants to be done, and what the status is to say beyond what follows from the pods' states.
type step struct {
	// reason and message say why, for people.
	reason, message string
	// activity is status.progress.step while the runner reports no progress.
	activity string

	readReport bool // the Report is to be read before the decision is made again
	// readBaseline: what the test is compared with is to be read before the decision is made again.
	readBaseline bool
	try          []manifests.Object
	del          []Deletion
	create       []manifests.Object
	// requeueAt is when time alone changes the decision.
	requeueAt  time.Time
	deleteTest bool
	// thinned: the test's time to live is over, and it stays without its children, since a tool would create it again.
	thinned bool
	// unprotect: no teardown is owed any more, and the finalizer is removed; events are recorded with that.
	unprotect bool
	events    []Event

	// scheduled and dut are the conditions Scheduled and DUTReady where they don't follow from the pods.
	scheduled, dut *statement
	// invalid: the spec can't be measured; accepted says why.
	accepted *statement
	// begins: the runner is made now.
	begins bool
	// void: this attempt is void, and the next one begins; nil: it goes on.
	void *voided
	// brief is the place in line in a few words, for the status' summary.
	brief string
	// forget: nodes that refused pods may be tried again.
	forget bool
	// ending is why the test ends; nil: it goes on.
	ending *ending
	// idle: the test waits for somebody, and nothing happens by itself.
	idle bool
	// over: the test is complete, and its status is final.
	complete bool
	// keeping is what becomes of the Report that a complete test was to keep, copying what becomes of its copy in
	// the test's namespace.
	keeping keeping
	copying copying
}

// statement is what a condition says: its status, reason and message.
type statement struct {
	status          metav1.ConditionStatus
	reason, message string
}

// isFalse is a condition that is False.
func isFalse(reason, message string) *statement {
	return &statement{metav1.ConditionFalse, reason, message}
}

// isTrue is a condition that is True.
func isTrue(reason, message string) *statement {
	return &statement{metav1.ConditionTrue, reason, message}
}

// ending is why a test ends, and what it leaves.
type ending struct {
	// reason and message are the condition Complete's.
	reason, message string
	// complete: nothing is left to be done.
	complete bool
	// report is what was measured; nil: there is none, or an earlier pass has written it into the status.
	report *report.Report
	// figures: the report's result may be published, since no fault may have influenced it.
	figures bool
	// keeping is what becomes of the report beyond the test, copying what becomes of its copy for the test's namespace.
	keeping
	copying copying
}

// voided says why an attempt is void.
type voided struct {
	// lost: traffic had begun.
	lost bool
	// exclude are nodes that the next attempt avoids.
	exclude []string
	// awaits are physical ports that other tests hold, and that the next attempt waits for.
	awaits []Wire
	// givenBack is for how long other tests go first, because not all pods found nodes, or one can't start
	// (reason, lacks); 0: the attempt is void for something else.
	givenBack time.Duration
	reason    v1alpha1.GivenBackReason
	lacks     string
}

// waitUntil has the decision made again at a time, or earlier where the step already asked for that.
func (s *step) waitUntil(moment time.Time) *step {
	s.requeueAt = earliest(s.requeueAt, moment)
	return s
}
