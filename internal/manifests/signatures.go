package manifests

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

func hasDUTPod(in Input) bool {
	t := in.Test.Spec.DUT.Type
	return t == v1alpha1.DUTPod || t == v1alpha1.DUTReference
}

// Standing are the objects of the test itself, in the order in which they are to be created.
func Standing(_ Input) []Object { return nil }

// Setup is the pod that runs before all others of its attempt; nil where there is none.
func Setup(_ Input) *corev1.Pod { return nil }

// Links is the ConfigMap that tells an attempt's pods of their links. It must be there before them. It is never nil.
func Links(in Input) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: ofThisAttempt(in, LinksName(in.Test.Name, in.Attempt), roleLinks)}
}

// DUT is the pod of the device under test; nil where it is none of ours.
func DUT(_ Input) *corev1.Pod { return nil }

// Generators are the attempt's generator pods, in the Plan's order; none with engine External.
func Generators(_ Input) []*corev1.Pod { return nil }

// Run is the Plan's ConfigMap and the runner's Job, in the order in which they are to be created.
func Run(_ Input, _ plan.Sites) ([]Object, error) { return nil, nil }

// Teardown is the pod that runs after all others of its attempt; nil where there is none.
func Teardown(_ Input) *corev1.Pod { return nil }

// SitesOf says where the attempt's generators are, from its pods as they run. Other pods among them don't matter.
func SitesOf(_ Input, _ []corev1.Pod) (plan.Sites, error) { return plan.Sites{}, nil }

// LinksOfPod are the pod's interfaces on the test's links, as far as its status says already.
func LinksOfPod(_ *corev1.Pod) []v1alpha1.PodLink { return nil }

// Check says what can't be made with these networks, each with the way out; nil: all can be made.
func Check(_ Input) []error { return nil }
