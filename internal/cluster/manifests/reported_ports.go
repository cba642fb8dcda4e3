package manifests

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// The init containers that report which physical ports are behind a pod's links (plan.Ports).
const (
	containerLinks = "linerate-links" // of a DUT's template: it writes links.json besides
	containerPorts = "linerate-ports" // of our own pods
)

// MayShare says whether this network's interface may be one of several on a physical port. Then the network has a
// device resource, or moves an interface of the node into the pod. Bridges, veths and the like are no virtual
// functions, so their pods start without looking up ports.
func (n Network) MayShare() bool {
	return n.Resource != "" || slices.Contains(devicePlugins(), n.Plugin)
}

// devicePlugins are the plugins that pass on a device of the node, which their configuration may name.
func devicePlugins() []string { return []string{"host-device", "sriov", "ib-sriov"} }

// addPortsContainer adds an init container that reports the pod's physical ports, if any of them may be shared.
func addPortsContainer(input Input, pod *corev1.Pod, links []string, end func(Input, string) (Network, bool)) {
	mayShare := slices.ContainsFunc(links, func(link string) bool {
		n, ok := end(input, link)
		return ok &&
			n.MayShare()
	})
	if !mayShare {
		return
	}
	var named []string
	for _, link := range links {
		if n, ok := end(input, link); ok {
			named = append(named, link+"="+n.Key.String())
		}
	}
	c := ourContainer(input, containerPorts, "ports", "--links", strings.Join(named, ","),
		"--network-status", folderPodInfo+"/"+fileStatus)
	c.Resources, c.SecurityContext = small(initCPU), restricted()
	c.VolumeMounts = []corev1.VolumeMount{readOnly(volumePodInfo, folderPodInfo)}
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volumePodInfo }) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, podInfo())
	}
}

// reportedPorts is the report of the pod's init container about its ends of the links, in the report's order. The last
// report on each link counts. No other source names physical ports, since the report is in the pod's status, which only
// its node writes, while whoever may change pods may write annotations, Multus' included.
func reportedPorts(pod *corev1.Pod) (links []plan.LinkPort) {
	for _, ports := range portsDocuments(pod) {
		for _, l := range ports.Links {
			if i := slices.IndexFunc(links, func(t plan.LinkPort) bool { return t.Link == l.Link }); i >= 0 {
				links[i] = l
			} else {
				links = append(links, l)
			}
		}
	}
	return links
}

// reportedPort is the report on a link. The zero value means that there is none.
func reportedPort(ports []plan.LinkPort, link string) plan.LinkPort {
	for _, t := range ports {
		if t.Link == link {
			return t
		}
	}
	return plan.LinkPort{}
}

// SpoofedPorts says, in sentences, which devices a pod reported that its node didn't give it, and which ports it
// reported without having a device. From Kubernetes 1.36 on the kubelet writes the given devices into the pod's status,
// by the device plugin's names. If they are missing, or aren't PCI addresses, nothing can be checked.
func SpoofedPorts(input Input, pod *corev1.Pod) (sentences []string) {
	end := generatorNetwork
	if pod.Labels[v1alpha1.LabelRole] == roleDUT {
		end = dutNetwork
	}
	for _, port := range reportedPorts(pod) {
		n, ok := end(input, port.Link)
		if !ok || n.Resource == "" || port.Device == "" && physicalPort(port) == "" {
			continue
		}
		if !requests(pod, n.Resource) {
			sentences = append(sentences, fmt.Sprintf("pod %s reports a device at its end of link %s, and requests "+
				"none of %s: it isn't as the operator makes it", pod.Name, port.Link, n.Resource))
			continue
		}
		allocated := allocatedDevices(pod, n.Resource)
		matches := func(device string) bool { return strings.EqualFold(device, port.Device) }
		if len(allocated) > 0 && !slices.ContainsFunc(allocated, isNotPCI) && !slices.ContainsFunc(allocated, matches) {
			subject := "device " + port.Device
			if port.Device == "" {
				subject = "on port " + port.Port
			}
			sentences = append(sentences, fmt.Sprintf("pod %s reports that its end of link %s is %s, and its node's "+
				"kubelet gave it %s of %s", pod.Name, port.Link, subject, strings.Join(allocated, ", "), n.Resource))
		}
	}
	return sentences
}

// requests says whether any of the pod's containers requests a resource.
func requests(pod *corev1.Pod, resource corev1.ResourceName) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		q, asked := c.Resources.Limits[resource]
		return asked && !q.IsZero()
	})
}

// allocatedDevices are the devices of a resource that the pod's node gave it, as its kubelet says.
func allocatedDevices(pod *corev1.Pod, resource corev1.ResourceName) (devices []string) {
	for _, c := range pod.Status.ContainerStatuses {
		for _, r := range c.AllocatedResourcesStatus {
			if r.Name != resource {
				continue
			}
			for _, device := range r.Resources {
				devices = append(devices, string(device.ResourceID))
			}
		}
	}
	slices.Sort(devices)
	return devices
}

var pciAddress = regexp.MustCompile(`^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$`)

func isNotPCI(device string) bool { return !pciAddress.MatchString(device) }

// reportedMachine is the init container's report on the pod's node. Nil means none.
func reportedMachine(pod *corev1.Pod) *plan.Machine {
	for _, ports := range portsDocuments(pod) {
		if ports.Machine != nil {
			return ports.Machine
		}
	}
	return nil
}

// portsDocuments are the reports that the pod's init containers left as termination messages.
func portsDocuments(pod *corev1.Pod) (documents []plan.Ports) {
	for _, c := range pod.Status.InitContainerStatuses {
		if c.Name != containerLinks && c.Name != containerPorts || c.State.Terminated == nil {
			continue
		}
		if ports, err := plan.ReadPorts(c.State.Terminated.Message); err == nil { // other messages say why it failed
			documents = append(documents, ports)
		}
	}
	return documents
}

// physicalPort is the node's port behind a link, if other devices share it. Empty means that none do.
func physicalPort(port plan.LinkPort) string {
	if !port.Shared || len(port.Port) > maxPortName { // the kernel has no such names
		return ""
	}
	return port.Port
}

// The longest physicalPort, device and link in the status.
const (
	maxPortName   = 128
	maxDeviceName = 64
	maxLinkName   = 13
)

// allowsSharedPort says that the test allows two ends on one physical port.
func allowsSharedPort(input Input) bool {
	return input.Test.Spec.SharedPort == v1alpha1.SharedPortAllowed
}
