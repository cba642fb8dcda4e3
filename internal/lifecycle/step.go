package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
	"github.com/linerate-dev/linerate/internal/report"
)

// step is what a rule wants to be done, and what it knows better than the pods' states do. All else of the status follows from the pods.
type step struct {
	// reason and message say why, for people.
	reason, message string
	// activity is status.progress.step while the runner has nothing to tell.
	activity string

	read bool
	// compare: what the test is compared with is to be read.
	compare bool
	try     []manifests.Object
	del     []Deletion
	create  []manifests.Object
	// requeueAt is when time alone changes the decision.
	requeueAt  time.Time
	deleteTest bool
	// thinned: the test stays without its children, as its time to live is over and somebody would make it again.
	thinned bool
	// unprotect: no teardown is owed any more; events are what is to be told with that.
	unprotect bool
	events    []Event

	// scheduled and dut say the conditions Scheduled and DUTReady where pods don't tell them.
	scheduled, dut *said
	// invalid: the spec can't be measured; accepted says why.
	accepted *said
	// begins: the runner is made now.
	begins bool
	// void: the attempt comes to nothing, the next one begins.
	void *voided
	// brief is the place in line in a few words, for the status' summary.
	brief string
	// forget: nodes that refused pods may be tried again.
	forget bool
	// ending is why the test ends; nil: it goes on.
	ending *ending
	// idle: nothing goes on by itself.
	idle bool
	// over: all has been said.
	over bool
	// keeping is what becomes of the Report that a complete test was to keep, copying what of its copy in the test's namespace.
	keeping keeping
	copying copying
}

// said is what a condition says.
type said struct {
	status          metav1.ConditionStatus
	reason, message string
}

// no is a condition that is False.
func no(reason, message string) *said { return &said{metav1.ConditionFalse, reason, message} }

// yes is a condition that is True.
func yes(reason, message string) *said { return &said{metav1.ConditionTrue, reason, message} }

// ending is why a test ends, and what it leaves.
type ending struct {
	// reason and message are the condition Complete's.
	reason, message string
	// complete: nothing is left to be done.
	complete bool
	// report is what was measured; nil: there is none, or it was told before.
	report *report.Report
	// figures: the report's result may be published. Where a fault acted it may not.
	figures bool
	// keeping is what becomes of the report beyond the test, copying what becomes of its copy for the test's namespace.
	keeping
	copying copying
}

// voided is an attempt that came to nothing.
type voided struct {
	// lost: traffic had begun.
	lost bool
	// exclude are nodes that the next attempt avoids.
	exclude []string
	// awaits are wires of other tests, for whose end the next attempt waits.
	awaits []Wire
	// givenBack: not all of its pods found nodes, or one can't start, as reason and lacks say; others go first for so long.
	givenBack time.Duration
	reason    v1alpha1.GivenBackReason
	lacks     string
}

// waitUntil is a step's time, where it is earlier than those it has.
func (s *step) waitUntil(at time.Time) *step {
	s.requeueAt = earliest(s.requeueAt, at)
	return s
}
