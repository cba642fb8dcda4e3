package manifests_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/vitals"
)

func TestSomebodyIsPutBesideAUsersDeviceWhereItIsObserved(t *testing.T) {
	for name, c := range map[string]struct {
		sample    string
		observers []plan.Observer
		want      bool
	}{
		"a user's device, observed":              {"loadtest_observed_pod", nil, true},
		"its node alone":                         {"loadtest_software_pod", []plan.Observer{{Name: "n", Of: plan.OfNode, Type: plan.ObserveProcessors}}, true},
		"generators alone":                       {"loadtest_software_pod", []plan.Observer{{Name: "g", Of: plan.OfGenerator, Type: plan.ObserveProcessors}}, false},
		"a user's device, not observed":          {"loadtest_software_pod", nil, false},
		"a Reference, which tells of its node":   {"loadtest_software_reference", []plan.Observer{{Name: "d", Of: plan.OfDUT, Type: plan.ObserveProcessors}}, false},
		"a device outside, which has no node":    {"loadtest_software_device", []plan.Observer{{Name: "n", Of: plan.OfNode, Type: plan.ObserveProcessors}}, false},
		"two ports of a wire: there's no device": {"loadtest_software_loopback", []plan.Observer{{Name: "n", Of: plan.OfNode, Type: plan.ObserveProcessors}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := sample(t, c.sample)
			if c.observers != nil {
				in.Compiled.Plan.Observers = c.observers
			}
			if got := manifests.Vitals(in) != nil; got != c.want {
				t.Errorf("a pod is made: %t, want %t", got, c.want)
			}
		})
	}
}

func TestWhoTellsOfADevicesNodeHasNoRightsAndNoLinks(t *testing.T) {
	in := sample(t, "loadtest_observed_pod")
	pod := manifests.Vitals(in)
	c := pod.Spec.Containers[0]
	if s := c.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || *s.AllowPrivilegeEscalation || len(s.Capabilities.Add) > 0 || !cmp.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
		s.SeccompProfile == nil || pod.Spec.HostNetwork || pod.Spec.HostPID || len(pod.Spec.Volumes) > 0 || *pod.Spec.AutomountServiceAccountToken {
		t.Errorf("Pod Security's level restricted refuses %+v", pod.Spec)
	}
	if len(pod.Annotations) > 0 {
		t.Errorf("it asks for %v", pod.Annotations)
	}
	if !cmp.Equal(c.Resources.Requests, c.Resources.Limits) || c.Resources.Limits.Cpu().MilliValue() > 100 {
		t.Errorf("it may take %v of the device's node", c.Resources)
	}
	terms := pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	dut := manifests.DUT(in)
	for key, value := range terms[0].LabelSelector.MatchLabels {
		if dut.Labels[key] != value {
			t.Errorf("it wants to be beside a pod whose %s is %s, and the device's is %q", key, value, dut.Labels[key])
		}
	}
	if len(terms) != 1 || terms[0].TopologyKey != corev1.LabelHostname || len(pod.Spec.Tolerations) != 1 || pod.Labels[v1alpha1.LabelVitals] != v1alpha1.VitalsTold {
		t.Errorf("%+v, labels %v", pod.Spec, pod.Labels)
	}
	if c.Ports[0].ContainerPort != vitals.Port {
		t.Errorf("its port is %d, and vital signs are told on %d", c.Ports[0].ContainerPort, vitals.Port)
	}
}

func TestSitesSayWhereVitalSignsAreTold(t *testing.T) {
	beside := sample(t, "loadtest_observed_pod")
	with := append(running(beside), *attached(manifests.Vitals(beside), 7))
	with[len(with)-1].Status.PodIP = "2001:db8::8"
	homeless := append(running(beside), *attached(manifests.Vitals(beside), 7))
	homeless[len(homeless)-1].Status.PodIP = ""
	astray := append(running(beside), *attached(manifests.Vitals(beside), 7))
	astray[len(astray)-1].Spec.NodeName = "node-9"
	for name, c := range map[string]struct {
		in       manifests.Input
		pods     []corev1.Pod
		at, none string
	}{
		"by a Reference":        {sample(t, "loadtest_software_reference"), running(sample(t, "loadtest_software_reference")), "10.244.8.17:4504", ""},
		"beside a user's pod":   {beside, with, "[2001:db8::8]:4504", ""},
		"by nobody yet":         {beside, homeless, "", "pod observed-1-vitals, which is to tell of the device's node, has no address"},
		"on another node":       {beside, astray, "", "pod observed-1-vitals, which is to tell of the device's node, is on node node-9, and the device isn't: another pod bears the device's labels, or that node the same kubernetes.io/hostname"},
		"by nobody":             {beside, running(beside), "", "pod observed-1-vitals, which is to tell of the device's node, isn't there"},
		"nowhere, for a device": {sample(t, "loadtest_software_device"), running(sample(t, "loadtest_software_device")), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sites, err := manifests.SitesOf(c.in, c.pods)
			if err != nil || sites.Vitals != c.at || sites.NoVitals != c.none {
				t.Errorf("%q, %q, %v", sites.Vitals, sites.NoVitals, err)
			}
		})
	}
}
