package manifests_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
)

func TestTheTemplatesOwnNetworksStay(t *testing.T) {
	const links = `{"name":"bng-west","namespace":"bench","interface":"west"},{"name":"bng-east","namespace":"bench","interface":"east"}]`
	for name, c := range map[string]struct{ annotation, want string }{
		"none": {``, `[` + links},
		"as JSON, with whatever else they say": {`[{"name": "m", "interface": "mgmt", "cni-args": {"a": [1, 2]}, "default-route": ["192.0.2.1"]}]`,
			`[{"name":"m","namespace":"bench","interface":"mgmt","default-route":["192.0.2.1"],"cni-args":{"a":[1,2]}},` + links},
		"in short form": {` m , lab/n@mgmt,lab/o`,
			`[{"name":"m","namespace":"bench"},{"name":"n","namespace":"lab","interface":"mgmt"},{"name":"o","namespace":"lab"},` + links},
	} {
		t.Run(name, func(t *testing.T) {
			input := sample(t, "loadtest_dut_networks")
			input.Compiled.DUT.Annotations = map[string]string{"k8s.v1.cni.cncf.io/networks": c.annotation, "team": "a"}
			got := manifests.DUT(input).Annotations
			want := map[string]string{
				"k8s.v1.cni.cncf.io/networks": c.want, manifests.AnnotationLinks: "west,east", "team": "a",
				"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Nobody moves what measures to save a node, unless the test's author allows it.
func TestPodsAreNotMovedUnlessTheirTestSaysSo(t *testing.T) {
	const scaler, karpenter = "cluster-autoscaler.kubernetes.io/safe-to-evict", "karpenter.sh/do-not-disrupt"
	input := sample(t, "loadtest_generator_pod")
	input.Test.Spec.Generator.Pod.Annotations = map[string]string{scaler: "true"}
	for _, pod := range manifests.Generators(input) {
		if pod.Annotations[scaler] != "true" || pod.Annotations[karpenter] != "true" ||
			pod.Annotations["k8s.v1.cni.cncf.io/networks"] == "" {
			t.Errorf("%s has the annotations %v", pod.Name, pod.Annotations)
		}
	}
	input = sample(t, "loadtest_dut_networks")
	input.Compiled.DUT.Annotations = map[string]string{karpenter: "false"}
	if got := manifests.DUT(input).Annotations; got[scaler] != "false" || got[karpenter] != "false" {
		t.Errorf("the device's pod has the annotations %v", got)
	}
}

func TestDevicesAreAddedToTheTemplatesOwn(t *testing.T) {
	input := sample(t, "loadtest_dut_networks")
	for i := range input.Compiled.DUT.Spec.Containers {
		r := &input.Compiled.DUT.Spec.Containers[i].Resources
		r.Limits["intel.com/bng_west"] = resource.MustParse("2") // for a network of its own
	}
	pod := manifests.DUT(input)
	for i, want := range []string{"3", "2"} {
		limit := pod.Spec.Containers[i].Resources.Limits["intel.com/bng_west"]
		if limit.String() != want {
			t.Errorf("container %s asks for %s devices, want %s", pod.Spec.Containers[i].Name, limit.String(), want)
		}
	}
	if _, asked := pod.Spec.Containers[1].Resources.Limits["intel.com/bng_east"]; asked {
		t.Error("a container that doesn't forward got a device")
	}
}

func TestWhatTheTemplateSaysOfItselfStays(t *testing.T) {
	input := sample(t, "loadtest_dut_networks")
	spec := &input.Compiled.DUT.Spec
	spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}}
	spec.Affinity = affinity(t, `nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}`)
	spec.TerminationGracePeriodSeconds, spec.EnableServiceLinks = new(int64(42)), new(true)
	got := manifests.DUT(input).Spec
	for name, pair := range map[string][2]any{
		"security context":  {spec.SecurityContext, got.SecurityContext},
		"affinity":          {spec.Affinity, got.Affinity},
		"grace period":      {spec.TerminationGracePeriodSeconds, got.TerminationGracePeriodSeconds},
		"service links":     {spec.EnableServiceLinks, got.EnableServiceLinks},
		"account":           {spec.ServiceAccountName, got.ServiceAccountName},
		"token":             {spec.AutomountServiceAccountToken, got.AutomountServiceAccountToken},
		"tolerations":       {spec.Tolerations, got.Tolerations},
		"the others' image": {spec.Containers[0].Image, got.Containers[1].Image},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	t.Run("and an account by the field's old name is the same account", func(t *testing.T) {
		name := spec.ServiceAccountName
		spec.ServiceAccountName, spec.DeprecatedServiceAccount, spec.AutomountServiceAccountToken = "", name, nil
		got := manifests.DUT(input).Spec
		if got.ServiceAccountName != name || got.AutomountServiceAccountToken != nil {
			t.Errorf("it is %q, and its token is mounted: %v", got.ServiceAccountName, got.AutomountServiceAccountToken)
		}
		spec.DeprecatedServiceAccount = ""
	})
	t.Run("but a token of the namespace's default account isn't wanted by asking", func(t *testing.T) {
		spec.ServiceAccountName, spec.AutomountServiceAccountToken = "", new(true)
		if got := manifests.DUT(input).Spec.AutomountServiceAccountToken; got == nil || *got {
			t.Error("it is mounted")
		}
	})
}

// TestContainersAreTold of the test and its links: all of them, before their own variables, and our init
// container before theirs.
func TestContainersAreTold(t *testing.T) {
	input := sample(t, "loadtest_dut_networks")
	input.Compiled.DUT.Spec.InitContainers[0].Env = []corev1.EnvVar{{Name: "GATEWAY",
		Value: "$(LINERATE_WEST_GENERATORS)"}}
	pod := manifests.DUT(input)
	if first := pod.Spec.InitContainers[0].Name; first != "linerate-links" {
		t.Errorf("the first init container is %s", first)
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers[1:], pod.Spec.Containers) {
		if len(c.Env) == 0 || c.Env[0].Name != "LINERATE_TEST" {
			t.Errorf("%s: variables %v", c.Name, c.Env)
		}
		if !slices.ContainsFunc(c.VolumeMounts,
			func(m corev1.VolumeMount) bool { return m.MountPath == "/etc/linerate" && m.ReadOnly }) {
			t.Errorf("%s doesn't see links.json", c.Name)
		}
	}
	prepare := pod.Spec.InitContainers[1]
	if gateway := prepare.Env[len(prepare.Env)-1]; gateway.Name != "GATEWAY" {
		t.Errorf("the template's variable is before those that it refers to: %v", prepare.Env)
	}
}

func TestVariablesOfManyGenerators(t *testing.T) {
	input := sample(t, "loadtest_four_replicas")
	input.Compiled.Setup = sample(t, "loadtest_device_setup").Compiled.Setup
	input.Test.Spec.DUT.Setup = sample(t, "loadtest_device_setup").Test.Spec.DUT.Setup
	got := map[string]string{}
	for _, v := range manifests.Setup(input).Spec.Containers[0].Env {
		got[v.Name] = v.Value
	}
	for name, want := range map[string]string{
		"LINERATE_LINKS":           "west east",
		"LINERATE_WEST_ADDRESS":    "198.18.0.1/24",
		"LINERATE_WEST_GENERATORS": "198.18.0.16 198.18.0.17 198.18.0.18 198.18.0.19",
		"LINERATE_WEST_NETWORKS":   "16.0.0.0/18 16.0.64.0/18 16.0.128.0/18 16.0.192.0/18",
		"LINERATE_WEST_ROUTES": "16.0.0.0/18 via 198.18.0.16,16.0.64.0/18 via 198.18.0.17,16.0.128.0/18 via " +
			"198.18.0.18,16.0.192.0/18 via 198.18.0.19",
	} {
		if got[name] != want {
			t.Errorf("%s=%q, want %q", name, got[name], want)
		}
	}
}

func TestMACAddressesAreStable(t *testing.T) {
	input := sample(t, "loadtest_four_replicas")
	linksOf := func(input manifests.Input) []string {
		var links []string
		for _, l := range allLinks(input) {
			links = append(links, l...)
		}
		return links
	}
	first, repeated := linksOf(input), linksOf(input)
	if !slices.Equal(first, repeated) {
		t.Errorf("%v, then %v", first, repeated)
	}
	input.Attempt = 2
	for _, mac := range linksOf(input) {
		if slices.Contains(first, mac) {
			t.Errorf("%s is used by two attempts", mac)
		}
	}
	slices.Sort(first)
	if len(slices.Compact(first)) != 8 {
		t.Errorf("of 8 ports some have the same: %v", first)
	}
}

// allLinks are the MAC addresses that generators ask for.
func allLinks(input manifests.Input) [][]string {
	var byPod [][]string
	for i, pod := range manifests.Generators(input) {
		var macs []string
		for _, l := range manifests.LinksOfPod(attached(pod, i)) {
			macs = append(macs, l.MACAddress)
		}
		byPod = append(byPod, macs)
	}
	return byPod
}

func TestAddressesAreAskedForWhereTheNetworkHasNone(t *testing.T) {
	t.Run("but not on a tagged link, whose interface the pod makes", func(t *testing.T) {
		input := sample(t, "loadtest_software_pod")
		for i := range input.Compiled.Plan.Generators[0].Ports {
			input.Compiled.Plan.Generators[0].Ports[i].VLAN = 100
		}
		const want = `[{"name":"west","namespace":"bench","interface":"west"},{"name":"east","namespace":"bench","interface":"east"}]`
		for key, n := range input.Networks {
			n.MAC = false
			input.Networks[key] = n
		}
		if got := manifests.DUT(input).Annotations["k8s.v1.cni.cncf.io/networks"]; got != want {
			t.Error(got)
		}
	})
	t.Run("and a bridge has none to ask for", func(t *testing.T) {
		input := sample(t, "loadtest_software_pod")
		key := compile.NetworkKey{Namespace: "bench", Name: "west"}
		input.Compiled.Plan.Links[0].DUT.Addresses, input.Networks[key] = nil, manifests.Network{Key: key, IPs: true}
		const want = `[{"name":"west","namespace":"bench","interface":"west"},`
		if got := manifests.DUT(input).Annotations["k8s.v1.cni.cncf.io/networks"]; got[:len(want)] != want {
			t.Error(got)
		}
	})
}

// A program in a user's image finds where to write, whatever folders the image has: charon, whose number goes
// to /var/run as it was built for Debian, ended before it had a tunnel where that was missing.
func TestAProgramInAUsersImageFindsWhereToWrite(t *testing.T) {
	for _, name := range []string{"loadtest_reference_ipsec", "loadtest_reference_userspace"} {
		t.Run(name, func(t *testing.T) {
			for _, pod := range manifests.Devices(sample(t, name)) {
				c, writable := pod.Spec.Containers[0], map[string]string{}
				for _, m := range c.VolumeMounts {
					if !m.ReadOnly {
						writable[m.MountPath] = m.Name
					}
				}
				if diff := cmp.Diff(map[string]string{"/run": "run", "/var/run": "run", "/tmp": "tmp"},
					writable); diff != "" {
					t.Errorf("container %s of pod %s may write, -want +got:\n%s", c.Name, pod.Name, diff)
				}
				if !*c.SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("container %s of pod %s may write to its image", c.Name, pod.Name)
				}
			}
		})
	}
}
