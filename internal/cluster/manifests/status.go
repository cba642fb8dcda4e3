package manifests

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// networkStatus is the part of an entry of Multus' network-status that matters here.
type networkStatus struct {
	Name      string `json:"name"` // "namespace/name"
	Interface string `json:"interface"`
	MAC       string `json:"mac"`
	Device    struct {
		PCI struct {
			Address string `json:"pci-address"`
		} `json:"pci"`
	} `json:"device-info"`
}

// PodLink is a pod's interface on a link of the test.
type PodLink struct {
	// Link is the link's name.
	Link string
	// Device is the device behind it, by its PCI address. Empty: none, or unknown.
	Device     string
	MACAddress string
	// PhysicalPort is the node's port behind it, where other interfaces may share that port.
	PhysicalPort string
}

// LinksOfPod are the pod's interfaces on the test's links, as far as Multus and the pod's init container have reported
// them. A pod that isn't attached yet has none. Physical ports come only from the init container's report, whatever
// annotations say.
func LinksOfPod(pod *corev1.Pod) []PodLink {
	ports := reportedPorts(pod)
	links := attachedLinks(pod, ports)
	for _, t := range ports {
		port := physicalPort(t)
		if port == "" || len(t.Link) > maxLinkName ||
			slices.ContainsFunc(links, func(l PodLink) bool { return l.Link == t.Link }) {
			continue
		}
		links = append(links, PodLink{Link: t.Link, Device: deviceName(t.Device), PhysicalPort: port})
	}
	return links
}

// deviceName is a device as the status may have it.
func deviceName(device string) string {
	if len(device) > maxDeviceName {
		return ""
	}
	return device
}

// attachedLinks are the links that Multus reported.
func attachedLinks(pod *corev1.Pod, ports []plan.LinkPort) []PodLink {
	var reported []networkStatus
	if intake.JSON([]byte(pod.Annotations[annotationNetworkStatus]), &reported, intake.Small) != nil ||
		len(reported) == 0 {
		return nil
	}
	asked := requestedAttachments(pod)
	var links []PodLink
	for _, a := range asked {
		s, ok := statusOf(a, asked, reported)
		if !ok || slices.ContainsFunc(links, func(l PodLink) bool { return l.Link == a.Interface }) {
			continue // the status has each link once
		}
		mac := strings.ToLower(s.MAC)
		if mac == "" {
			// The plugin of a device that left the kernel reports no address, and set the one that was asked for.
			mac = a.MAC
		}
		port := reportedPort(ports, a.Interface)
		links = append(links, PodLink{
			Link: a.Interface, Device: deviceName(cmp.Or(port.Device, s.Device.PCI.Address)), MACAddress: mac,
			PhysicalPort: physicalPort(port),
		})
	}
	return links
}

// requestedAttachments are the pod's attachments to the test's links, by its annotation.
func requestedAttachments(pod *corev1.Pod) []compile.Attachment {
	var attachments []compile.Attachment
	if intake.JSON([]byte(pod.Annotations[annotationNetworks]), &attachments, intake.Small) != nil {
		return nil
	}
	links := strings.Split(pod.Annotations[AnnotationLinks], ",")
	return slices.DeleteFunc(attachments, func(a compile.Attachment) bool {
		return a.Interface == "" ||
			!slices.Contains(links, a.Interface)
	})
}

// statusOf finds Multus' report of an attachment by the interface's name or, if that wasn't reported, by the network,
// if no other link uses it.
func statusOf(a compile.Attachment, asked []compile.Attachment, reported []networkStatus) (networkStatus, bool) {
	for _, s := range reported {
		if s.Interface == a.Interface {
			return s, true
		}
	}
	network := func(o compile.Attachment) string { return o.Namespace + "/" + o.Name }
	if slices.ContainsFunc(asked, func(o compile.Attachment) bool {
		return o.Interface != a.Interface &&
			network(o) == network(a)
	}) {
		return networkStatus{}, false
	}
	i := slices.IndexFunc(reported, func(s networkStatus) bool { return s.Interface == "" && s.Name == network(a) })
	if i < 0 {
		return networkStatus{}, false
	}
	return reported[i], true
}
