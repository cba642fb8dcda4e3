// Package manifests makes the Kubernetes objects of a LoadTest: pods, the runner's Job, its rights and its documents. It is pure: the same
// input makes the same objects, which share nothing with it. They are created once and never updated.
//
//	NAME-runner             ServiceAccount, Role, RoleBinding     one per test
//	NAME-progress, -report  ConfigMaps, empty, for the runner     one per test
//	NAME-A-setup            Pod                                   per attempt A, from 1
//	NAME-A-links            ConfigMap: links.json, forwarder.json
//	NAME-A-dut              Pod
//	NAME-A-vitals           Pod                                   where observers look at the node of a user's device
//	NAME-A-generator-R      Pod (PerLink: NAME-A-generator-R-LINK)
//	NAME-A-plan             ConfigMap: plan.json.gz, sites.json
//	NAME-A-runner           Job
//	NAME-A-teardown         Pod
package manifests

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
)

// Object is something that the API server stores.
type Object interface {
	metav1.Object
	runtime.Object
}

// Settings are what the operator was started with.
type Settings struct {
	// Image is linerate's own image; PullPolicy and PullSecrets are how it is pulled.
	Image       string
	PullPolicy  corev1.PullPolicy
	PullSecrets []corev1.LocalObjectReference
}

// Network is what a NetworkAttachmentDefinition says that matters to pods.
type Network struct {
	Key compile.NetworkKey
	// Resource is the device resource that its pods must request, from the annotation k8s.v1.cni.cncf.io/resourceName; empty: none.
	Resource corev1.ResourceName
	// Plugin is the type of its (first) CNI plugin, such as sriov, host-device, macvlan or bridge.
	Plugin string
	// MAC says that its plugins take a MAC address from the pod (capability mac), IPs that they take any addresses from it (capability ips with the
	// address manager static, which then has none of its own).
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
	// Baseline is the document of what the runner compares with (delivery.EncodeBaseline); empty: nothing.
	Baseline []byte
}
