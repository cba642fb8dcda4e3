package compile

import (
	"slices"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/config/crd"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// enginesOfTheSchema are what spec.generator.engine may be.
func enginesOfTheSchema(t *testing.T) []string {
	t.Helper()
	var definition apiextensions.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.LoadTests(), &definition); err != nil {
		t.Fatal(err)
	}
	spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	var names []string
	for _, value := range spec.Properties["generator"].Properties["engine"].Enum {
		names = append(names, strings.Trim(string(value.Raw), `"`))
	}
	return names
}

// An engine that a file may name and no code compiles would be refused after the file was admitted.
func TestEachEngineOfTheSchemaIsInTheList(t *testing.T) {
	want := enginesOfTheSchema(t)
	if !slices.Contains(want, plan.EngineTRex) {
		t.Fatalf("the schema's engines were not found: %v", want)
	}
	var got []string
	for _, s := range Senders() {
		if s.Traffic == plan.TrafficFrames && !s.RunsAlready {
			got = append(got, s.Engine)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("engines of frames are %v, and the schema takes %v", got, want)
	}
}

// testOf is an admitted LoadTest whose engine is exchanged afterwards for one that no schema has to take.
func testOf(t *testing.T, engine string) *v1alpha1.LoadTest {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load("x.yaml", strings.NewReader("apiVersion: linerate.dev/v1alpha1\nkind: "+
		"LoadTest\nmetadata: {name: x, namespace: lab}\nspec:\n"+
		"  generator: {engine: Software}\n  dut: {type: Reference}\n"+
		"  links: [{name: west, lineRate: 1gbps, network: west}, {name: east, lineRate: 1gbps, network: east}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	test := objects[0].LoadTest
	test.Spec.Generator.Engine = v1alpha1.Engine(engine)
	return test
}

func TestAnEngineThatIsNotKnownIsRefused(t *testing.T) {
	const want = `spec.generator.engine: Invalid value: "Pigeons": this linerate knows no such engine for traffic of type Frames: use one of Software, TRex`
	test := testOf(t, "Pigeons")
	p, errs := Compile(test)
	if p != nil || len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("compiled to %v, %v\nwant %s", p, errs, want)
	}
	cluster, errs := ForCluster(test)
	if cluster != nil || len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("for a cluster: %v, %v\nwant %s", cluster, errs, want)
	}
	if GeneratorsRunAlready(&test.Spec) {
		t.Error("nobody can say that its generators run already")
	}
}

// pigeons are an engine that this test alone knows.
type pigeons struct{ inPods }

func (pigeons) check(es *engineSpec) {
	if replicas := es.spec.Generator.Replicas; replicas > 2 {
		es.refuse(specPath().Child("generator", "replicas"), replicas, "a loft has two pigeons: use 2 or fewer")
	}
}
func (pigeons) checkPods(*engineSpec) {}
func (pigeons) resources(*engineSpec) (devices, kernel Resources) {
	return Resources{Cores: 7}, Resources{Cores: 3}
}

func TestAnEngineIsAddedByOneEntry(t *testing.T) {
	key := plan.Sender{Traffic: plan.TrafficFrames, Engine: "Pigeons"}
	engines[key] = pigeons{}
	t.Cleanup(func() { delete(engines, key) })
	test := testOf(t, "Pigeons")
	cluster, errs := ForCluster(test)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if cluster.Plan.Sender() != key || cluster.Plan.GeneratorsRunAlready() || cluster.Generator.Cores != 7 ||
		cluster.Kernel.Cores != 3 {
		t.Errorf("%v sends, elsewhere: %v, pods request %+v and %+v", cluster.Plan.Sender(),
			cluster.Plan.GeneratorsRunAlready(), cluster.Generator, cluster.Kernel)
	}
	test.Spec.Generator.Replicas = 3
	if _, errs = Compile(test); len(errs) != 1 || !strings.Contains(errs[0].Error(), "a loft has two pigeons") {
		t.Errorf("%v", errs)
	}
}
