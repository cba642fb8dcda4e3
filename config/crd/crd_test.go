package crd_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/config/crd"
)

// applyLimit is the size that an annotation can have, and so an object under client-side "kubectl apply".
const applyLimit = 256 << 10

// manifests are all of them, by their kinds.
func manifests() map[string][]byte {
	return map[string][]byte{"LoadTest": crd.LoadTests(), "LoadTestSuite": crd.LoadTestSuites()}
}

func TestAnAPIServerTakesTheCRDs(t *testing.T) {
	for kind, text := range manifests() {
		t.Run(kind, func(t *testing.T) { taken(t, text) })
	}
}

func taken(t *testing.T, text []byte) {
	t.Helper()
	var manifest apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &manifest); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&manifest)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&manifest.Spec)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&manifest, &internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{"v1alpha1"}

	// This includes the schema's structure, its defaults, and that every rule compiles within its cost.
	for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), &internal) {
		t.Error(err)
	}
}

func TestTheCRDsCanBeApplied(t *testing.T) {
	for kind, text := range manifests() {
		asJSON, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(asJSON) > applyLimit/2 {
			t.Errorf("the CRD of %s is %d bytes as JSON: over half of what kubectl apply can store", kind, len(asJSON))
		}
		t.Logf("%s: %d bytes as YAML, %d as JSON", kind, len(text), len(asJSON))
	}
}

func TestTheEmbeddedManifestCannotBeChanged(t *testing.T) {
	for kind := range manifests() {
		manifests()[kind][0] = 'X'
		if manifests()[kind][0] == 'X' {
			t.Errorf("%s: a caller's change is seen by the next caller", kind)
		}
	}
}
