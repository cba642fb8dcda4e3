package v1alpha1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What the operator remembers of an object is in its status, apart from what users read, since the status outlives the
// operator and nobody else may write it. The schema doesn't know what is in it. So what is read may be of any form, and
// a member that can't be read is forgotten: an error would keep the operator from reading any object of the kind.

// TestMemory is what the operator remembers of a LoadTest.
type TestMemory struct {
	// ExcludedNodes refused a pod of the test. The next attempt avoids them.
	ExcludedNodes []string `json:"excludedNodes,omitempty"`
	// AwaitedPorts are physical ports that another test had. The next pods wait for them.
	AwaitedPorts []NodePort `json:"awaitedPorts,omitempty"`
	// GivenBack describes pods that were given back, because not all could be placed or started.
	GivenBack *GivenBack `json:"givenBack,omitempty"`
	// AdmissionTime is when Kueue admitted the attempt's pods. spec.schedulingDeadline counts from then.
	AdmissionTime *metav1.Time `json:"admissionTime,omitempty"`
	// NodeAwaitedTime is since when a pod has waited for the node that the spec names.
	NodeAwaitedTime *metav1.Time `json:"nodeAwaitedTime,omitempty"`
	// LostRuns counts runs without a result, since the runner was lost or the test suspended.
	LostRuns int32 `json:"lostRuns,omitempty"`
}

// UnmarshalJSON reads each member that can be read.
func (m *TestMemory) UnmarshalJSON(data []byte) error {
	members := membersOf(data)
	*m = TestMemory{
		ExcludedNodes:   member[[]string](members, "excludedNodes"),
		AwaitedPorts:    member[[]NodePort](members, "awaitedPorts"),
		GivenBack:       member[*GivenBack](members, "givenBack"),
		AdmissionTime:   member[*metav1.Time](members, "admissionTime"),
		NodeAwaitedTime: member[*metav1.Time](members, "nodeAwaitedTime"),
		LostRuns:        member[int32](members, "lostRuns"),
	}
	return nil
}

// GivenBack describes an attempt's pods that were all given back, because not all of them found nodes, or one
// of them could not start: they would hold devices that other tests wait for.
type GivenBack struct {
	// Times is how often, since the test began or was resumed.
	Times int32 `json:"times"`
	// LastTime is when it happened last.
	LastTime metav1.Time `json:"lastTime"`
	// RetryTime is when the test tries again at the latest.
	RetryTime metav1.Time `json:"retryTime"`
	// Reason is Unplaced (not all pods found nodes) or NotStarted (a pod can't start, however long one waits).
	Reason GivenBackReason `json:"reason,omitempty"`
	// Message names the pod and what it lacked.
	Message string `json:"message,omitempty"`
	// AdmittedSeconds is how long Kueue had admitted the attempts that were given back. It counts toward
	// spec.schedulingDeadline.
	AdmittedSeconds int64 `json:"admittedSeconds,omitempty"`
}

// GivenBackReason is why pods were given back.
type GivenBackReason string

// The reasons why pods are given back.
const (
	GivenBackUnplaced   GivenBackReason = "Unplaced"
	GivenBackNotStarted GivenBackReason = "NotStarted"
)

// NodePort is a physical port of a node.
type NodePort struct {
	// Node is the node's name.
	Node string `json:"node"`
	// Port is the port's PCI address, or a switch's name of it. Example: 0000:03:00.0.
	Port string `json:"port"`
}

// SuiteMemory is what the operator remembers of a LoadTestSuite.
type SuiteMemory struct {
	// StoredRuns says which copies of the ended tests' results are the operator's. It stores the results themselves in
	// its own namespace.
	StoredRuns *StoredRuns `json:"storedRuns,omitempty"`
	// StartedTests are the tests that aren't over and whose first run has begun. So runs whose LoadTest is deleted are
	// counted, though another one is made.
	StartedTests []StartedTest `json:"startedTests,omitempty"`
}

// UnmarshalJSON reads each member that can be read.
func (m *SuiteMemory) UnmarshalJSON(data []byte) error {
	members := membersOf(data)
	*m = SuiteMemory{
		StoredRuns:   member[*StoredRuns](members, "storedRuns"),
		StartedTests: member[[]StartedTest](members, "startedTests"),
	}
	return nil
}

// StartedTest is a test of a suite whose first run has begun.
type StartedTest struct {
	// Test is the LoadTest's name.
	Test string `json:"test"`
	// UID is the LoadTest's. It is empty once the LoadTest was deleted.
	UID string `json:"uid,omitempty"`
	// Runs are how many runs the LoadTest has begun.
	Runs int32 `json:"runs,omitempty"`
	// Deleted are how many runs earlier LoadTests of this name had begun, which were deleted.
	Deleted int32 `json:"deleted,omitempty"`
}

// StoredRuns are the ConfigMaps NAME-suite-runs-0, NAME-suite-runs-1 and so on: whoever edits the namespace may
// change them, and readers believe what has this digest.
type StoredRuns struct {
	// ConfigMaps is how many there are.
	ConfigMaps int32 `json:"configMaps"`
	// Digest is that of all of them. Example: sha256:9f86d081….
	Digest string `json:"digest"`
}

// membersOf are an object's members. What isn't an object has none.
func membersOf(data []byte) (members map[string]json.RawMessage) {
	if json.Unmarshal(data, &members) != nil {
		return nil
	}
	return members
}

// member is a member's value. It is zero if there is none, or if it isn't of this type.
func member[T any](members map[string]json.RawMessage, name string) (value T) {
	var zero T
	if text, ok := members[name]; !ok || json.Unmarshal(text, &value) != nil {
		return zero
	}
	return value
}
