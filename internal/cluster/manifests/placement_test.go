package manifests_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

func TestExcludedNodesNarrowEveryAlternative(t *testing.T) {
	for name, c := range map[string]struct{ affinity, want string }{
		"no affinity": {``, `
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
  {matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}, {key: metadata.name, operator: NotIn, values: [n2]}]}]}}`},
		"alternatives": {`
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
  {matchExpressions: [{key: rack, operator: In, values: [a]}]},
  {matchFields: [{key: metadata.name, operator: In, values: [n7]}]}]}}`, `
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
  {matchExpressions: [{key: rack, operator: In, values: [a]}],
   matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}, {key: metadata.name, operator: NotIn, values: [n2]}]},
  {matchFields: [{key: metadata.name, operator: In, values: [n7]}, {key: metadata.name, operator: NotIn, values: [n1]}, {key: metadata.name, operator: NotIn, values: [n2]}]}]}}`},
		"an alternative that matches nothing doesn't come to match everything else": {`
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}, {matchExpressions: [{key: rack, operator: Exists}]}]}}`, `
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
  {matchExpressions: [{key: rack, operator: Exists}],
   matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}, {key: metadata.name, operator: NotIn, values: [n2]}]}]}}`},
		"only alternatives that match nothing": {`
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}`, `
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}`},
		"preferences and other affinities stay": {`
nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, preference: {matchExpressions: [{key: fast, operator: Exists}]}}]}
podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack, labelSelector: {matchLabels: {app: a}}}]}`, `
nodeAffinity:
  preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, preference: {matchExpressions: [{key: fast, operator: Exists}]}}]
  requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}, {key: metadata.name, operator: NotIn, values: [n2]}]}]}
podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack, labelSelector: {matchLabels: {app: a}}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			input := sample(t, "loadtest_trex_loopback")
			input.Compiled.Affinity = affinity(t, c.affinity)
			input.ExcludedNodes = []string{"n1", "n2"}
			if diff := cmp.Diff(affinity(t, c.want), manifests.Generators(input)[0].Spec.Affinity); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(affinity(t, c.affinity), input.Compiled.Affinity); diff != "" {
				t.Errorf("the test's own affinity was written to:\n%s", diff)
			}
		})
	}
}

// A pod runs on the node that the spec names, whatever else the user's affinity asks for, and a tunnel's second gateway
// where the scheduler likes.
func TestNodesThatTheSpecNames(t *testing.T) {
	input := sample(t, "loadtest_nodes")
	on := func(node string) *corev1.Affinity {
		return affinity(t, "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\n"+
			"  {matchFields: [{key: metadata.name, operator: In, values: ["+node+"]}]}]}}")
	}
	for pod, node := range map[*corev1.Pod]string{manifests.Generators(input)[0]: "gen-1", manifests.DUT(input): "dut-1"} {
		if diff := cmp.Diff(on(node), pod.Spec.Affinity); diff != "" {
			t.Errorf("%s: -want +got:\n%s", pod.Name, diff)
		}
		if got := manifests.NodeOf(input.Test, input.Attempt, pod); got != node {
			t.Errorf("%s is said to be for node %q, want %q", pod.Name, got, node)
		}
	}
	input.ExcludedNodes = []string{"gen-2"}
	input.Compiled.Affinity = affinity(t, "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+
		"{nodeSelectorTerms: [{matchExpressions: [{key: rack, operator: In, values: [a]}]}]}}")
	want := affinity(t, "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [\n"+
		"  {matchExpressions: [{key: rack, operator: In, values: [a]}], matchFields: [\n"+
		"    {key: metadata.name, operator: NotIn, values: [gen-2]}, {key: metadata.name, operator: In, values: [gen-1]}]}]}}")
	if diff := cmp.Diff(want, manifests.Generators(input)[0].Spec.Affinity); diff != "" {
		t.Errorf("beside other demands: -want +got:\n%s", diff)
	}
	input = sample(t, "loadtest_reference_tunnel")
	input.Test.Spec.DUT.Node = "dut-1"
	if pods := manifests.Devices(input); len(pods) != 2 || cmp.Diff(on("dut-1"), pods[0].Spec.Affinity) != "" ||
		pods[1].Spec.Affinity != nil || manifests.NodeOf(input.Test, input.Attempt, pods[1]) != "" {
		t.Errorf("of a tunnel both gateways are bound to a node, or none")
	}
}

func affinity(t *testing.T, text string) *corev1.Affinity {
	t.Helper()
	if text == "" {
		return nil
	}
	a := &corev1.Affinity{}
	if err := yaml.UnmarshalStrict([]byte(text), a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestExcludedNodesAreAvoidedByWhatCouldBeRefusedThere(t *testing.T) {
	input := sample(t, "loadtest_dut_networks")
	input.ExcludedNodes = []string{"n1"}
	avoids := func(pod *corev1.Pod) bool { return pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil }
	if !avoids(manifests.DUT(input)) || !avoids(manifests.Generators(input)[0]) {
		t.Error("the DUT or a generator doesn't avoid the node")
	}
	input = sample(t, "loadtest_device_setup")
	input.ExcludedNodes = []string{"n1"}
	if !avoids(manifests.Setup(input)) {
		t.Error("setup doesn't avoid the node")
	}
	if avoids(manifests.Teardown(input)) {
		t.Error("teardown may not find a node")
	}
}

func TestSeparateNodes(t *testing.T) {
	t.Run("keeps generators off the node of this attempt's DUT, and the user's anti-affinity", func(t *testing.T) {
		input := sample(t, "loadtest_dut_networks")
		input.Compiled.Affinity = affinity(t,
			`podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack, labelSelector: {matchLabels: {app: db}}}]}`)
		terms := manifests.Generators(input)[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		dut := manifests.DUT(input)
		if len(terms) != 2 || terms[0].TopologyKey != "rack" || terms[1].TopologyKey != corev1.LabelHostname {
			t.Fatalf("terms: %+v", terms)
		}
		for key, value := range terms[1].LabelSelector.MatchLabels {
			if dut.Labels[key] != value {
				t.Errorf("the DUT's label %s is %q, not %q", key, dut.Labels[key], value)
			}
		}
	})
	t.Run("means nothing without a pod of the DUT's", func(t *testing.T) {
		if a := manifests.Generators(sample(t, "loadtest_generator_pod"))[0].Spec.Affinity; a.PodAntiAffinity != nil {
			t.Errorf("anti-affinity: %+v", a.PodAntiAffinity)
		}
	})
}

func TestPerLinkPartsSourceAndSink(t *testing.T) {
	input := sample(t, "loadtest_four_links")
	input.Test.Spec.Traffic.Directions = []v1alpha1.Direction{{From: "west", To: "east"}, {From: "east", To: "west"},
		{From: "north", To: "south"}}
	input = withReplicas(t, input, 2, v1alpha1.LayoutPerLink)
	farByGenerator := map[string][]string{}
	for _, pod := range manifests.Generators(input) {
		for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			farByGenerator[pod.Labels[v1alpha1.LabelGenerator]] = term.LabelSelector.MatchExpressions[0].Values
		}
	}
	want := map[string][]string{
		"generator-0-west": {"generator-0-east"}, "generator-0-east": {"generator-0-west"},
		"generator-0-north": {"generator-0-south"}, "generator-0-south": {"generator-0-north"},
		"generator-1-west": {"generator-1-east"}, "generator-1-east": {"generator-1-west"},
		"generator-1-north": {"generator-1-south"}, "generator-1-south": {"generator-1-north"},
	}
	if diff := cmp.Diff(want, farByGenerator); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReplicasMayShareANode(t *testing.T) {
	for _, pod := range manifests.Generators(sample(t, "loadtest_four_replicas")) {
		if pod.Spec.Affinity != nil {
			t.Errorf("%s demands a place: %+v", pod.Name, pod.Spec.Affinity)
		}
		if c := pod.Spec.TopologySpreadConstraints; len(c) != 1 || c[0].WhenUnsatisfiable != corev1.ScheduleAnyway {
			t.Errorf("%s: %+v", pod.Name, c)
		}
	}
	if c := manifests.Generators(sample(t, "loadtest_trex_loopback"))[0].Spec.TopologySpreadConstraints; c != nil {
		t.Errorf("a single generator is spread: %+v", c)
	}
}

// TestRunnersGoByTheOperatorsQueue holds for Jobs. Kueue takes Jobs by their label, and leaves their pods alone, which
// have no label of a queue.
func TestRunnersGoByTheOperatorsQueue(t *testing.T) {
	input := sample(t, "loadtest_software_reference")
	for queue, want := range map[string]string{"": "", "runners": "runners"} {
		input.Settings.RunnerQueue = queue
		sites, err := manifests.SitesOf(input, []corev1.Pod{*attached(manifests.Generators(input)[0], 0)})
		if err != nil {
			t.Fatal(err)
		}
		run, err := manifests.Run(input, sites)
		if err != nil {
			t.Fatal(err)
		}
		job := run[1].(*batchv1.Job)
		if got := job.Labels[v1alpha1.LabelKueueQueue]; got != want {
			t.Errorf("told queue %q, the Job names %q", queue, got)
		}
		if got, labelled := job.Spec.Template.Labels[v1alpha1.LabelKueueQueue]; labelled {
			t.Errorf("told queue %q, the Job's pods name %q, want none", queue, got)
		}
	}
}

// TestSmallPodsMayBeWhereGeneratorsAre is for a lab like this. In a lab whose nodes are all kept for tests, the
// forwarder and the runner have no other place. The runner is in the operator's own namespace, where no quota of the
// test's holds it: its priority is the operator's to say.
func TestSmallPodsMayBeWhereGeneratorsAre(t *testing.T) {
	input := sample(t, "loadtest_software_reference")
	input.Test.Spec.Generator.Pod = sample(t, "loadtest_generator_pod").Test.Spec.Generator.Pod
	input.Settings.RunnerPriority = "lab-runners"
	input.Settings.PullSecrets = []corev1.LocalObjectReference{{Name: "operator"}, {Name: "registry-lab"}}
	sites, err := manifests.SitesOf(input, []corev1.Pod{*attached(manifests.Generators(input)[0], 0)})
	if err != nil {
		t.Fatal(err)
	}
	run, err := manifests.Run(input, sites)
	if err != nil {
		t.Fatal(err)
	}
	runner, _ := podSpec(run[1])
	dut := manifests.DUT(input).Spec
	for name, spec := range map[string]*corev1.PodSpec{"runner": runner, "forwarder": &dut} {
		if want := map[string]string{"runner": "lab-runners",
			"forwarder": "lab-night"}[name]; len(spec.Tolerations) != 1 || spec.PriorityClassName != want {
			t.Errorf("%s: tolerations %v, priority %s, want %s", name, spec.Tolerations, spec.PriorityClassName, want)
		}
		if diff := cmp.Diff(input.Settings.PullSecrets, spec.ImagePullSecrets); diff != "" {
			t.Errorf("%s: pull secrets:\n%s", name, diff)
		}
	}
	if dut.NodeSelector["lab/role"] != "generator" || runner.NodeSelector != nil {
		t.Errorf("node selectors: forwarder %v, runner %v", dut.NodeSelector, runner.NodeSelector)
	}
	if dut.RuntimeClassName != nil || runner.RuntimeClassName != nil {
		t.Error("a runtime class for generators is theirs alone")
	}
}
