package apiserver

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/config/crd"
)

const crdName = "loadtests.linerate.dev"

func TestTheCRDInstalls(t *testing.T) {
	conditions := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.ConditionStatus{}
	for _, c := range installedCRD(t).Status.Conditions {
		conditions[c.Type] = c.Status
		if c.Status == apiextensionsv1.ConditionTrue && c.Type == apiextensionsv1.NonStructuralSchema {
			t.Error(c.Message)
		}
	}
	for _, want := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.Established, apiextensionsv1.NamesAccepted} {
		if conditions[want] != apiextensionsv1.ConditionTrue {
			t.Errorf("%s is %q", want, conditions[want])
		}
	}
}

func installedCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := typed.Get(t.Context(), client.ObjectKey{Name: crdName}, object); err != nil {
		t.Fatal(err)
	}
	text, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	installed := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(text, installed); err != nil {
		t.Fatal(err)
	}
	return installed
}

// kubectl apply without --server-side stores the whole manifest in an annotation, whose size the server bounds.
func TestTheCRDCanBeAppliedFromTheClientsSide(t *testing.T) {
	manifest, err := yaml.YAMLToJSON(crd.LoadTests())
	if err != nil {
		t.Fatal(err)
	}
	if err := annotateCRD(t, string(manifest)); err != nil {
		t.Errorf("%d bytes: %v", len(manifest), err)
	}
	t.Run("a manifest over the limit is refused", func(t *testing.T) {
		err := annotateCRD(t, strings.Repeat("x", 256<<10))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.annotations: Too long") {
			t.Errorf("got %v", err)
		}
	})
}

// annotateCRD asks only: nothing is stored.
func annotateCRD(t *testing.T, manifest string) error {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": map[string]string{corev1.LastAppliedConfigAnnotation: manifest},
	}})
	if err != nil {
		t.Fatal(err)
	}
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: crdName}}
	object.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return typed.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, patch), client.DryRunAll)
}

// ruleMessages are what the manifest's CEL rules say.
func ruleMessages(t *testing.T) []string {
	t.Helper()
	var manifest apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(crd.LoadTests(), &manifest); err != nil {
		t.Fatal(err)
	}
	messages := messagesIn(*manifest.Spec.Versions[0].Schema.OpenAPIV3Schema)
	slices.Sort(messages)
	return slices.Compact(messages)
}

func messagesIn(s apiextensionsv1.JSONSchemaProps) []string {
	var messages []string
	for _, rule := range s.XValidations {
		messages = append(messages, rule.Message)
	}
	for _, property := range s.Properties {
		messages = append(messages, messagesIn(property)...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		messages = append(messages, messagesIn(*s.Items.Schema)...)
	}
	return messages
}
