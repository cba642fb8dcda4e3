package compile

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// Cluster is a LoadTest that can be run in a cluster: its Plan, and what its pods are made from, read and checked.
type Cluster struct {
	Plan *plan.Plan
	// DUT, Setup and Teardown are the user's templates; nil where there is none.
	DUT, Setup, Teardown *corev1.PodTemplateSpec
	// DUTContainer is the index in DUT.Spec.Containers of the one that forwards. The manifests put it first, as devices go to the first.
	DUTContainer int
	// Generator is what each generator pod requests. Kernel is what it requests instead where its networks have no devices: TRex drives
	// kernel interfaces with one core, and without huge pages.
	Generator, Kernel Resources
	// Affinity is generator.pod.affinity; nil where there is none.
	Affinity *corev1.Affinity
	// Networks are the links' NetworkAttachmentDefinitions, in the links' order. A name is empty where no pod of ours has an end there.
	Networks []LinkNetworks
}

// LinkNetworks are the networks of a link's two ends.
type LinkNetworks struct {
	Link           string
	Generator, DUT NetworkKey
}

// NetworkKey names a NetworkAttachmentDefinition.
type NetworkKey struct{ Namespace, Name string }

func (k NetworkKey) String() string { return k.Namespace + "/" + k.Name }

// Resources are what a generator pod requests.
type Resources struct {
	// Cores is how many threads send and receive per pair of ports.
	Cores int
	// CPUs are the pod's, whole and exclusive: limits are equal to requests. 0: it shares CPUs with others, without a limit.
	CPUs   int64
	Memory resource.Quantity
	// HugepageSize is "1Gi" or "2Mi", and Hugepages how much of them; empty: none.
	HugepageSize string
	Hugepages    resource.Quantity
}

// ForCluster makes all that a cluster needs of a LoadTest, or says all that is wrong with it. The LoadTest must have been admitted. Beyond
// what Compile refuses, it refuses what only pods need: networks that are missing, templates that Kubernetes wouldn't read.
func ForCluster(test *v1alpha1.LoadTest) (*Cluster, field.ErrorList) {
	p, errs := Compile(test)
	if len(errs) > 0 {
		return nil, errs
	}
	return &Cluster{Plan: p}, nil
}
