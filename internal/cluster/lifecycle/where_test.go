package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

const whereTest = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: vpp}
spec:
  generator: {engine: TRex, trex: {image: "lab/trex:3.08"}, GENERATOR}
  dut:
    type: Pod
    pod: {template: {spec: {DUT containers: [{name: vpp, image: "lab/vpp:25.10", resources: {limits: {cpu: "3", memory: 2Gi}}}]}}}
  links:
  - {name: west, network: sriov-west, lineRate: 25gbps}
  - {name: east, network: sriov-east, lineRate: 25gbps}
`

// wantsOf are the wants of a test with these fields, in a lab whose nodes are labelled and tainted.
func wantsOf(t *testing.T, generator, dut string) ([]lifecycle.Want, []lifecycle.Node) {
	t.Helper()
	spec := strings.NewReplacer("GENERATOR", generator, "DUT", dut).Replace(whereTest)
	w := newWorld(t, strings.ReplaceAll(spec, ", }", "}"))
	one, two, kept := node("rack-1"), node("rack-2"), node("kept")
	one.Labels, two.Labels = map[string]string{"lab/rack": "1"}, map[string]string{"lab/rack": "2"}
	kept.Taints = []corev1.Taint{{Key: "lab/kept", Effect: corev1.TaintEffectNoSchedule}}
	w.lab.Nodes = []lifecycle.Node{one, two, kept}
	return lifecycle.Wants(lifecycle.Observed{Test: w.test, Lab: w.lab, Settings: w.observe().Settings}), w.lab.Nodes
}

func TestPodsAreWantedWhereTheyMayBe(t *testing.T) {
	for name, c := range map[string]struct {
		generator, dut string
		of, where      string // nodes of the device's pod and the generator's: allowed | tainted
	}{
		"anywhere but where a taint is": {"", "", "rack-1 rack-2 | kept", "rack-1 rack-2 | kept"},
		"by node selector":              {"pod: {nodeSelector: {lab/rack: '2'}}", "nodeSelector: {lab/rack: '1'},", "rack-1 | ", "rack-2 | "},
		"by affinity": {
			"pod: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: lab/rack, operator: Exists}]}]}}}}", "",
			"rack-1 rack-2 | kept", "rack-1 rack-2 | ",
		},
		"by toleration":            {"pod: {tolerations: [{key: lab/kept, operator: Exists}]}", "", "rack-1 rack-2 | kept", "kept rack-1 rack-2 | "},
		"by a label nobody has":    {"pod: {nodeSelector: {lab/rack: '3'}}", "", "rack-1 rack-2 | kept", " | "},
		"by a toleration of a DUT": {"", "tolerations: [{operator: Exists}],", "kept rack-1 rack-2 | ", "rack-1 rack-2 | kept"},
	} {
		t.Run(name, func(t *testing.T) {
			wants, nodes := wantsOf(t, c.generator, c.dut)
			if len(wants) != 2 {
				t.Fatalf("%d pods want devices", len(wants))
			}
			for i, want := range []string{c.of, c.where} {
				w := wants[i].Filter.Where(nodes)
				slices.Sort(w.Nodes)
				if got := strings.Join(w.Nodes, " ") + " | " + strings.Join(w.Tainted, " "); got != want {
					t.Errorf("%s: %q, want %q", wants[i].Name, got, want)
				}
			}
		})
	}
}

func TestSeparateNodesKeepsPodsApart(t *testing.T) {
	wants, _ := wantsOf(t, "placement: {separateNodes: true}", "")
	if len(wants) != 2 || !slices.Equal(wants[1].Apart, []string{"vpp-1-dut"}) || wants[0].Apart != nil {
		t.Errorf("%+v", wants)
	}
	if wants, _ = wantsOf(t, "layout: PerLink", ""); len(wants) != 3 || !slices.Equal(wants[1].Apart, []string{wants[2].Name}) || !slices.Equal(wants[2].Apart, []string{wants[1].Name}) {
		t.Errorf("%+v", wants)
	}
}

func TestWhatADeviceDemandsOfPodsOfOtherNamespacesKeepsNoneOfItsOwnApart(t *testing.T) {
	const own = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {}SELECTS}]}},"
	for selects, apart := range map[string]bool{
		"": true, ", namespaces: [team-b]": false, ", namespaceSelector: {}": true, ", namespaceSelector: {matchLabels: {team: b}}": false, ", namespaceSelector: {matchLabels: {team: b}}, namespaces: [NAMESPACE]": true,
	} {
		wants, _ := wantsOf(t, "", strings.Replace(own, "SELECTS", strings.Replace(selects, "NAMESPACE", newWorld(t, devices).test.Namespace, 1), 1))
		if got := len(wants[0].Apart) > 0; got != apart {
			t.Errorf("%s: apart from %v", selects, wants[0].Apart)
		}
	}
}

func TestWhatCountsForAPodsPlace(t *testing.T) {
	list := func(amounts ...string) corev1.ResourceList {
		out := corev1.ResourceList{}
		for i := 0; i < len(amounts); i += 2 {
			out[corev1.ResourceName(amounts[i])] = resource.MustParse(amounts[i+1])
		}
		return out
	}
	p := &corev1.Pod{}
	p.Spec.Containers = []corev1.Container{
		{Resources: corev1.ResourceRequirements{Limits: list("intel.com/west", "2", "cpu", "1500m", "hugepages-1Gi", "2Gi", "memory", "1Gi", "ephemeral-storage", "1Gi"), Requests: list("memory", "512Mi")}},
		{Resources: corev1.ResourceRequirements{Limits: list("intel.com/west", "1", "cpu", "1")}},
	}
	p.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list("cpu", "4")}}}
	p.Spec.Overhead = list("cpu", "250m")
	want := queue.Resources{"intel.com/west": 3, "cpu": 4250, "memory": 512 << 20, "hugepages-1Gi": 2 << 30}
	got := lifecycle.Resources(p)
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %d, want %d", name, got[name], n)
		}
	}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list("cpu", "1", "kubernetes.io/batch", "3")}}}
	if got := lifecycle.Resources(p); got != nil {
		t.Errorf("a pod without devices counts: %v", got)
	}
}
