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
		return []corev1.ContainerStatus{{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}}}
	}
	const shared = `{"version": "linerate.dev/ports.v1alpha1", "links": [{"link": "west", "port": "0000:3b:00.0", "shared": true}]}`
	for name, c := range map[string]struct {
		told []corev1.ContainerStatus
		want string
	}{
		"of our own pods":              {ended("linerate-ports", shared), "0000:3b:00.0"},
		"of a device's template":       {ended("linerate-links", shared), "0000:3b:00.0"},
		"of somebody else's container": {ended("setup", shared), ""},
		"a port of its own":            {ended("linerate-ports", strings.Replace(shared, "true", "false", 1)), ""},
		"another link's":               {ended("linerate-ports", strings.Replace(shared, "west", "east", 1)), ""},
		"a name that no kernel has":    {ended("linerate-ports", strings.Replace(shared, "0000:3b:00.0", strings.Repeat("x", 129), 1)), ""},
		"a fault":                      {ended("linerate-ports", "no such file"), ""},
		"nothing":                      {ended("linerate-links", ""), ""},
		"not yet":                      {[]corev1.ContainerStatus{{Name: "linerate-ports"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			pod.Annotations = map[string]string{
				"k8s.v1.cni.cncf.io/networks":       `[{"name": "sriov", "namespace": "lab", "interface": "west"}]`,
				"k8s.v1.cni.cncf.io/network-status": `[{"name": "lab/sriov", "interface": "west"}]`, manifests.AnnotationLinks: "west",
			}
			pod.Status.InitContainerStatuses = c.told
			links := manifests.LinksOfPod(pod)
			if len(links) == 0 || links[0].Link != "west" || links[0].PhysicalPort != c.want {
				t.Errorf("%+v, want %q", links, c.want)
			}
		})
	}
}

// Who may change pods may write their annotations: whatever those say, what the pod's init container found is on the node's port where it is.
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
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "linerate-ports", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				Message: `{"version": "linerate.dev/ports.v1alpha1", "links": [{"link": "west", "device": "0000:3b:02.0", "port": "0000:3b:00.0", "shared": true}]}`}}}}
			links := manifests.LinksOfPod(pod)
			if len(links) != 1 || links[0].PhysicalPort != "0000:3b:00.0" || links[0].Device != "0000:3b:02.0" || links[0].Link != "west" {
				t.Errorf("%+v", links)
			}
		})
	}
}

// What a pod tells is held to the devices that its node gave it, where the kubelet says which.
func TestDevicesThatThePodsNodeDidNotGive(t *testing.T) {
	in := sample(t, "loadtest_trex_intel_pod")
	for key, n := range in.Networks {
		n.Resource = "intel.com/west"
		in.Networks[key] = n
	}
	given := func(resource corev1.ResourceName, devices ...corev1.ResourceID) []corev1.ContainerStatus {
		status := corev1.ResourceStatus{Name: resource}
		for _, d := range devices {
			status.Resources = append(status.Resources, corev1.ResourceHealth{ResourceID: d, Health: corev1.ResourceHealthStatusHealthy})
		}
		return []corev1.ContainerStatus{{Name: "generator", AllocatedResourcesStatus: []corev1.ResourceStatus{status}}}
	}
	const device = `"device": "0000:3b:02.0", `
	for name, c := range map[string]struct {
		given   []corev1.ContainerStatus
		spoofed bool
	}{
		"an earlier kubelet says nothing":        {nil, false},
		"the device is the pod's":                {given("intel.com/west", "0000:3b:02.0", "0000:3b:02.1"), false},
		"it is, in capitals":                     {given("intel.com/west", "0000:3B:02.0"), false},
		"it is another's":                        {given("intel.com/west", "0000:3b:02.1", "0000:3b:02.2"), true},
		"the kubelet speaks of other resources":  {given("lab.example/gpu", "0000:99:00.0"), false},
		"the plugin has names of its own":        {given("intel.com/west", "card-1"), false},
		"the plugin has names besides addresses": {given("intel.com/west", "0000:3b:02.1", "card-1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := manifests.Generators(in)[0]
			pod.Status.ContainerStatuses = c.given
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "linerate-ports", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				Message: `{"version": "linerate.dev/ports.v1alpha1", "links": [{"link": "west", ` + device + `"port": "0000:3b:00.0", "shared": true}]}`}}}}
			said := manifests.SpoofedPorts(in, pod)
			if (len(said) == 1) != c.spoofed || c.spoofed && !strings.Contains(said[0], "link west is device 0000:3b:02.0, and its node's kubelet gave it 0000:3b:02.1, 0000:3b:02.2 of intel.com/west") {
				t.Errorf("said is %q", said)
			}
			left := &pod.Status.InitContainerStatuses[0].State.Terminated.Message
			*left = strings.Replace(*left, device, "", 1)
			ofNone := len(c.given) > 0 && !strings.HasPrefix(name, "the kubelet") && !strings.HasPrefix(name, "the plugin")
			if said := manifests.SpoofedPorts(in, pod); (len(said) == 1) != ofNone || ofNone && !strings.Contains(said[0], "link west is on port 0000:3b:00.0, and its node's kubelet gave it") {
				t.Errorf("of a port without a device said is %q", said)
			}
			delete(pod.Spec.Containers[0].Resources.Limits, "intel.com/west")
			if said := manifests.SpoofedPorts(in, pod); len(said) != 1 || !strings.Contains(said[0], "requests none of intel.com/west") {
				t.Errorf("of a pod that requests no device said is %q", said)
			}
		})
	}
}

// Pods look for physical ports only where there may be shared ones: the others start as fast as ever.
func TestPodsLookForPhysicalPortsOnDevicesOnly(t *testing.T) {
	tells := func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == "linerate-ports" })
	}
	for _, name := range []string{"loadtest_software_reference", "loadtest_trex_intel_pod"} {
		in := sample(t, name)
		for _, on := range []bool{true, false} {
			for key, n := range in.Networks {
				n.Resource, n.Plugin = "", "bridge"
				if on {
					n.Resource = "lab.example/any"
				}
				in.Networks[key] = n
			}
			pods := manifests.Generators(in)
			if in.Test.Spec.DUT.Type == v1alpha1.DUTReference {
				pods = append(pods, manifests.DUT(in))
			}
			for _, pod := range pods {
				if tells(pod) != on {
					t.Errorf("%s: on devices %v, and pod %s looks for ports: %v", name, on, pod.Name, !on)
				}
			}
		}
	}
}

func TestTRexIsToldThatAPortMayBeShared(t *testing.T) {
	in := sample(t, "loadtest_trex_intel_pod")
	for _, allowed := range []v1alpha1.SharedPort{"", v1alpha1.SharedPortRefused, v1alpha1.SharedPortAllowed} {
		in.Test.Spec.SharedPort = allowed
		told := slices.Contains(manifests.Generators(in)[0].Spec.Containers[0].Command, "--shared-port")
		if told != (allowed == v1alpha1.SharedPortAllowed) {
			t.Errorf("sharedPort %q: told %v", allowed, told)
		}
	}
}
