package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// running are the attempt's pods as they run.
func running(input manifests.Input) []corev1.Pod {
	var pods []corev1.Pod
	if dut := manifests.DUT(input); dut != nil {
		pods = append(pods, *attached(dut, 7))
	}
	for i, pod := range manifests.Generators(input) {
		pods = append(pods, *attached(pod, i))
	}
	return pods
}

func TestSitesOf(t *testing.T) {
	t.Run("a pod with an IPv6 address is reached in brackets", func(t *testing.T) {
		input := sample(t, "loadtest_trex_loopback")
		pods := running(input)
		pods[0].Status.PodIP = "2001:db8::17"
		sites, err := manifests.SitesOf(input, pods)
		if err != nil {
			t.Fatal(err)
		}
		want := plan.Site{
			Generator: "generator-0", RPC: "[2001:db8::17]:4501", Heartbeat: "[2001:db8::17]:4502",
			PortOfLink: map[string]int{"west": 0, "east": 1}, Pod: "trex-calibration-1-generator-0", Node: "node-1",
			Containers: manifests.ContainersOf(&pods[0]),
		}
		if diff := cmp.Diff(want, sites.Generators[0]); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("the software engine takes requests for beats", func(t *testing.T) {
		input := sample(t, "loadtest_software_loopback")
		sites, err := manifests.SitesOf(input, running(input))
		if err != nil || sites.Generators[0].Heartbeat != "" {
			t.Errorf("%+v, %v", sites, err)
		}
	})
	t.Run("a server that runs already is where the spec says", func(t *testing.T) {
		sites, err := manifests.SitesOf(sample(t, "loadtest_external_device"), nil)
		if err != nil || sites.Generators[1].RPC != "trex-b.lab:4501" || sites.Generators[1].PortOfLink["east"] != 1 {
			t.Errorf("%+v, %v", sites, err)
		}
	})
	t.Run("what the device's node is, as an init container told", func(t *testing.T) {
		input := sample(t, "loadtest_trex_intel_pod")
		pods := running(input)
		tell := func(message string) {
			for i := range pods {
				pods[i].Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "linerate-links",
					State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}}}
			}
		}
		tell(`{"version": "linerate.dev/ports.v1alpha1", "links": [], "machine": {"cpuModel": "AMD EPYC", "processors": 32, "kernel": "6.1.0"}}`)
		sites, err := manifests.SitesOf(input, pods)
		if want := (plan.Machine{CPUModel: "AMD EPYC", Processors: 32, Kernel: "6.1.0"}); err != nil ||
			sites.Device.Machine == nil || *sites.Device.Machine != want {
			t.Errorf("%+v, %v", sites.Device.Machine, err)
		}
		tell(`{"version": "linerate.dev/ports.v1alpha1", "links": []}`)
		if sites, err = manifests.SitesOf(input, pods); err != nil || sites.Device.Machine != nil {
			t.Errorf("without a machine: %+v, %v", sites.Device.Machine, err)
		}
	})
	t.Run("which image the device runs", func(t *testing.T) {
		input := sample(t, "loadtest_trex_intel_pod")
		sites, err := manifests.SitesOf(input, running(input))
		if err != nil || sites.Device == nil || sites.Device.Pod == "" || sites.Device.Node != "node-8" {
			t.Fatalf("%+v, %v", sites.Device, err)
		}
		copied := manifests.DUT(input).Spec
		for i, c := range sites.Device.Containers[:len(copied.Containers)] {
			if want := copied.Containers[i]; c.Name != want.Name || c.Image != want.Image ||
				!strings.HasPrefix(c.ImageID, want.Image+"@sha256:7e7e") {
				t.Errorf("container %d: %+v", i, c)
			}
		}
	})
	t.Run("which image a generator runs", func(t *testing.T) {
		input := sample(t, "loadtest_trex_intel_pod")
		sites, err := manifests.SitesOf(input, running(input))
		if err != nil || len(sites.Generators[0].Containers) == 0 {
			t.Fatalf("%+v, %v", sites.Generators, err)
		}
		copied := manifests.Generators(input)[0].Spec.Containers[0]
		if c := sites.Generators[0].Containers[0]; c.Name != copied.Name || c.Image != copied.Image ||
			!strings.HasPrefix(c.ImageID, copied.Image+"@sha256:7e7e") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("init containers may bring what is measured, and ours don't", func(t *testing.T) {
		pod := &corev1.Pod{Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "linerate-links", Image: "linerate:1"},
				{Name: "copy", Image: "lab/build:7"}, {Name: "linerate-ports", Image: "linerate:1"}},
			Containers: []corev1.Container{{Name: "vpp", Image: "lab/vpp:25.10"}},
		}, Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "copy",
			ImageID: "lab/build@sha256:77"}}}}
		want := []plan.Container{{Name: "vpp", Image: "lab/vpp:25.10"}, {Name: "copy", Image: "lab/build:7",
			ImageID: "lab/build@sha256:77"}}
		if diff := cmp.Diff(want, manifests.ContainersOf(pod)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("an end of ours beside the device is none of it, and alone it is the device", func(t *testing.T) {
		end := corev1.Container{Name: "linerate-end", Image: "linerate:1"}
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "appliance",
			Image: "lab/appliance:1"}, end}}}
		if diff := cmp.Diff([]plan.Container{{Name: "appliance", Image: "lab/appliance:1"}},
			manifests.ContainersOf(pod)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		pod.Spec.Containers = []corev1.Container{end}
		if diff := cmp.Diff([]plan.Container{{Name: "linerate-end", Image: "linerate:1"}},
			manifests.ContainersOf(pod)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("a device that is no pod runs no image", func(t *testing.T) {
		input := sample(t, "loadtest_trex_loopback")
		if sites, err := manifests.SitesOf(input, running(input)); err != nil || sites.Device != nil {
			t.Errorf("%+v, %v", sites.Device, err)
		}
	})
	t.Run("pods of another attempt aren't meant", func(t *testing.T) {
		input := sample(t, "loadtest_trex_loopback")
		pods := running(input)
		input.Attempt = 2
		_, err := manifests.SitesOf(input, pods)
		if err == nil || err.Error() != "generator generator-0: pod trex-calibration-2-generator-0 doesn't exist" {
			t.Error(err)
		}
	})
	t.Run("a pod without an address isn't there yet", func(t *testing.T) {
		input := sample(t, "loadtest_trex_loopback")
		pods := running(input)
		pods[0].Status.PodIP = ""
		if _, err := manifests.SitesOf(input, pods); err == nil ||
			!strings.HasSuffix(err.Error(), "has no address yet") {
			t.Error(err)
		}
	})
}

// TestNextHops finds the DUT's MAC where it is surely known. Elsewhere the generator asks for it.
func TestNextHops(t *testing.T) {
	want := map[string]string{"west": "ae:00:00:00:07:00", "east": "ae:00:00:00:07:01"}
	for name, c := range map[string]struct {
		sample string
		change func(*manifests.Input)
		want   map[string]string
	}{
		"a pod's devices are what frames go to": {"loadtest_dut_networks", nil,
			map[string]string{"west": "ae:00:00:00:07:01", "east": "ae:00:00:00:07:02"}},
		"a pod that routes on kernel interfaces may have MACs of its own: it is asked": {"loadtest_external_pod", nil,
			nil},
		"a pod that rewrites MACs answers to nobody": {"loadtest_external_pod", func(input *manifests.Input) {
			input.Compiled.Plan.DUT.Forwarding = plan.MACRewrite
		}, want},
		"a bridge isn't addressed": {"loadtest_dut_networks", func(input *manifests.Input) {
			input.Compiled.Plan.DUT.Forwarding = plan.L2
		}, nil},
		"what the spec says isn't said again": {"loadtest_dut_networks", func(input *manifests.Input) {
			input.Compiled.Plan.Links[0].DUT.MAC = "02:00:5e:00:53:01"
		}, map[string]string{"east": "ae:00:00:00:07:02"}},
		"a device in the rack has no pod": {"loadtest_software_device", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			input := sample(t, c.sample)
			if c.change != nil {
				c.change(&input)
			}
			sites, err := manifests.SitesOf(input, running(input))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, sites.Generators[0].NextHopMAC); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLinksOfPod(t *testing.T) {
	const asked = `[{"name": "management", "namespace": "lab", "interface": "mgmt"},
		{"name": "sriov", "namespace": "lab", "interface": "west", "mac": "02:00:00:00:00:01"}, {"name": "sriov-b", "namespace": "lab", "interface": "east"}]`
	for name, c := range map[string]struct {
		asked, status string
		want          []manifests.PodLink
	}{
		"in the links' order, the pod's own networks left out": {asked, `[
			{"name": "cbr0", "interface": "eth0", "default": true, "mac": "0A:00:00:00:00:01"},
			{"name": "lab/sriov-b", "interface": "east", "mac": "AE:00:00:00:00:02", "device-info": {"type": "pci", "pci": {"pci-address": "0000:03:02.2"}}},
			{"name": "lab/management", "interface": "mgmt", "mac": "AE:00:00:00:00:09"},
			{"name": "lab/sriov", "interface": "west", "mac": "02:00:00:00:00:01", "device-info": {"type": "pci", "pci": {"pci-address": "0000:03:02.1"}}}]`,
			[]manifests.PodLink{{Link: "west", Device: "0000:03:02.1", MACAddress: "02:00:00:00:00:01"},
				{Link: "east", Device: "0000:03:02.2", MACAddress: "ae:00:00:00:00:02"}}},
		"a device that left the kernel has the MAC that was asked for": {asked, `[
			{"name": "lab/sriov", "device-info": {"type": "pci", "pci": {"pci-address": "0000:03:02.1"}}}, {"name": "lab/sriov-b"}]`,
			[]manifests.PodLink{{Link: "west", Device: "0000:03:02.1", MACAddress: "02:00:00:00:00:01"},
				{Link: "east"}}},
		"two links of one network can't be told apart without interfaces": {
			`[{"name": "sriov", "namespace": "lab", "interface": "west"}, {"name": "sriov", "namespace": "lab", "interface": "east"}]`,
			`[{"name": "lab/sriov", "mac": "ae:00:00:00:00:01"}, {"name": "lab/sriov", "interface": "east", "mac": "ae:00:00:00:00:02"}]`,
			[]manifests.PodLink{{Link: "east", MACAddress: "ae:00:00:00:00:02"}}},
		"what an annotation says of a physical port counts for " +
			"nothing": {`[{"name": "sriov", "namespace": "lab", "interface": "west"}]`,
			`[{"name": "lab/sriov", "interface": "west", "device-info": {"type": "pci", "pci": {"pci-address": "0000:03:02.1", "pf-pci-address": "0000:03:00.0"}}}]`,
			[]manifests.PodLink{{Link: "west", Device: "0000:03:02.1"}}},
		"a port that nobody shares": {`[{"name": "sriov", "namespace": "lab", "interface": "west"}]`,
			`[{"name": "lab/sriov", "interface": "west", "device-info": {"type": "pci", "pci": {"pci-address": "0000:03:00.0", "pf-pci-address": "0000:03:00.0"}}}]`,
			[]manifests.PodLink{{Link: "west", Device: "0000:03:00.0"}}},
		"not attached yet":           {asked, ``, nil},
		"an annotation that's odd":   {asked, `{"name": 1}`, nil},
		"a list that's odd":          {`west@east`, `[{"name": "lab/sriov", "interface": "west"}]`, nil},
		"attached to something else": {asked, `[{"name": "cbr0", "interface": "eth0"}]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			pod.Annotations = map[string]string{"k8s.v1.cni.cncf.io/networks": c.asked,
				"k8s.v1.cni.cncf.io/network-status": c.status, manifests.AnnotationLinks: "west,east"}
			if diff := cmp.Diff(c.want, manifests.LinksOfPod(pod)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzLinksOfPod writes annotations. Whatever they say, the pod's links are reported at most once each.
func FuzzLinksOfPod(f *testing.F) {
	f.Add(`[{"name": "a", "namespace": "b", "interface": "west"}]`, `[{"name": "b/a", "interface": "west"}]`,
		"west,east")
	f.Add(`[{"interface": "west"}, {"interface": "west"}]`, `[null, {"interface": "west"}]`, "west,west,")
	f.Fuzz(func(t *testing.T, networks, status, links string) {
		pod := &corev1.Pod{}
		pod.Annotations = map[string]string{"k8s.v1.cni.cncf.io/networks": networks,
			"k8s.v1.cni.cncf.io/network-status": status, manifests.AnnotationLinks: links}
		sites := map[string]bool{}
		for _, l := range manifests.LinksOfPod(pod) {
			if sites[l.Link] || !strings.Contains(links, l.Link) || l.Link == "" {
				t.Errorf("link %q of %q", l.Link, links)
			}
			sites[l.Link] = true
		}
	})
}
