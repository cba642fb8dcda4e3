package lifecycle

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Observed is all that a decision is made from. Nothing in it is changed by deciding.
type Observed struct {
	// Test is the LoadTest as it was read; its status is what the last decision wrote.
	Test *v1alpha1.LoadTest
	// Compiled is the compiled test, if that is known already; nil: rules that need it compile the test.
	Compiled *compile.Compiled
	// Now is when it was observed.
	Now      time.Time
	Settings manifests.Settings
	Lab      Lab
	Children Children
	Wires    Wires
	// Turn is the queue's answer to this test; the zero value: it is this test's turn.
	Turn queue.Turn
	// Baseline is what was found of spec.baseline; nil until Decision.ReadBaseline asked for it.
	Baseline *Baseline
	// Refusals are the API server's refusals in the dry run of Decision.Try; nil: nothing was tried yet; empty: it
	// accepted every object.
	Refusals []Refusal
}

// Lab is what the cluster has that a test needs.
type Lab struct {
	// Multus: the cluster knows NetworkAttachmentDefinitions.
	Multus bool
	// Networks are those that the test names and that exist; Faults says why one that exists can't be used.
	Networks map[compile.NetworkKey]manifests.Network
	Faults   map[compile.NetworkKey]string
	// Nodes are the cluster's.
	Nodes []Node
	// Grows says that an autoscaler adds nodes for pods that are Pending, so those pods have to be made for it to see.
	Grows bool
}

// Node is what matters of a node.
type Node struct {
	Name        string
	Ready       bool
	Schedulable bool // not cordoned
	Allocatable corev1.ResourceList
}

// Children are only objects that this test owns, in its namespace and in the operator's own. Foreign lists
// objects that have the name of a child but another owner. Objects in the test's namespace claim to belong to
// the test: whoever edits that namespace can forge such a claim. Objects in the operator's own namespace are
// made by the operator alone.
type Children struct {
	// Pods are those of all attempts and of runners. They include pods whose Job is gone: such a runner still has its
	// grace period to end.
	Pods []corev1.Pod
	// Jobs are those of all attempts.
	Jobs []batchv1.Job
	// Present are the other objects that exist in the test's namespace, as "Kind/name": ConfigMap.
	Present map[string]bool
	// Documents are the names of the ConfigMaps of the test's runs in the operator's own namespace. Plans are the attempts
	// whose Plan is among them: the Plan's ConfigMap owns all other objects of the run, so they are deleted with it.
	Documents []string
	Plans     []int32
	// Order is what this attempt's runner was given, as the Plan's ConfigMap has it; nil: there is none.
	Order *delivery.Order
	// Published is the digest that the Report's copy in the test's namespace claims, unchecked; empty: there is no
	// copy, or it claims no digest.
	Published string
	// Foreign are objects that have a child's name and belong to somebody else, as "Kind/name".
	Foreign []string
	// Progress is the runner's latest; nil: none yet.
	Progress *delivery.Progress
	// Envelope is what the ConfigMap of this attempt's Report says on the outside; nil: no Report yet.
	Envelope *delivery.Envelope
	// Report is the Report itself, judged anew (Judged); ReportFault is why there is none, or why it can't be read. Both
	// are empty until Decision.ReadReport asks for the Report; then exactly one is set. The Report and the Envelope are
	// then read past any cache.
	Report      *report.Report
	ReportFault string
	// ReportPacked is the Report's bytes. Followed is the order that the Report claims to have followed.
	ReportPacked []byte
	Followed     delivery.Order
	// ReportWritten is when the Report was written, by the API server's clock; zero: that isn't known.
	ReportWritten time.Time
}

// Refusal is the API server's answer to a pod, or another object of the test, that it wouldn't take.
type Refusal struct {
	Pod     string
	Message string
	// Transient: the refusal may pass (timeout, too many requests), and isn't about the pod.
	Transient bool
	// NamespaceGoes: the namespace is being deleted, and accepts no new objects.
	NamespaceGoes bool
}
