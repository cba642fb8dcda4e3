package manifests

import (
	"fmt"
	"regexp"
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

// MayShare says whether this network's interface may be one of several on a physical port: the network has a device resource, or moves an interface of the node
// into the pod. Bridges, veths and the like are no virtual functions, so their pods start without looking up ports.
func (n Network) MayShare() bool { return n.Resource != "" || slices.Contains(ownDevices(), n.Plugin) }

// ownDevices are the plugins that hand on a device of the node's which their configuration may name itself.
func ownDevices() []string { return []string{"host-device", "sriov", "ib-sriov"} }

// tellPorts gives the pod an init container that tells its physical ports, where it may have any that are shared.
func tellPorts(in Input, pod *corev1.Pod, links []string, end func(Input, string) (Network, bool)) {
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

// portsTold are what the pod's init container told of its ends of the links, in its order; the last word on each counts. It is the only word for a physical
// port: it is in the pod's status, which its node alone writes. Annotations, Multus' own included, are for everybody to write who may change pods.
func portsTold(pod *corev1.Pod) (told []plan.LinkPort) {
	for _, ports := range lastWords(pod) {
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

// toldOf is what was told of a link; its zero value: nothing.
func toldOf(told []plan.LinkPort, link string) plan.LinkPort {
	for _, t := range told {
		if t.Link == link {
			return t
		}
	}
	return plan.LinkPort{}
}

// Spoofed says in sentences which devices a pod told of that its node didn't give it, and which ports without a device. What the node gave its kubelet says in the
// pod's status, from Kubernetes 1.36 on, by the device plugin's names: where these aren't PCI addresses, or nothing is said, nothing can be held against it.
func Spoofed(in Input, pod *corev1.Pod) (out []string) {
	end := generatorNetwork
	if pod.Labels[v1alpha1.LabelRole] == roleDUT {
		end = dutNetwork
	}
	for _, told := range portsTold(pod) {
		n, known := end(in, told.Link)
		if !known || n.Resource == "" || told.Device == "" && physicalPort(told) == "" {
			continue
		}
		if !requests(pod, n.Resource) {
			out = append(out, fmt.Sprintf("pod %s tells of its end of link %s, and requests none of %s: it isn't as the operator makes it", pod.Name, told.Link, n.Resource))
			continue
		}
		given := givenTo(pod, n.Resource)
		is := func(device string) bool { return strings.EqualFold(device, told.Device) }
		if len(given) > 0 && !slices.ContainsFunc(given, notPCI) && !slices.ContainsFunc(given, is) {
			what := "device " + told.Device
			if told.Device == "" {
				what = "on port " + told.Port
			}
			out = append(out, fmt.Sprintf("pod %s says that its end of link %s is %s, and its node's kubelet gave it %s of %s", pod.Name, told.Link, what, strings.Join(given, ", "), n.Resource))
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

// physicalPort is the node's port behind a link, where others may be behind it, too.
func physicalPort(told plan.LinkPort) string {
	if !told.Shared || len(told.Port) > mostPortName { // the kernel has no such names
		return ""
	}
	return told.Port
}

// What the status' physicalPort, device and link may be long.
const (
	mostPortName   = 128
	mostDeviceName = 64
	mostLinkName   = 13
)

// allowsSharedPort says that the test takes two ends on one physical port.
func allowsSharedPort(in Input) bool { return in.Test.Spec.SharedPort == v1alpha1.SharedPortAllowed }
