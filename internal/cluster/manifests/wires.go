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

// MayShare says whether this network's interface may be one of several on a physical port: the network has a device resource, or moves an interface of the node
// into the pod. Bridges, veths and the like are no virtual functions, so their pods start without looking up ports.
func (n Network) MayShare() bool { return n.Resource != "" || slices.Contains(ownDevices(), n.Plugin) }

// ownDevices are the plugins that pass on a device of the node, which their configuration may name.
func ownDevices() []string { return []string{"host-device", "sriov", "ib-sriov"} }

// addPortsContainer adds an init container that reports the pod's physical ports, if any of them may be shared.
func addPortsContainer(in Input, pod *corev1.Pod, links []string, end func(Input, string) (Network, bool)) {
	may := slices.ContainsFunc(links, func(link string) bool { n, ok := end(in, link); return ok && n.MayShare() })
	if !may {
		return
	}
	var named []string
	for _, link := range links {
		if n, ok := end(in, link); ok {
			named = append(named, link+"="+n.Key.String())
		}
	}
	c := ourContainer(in, containerPorts, "ports", "--links", strings.Join(named, ","), "--network-status", folderPodInfo+"/"+fileStatus)
	c.Resources, c.SecurityContext = smallInit(), restricted()
	c.VolumeMounts = []corev1.VolumeMount{readOnly(volumePodInfo, folderPodInfo)}
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volumePodInfo }) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, podInfo())
	}
}

// reportedPorts is the report of the pod's init container about its ends of the links, in the report's order; the last report on each link counts. No other source names physical
// ports: the report is in the pod's status, which only its node writes, while whoever may change pods may write annotations, Multus' included.
func reportedPorts(pod *corev1.Pod) (told []plan.LinkPort) {
	for _, ports := range portsDocuments(pod) {
		for _, l := range ports.Links {
			if i := slices.IndexFunc(told, func(t plan.LinkPort) bool { return t.Link == l.Link }); i >= 0 {
				told[i] = l
			} else {
				told = append(told, l)
			}
		}
	}
	return told
}

// reportedPort is the report on a link; the zero value: there is none.
func reportedPort(told []plan.LinkPort, link string) plan.LinkPort {
	for _, t := range told {
		if t.Link == link {
			return t
		}
	}
	return plan.LinkPort{}
}

// SpoofedPorts says, in sentences, which devices a pod reported that its node didn't give it, and which ports it reported without having a device. From Kubernetes 1.36 on the
// kubelet writes the given devices into the pod's status, by the device plugin's names: if they are missing, or aren't PCI addresses, nothing can be checked.
func SpoofedPorts(in Input, pod *corev1.Pod) (out []string) {
	end := generatorNetwork
	if pod.Labels[v1alpha1.LabelRole] == roleDUT {
		end = dutNetwork
	}
	for _, told := range reportedPorts(pod) {
		n, known := end(in, told.Link)
		if !known || n.Resource == "" || told.Device == "" && physicalPort(told) == "" {
			continue
		}
		if !requests(pod, n.Resource) {
			out = append(out, fmt.Sprintf("pod %s reports a device at its end of link %s, and requests none of %s: it isn't as the operator makes it", pod.Name, told.Link, n.Resource))
			continue
		}
		given := givenTo(pod, n.Resource)
		is := func(device string) bool { return strings.EqualFold(device, told.Device) }
		if len(given) > 0 && !slices.ContainsFunc(given, notPCI) && !slices.ContainsFunc(given, is) {
			what := "device " + told.Device
			if told.Device == "" {
				what = "on port " + told.Port
			}
			out = append(out, fmt.Sprintf("pod %s reports that its end of link %s is %s, and its node's kubelet gave it %s of %s", pod.Name, told.Link, what, strings.Join(given, ", "), n.Resource))
		}
	}
	return out
}

// requests says whether any of the pod's containers requests a resource.
func requests(pod *corev1.Pod, resource corev1.ResourceName) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		q, asked := c.Resources.Limits[resource]
		return asked && !q.IsZero()
	})
}

// givenTo are the devices of a resource that the pod's node gave it, as its kubelet says.
func givenTo(pod *corev1.Pod, resource corev1.ResourceName) (devices []string) {
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

func notPCI(device string) bool { return !pciAddress.MatchString(device) }

// reportedMachine is the init container's report on the pod's node; nil: there is none.
func reportedMachine(pod *corev1.Pod) *plan.Machine {
	for _, ports := range portsDocuments(pod) {
		if ports.Machine != nil {
			return ports.Machine
		}
	}
	return nil
}

// portsDocuments are the reports that the pod's init containers left as termination messages.
func portsDocuments(pod *corev1.Pod) (all []plan.Ports) {
	for _, c := range pod.Status.InitContainerStatuses {
		if c.Name != containerLinks && c.Name != containerPorts || c.State.Terminated == nil {
			continue
		}
		if ports, err := plan.ReadPorts(c.State.Terminated.Message); err == nil { // other messages say why it failed
			all = append(all, ports)
		}
	}
	return all
}

// physicalPort is the node's port behind a link, if other devices share it; empty: none do.
func physicalPort(told plan.LinkPort) string {
	if !told.Shared || len(told.Port) > mostPortName { // the kernel has no such names
		return ""
	}
	return told.Port
}

// The longest physicalPort, device and link in the status.
const (
	mostPortName   = 128
	mostDeviceName = 64
	mostLinkName   = 13
)

// allowsSharedPort says that the test allows two ends on one physical port.
func allowsSharedPort(in Input) bool { return in.Test.Spec.SharedPort == v1alpha1.SharedPortAllowed }
