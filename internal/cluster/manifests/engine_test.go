package manifests_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// TestEachEngineInPodsIsInTheList holds for engines that compile and don't run elsewhere. Some file must know what is
// in these.
func TestEachEngineInPodsIsInTheList(t *testing.T) {
	senders := manifests.EnginesInPods()
	for _, s := range compile.Senders() {
		spec := v1alpha1.LoadTestSpec{Generator: v1alpha1.GeneratorSpec{Engine: v1alpha1.Engine(s.Engine)}}
		if s.RunsAlready {
			spec.Generator.Placement = &v1alpha1.PlacementSpec{Servers: []v1alpha1.GeneratorServer{{Address: "a"}}}
		}
		if inPods := !compile.GeneratorsRunAlready(&spec); inPods != senders[s] {
			t.Errorf("%v: in pods by internal/compile: %v, by internal/cluster/manifests: %v", s, inPods, senders[s])
		}
		delete(senders, s)
	}
	if len(senders) > 0 {
		t.Errorf("internal/compile knows nothing of %v", senders)
	}
}

// ofPigeons is the input of a test whose engine the schema doesn't take.
func ofPigeons(t *testing.T) manifests.Input {
	t.Helper()
	input := sample(t, "loadtest_software_reference")
	input.Test.Spec.Generator.Engine = "Pigeons"
	return input
}

func TestAnEngineThatIsNotKnownHasNoPods(t *testing.T) {
	input := ofPigeons(t)
	errs := manifests.Check(input)
	if len(errs) != 1 || !strings.Contains(errs[0].Error(),
		`spec.generator.engine "Pigeons": this operator doesn't know this engine's pods`) {
		t.Errorf("%v", errs)
	}
	if pods := manifests.Generators(input); pods != nil {
		t.Errorf("pods of another engine: %v", pods[0].Spec.Containers)
	}
}

func TestAnEngineIsAddedByOneEntry(t *testing.T) {
	input := ofPigeons(t)
	manifests.KeepPigeons(t, plan.Sender{Traffic: plan.TrafficFrames, Engine: "Pigeons"})
	if errs := manifests.Check(input); len(errs) > 0 {
		t.Error(errs)
	}
	pods := manifests.Generators(input)
	if len(pods) != len(input.Compiled.Plan.Generators) {
		t.Fatalf("%d pods of %d generators", len(pods), len(input.Compiled.Plan.Generators))
	}
	c := pods[0].Spec.Containers[0]
	if c.Image != "pigeons" || c.Resources.Requests.Cpu().Value() != 5 ||
		!slices.Equal(c.Args, []string{"west", "east"}) {
		t.Errorf("%+v", c)
	}
	if _, exists := manifests.Links(input).Data["pigeons.json"]; !exists {
		t.Error("its file isn't in the attempt's ConfigMap")
	}
	if !manifests.OwnsCPUs(input.Test) {
		t.Error("it wants CPUs for itself")
	}
	var running []corev1.Pod
	for _, p := range pods {
		p.Status.PodIP = "192.0.2.7"
		running = append(running, *p)
	}
	sites, err := manifests.SitesOf(input, running)
	if err != nil || sites.Generators[0].Heartbeat != "192.0.2.7:4711" {
		t.Errorf("%+v, %v", sites.Generators, err)
	}
}
