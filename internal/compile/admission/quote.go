package admission

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unquoted collects the scalars that stand without quotes where only text can, and that YAML reads as something else,
// such as no, 1e3 and 1.5.
type unquoted struct {
	src    source
	faults Faults
}

// quote makes such scalars the text that their author wrote, so that the rules judge that, and all that is
// wrong with the object is found at once. The faults are those of the missing quotes.
func (s *resource) quote(src source, content map[string]any) Faults {
	q := unquoted{src: src}
	q.texts(field.NewPath("metadata"), metadataTexts(), content["metadata"])
	q.texts(nil, s.structural, content)
	return q.faults
}

// metadataTexts is a schema of the texts in metadata, of which a CustomResourceDefinition says nothing.
func metadataTexts() *structuralschema.Structural {
	text := structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
	texts := structuralschema.Structural{AdditionalProperties: &structuralschema.StructuralOrBool{Structural: &text}}
	return &structuralschema.Structural{Properties: map[string]structuralschema.Structural{
		"name": text, "generateName": text, "namespace": text, "labels": texts, "annotations": texts,
	}}
}

// texts is a value with text where the schema has text.
func (q *unquoted) texts(place *field.Path, schema *structuralschema.Structural, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if property, found := schema.Properties[name]; found {
				v[name] = q.texts(place.Child(name), &property, v[name])
			} else if additional := schema.AdditionalProperties; additional != nil && additional.Structural != nil {
				v[name] = q.texts(place.Key(name), additional.Structural, v[name])
			}
		}
	case []any:
		for i := range v {
			if schema.Items != nil {
				v[i] = q.texts(place.Index(i), schema.Items, v[i])
			}
		}
	case bool, int64, float64:
		if schema.Type == "string" {
			return q.text(place.String(), v)
		}
	}
	return value
}

func (q *unquoted) text(place string, value any) string {
	written := q.src.written(place, fmt.Sprint(value))
	q.faults = append(q.faults, q.src.fault(place,
		fmt.Sprintf("%s is %v: YAML reads %s as %s, and only text can stand here: write it in quotes, %q", place, value,
			written, typeName(value), written)))
	return written
}

// excluding are the faults at whose places there is no other fault. What is wrong in quotes, too, isn't mended by them.
func (f Faults) excluding(excluded Faults) Faults {
	return slices.DeleteFunc(f, func(fault Fault) bool {
		return slices.ContainsFunc(excluded, func(e Fault) bool { return e.Field == fault.Field })
	})
}

// typeName is what YAML takes an unquoted scalar for.
func typeName(value any) string {
	if _, ok := value.(bool); ok {
		return "true or false"
	}
	return "a number"
}

// written is a scalar as it stands in the file, and fallback where that isn't known.
func (s source) written(place, fallback string) string {
	if node := s.part(parsePath(place)...).root; node != nil && node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return fallback
}
