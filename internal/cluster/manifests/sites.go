package manifests

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// SitesOf says where the attempt's generators answer, by its running pods. Other pods among them are ignored. The error
// names a pod that doesn't exist, or has no address yet.
func SitesOf(input Input, pods []corev1.Pod) (sites plan.Sites, err error) {
	sites = plan.Sites{Version: plan.SitesVersion, Key: key(input), Device: deviceOf(input, pods)}
	sites.Vitals, sites.NoVitals = vitalsOf(input, pods)
	sites.Collector, sites.NoCollector = collectorOf(input, pods)
	if resets(input) {
		if sites.Reset, err = deviceAddress(input, pods, vitalsPort); err != nil {
			return plan.Sites{}, err
		}
	}
	if endsAtDevice(input) {
		if sites.DeviceEnd, err = deviceAddress(input, pods, rpcPort); err != nil {
			return plan.Sites{}, err
		}
	}
	if !hasGeneratorPods(input) {
		sites.AllowedServers = input.Settings.AllowedServers.Texts()
	}
	hops := nextHops(input, pods)
	for _, g := range input.Compiled.Plan.Generators {
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
		if hasGeneratorPods(input) {
			if err := locate(input, pods, &site); err != nil {
				return plan.Sites{}, err
			}
		}
		sites.Generators = append(sites.Generators, site)
	}
	return sites, nil
}

// deviceOf describes the device's running pod. Nil means none.
func deviceOf(input Input, pods []corev1.Pod) *plan.Device {
	pod := podNamed(pods, DUTPodName(input.Test.Name, input.Attempt))
	if pod == nil || !hasDUTPod(input) {
		return nil
	}
	containers := ContainersOf(pod)
	if far := podNamed(pods, FarEndPodName(input.Test.Name, input.Attempt)); far != nil && tunnelOf(input) != nil {
		containers = append(containers, ContainersOf(far)...)
	}
	return &plan.Device{Pod: pod.Name, Node: pod.Spec.NodeName, Machine: reportedMachine(pod), Containers: containers}
}

// ContainersOf are a pod's containers, with the images that run as far as kubelet has reported them, and then its init
// containers without ours. They may install the measured program or its configuration, or keep running beside it.
func ContainersOf(pod *corev1.Pod) []plan.Container {
	imageIDs := map[string]string{}
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		imageIDs[s.Name] = s.ImageID
	}
	var containers []plan.Container
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		besideIt := c.Name == containerEnd && len(pod.Spec.Containers) > 1 // as the only container it is the device
		if !besideIt &&
			!slices.Contains([]string{containerLinks, containerPorts, containerReset, containerCopy}, c.Name) {
			containers = append(containers, plan.Container{Name: c.Name, Image: c.Image, ImageID: imageIDs[c.Name]})
		}
	}
	return containers
}

// locate says where a generator's pod answers.
func locate(input Input, pods []corev1.Pod, site *plan.Site) error {
	pod, address, err := addressOf(pods, GeneratorPodName(input.Test.Name, input.Attempt, site.Generator))
	if err != nil {
		return fmt.Errorf("generator %s: %w", site.Generator, err)
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
	if e, ok := engineOf(input.Test); ok && e.heartbeatPort() != 0 {
		site.Heartbeat = netip.AddrPortFrom(address, e.heartbeatPort()).String()
	}
	return nil
}

// deviceAddress is where a program in the device's pod answers on a port, as host:port.
func deviceAddress(input Input, pods []corev1.Pod, port uint16) (string, error) {
	_, address, err := addressOf(pods, DUTPodName(input.Test.Name, input.Attempt))
	if err != nil {
		return "", fmt.Errorf("device: %w", err)
	}
	return netip.AddrPortFrom(address, port).String(), nil
}

// addressOf is a pod with its address. The error says that the pod doesn't exist, or has no address yet.
func addressOf(pods []corev1.Pod, name string) (*corev1.Pod, netip.Addr, error) {
	pod := podNamed(pods, name)
	if pod == nil {
		return nil, netip.Addr{}, fmt.Errorf("pod %s doesn't exist", name)
	}
	address, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil {
		return nil, netip.Addr{}, fmt.Errorf("pod %s has no address yet", name)
	}
	return pod, address, nil
}

// podNamed is a pod by its name. Nil means none.
func podNamed(pods []corev1.Pod, name string) *corev1.Pod {
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &pods[i]
}

// nextHops are the DUT's MAC addresses by link, where frames surely have to be addressed to them. That isn't so where
// the spec names another, and where the user's software routes on a kernel interface, since it may use a MAC address of
// its own there (as with AF_PACKET sockets), and answers ARP.
func nextHops(input Input, pods []corev1.Pod) map[string]string {
	p := input.Compiled.Plan
	if !hasDUTPod(input) || p.DUT.Forwarding == plan.L2 {
		return nil
	}
	hops := map[string]string{}
	for _, l := range linksOfDevice(input, pods) {
		n, _ := dutNetwork(input, l.Link)
		asks := input.Compiled.DUT != nil && p.DUT.Forwarding == plan.L3 && n.Resource == ""
		if !asks && !namedMAC(p, l.Link) {
			hops[l.Link] = l.MACAddress
		}
	}
	return hops
}

// linksOfDevice are the interfaces of the device's pods.
func linksOfDevice(input Input, pods []corev1.Pod) (links []PodLink) {
	names := []string{DUTPodName(input.Test.Name, input.Attempt)}
	if tunnelOf(input) != nil {
		names = append(names, FarEndPodName(input.Test.Name, input.Attempt))
	}
	for _, name := range names {
		if pod := podNamed(pods, name); pod != nil {
			links = append(links, LinksOfPod(pod)...)
		}
	}
	return links
}

// namedMAC says that the spec gives the DUT's MAC address on a link.
func namedMAC(p *plan.Plan, link string) bool {
	return slices.ContainsFunc(p.Links, func(l plan.Link) bool { return l.Name == link && l.DUT.MAC != "" })
}
