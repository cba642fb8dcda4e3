package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

func TestSomebodyIsPutBesideAUsersDeviceWhereItIsObserved(t *testing.T) {
	for name, c := range map[string]struct {
		sample    string
		observers []plan.Observer
		want      bool
	}{
		"a user's device, observed": {"loadtest_observed_pod", nil, true},
		"its node alone": {"loadtest_software_pod",
			[]plan.Observer{{Name: "n", Observed: plan.OfNode, Type: plan.ObserveProcessors}}, true},
		"generators alone": {"loadtest_software_pod",
			[]plan.Observer{{Name: "g", Observed: plan.OfGenerator, Type: plan.ObserveProcessors}}, false},
		"a user's device, not observed": {"loadtest_software_pod", nil, false},
		"a Reference, which tells of its node": {"loadtest_software_reference",
			[]plan.Observer{{Name: "d", Observed: plan.OfDUT, Type: plan.ObserveProcessors}}, false},
		"a device outside, which has no node": {"loadtest_software_device",
			[]plan.Observer{{Name: "n", Observed: plan.OfNode, Type: plan.ObserveProcessors}}, false},
		"two ports of a cable: there's no device": {"loadtest_software_loopback",
			[]plan.Observer{{Name: "n", Observed: plan.OfNode, Type: plan.ObserveProcessors}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			input := sample(t, c.sample)
			if c.observers != nil {
				input.Compiled.Plan.Observers = c.observers
			}
			if got := manifests.Vitals(input, "node-8") != nil; got != c.want {
				t.Errorf("a pod is made: %t, want %t", got, c.want)
			}
		})
	}
}

func TestWhoTellsOfADevicesNodeHasNoRightsAndNoLinks(t *testing.T) {
	input := sample(t, "loadtest_observed_pod")
	pod := manifests.Vitals(input, "node-8")
	c := pod.Spec.Containers[0]
	if s := c.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || *s.AllowPrivilegeEscalation ||
		len(s.Capabilities.Add) > 0 || !cmp.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
		s.SeccompProfile == nil || pod.Spec.HostNetwork || pod.Spec.HostPID || len(pod.Spec.Volumes) > 0 ||
		*pod.Spec.AutomountServiceAccountToken {
		t.Errorf("Pod Security's level restricted refuses %+v", pod.Spec)
	}
	for key := range pod.Annotations {
		if strings.Contains(key, "cni") {
			t.Errorf("it asks for networks: %v", pod.Annotations)
		}
	}
	if !cmp.Equal(c.Resources.Requests, c.Resources.Limits) || c.Resources.Limits.Cpu().MilliValue() > 100 {
		t.Errorf("it may take %v of the device's node", c.Resources)
	}
	if len(pod.Spec.Tolerations) != 1 || pod.Labels[v1alpha1.LabelVitals] != v1alpha1.VitalsServed {
		t.Errorf("%+v, labels %v", pod.Spec, pod.Labels)
	}
	if c.Ports[0].ContainerPort != vitals.Port {
		t.Errorf("its port is %d, and vital signs are told on %d", c.Ports[0].ContainerPort, vitals.Port)
	}
}

// TestWhoTellsOfADevicesNodeMayBeOnNoOther asks as the scheduler does: labels that another node or pod bears
// draw it nowhere.
func TestWhoTellsOfADevicesNodeMayBeOnNoOther(t *testing.T) {
	pod := manifests.Vitals(sample(t, "loadtest_observed_pod"), "node-8")
	if a := pod.Spec.Affinity; a.PodAffinity != nil || a.PodAntiAffinity != nil || pod.Spec.NodeName != "" ||
		len(pod.Spec.NodeSelector) > 0 {
		t.Errorf("it goes by more than the node's name: %+v", pod.Spec)
	}
	for name, want := range map[string]bool{"node-8": true, "node-9": false} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name,
			Labels: map[string]string{corev1.LabelHostname: "node-8"}}}
		if got, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); got != want || err != nil {
			t.Errorf("it may be on node %q: %t, %v; want %t", name, got, err, want)
		}
	}
}

func TestSitesSayWhereVitalSignsAreTold(t *testing.T) {
	vitalsInput := sample(t, "loadtest_observed_pod")
	pods := append(running(vitalsInput), *attached(manifests.Vitals(vitalsInput, "node-8"), 7))
	pods[len(pods)-1].Status.PodIP = "2001:db8::8"
	homeless := append(running(vitalsInput), *attached(manifests.Vitals(vitalsInput, "node-8"), 7))
	homeless[len(homeless)-1].Status.PodIP = ""
	astray := append(running(vitalsInput), *attached(manifests.Vitals(vitalsInput, "node-8"), 7))
	astray[len(astray)-1].Spec.NodeName = "node-9"
	for name, c := range map[string]struct {
		input           manifests.Input
		pods            []corev1.Pod
		address, reason string
	}{
		"by a Reference": {sample(t, "loadtest_software_reference"),
			running(sample(t, "loadtest_software_reference")), "10.244.8.17:4504", ""},
		"beside a user's pod": {vitalsInput, pods, "[2001:db8::8]:4504", ""},
		"by nobody yet": {vitalsInput, homeless, "",
			"pod observed-1-vitals, which reports the vital signs of the device's node, has no address"},
		"on another node": {vitalsInput, astray, "",
			"pod observed-1-vitals, which reports the vital signs of the device's node, is on node node-9, and the " +
				"device isn't: something changed the node that the pod asks for, such as an admission webhook"},
		"by nobody": {vitalsInput, running(vitalsInput), "",
			"pod observed-1-vitals, which reports the vital signs of the device's node, doesn't exist"},
		"nowhere, for a device": {sample(t, "loadtest_software_device"), running(sample(t, "loadtest_software_device")),
			"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sites, err := manifests.SitesOf(c.input, c.pods)
			if err != nil || sites.Vitals != c.address || sites.NoVitals != c.reason {
				t.Errorf("%q, %q, %v", sites.Vitals, sites.NoVitals, err)
			}
		})
	}
}
