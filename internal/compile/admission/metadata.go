package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateMetadata(meta *metav1.ObjectMeta) field.ErrorList {
	fieldPath := field.NewPath("metadata")
	errs := validateLabels(meta.Labels, fieldPath.Child("labels"))
	meta.Labels = nil
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault // as a request to a namespace has it
	}
	return append(errs, metavalidation.ValidateObjectMeta(meta, true, anyName, fieldPath)...)
}

// validateLabels is the server's own check, which doesn't say which label it means, nor in words what one looks like.
func validateLabels(labels map[string]string, fieldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(name)) > 0 {
			errs = append(errs, field.Invalid(fieldPath.Key(name), field.OmitValueType{},
				"a label's name has at most 63 letters, digits, dashes, underscores and dots, if need be after a "+
					"domain and a slash, such as example.com/team"))
		}
		if len(validation.IsValidLabelValue(labels[name])) > 0 {
			errs = append(errs, field.Invalid(fieldPath.Key(name), labels[name],
				"a label's value has at most 63 letters, digits, dashes, underscores and dots, and begins and ends "+
					"with a letter or digit, such as VPP-25.06"))
		}
	}
	return errs
}

// anyName leaves the name to the schema's rule, which lets less through than the server's own check and says so
// in fewer words.
func anyName(string, bool) []string { return nil }

// misreadMetadata is the fault of metadata in which a value has a shape that it can't have, such as a mapping for a
// name.
func misreadMetadata(src source, err error) Fault {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return src.fault("metadata", "metadata is not understood: "+err.Error())
	}
	place := strings.TrimSuffix("metadata."+mismatch.Field, ".")
	return src.fault(place, fmt.Sprintf("%s is no %s: such as {name: router, labels: {team: core}}", place,
		shapeOf(mismatch.Type)))
}

// shapeOf is what a file writes for a Go type of metadata.
func shapeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "list"
	case reflect.Map, reflect.Struct:
		return "mapping"
	default:
		return t.String()
	}
}
