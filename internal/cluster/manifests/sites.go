package manifests

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// SitesOf says where the attempt's generators answer, by its running pods; other pods among them are ignored. The error names a pod that doesn't
// exist, or has no address yet.
func SitesOf(in Input, pods []corev1.Pod) (sites plan.Sites, err error) {
	sites = plan.Sites{Version: plan.SitesVersion, Key: key(in), Device: deviceOf(in, pods)}
	sites.Vitals, sites.NoVitals = vitalsOf(in, pods)
	sites.Collector, sites.NoCollector = collectorOf(in, pods)
	if resets(in) {
		if sites.Reset, err = resetAt(in, pods); err != nil {
			return plan.Sites{}, err
		}
	}
	if sites.DeviceEnd, err = deviceEndAt(in, pods); err != nil {
		return plan.Sites{}, err
	}
	if !hasGeneratorPods(in) {
		sites.AllowedServers = in.Settings.ExternalServers.Texts()
	}
	hops := nextHops(in, pods)
	for _, g := range in.Compiled.Plan.Generators {
		site := plan.Site{Generator: g.Name, RPC: g.Server, PortOfLink: map[string]int{}}
		for i, p := range g.Ports {
			site.PortOfLink[p.Link] = i
			if mac := hops[p.Link]; mac != "" {
				if site.NextHopMAC == nil {
					site.NextHopMAC = map[string]string{}
				}
				site.NextHopMAC[p.Link] = mac
			}
		}
		if hasGeneratorPods(in) {
			if err := locate(in, pods, &site); err != nil {
				return plan.Sites{}, err
			}
		}
		sites.Generators = append(sites.Generators, site)
	}
	return sites, nil
}

// deviceOf describes the device's running pod; nil: there is none.
func deviceOf(in Input, pods []corev1.Pod) *plan.Device {
	pod := podNamed(pods, DUTPodName(in.Test.Name, in.Attempt))
	if pod == nil || !hasDUTPod(in) {
		return nil
	}
	containers := ContainersOf(pod)
	if far := podNamed(pods, FarEndPodName(in.Test.Name, in.Attempt)); far != nil && tunnelOf(in) != nil {
		containers = append(containers, ContainersOf(far)...)
	}
	return &plan.Device{Pod: pod.Name, Node: pod.Spec.NodeName, Machine: reportedMachine(pod), Containers: containers}
}

// ContainersOf are a pod's containers, with the images that run as far as kubelet has reported them, and then its init containers without ours: they
// may install the measured program or its configuration, or keep running beside it.
func ContainersOf(pod *corev1.Pod) []plan.Container {
	given := map[string]string{}
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		given[s.Name] = s.ImageID
	}
	var out []plan.Container
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		besideIt := c.Name == containerEnd && len(pod.Spec.Containers) > 1 // as the only container it is the device
		if !besideIt && !slices.Contains([]string{containerLinks, containerPorts, containerReset, containerCopy}, c.Name) {
			out = append(out, plan.Container{Name: c.Name, Image: c.Image, ImageID: given[c.Name]})
		}
	}
	return out
}

// locate says where a generator's pod answers.
func locate(in Input, pods []corev1.Pod, site *plan.Site) error {
	name := GeneratorPodName(in.Test.Name, in.Attempt, site.Generator)
	pod := podNamed(pods, name)
	if pod == nil {
		return fmt.Errorf("generator %s: pod %s doesn't exist", site.Generator, name)
	}
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return fmt.Errorf("generator %s: pod %s has no address yet", site.Generator, name)
	}
	site.Pod, site.Node, site.Containers = pod.Name, pod.Spec.NodeName, ContainersOf(pod)
	site.RPC = netip.AddrPortFrom(address, rpcPort).String()
	for _, l := range LinksOfPod(pod) {
		if l.PhysicalPort == "" {
			continue
		}
		if site.PhysicalPort == nil {
			site.PhysicalPort = map[string]string{}
		}
		site.PhysicalPort[l.Link] = l.PhysicalPort
	}
	if e, known := engineOf(in.Test); known && e.heartbeatPort() != 0 {
		site.Heartbeat = netip.AddrPortFrom(address, e.heartbeatPort()).String()
	}
	return nil
}

func podNamed(pods []corev1.Pod, name string) *corev1.Pod {
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &pods[i]
}

// nextHops are the DUT's MAC addresses by link, where frames surely have to be addressed to them: not where the spec names another, and not where the
// user's software routes on a kernel interface, since it may use a MAC address of its own there (as with AF_PACKET sockets), and answers ARP.
func nextHops(in Input, pods []corev1.Pod) map[string]string {
	p := in.Compiled.Plan
	if !hasDUTPod(in) || p.DUT.Forwarding == plan.L2 {
		return nil
	}
	hops := map[string]string{}
	for _, l := range linksOfDevice(in, pods) {
		n, _ := dutNetwork(in, l.Link)
		asks := in.Compiled.DUT != nil && p.DUT.Forwarding == plan.L3 && n.Resource == ""
		if !asks && !namedMAC(p, l.Link) {
			hops[l.Link] = l.MACAddress
		}
	}
	return hops
}

// linksOfDevice are the interfaces of the device's pods.
func linksOfDevice(in Input, pods []corev1.Pod) (all []v1alpha1.PodLink) {
	names := []string{DUTPodName(in.Test.Name, in.Attempt)}
	if tunnelOf(in) != nil {
		names = append(names, FarEndPodName(in.Test.Name, in.Attempt))
	}
	for _, name := range names {
		if pod := podNamed(pods, name); pod != nil {
			all = append(all, LinksOfPod(pod)...)
		}
	}
	return all
}

// namedMAC says that the spec gives the DUT's MAC address on a link.
func namedMAC(p *plan.Plan, link string) bool {
	return slices.ContainsFunc(p.Links, func(l plan.Link) bool { return l.Name == link && l.DUT.MAC != "" })
}
