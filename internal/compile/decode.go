package compile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// mostObjects is how many objects a freeform part may have: an empty container is two bytes of text, and a thousand bytes once it is decoded.
const mostObjects = 2048

// decode decodes a freeform part as Kubernetes' type T, strictly: Kubernetes would silently drop a field that it doesn't know. Nil: something is
// wrong, and was refused.
func decode[T any](c *compiler, path *field.Path, form v1alpha1.Freeform) *T {
	into := new(T)
	raw, err := form.Raw()
	if err != nil {
		c.errs = append(c.errs, field.Invalid(path, field.OmitValueType{}, "it can't be read: "+err.Error()))
		return nil
	}
	if n := bytes.Count(raw, []byte("{")); n > mostObjects {
		c.errs = append(c.errs, field.TooMany(path, n, mostObjects))
		return nil
	}
	unknown, err := kjson.UnmarshalStrict(raw, into)
	if err != nil {
		c.errs = append(c.errs, misread[T](path, raw, err))
		return nil
	}
	for _, err := range unknown {
		c.errs = append(c.errs, unknownField(path, err))
	}
	if len(unknown) > 0 {
		return nil
	}
	return into
}

// unknownField is the error of a field that Kubernetes doesn't know, or that appears twice.
func unknownField(path *field.Path, err error) *field.Error {
	if at, ok := errors.AsType[kjson.FieldError](err); ok && at.FieldPath() != "" {
		path = path.Child(at.FieldPath())
	}
	if strings.HasPrefix(err.Error(), "duplicate") {
		return field.Invalid(path, field.OmitValueType{}, "it appears twice: remove one")
	}
	return field.Invalid(path, field.OmitValueType{}, "Kubernetes knows no such field here: check its spelling and its place (kubectl explain pod.spec)")
}

// misread is the error of a field that has a value of the wrong type.
func misread[T any](path *field.Path, raw []byte, err error) *field.Error {
	var document any
	if kjson.UnmarshalCaseSensitivePreserveInts(raw, &document) == nil {
		path = culprit(path, document, func(part any) bool {
			text, err := json.Marshal(part)
			return err == nil && kjson.UnmarshalCaseSensitivePreserveInts(text, new(T)) != nil
		})
	}
	message := "Kubernetes can't read it: " + err.Error()
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		message = fmt.Sprintf("a %s stands where Kubernetes wants %s", wrong.Value, kindOf(wrong))
	}
	return field.Invalid(path, field.OmitValueType{}, message)
}

// culprit finds the innermost part of a document that can't be read, even by itself.
func culprit(path *field.Path, document any, fails func(part any) bool) *field.Path {
	switch d := document.(type) {
	case map[string]any:
		for _, key := range sortedKeys(d) {
			alone := func(part any) bool { return fails(map[string]any{key: part}) }
			if alone(d[key]) {
				return culprit(path.Child(key), d[key], alone)
			}
		}
	case []any:
		for i, element := range d {
			alone := func(part any) bool { return fails([]any{part}) }
			if alone(element) {
				return culprit(path.Index(i), element, alone)
			}
		}
	}
	return path
}

func kindOf(wrong *json.UnmarshalTypeError) string {
	switch kind := wrong.Type.Kind().String(); {
	case kind == "slice":
		return "a list"
	case kind == "struct", kind == "map", kind == "ptr":
		return "a mapping"
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	default:
		return "a " + kind
	}
}
