package manifests

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// Object is something that the API server stores.
type Object interface {
	metav1.Object
	runtime.Object
}

// Settings are what the operator was started with.
type Settings struct {
	// Key is the operator's own secret, from which the keys of all attempts follow. The zero Key is for tests, as
	// everybody knows it.
	Key credential.Key
	// Image is linerate's own image. PullPolicy and PullSecrets are how it is pulled.
	Image       string
	PullPolicy  corev1.PullPolicy
	PullSecrets []corev1.LocalObjectReference
	// Namespace is the operator's own, where runners run and write. RunnerAccount is the runners' ServiceAccount there,
	// RunnerPriority their PriorityClass (empty for the cluster's default), and RunnerQueue the LocalQueue of Kueue
	// there that their Jobs name (empty for none).
	Namespace      string
	RunnerAccount  string
	RunnerPriority string
	RunnerQueue    string
	// AllowedServers are where generators that run already may be.
	AllowedServers compile.ServerRanges
	// Pods are labels and annotations for every pod of every test.
	Pods PodMetadata
}

// DefaultRunnerAccount is the default ServiceAccount of runners.
const DefaultRunnerAccount = "linerate-runner"

// Network is the part of a NetworkAttachmentDefinition that matters to pods.
type Network struct {
	Key compile.NetworkKey
	// Resource is the device resource that its pods must request, from the annotation
	// k8s.v1.cni.cncf.io/resourceName. Empty means none.
	Resource corev1.ResourceName
	// Plugin is the type of its (first) CNI plugin, such as sriov, host-device, macvlan or bridge.
	Plugin string
	// MAC says that its plugins accept a MAC address from the pod (capability mac), IPs that they accept any
	// addresses from it (capability ips, with the address manager static, which then has none of its own).
	MAC, IPs bool
}

// Input is all that the objects follow from.
type Input struct {
	Test     *v1alpha1.LoadTest
	Compiled *compile.Cluster
	// Networks holds every network of Compiled.Networks.
	Networks map[compile.NetworkKey]Network
	// Attempt counts from 1.
	Attempt int32
	// ExcludedNodes are nodes that refused a pod of the test.
	ExcludedNodes []string
	Settings      Settings
	// Baseline is the document of the baseline that the runner compares with (delivery.EncodeBaseline). Empty means
	// none.
	Baseline []byte
}
