package admission

import (
	"maps"
	"slices"

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
