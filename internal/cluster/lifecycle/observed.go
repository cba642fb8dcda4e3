package lifecycle

import (
	"slices"
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
	// Test is the LoadTest as it was read. Its status is what the last decision wrote.
	Test *v1alpha1.LoadTest
	// Compiled is the compiled test, if that is known already. Nil means that rules that need it compile the test.
	Compiled *compile.Compiled
	// ObservedAt is when the rest was observed, by the operator's clock.
	ObservedAt time.Time
	Settings   manifests.Settings
	Inventory  Inventory
	Children   Children
	Ports      ObservedPorts
	// Turn is the queue's answer to this test. The zero value means that it is this test's turn.
	Turn queue.Turn
	// Baseline is what was found of spec.baseline. It is nil until Decision.ReadBaseline asked for it.
	Baseline *Baseline
	// Refusals are the API server's refusals in the dry run of Decision.Try. Nil means that nothing was tried yet.
	// Empty means that it accepted every object.
	Refusals []Refusal
}

// Inventory is what the cluster has that a test needs.
type Inventory struct {
	// Multus says that the cluster knows NetworkAttachmentDefinitions.
	Multus bool
	// Networks are those that the test names and that exist. Faults say why some that exist can't be used.
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

// Children are only objects that this test owns, in its namespace and in the operator's own. Foreign lists objects that
// have the name of a child but another owner. Objects in the test's namespace claim to belong to the test. Whoever
// edits that namespace can forge such a claim. Objects in the operator's own namespace are made by the operator alone.
type Children struct {
	// Pods are those of all attempts and of runners. They include pods whose Job is gone, since such a runner still has
	// its grace period to end.
	Pods []corev1.Pod
	// Jobs are those of all attempts.
	Jobs []batchv1.Job
	// Present are the other objects (ConfigMaps) that exist in the test's namespace, as "Kind/name".
	Present map[string]bool
	// Documents are the names of the ConfigMaps of the test's runs in the operator's own namespace. Plans are the
	// attempts whose Plan is among them. The Plan's ConfigMap owns all other objects of the run, so they are deleted
	// with it.
	Documents []string
	Plans     []int32
	// Order is what this attempt's runner was given, as the Plan's ConfigMap has it. Nil means none.
	Order *delivery.Order
	// Published is the digest that the Report's copy in the test's namespace claims, unchecked. Empty means that
	// there is no copy, or it claims no digest.
	Published string
	// Foreign are objects that have a child's name and belong to somebody else, as "Kind/name".
	Foreign []string
	// Progress is the runner's latest. Nil means none yet.
	Progress *delivery.Progress
	// Envelope is what the ConfigMap of this attempt's Report says on the outside. Nil means no Report yet.
	Envelope *delivery.Envelope
	// Report is the Report itself, judged anew (Judged). ReportFault is why there is none, or why it can't be read.
	// Both are empty until Decision.ReadReport asks for the Report. Then exactly one of them is set. The Report and the
	// Envelope are then read past any cache.
	Report      *report.Report
	ReportFault string
	// ReportPacked is the Report's bytes. Followed is the order that the Report claims to have followed.
	ReportPacked []byte
	Followed     delivery.Order
	// ReportWritten is when the Report was written, by the API server's clock. Zero means unknown.
	ReportWritten time.Time
}

// Refusal is the API server's answer to a pod, or another object of the test, that it wouldn't take.
type Refusal struct {
	Pod     string
	Message string
	// Transient says that the refusal may pass (timeout, too many requests), and isn't about the pod.
	Transient bool
	// NamespaceGoes says that the namespace is being deleted, and accepts no new objects.
	NamespaceGoes bool
}

// refusalOf is the refusal of a pod, or of another object, by its name. Nil means none.
func refusalOf(refusals []Refusal, name string) *Refusal {
	i := slices.IndexFunc(refusals, func(r Refusal) bool { return r.Pod == name })
	if i < 0 {
		return nil
	}
	return &refusals[i]
}
