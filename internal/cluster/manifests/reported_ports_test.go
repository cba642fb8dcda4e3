package manifests_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

func TestAPodsWordForItsPhysicalPorts(t *testing.T) {
	ended := func(name, message string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: name,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}}}
	}
	const shared = `{"version": "linerate.dev/ports.v1alpha1", "links": [{"link": "west", "port": "0000:3b:00.0", "shared": true}]}`
	for name, c := range map[string]struct {
		statuses []corev1.ContainerStatus
		want     string
	}{
		"of our own pods":              {ended("linerate-ports", shared), "0000:3b:00.0"},
		"of a device's template":       {ended("linerate-links", shared), "0000:3b:00.0"},
		"of somebody else's container": {ended("setup", shared), ""},
		"a port of its own":            {ended("linerate-ports", strings.Replace(shared, "true", "false", 1)), ""},
		"another link's":               {ended("linerate-ports", strings.Replace(shared, "west", "east", 1)), ""},
		"a name that no kernel has": {ended("linerate-ports", strings.Replace(shared, "0000:3b:00.0",
			strings.Repeat("x", 129), 1)), ""},
		"a fault": {ended("linerate-ports", "no such file"), ""},
		"nothing": {ended("linerate-links", ""), ""},
		"not yet": {[]corev1.ContainerStatus{{Name: "linerate-ports"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			pod.Annotations = map[string]string{
				"k8s.v1.cni.cncf.io/networks":       `[{"name": "sriov", "namespace": "lab", "interface": "west"}]`,
				"k8s.v1.cni.cncf.io/network-status": `[{"name": "lab/sriov", "interface": "west"}]`,
				manifests.AnnotationLinks:           "west",
			}
			pod.Status.InitContainerStatuses = c.statuses
			links := manifests.LinksOfPod(pod)
			if len(links) == 0 || links[0].Link != "west" || links[0].PhysicalPort != c.want {
				t.Errorf("%+v, want %q", links, c.want)
			}
		})
	}
}

// Who may change pods may write their annotations. Whatever those say, what the pod's init container found is on the
// node's port where it is.
func TestAnnotationsNameNoPhysicalPort(t *testing.T) {
	const asked, links = "k8s.v1.cni.cncf.io/networks", `[{"name": "sriov", "namespace": "lab", "interface": "west"}]`
	const status = "k8s.v1.cni.cncf.io/network-status"
	const spoofed = `[{"name": "lab/sriov", "interface": "west", "device-info": {"type": "pci", "pci": {"pci-address": "0000:99:02.0", "pf-pci-address": "0000:99:00.0"}}}]`
	for name, annotations := range map[string]map[string]string{
		"of another port":      {asked: links, status: spoofed, manifests.AnnotationLinks: "west"},
		"of no networks":       {asked: links, manifests.AnnotationLinks: "west"},
		"of no links":          {asked: links, status: spoofed},
		"none":                 nil,
		"that are not even it": {asked: "[", status: "]", manifests.AnnotationLinks: ","},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			pod.Annotations = annotations
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "linerate-ports",
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					Message: `{"version": "linerate.dev/ports.v1alpha1", "links": [{"link": "west", "device": "0000:3b:02.0", "port": "0000:3b:00.0", "shared": true}]}`}}}}
			links := manifests.LinksOfPod(pod)
			if len(links) != 1 || links[0].PhysicalPort != "0000:3b:00.0" || links[0].Device != "0000:3b:02.0" ||
				links[0].Link != "west" {
				t.Errorf("%+v", links)
			}
		})
	}
}

