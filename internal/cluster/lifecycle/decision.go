package lifecycle

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// Decision is what is to be done now, and what the status says. It is applied in the order of its fields. After
// a failure half-way the next observation leads to the rest.
type Decision struct {
	// Rule is the situation that was recognised, such as measuringPodLost.
	Rule string
	// Reason and Message say why, for people.
	Reason, Message string
	// ReadReport asks for the Report, ReadBaseline for the baseline, and Try for a dry run of these objects. Then
	// the decision is made again, with the answers observed, and nothing else of this decision is applied.
	ReadReport   bool
	ReadBaseline bool
	Try          []manifests.Object
	// Protect asks to put the teardown's finalizer on the test, Unprotect to take it off. Then the decision is to be
	// made again, as above.
	Protect, Unprotect bool
	// Delete are children to delete, and Create objects to create, some of which may be deleted or created already.
	// ClaimPorts are physical ports to claim between the two. If one of them can't be claimed, nothing more of the
	// decision is applied.
	Delete     []Deletion
	ClaimPorts []PortRequest
	Create     []manifests.Object
	// Status is the whole status, which is written only where it differs.
	Status v1alpha1.LoadTestStatus
	// Events are recorded once the status is written.
	Events []Event
	// ReleasePorts are physical ports that the test no longer needs.
	ReleasePorts []PortClaim
	// DeleteTest says that the test's time to live is over.
	DeleteTest bool
	// RequeueAt is the earliest moment at which time alone changes the decision. Zero means never.
	RequeueAt time.Time
}

// Deletion is a child, or all pods of an attempt, to delete.
type Deletion struct {
	// Kind is Pod, Job, ConfigMap, or KindDocuments.
	Kind string
	// Name is the child's. Empty means all pods of the test that were observed, or all documents, by Kind.
	Name string
	// Attempt limits a deletion of all pods to one attempt. 0 means all attempts.
	Attempt int32
	// Reason is for the log.
	Reason string
}

// KindDocuments are the Plans' ConfigMaps of a test's runs in the operator's own namespace, and the Jobs and
// the other ConfigMaps, which these own.
const KindDocuments = "Documents"

// Event is an event to record on the LoadTest. Its reason is that of a condition.
type Event struct {
	Warning bool
	Reason  string
	Message string
}
