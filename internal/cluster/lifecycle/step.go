package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// step is what a rule does next, and what the status says beyond what follows from the pods' states.
type step struct {
	// reason and message say why, for people.
	reason, message string
	// activity is status.progress.step while the runner reports no progress.
	activity string

	// readReport and readBaseline have the Report, or the baseline, read before the decision is made again.
	readReport   bool
	readBaseline bool
	try          []manifests.Object
	del          []Deletion
	create       []manifests.Object
	// requeueAt is the time at which time alone changes the decision.
	requeueAt  time.Time
	deleteTest bool
	// thinned says that the test's time to live is over, and the LoadTest stays without its children, since a tool
	// would create the LoadTest again.
	thinned bool
	// unprotect removes the finalizer, since no teardown is owed any more, and records events.
	unprotect bool
	events    []Event

	// scheduled and dut are the conditions Scheduled and DUTReady where they don't follow from the pods.
	scheduled, dut *statement
	// accepted is the condition Accepted where the spec can't be measured. Nil means that the spec can be measured.
	accepted *statement
	// begins says that the step makes the runner.
	begins bool
	// void says why this attempt is void and the next one begins. Nil means that this attempt goes on.
	void *voided
	// brief is the test's place in the queue in a few words, for status.summary.
	brief string
	// forget empties the list of nodes that refused pods, so that they may be tried again.
	forget bool
	// awaitsNode says that a pod waits for the node that the spec names.
	awaitsNode bool
	// ending is why the test ends. Nil means that the test goes on.
	ending *ending
	// idle says that the test waits for a person, and nothing happens by itself.
	idle bool
	// complete says that the test is complete, and its status final.
	complete bool
	// keeping is what becomes of the Report that a complete test was to keep, copying what becomes of its copy in
	// the test's namespace.
	keeping keeping
	copying copying
}

// statement is the status, reason and message of a condition.
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

// voided says why an attempt is void.
type voided struct {
	// lost says that traffic had begun.
	lost bool
	// exclude are nodes that the next attempt avoids.
	exclude []string
	// awaitedPorts are physical ports that other tests have claimed, and that the next attempt waits for.
	awaitedPorts []Port
	// givenBack is for how long other tests go first, since some pods found no node, or one can't start. reason and
	// lacks say which. 0 means that the attempt is void for another reason.
	givenBack time.Duration
	reason    v1alpha1.GivenBackReason
	lacks     string
}

// waitUntil has the decision made again at a moment, or at an earlier one that the step already has.
func (s *step) waitUntil(moment time.Time) *step {
	s.requeueAt = earliest(s.requeueAt, moment)
	return s
}
