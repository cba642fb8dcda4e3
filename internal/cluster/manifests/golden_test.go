package manifests_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestSamplesBecomeTheseObjects compares with files of what a cluster is asked for, to be read by someone who runs a
// lab.
func TestSamplesBecomeTheseObjects(t *testing.T) {
	for _, name := range clusterSamples(t) {
		t.Run(name, func(t *testing.T) {
			golden(t, strings.TrimPrefix(name, "loadtest_"), render(t, ofAttempt(t, sample(t, name))))
		})
	}
	t.Run("the second attempt avoids nodes that refused a pod of the first", func(t *testing.T) {
		input := sample(t, "loadtest_generator_pod")
		input.Attempt, input.ExcludedNodes = 2, []string{"node-3", "node-7"}
		golden(t, "excluded_nodes", render(t, ofAttempt(t, input)))
	})
	t.Run("a test in a queue of Kueue's has its pods in one group", func(t *testing.T) {
		input := sample(t, "loadtest_trex_intel_pod")
		input.Test.Labels = map[string]string{v1alpha1.LabelKueueQueue: "team-a", v1alpha1.LabelKueuePriority: "night"}
		golden(t, "kueue", render(t, ofAttempt(t, input)))
	})
	t.Run("what stands in a namespace for all its tests", func(t *testing.T) {
		golden(t, "network-policies", render(t, append(manifests.NetworkPolicies("bench", "linerate-system"),
			manifests.DisruptionBudget("bench"))))
	})
	t.Run("what a test has whose pods its own runner alone reaches", func(t *testing.T) {
		policy, needed := manifests.OwnRunnerPolicy(sample(t, "loadtest_trex_loopback").Test, "linerate-system")
		if !needed {
			t.Fatal("a TRex has no NetworkPolicy of its test's own")
		}
		golden(t, "own_runner", render(t, []manifests.Object{policy}))
	})
	t.Run("what a test has whatever it measures", func(t *testing.T) {
		golden(t, "standing", render(t, finishReference(sample(t, "loadtest_software_reference"))))
	})
}

// ofAttempt are an attempt's objects in the order in which they come to be.
func ofAttempt(t *testing.T, input manifests.Input) []manifests.Object {
	t.Helper()
	objects := []manifests.Object{manifests.Links(input)}
	if pod := manifests.Setup(input); pod != nil {
		objects = append(objects, pod)
	}
	pods := append(manifests.Devices(input), manifests.Generators(input)...)
	if pod := manifests.Vitals(input, "node-1"); pod != nil { // the device's, which is the first
		pods = append(pods, pod)
	}
	if pod := manifests.Collector(input); pod != nil {
		pods = append(pods, pod)
	}
	var running []corev1.Pod
	for i, pod := range pods {
		objects = append(objects, pod)
		placed := attached(pod, i)
		if pod.Labels[v1alpha1.LabelVitals] == v1alpha1.VitalsServed && i > 0 {
			placed.Spec.NodeName = running[0].Spec.NodeName
		}
		running = append(running, *placed)
	}
	sites, err := manifests.SitesOf(input, running)
	if err != nil {
		t.Fatal(err)
	}
	run, err := manifests.Run(input, sites)
	if err != nil {
		t.Fatal(err)
	}
	objects = append(objects, run...)
	if pod := manifests.Teardown(input); pod != nil {
		objects = append(objects, pod)
	}
	return objects
}

// attached is a pod as it runs, with all networks that it asked for. i is the pod's number.
func attached(pod *corev1.Pod, i int) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.NodeName = fmt.Sprintf("node-%d", i+1)
	pod.Status.PodIP = netip.AddrFrom4([4]byte{10, 244, byte(i + 1), 17}).String()
	var asked []map[string]any
	_ = yaml.Unmarshal([]byte(pod.Annotations["k8s.v1.cni.cncf.io/networks"]), &asked)
	entries := []string{`{"name": "cbr0", "interface": "eth0", "mac": "0a:58:0a:f4:00:01", "default": true}`}
	for j, a := range asked {
		mac, ok := a["mac"].(string)
		if !ok {
			mac = fmt.Sprintf("AE:00:00:00:%02X:%02X", i, j)
		}
		entries = append(entries, fmt.Sprintf(`{"name": "%s/%s", "interface": "%s", "mac": "%s", "device-info": {"type": "pci", "pci": {"pci-address": "0000:03:%02x.%d"}}}`,
			a["namespace"], a["name"], a["interface"], mac, i+2, j))
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations["k8s.v1.cni.cncf.io/network-status"] = "[" + strings.Join(entries, ",") + "]"
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name,
			ImageID: c.Image + "@sha256:" + strings.Repeat("7e", 32)})
	}
	return pod
}

// render writes objects as people read them, without what nobody set, and the packed Plan left out.
func render(t *testing.T, objects []manifests.Object) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, o := range objects {
		o = o.DeepCopyObject().(manifests.Object)
		if c, ok := o.(*corev1.ConfigMap); ok && c.BinaryData != nil {
			c.Data = map[string]string{delivery.KeySites: string(c.BinaryData[delivery.KeySites]),
				delivery.KeyPlan: "(packed)"}
			c.BinaryData = nil
			if c.Annotations[delivery.AnnotationPlanDigest] != "" {
				c.Annotations[delivery.AnnotationPlanDigest] = "(the Plan's)"
			}
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			t.Fatal(err)
		}
		delete(content, "status")
		text, err := yaml.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -run %s -update makes it)", err, t.Name())
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); after a look, go test -update:\n%s", file, diff)
	}
}
