package manifests

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// The init containers that tell which physical ports are behind a pod's links (plan.Ports).
const (
	containerLinks = "linerate-links" // of a DUT's template: it writes links.json besides
	containerPorts = "linerate-ports" // of our own pods
)

// mayShare says that what a network gives may be one of several devices on a physical port: it has a device resource, or moves an interface of
// the node's into the pod. Others, such as bridges and veths, are nobody's virtual function, and their pods start without looking.
func mayShare(n Network) bool { return n.Resource != "" || n.Plugin == "host-device" }

// tellPorts gives the pod an init container that tells its physical ports, where it may have any that are shared.
func tellPorts(in Input, pod *corev1.Pod, links []string, end func(Input, string) (Network, bool)) {
	may := slices.ContainsFunc(links, func(link string) bool { n, ok := end(in, link); return ok && mayShare(n) })
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

// portsTold are the physical ports that the pod's init container told of, those alone that others may be on, too.
func portsTold(pod *corev1.Pod) map[string]string {
	told := map[string]string{}
	for _, ports := range lastWords(pod) {
		for _, l := range ports.Links {
			if l.Shared {
				told[l.Link] = l.Port
			}
		}
	}
	return told
}

// machineTold is the pod's node as its init container told of it; nil: it didn't.
func machineTold(pod *corev1.Pod) *plan.Machine {
	for _, ports := range lastWords(pod) {
		if ports.Machine != nil {
			return ports.Machine
		}
	}
	return nil
}

// lastWords are what the pod's init containers left at their ends.
func lastWords(pod *corev1.Pod) (all []plan.Ports) {
	for _, c := range pod.Status.InitContainerStatuses {
		if c.Name != containerLinks && c.Name != containerPorts || c.State.Terminated == nil {
			continue
		}
		if ports, err := plan.ReadPorts(c.State.Terminated.Message); err == nil { // else an earlier version's, or why it failed
			all = append(all, ports)
		}
	}
	return all
}

// physicalPort is the node's port behind a link, where others may be behind it, too: as device-info tells it, else as the pod does.
func physicalPort(s networkStatus, told string) string {
	port, device := s.Device.PCI.PhysicalFunction, s.Device.PCI.Address
	if port == "" || port == device {
		port = told
	}
	if len(port) > mostPortName {
		return "" // the kernel has no such names
	}
	return port
}

// mostPortName is how long the status' physicalPort may be.
const mostPortName = 128

// allowsSharedPort says that the test takes two ends on one physical port.
func allowsSharedPort(in Input) bool { return in.Test.Spec.SharedPort == v1alpha1.SharedPortAllowed }
