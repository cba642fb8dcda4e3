package admission

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateMetadata(meta *metav1.ObjectMeta) field.ErrorList {
	at := field.NewPath("metadata")
	errs := validateLabels(meta.Labels, at.Child("labels"))
	meta.Labels = nil
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault // as a request to a namespace has it
	}
	return append(errs, metavalidation.ValidateObjectMeta(meta, true, anyName, at)...)
}

// validateLabels is the server's own check, which doesn't say which label it means, nor in words what one looks like.
func validateLabels(labels map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(name)) > 0 {
			errs = append(errs, field.Invalid(at.Key(name), field.OmitValueType{},
				"a label's name has at most 63 letters, digits, dashes, underscores and dots, if need be after a domain and a slash, such as example.com/team"))
		}
		if len(validation.IsValidLabelValue(labels[name])) > 0 {
			errs = append(errs, field.Invalid(at.Key(name), labels[name],
				"a label's value has at most 63 letters, digits, dashes, underscores and dots, and begins and ends with a letter or digit, such as VPP-25.06"))
		}
	}
	return errs
}

// anyName leaves the name to the schema's rule, which lets less through than the server's own check and says so in fewer words.
func anyName(string, bool) []string { return nil }

// quoteLabels finds values of labels and annotations that YAML reads as something else than text, and makes them text, so that all that is wrong with the metadata is found.
func quoteLabels(src source, content map[string]any) (faults Faults) {
	meta, _ := content["metadata"].(map[string]any)
	for _, member := range []string{"labels", "annotations"} {
		values, _ := meta[member].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value := values[name]
			switch value.(type) {
			case string, map[string]any, []any:
				continue
			case nil:
				values[name] = "" // as a server takes it
				continue
			}
			place := field.NewPath("metadata", member).Key(name).String()
			written := src.written(place, fmt.Sprint(value))
			faults = append(faults, src.fault(place, fmt.Sprintf("%s is %v: YAML reads %s as %s, and only text can stand here: write it in quotes, %q", place, value, written, typeName(value), written)))
			values[name] = written
		}
	}
	return faults
}

// typeName is what YAML takes an unquoted scalar for.
func typeName(value any) string {
	if _, is := value.(bool); is {
		return "true or false"
	}
	return "a number"
}

// written is a scalar as it stands in the file; otherwise where that isn't known.
func (s source) written(place, otherwise string) string {
	if node := s.at(parsePath(place)...).root; node != nil && node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return otherwise
}
