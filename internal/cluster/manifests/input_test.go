package manifests_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// sample is the input of a test of config/samples in the lab of testdata/networks.yaml, first attempt.
func sample(t *testing.T, name string) manifests.Input {
	t.Helper()
	text, err := os.ReadFile("../../../config/samples/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return inputOfText(t, string(text))
}

// inputOfText is that of a LoadTest as a person writes it.
func inputOfText(t *testing.T, text string) manifests.Input {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load("test.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return inputOf(t, objects[0])
}

func inputOf(t *testing.T, object admission.Object) manifests.Input {
	t.Helper()
	test := object.LoadTest
	test.Namespace = "bench"
	test.UID = "0f6b1f7e-6a0e-4d0c-9a55-2f3f6a1c9b10"
	if test.Name == "" {
		test.Name = test.GenerateName + "x7k2p" // as an API server does it
	}
	compiled, errs := compile.ForCluster(test)
	if err := object.Faults(errs); err != nil {
		t.Fatal(err)
	}
	return manifests.Input{
		Test: test, Compiled: compiled, Networks: lab(t, compiled), Attempt: 1,
		Settings: manifests.Settings{Key: credential.Key{1, 2, 3}, Image: "ghcr.io/linerate-dev/linerate:v0.1.0",
			PullPolicy: "IfNotPresent", Namespace: "linerate-system"},
	}
}

// lab has the networks that a test names, in whichever namespace it looks for them.
func lab(t *testing.T, c *compile.Cluster) map[compile.NetworkKey]manifests.Network {
	t.Helper()
	definitions := networkDefinitions(t)
	networks := map[compile.NetworkKey]manifests.Network{}
	for _, l := range c.Networks {
		for _, key := range []compile.NetworkKey{l.Generator, l.DUT} {
			if key.Name == "" {
				continue
			}
			d, ok := definitions[key.Name]
			if !ok {
				t.Fatalf("the lab has no network %s", key.Name)
			}
			n, err := manifests.ReadNetwork(key, d.Annotations, d.Spec.Config)
			if err != nil {
				t.Fatal(err)
			}
			networks[key] = n
		}
	}
	return networks
}

type networkDefinition struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Config string `json:"config"`
	} `json:"spec"`
}

func networkDefinitions(t *testing.T) map[string]networkDefinition {
	t.Helper()
	text, err := os.ReadFile("testdata/networks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	definitions := map[string]networkDefinition{}
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var d networkDefinition
		if err := yaml.Unmarshal(document, &d); err != nil {
			t.Fatal(err)
		}
		definitions[d.Name] = d
	}
	return definitions
}

// clusterSamples are the samples that need a cluster.
func clusterSamples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../config/samples/loadtest_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	return names
}

func withReplicas(t *testing.T, input manifests.Input, replicas int32, layout v1alpha1.Layout) manifests.Input {
	t.Helper()
	input.Test = input.Test.DeepCopy()
	input.Test.Spec.Generator.Replicas, input.Test.Spec.Generator.Layout = replicas, layout
	compiled, errs := compile.ForCluster(input.Test)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	input.Compiled = compiled
	return input
}
