package manifests_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// qosOf is a pod's class of service by Kubernetes' rule (Tasks, "Configure Quality of Service for Pods"): CPU
// and memory of all containers, init containers too, decide; nothing else does.
func qosOf(spec corev1.PodSpec) corev1.PodQOSClass {
	requests, guaranteed := false, true
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			requests = requests || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && (request.IsZero() || request.Cmp(limit) == 0)
		}
	}
	switch {
	case !requests:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func TestGeneratorsWithCPUsOfTheirOwnAreGuaranteed(t *testing.T) {
	for name, want := range map[string]corev1.PodQOSClass{
		"loadtest_trex_intel_pod":        corev1.PodQOSGuaranteed,
		"loadtest_trex_mellanox_device":  corev1.PodQOSGuaranteed,
		"loadtest_trex_loopback":         corev1.PodQOSGuaranteed,
		"loadtest_four_replicas":         corev1.PodQOSGuaranteed,
		"loadtest_per_link":              corev1.PodQOSGuaranteed,
		"loadtest_one_network":           corev1.PodQOSGuaranteed,
		"loadtest_generator_pod":         corev1.PodQOSGuaranteed,
		"loadtest_four_links":            corev1.PodQOSGuaranteed,
		"loadtest_software_device":       corev1.PodQOSGuaranteed, // coresPerPortPair is set
		"loadtest_software_reference":    corev1.PodQOSBurstable,
		"loadtest_trex_kernel_reference": corev1.PodQOSBurstable,
	} {
		t.Run(name, func(t *testing.T) {
			for _, pod := range manifests.Generators(sample(t, name)) {
				if got := qosOf(pod.Spec); got != want {
					t.Errorf("%s is %s", pod.Name, got)
				}
				cpu := pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
				if cpu.MilliValue()%1000 != 0 {
					t.Errorf("%s asks for %s CPUs: only whole ones can be its own", pod.Name, cpu.String())
				}
				for _, c := range pod.Spec.InitContainers {
					if cpu := c.Resources.Requests[corev1.ResourceCPU]; cpu.MilliValue()%1000 == 0 {
						t.Errorf("%s/%s asks for %s CPUs: whole ones would be set aside for it", pod.Name, c.Name,
							cpu.String())
					}
				}
			}
		})
	}
}

func TestAGuaranteedDUTStaysOne(t *testing.T) {
	input := sample(t, "loadtest_trex_intel_pod")
	if got := qosOf(input.Compiled.DUT.Spec); got != corev1.PodQOSGuaranteed {
		t.Fatalf("the sample's template is %s", got)
	}
	if got := qosOf(manifests.DUT(input).Spec); got != corev1.PodQOSGuaranteed {
		t.Errorf("the pod is %s", got)
	}
}

// The device's end, which is put beside, leaves a Guaranteed pod one, may run as the user that it needs, and
// takes no CPU limit where nobody has one.
func TestTheDevicesEndFitsIntoItsPod(t *testing.T) {
	input := sample(t, "loadtest_endpoint_pod")
	sidecar := func() corev1.Container {
		containers := manifests.DUT(input).Spec.Containers
		return containers[slices.IndexFunc(containers,
			func(c corev1.Container) bool { return c.Name == "linerate-end" })]
	}
	if c := sidecar(); !c.Resources.Limits.Cpu().IsZero() || c.SecurityContext.RunAsNonRoot == nil ||
		*c.SecurityContext.RunAsNonRoot {
		t.Errorf("%v, %+v", c.Resources, c.SecurityContext)
	}
	resources := &input.Compiled.DUT.Spec.Containers[input.Compiled.DUTContainer].Resources
	resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"),
		corev1.ResourceMemory: resource.MustParse("1Gi")}
	resources.Limits = resources.Requests.DeepCopy()
	if got := qosOf(manifests.DUT(input).Spec); got != corev1.PodQOSGuaranteed {
		t.Errorf("the pod is %s: %v", got, sidecar().Resources)
	}
}

// TestRequestsAreWithinLimits checks also that requests of huge pages and devices equal their limits.
func TestRequestsAreWithinLimits(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		for _, o := range everything(t, input) {
			spec, _ := podSpec(o)
			if spec == nil || o.GetLabels()[v1alpha1.LabelRole] == "setup" ||
				o.GetLabels()[v1alpha1.LabelRole] == "teardown" {
				continue
			}
			for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
				for name, limit := range c.Resources.Limits {
					request := c.Resources.Requests[name]
					shared := name == corev1.ResourceCPU || name == corev1.ResourceMemory
					if request.Cmp(limit) > 0 || !shared && request.Cmp(limit) != 0 {
						t.Errorf("%s/%s: %s of %s for a limit of %s", o.GetName(), c.Name, name, request.String(),
							limit.String())
					}
				}
			}
		}
	})
}