// What a pod tells is held to the devices that its node gave it, where the kubelet says which.
func TestDevicesThatThePodsNodeDidNotGive(t *testing.T) {
	input := sample(t, "loadtest_trex_intel_pod")
	for key, n := range input.Networks {
		n.Resource = "intel.com/west"
		input.Networks[key] = n
	}
	allocated := func(resource corev1.ResourceName, devices ...corev1.ResourceID) []corev1.ContainerStatus {
		status := corev1.ResourceStatus{Name: resource}
		for _, d := range devices {
			status.Resources = append(status.Resources, corev1.ResourceHealth{ResourceID: d,
				Health: corev1.ResourceHealthStatusHealthy})
		}
		return []corev1.ContainerStatus{{Name: "generator", AllocatedResourcesStatus: []corev1.ResourceStatus{status}}}
	}
	const device = `"device": "0000:3b:02.0", `
	for name, c := range map[string]struct {
		allocated []corev1.ContainerStatus
		spoofed   bool
	}{
		"an earlier kubelet says nothing":        {nil, false},
		"the device is the pod's":                {allocated("intel.com/west", "0000:3b:02.0", "0000:3b:02.1"), false},
		"it is, in capitals":                     {allocated("intel.com/west", "0000:3B:02.0"), false},
		"it is another's":                        {allocated("intel.com/west", "0000:3b:02.1", "0000:3b:02.2"), true},
		"the kubelet speaks of other resources":  {allocated("lab.example/gpu", "0000:99:00.0"), false},
		"the plugin has names of its own":        {allocated("intel.com/west", "card-1"), false},
		"the plugin has names besides addresses": {allocated("intel.com/west", "0000:3b:02.1", "card-1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := manifests.Generators(input)[0]
			pod.Status.ContainerStatuses = c.allocated
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "linerate-ports",
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					Message: `{"version": "linerate.dev/ports.v1alpha1", "links": [{"link": "west", ` + device +
						`"port": "0000:3b:00.0", "shared": true}]}`}}}}
			sentences := manifests.SpoofedPorts(input, pod)
			if (len(sentences) == 1) != c.spoofed || c.spoofed &&
				!strings.Contains(sentences[0],
					"link west is device 0000:3b:02.0, and its node's kubelet gave it 0000:3b:02.1, 0000:3b:02.2 of "+
						"intel.com/west") {
				t.Errorf("said is %q", sentences)
			}
			message := &pod.Status.InitContainerStatuses[0].State.Terminated.Message
			*message = strings.Replace(*message, device, "", 1)
			ofNone := len(c.allocated) > 0 && !strings.HasPrefix(name, "the kubelet") &&
				!strings.HasPrefix(name, "the plugin")
			if sentences := manifests.SpoofedPorts(input, pod); (len(sentences) == 1) != ofNone || ofNone &&
				!strings.Contains(sentences[0], "link west is on port 0000:3b:00.0, and its node's kubelet gave it") {
				t.Errorf("of a port without a device said is %q", sentences)
			}
			delete(pod.Spec.Containers[0].Resources.Limits, "intel.com/west")
			if sentences := manifests.SpoofedPorts(input, pod); len(sentences) != 1 ||
				!strings.Contains(sentences[0], "requests none of intel.com/west") {
				t.Errorf("of a pod that requests no device said is %q", sentences)
			}
		})
	}
}

// Pods look for physical ports only where there may be shared ones. The others start as fast as ever.
func TestPodsLookForPhysicalPortsOnDevicesOnly(t *testing.T) {
	hasPorts := func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.InitContainers,
			func(c corev1.Container) bool { return c.Name == "linerate-ports" })
	}
	for _, name := range []string{"loadtest_software_reference", "loadtest_trex_intel_pod"} {
		input := sample(t, name)
		for _, on := range []bool{true, false} {
			for key, n := range input.Networks {
				n.Resource, n.Plugin = "", "bridge"
				if on {
					n.Resource = "lab.example/any"
				}
				input.Networks[key] = n
			}
			pods := manifests.Generators(input)
			if input.Test.Spec.DUT.Type == v1alpha1.DUTReference {
				pods = append(pods, manifests.DUT(input))
			}
			for _, pod := range pods {
				if hasPorts(pod) != on {
					t.Errorf("%s: on devices %v, and pod %s looks for ports: %v", name, on, pod.Name, !on)
				}
			}
		}
	}
}

func TestTRexIsToldThatAPortMayBeShared(t *testing.T) {
	input := sample(t, "loadtest_trex_intel_pod")
	for _, allowed := range []v1alpha1.SharedPort{"", v1alpha1.SharedPortRefused, v1alpha1.SharedPortAllowed} {
		input.Test.Spec.SharedPort = allowed
		shared := slices.Contains(manifests.Generators(input)[0].Spec.Containers[0].Command, "--shared-port")
		if shared != (allowed == v1alpha1.SharedPortAllowed) {
			t.Errorf("sharedPort %q: told %v", allowed, shared)
		}
	}
}
