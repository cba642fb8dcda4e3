package manifests

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

const (
	// annotationNetworks lists a pod's networks for Multus, and annotationNetworkStatus is Multus' report of them.
	annotationNetworks      = "k8s.v1.cni.cncf.io/networks"
	annotationNetworkStatus = "k8s.v1.cni.cncf.io/network-status"
	// AnnotationLinks is on every pod with interfaces on the test's links, and has the links' names, with commas
	// between. The pod's other interfaces are its own.
	AnnotationLinks = "linerate.dev/links"
)

// generatorAttachments are a generator's interfaces, one on each link that it is on.
func generatorAttachments(input Input, g plan.Generator) []compile.Attachment {
	var attachments []compile.Attachment
	for _, p := range g.Ports {
		if n, ok := generatorNetwork(input, p.Link); ok {
			attachments = append(attachments, attach(input, n, g.Name, p.Link, p.Addresses))
		}
	}
	return attachments
}

// dutAttachments are the DUT's interfaces, one on each link.
func dutAttachments(input Input) []compile.Attachment { return attachmentsOn(input, linkNames(input)) }

// attachmentsOn are the DUT's interfaces on some of the links.
func attachmentsOn(input Input, links []string) []compile.Attachment {
	var attachments []compile.Attachment
	for _, l := range input.Compiled.Plan.Links {
		if n, ok := dutNetwork(input, l.Name); ok && slices.Contains(links, l.Name) {
			attachments = append(attachments, attach(input, n, roleDUT, l.Name, l.DUT.Addresses))
		}
	}
	return attachments
}

// attach is the attachment of an interface that is named like its link. Where the network accepts MAC addresses it asks
// for one. Then a virtual function's spoof check lets all frames pass, and other pods' files can have the address
// before this pod runs.
//
// It asks for addresses only where the network's address manager has none of its own, since the plugin then refuses
// pods that bring none. That the kernel has a generator's address, too, does no harm, since the kernel answers as the
// engine does. The addresses of a tagged link belong to an interface that the pod creates itself.
func attach(input Input, n Network, owner, link string, addresses []netip.Prefix) compile.Attachment {
	a := compile.Attachment{Name: n.Key.Name, Namespace: n.Key.Namespace, Interface: link}
	if n.MAC {
		a.MAC = stableMAC(input, owner, link)
	}
	if n.IPs && !tagged(input, link) {
		a.IPs = prefixes(addresses)
	}
	return a
}

func tagged(input Input, link string) bool {
	return slices.ContainsFunc(generatorsOn(input, link), func(p generatorPort) bool { return p.port.VLAN != 0 })
}

func prefixes(list []netip.Prefix) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.String())
	}
	return texts
}

// stableMAC is a locally administered address that follows from the interface's owner. It is always the same in one
// attempt, and another one in the next, so that no switch or neighbour table remembers where the last one was.
func stableMAC(input Input, owner, link string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s/%s", input.Test.UID, input.Attempt, owner, link))
	return fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", sum[0], sum[1], sum[2], sum[3], sum[4])
}

// devicesOf counts the device requests of links' ends. Links whose networks share a resource need one each.
func devicesOf(input Input, links []string, end func(Input, string) (Network, bool)) map[corev1.ResourceName]int64 {
	counts := map[corev1.ResourceName]int64{}
	for _, link := range links {
		if n, ok := end(input, link); ok && n.Resource != "" {
			counts[n.Resource]++
		}
	}
	return counts
}

// requestDevices adds devices to a container's requests, which may already have some for networks of its own.
// Kubernetes demands that limits of devices equal their requests.
func requestDevices(c *corev1.Container, devices map[corev1.ResourceName]int64) {
	for name, count := range devices {
		q := resource.NewQuantity(count, resource.DecimalSI)
		if requested, ok := c.Resources.Limits[name]; ok {
			q.Add(requested)
		}
		c.Resources.Requests = withResource(c.Resources.Requests, name, *q)
		c.Resources.Limits = withResource(c.Resources.Limits, name, *q)
	}
}

func withResource(list corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) corev1.ResourceList {
	merged := maps.Clone(list)
	if merged == nil {
		merged = corev1.ResourceList{}
	}
	merged[name] = q
	return merged
}

// networkAnnotations are the annotations that attach a pod first to its template's own networks, as the
// compiler read them, and then to the test's links.
func networkAnnotations(input Input, annotation string, ours []compile.Attachment) map[string]string {
	if len(ours) == 0 {
		return nil
	}
	entries, err := compile.ReadAttachments(annotation, input.Test.Namespace)
	if err != nil {
		entries = nil // can't happen: the compiler refuses an annotation that can't be read
	}
	var links []string
	for _, a := range ours {
		entries = append(entries, a)
		links = append(links, a.Interface)
	}
	return map[string]string{annotationNetworks: compile.WriteAttachments(entries),
		AnnotationLinks: strings.Join(links, ",")}
}
