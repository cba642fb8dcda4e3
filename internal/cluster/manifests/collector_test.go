package manifests_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/collect"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// powered is a test whose observers ask a controller twice, and a Prometheus server that wants no credentials.
func powered(t *testing.T) manifests.Input {
	t.Helper()
	input := sample(t, "loadtest_software_pod")
	box := plan.Observer{Name: "box", Observed: plan.OfDUT, Type: plan.ObserveRedfish, Interval: 5e9,
		Redfish: &plan.RedfishChassis{URL: "https://bmc.lab", Secret: "bmc"}}
	copied := box
	copied.Name = "again"
	input.Compiled.Plan.Observers = []plan.Observer{{Name: "cpu", Observed: plan.OfGenerator, Type: plan.ObserveProcessors},
		box, copied,
		{Name: "heat", Observed: plan.OfLab, Type: plan.ObservePrometheus, Interval: 5e9,
			Prometheus: &plan.PrometheusQuery{URL: "http://prom.lab", Query: `x{y="$(POD_IP)"}`, Unit: "°C"}}}
	return input
}

func TestACollectorIsMadeWhereSomebodyIsAsked(t *testing.T) {
	if pod := manifests.Collector(sample(t, "loadtest_observed_pod")); pod != nil {
		t.Errorf("%s is made, and nobody is asked", pod.Name)
	}
	input := powered(t)
	if pod := manifests.Vitals(input, "node-8"); pod != nil {
		t.Errorf("%s is made, and nobody looks at the device's node", pod.Name)
	}
	pod := manifests.Collector(input)
	c := pod.Spec.Containers[0]
	if s := c.SecurityContext; s == nil || !*s.RunAsNonRoot || *s.AllowPrivilegeEscalation ||
		len(s.Capabilities.Add) > 0 || !cmp.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
		*pod.Spec.AutomountServiceAccountToken {
		t.Errorf("Pod Security's level restricted refuses %+v, or it has rights", pod.Spec)
	}
	if pod.Labels[v1alpha1.LabelVitals] != v1alpha1.VitalsServed || c.Ports[0].ContainerPort != vitals.Port {
		t.Errorf("others than runners reach it: labels %v, ports %v", pod.Labels, c.Ports)
	}
}

// Of a Secret there is in the pod what the collector shows, and it starts without it.
func TestACollectorHasTheKeysOfItsSecretsAndNoOthers(t *testing.T) {
	pod := manifests.Collector(powered(t))
	if len(pod.Spec.Volumes) != 1 || len(pod.Spec.Containers[0].VolumeMounts) != 1 {
		t.Fatalf("%+v, want one volume of one Secret", pod.Spec.Volumes)
	}
	if m := pod.Spec.Containers[0].VolumeMounts[0]; m.MountPath != "/etc/linerate/credentials/bmc" || !m.ReadOnly {
		t.Errorf("%+v", m)
	}
	var keys []string
	for _, s := range pod.Spec.Volumes[0].Projected.Sources {
		if s.Secret == nil || s.Secret.Name != "bmc" || !*s.Secret.Optional || len(s.Secret.Items) != 1 {
			t.Fatalf("%+v, want one key of Secret bmc, if it is there", s)
		}
		keys = append(keys, s.Secret.Items[0].Key)
	}
	if diff := cmp.Diff(collect.Keys, keys); diff != "" { // a pod has what its program reads
		t.Error(diff)
	}
}

// The kubelet expands $(NAME) in arguments. Such text in a query stays as it is.
func TestACollectorIsToldTheObserversAsTheyStand(t *testing.T) {
	input := powered(t)
	command := manifests.Collector(input).Spec.Containers[0].Command
	text := command[len(command)-1]
	if !strings.Contains(text, "$$(POD_IP)") {
		t.Errorf("the kubelet would expand %s", text)
	}
	var observers []plan.Observer
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "$$", "$")), &observers); err != nil ||
		!cmp.Equal(observers, input.Compiled.Plan.Asking()) {
		t.Errorf("%+v, %v", observers, err)
	}
}

func TestSitesSayWhereTheCollectorTells(t *testing.T) {
	input := powered(t)
	pod := *attached(manifests.Collector(input), 9)
	pod.Status.PodIP = "10.244.8.99"
	sites, err := manifests.SitesOf(input, append(running(input), pod))
	if err != nil || sites.Collector != "10.244.8.99:4504" || sites.NoCollector != "" {
		t.Fatalf("%+v, %v", sites, err)
	}
	if sites, _ := manifests.SitesOf(input, running(input)); sites.Collector != "" ||
		!strings.HasSuffix(sites.NoCollector, "which asks others over the network for observers, doesn't exist") {
		t.Errorf("%+v without its pod", sites)
	}
}
