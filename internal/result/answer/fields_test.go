package answer

import (
	"os"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// A sentence names fields as a LoadTest has them. Those of a procedure's member are named without "procedure.".
func TestAWayOutNamesFieldsOfALoadTest(t *testing.T) {
	content, err := os.ReadFile("../../../config/crd/bases/linerate.dev_loadtests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(content, &definition); err != nil {
		t.Fatal(err)
	}
	spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	named := append(fields(), "links.dut.address", "links.dut.sourceMACs", "links.vlan")
	for _, kind := range []string{"", plan.TypeRamp, plan.TypeSearch, plan.TypeSoak, plan.TypeConstantLoad,
		plan.TypeFrameLoss} {
		named = append(named, plan.Procedure{Type: kind}.TargetField())
	}
	for _, field := range named {
		if !has(spec, field) && !has(spec, "procedure."+field) {
			t.Errorf("a LoadTest has no field %s", field)
		}
	}
}

func has(schema apiextensionsv1.JSONSchemaProps, path string) bool {
	for member := range strings.SplitSeq(path, ".") {
		next, found := schema.Properties[member]
		if !found {
			return false
		}
		schema = next
		if next.Items != nil {
			schema = *next.Items.Schema
		}
	}
	return true
}
