package admission

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// terms are the fields of a spec that may change in the life of a test or a suite, and don't affect what is measured.
func terms(object any) []string {
	if _, ok := object.(*v1alpha1.LoadTestSuite); ok {
		return []string{"historyLimit", "parallelism", "stop", "suspend", "ttlAfterFinished"}
	}
	return []string{"activeDeadline", "podRetention", "reportRetention", "schedulingDeadline", "stop", "suspend",
		"ttlAfterFinished"}
}

// OtherSpec is the first field in which two LoadTests or LoadTestSuites measure something different, such as
// spec.links[0].name. False means that there is none. Both must have their defaults, and be of the same kind.
func OtherSpec(want, got any) (field string, differs bool) {
	a, b := specOf(want), specOf(got)
	for _, name := range terms(got) {
		delete(a, name)
		delete(b, name)
	}
	return difference("spec", a, b)
}

// OtherTerms are the differing fields that don't affect what is measured.
func OtherTerms(want, got any) string {
	a, b := specOf(want), specOf(got)
	var fields []string
	for _, name := range terms(got) {
		if !reflect.DeepEqual(a[name], b[name]) {
			fields = append(fields, "spec."+name)
		}
	}
	return strings.Join(fields, ", ")
}

// specOf is a spec as JSON has it, so that what is absent and what is empty are the same.
func specOf(object any) map[string]any {
	var content struct {
		Spec map[string]any `json:"spec"`
	}
	text, err := json.Marshal(object)
	if err == nil {
		err = intake.JSON(text, &content, limits)
	}
	if err != nil { // a template that isn't JSON, which no server holds
		return map[string]any{"unreadable": err.Error()}
	}
	return content.Spec
}

// difference is the first field, in the order of names, in which two documents differ.
func difference(fieldPath string, a, b any) (field string, found bool) {
	if reflect.DeepEqual(a, b) {
		return "", false
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return differentMember(fieldPath, a, b)
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				if field, found := difference(fmt.Sprintf("%s[%d]", fieldPath, i), a[i], b[i]); found {
					return field, true
				}
			}
		}
	}
	return fieldPath, true
}

func differentMember(fieldPath string, a, b map[string]any) (field string, found bool) {
	names := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if field, found := difference(fieldPath+"."+name, a[name], b[name]); found {
			return field, true
		}
	}
	return fieldPath, true
}
