package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// limits bound what a freeform part takes once it is decoded. Users are told the API's own bounds
// (v1alpha1.MostFreeform).
var limits = intake.Limits{Bytes: 4 << 20, Memory: 64 << 20}

// decode decodes a freeform part as Kubernetes' type T, strictly, since Kubernetes would silently drop an unknown
// field. Nil means that something is wrong, and was refused. newCompiler has bounded how deep and how many all values
// are.
func decode[T any](r *refusals, path *field.Path, form v1alpha1.Freeform) *T {
	decoded := new(T)
	raw, err := form.Raw()
	if err != nil {
		r.refuse(path, noValue, "it can't be read: "+err.Error())
		return nil
	}
	var unknown []error
	err = intake.DecodeBy(func(raw []byte, target any) (err error) {
		unknown, err = kjson.UnmarshalStrict(raw, target)
		return err
	}, raw, decoded, limits)
	if err != nil {
		r.errs = append(r.errs, misread[T](path, raw, err))
		return nil
	}
	for _, err := range unknown {
		r.errs = append(r.errs, unknownField(path, err))
	}
	if len(unknown) > 0 {
		return nil
	}
	return decoded
}

// unknownField is the error of a field that Kubernetes doesn't know, or that appears twice.
func unknownField(path *field.Path, err error) *field.Error {
	if fieldError, ok := errors.AsType[kjson.FieldError](err); ok && fieldError.FieldPath() != "" {
		path = path.Child(fieldError.FieldPath())
	}
	if strings.HasPrefix(err.Error(), "duplicate") {
		return field.Invalid(path, noValue, "it appears twice: remove one")
	}
	return field.Invalid(path, noValue,
		"Kubernetes knows no such field here: check its spelling and its place (kubectl explain pod.spec)")
}

// misread is the error of a field that has a value of the wrong type.
func misread[T any](path *field.Path, raw []byte, err error) *field.Error {
	var document any
	if intake.DecodeBy(kjson.UnmarshalCaseSensitivePreserveInts, raw, &document, limits) == nil {
		if culpritPath, cause := culprit(path, reflect.TypeFor[T](), document); culpritPath != nil {
			path, err = culpritPath, cause
		}
	}
	message := "Kubernetes can't read it: " + err.Error()
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		message = fmt.Sprintf("a %s stands where Kubernetes wants %s", wrong.Value, kindOf(wrong))
	}
	return field.Invalid(path, noValue, message)
}

// unmarshaler is implemented by types that read their own JSON.
var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// culprit is the first value of a document that can't be read as its type, and the decoder's error for it. Nil means
// that there is none. The decoder's error for the whole document doesn't name the element of a list, nor any field
// where a type reads its own JSON. So culprit goes down the document and the type side by side, and has the decoder
// read each value that has no parts by itself.
func culprit(path *field.Path, goType reflect.Type, value any) (*field.Path, error) {
	for goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	if reflect.PointerTo(goType).Implements(unmarshaler) {
		return path, unreadable(goType, value)
	}
	switch value := value.(type) {
	case map[string]any:
		if kind := goType.Kind(); kind == reflect.Struct || kind == reflect.Map {
			return culpritMember(path, goType, value)
		}
	case []any:
		if goType.Kind() == reflect.Slice {
			return culpritElement(path, goType, value)
		}
	}
	return path, unreadable(goType, value)
}

// culpritMember is the culprit among the members of a struct or a map.
func culpritMember(path *field.Path, goType reflect.Type, members map[string]any) (*field.Path, error) {
	for _, key := range sortedKeys(members) {
		if member := memberType(goType, key); member != nil {
			if found, err := culprit(path.Child(key), member, members[key]); err != nil {
				return found, err
			}
		}
	}
	return nil, nil
}

// culpritElement is the culprit among the elements of a list.
func culpritElement(path *field.Path, goType reflect.Type, elements []any) (*field.Path, error) {
	for i, element := range elements {
		if found, err := culprit(path.Index(i), goType.Elem(), element); err != nil {
			return found, err
		}
	}
	return nil, nil
}

// unreadable is the decoder's error for a value of this type. Nil means that the decoder reads it.
func unreadable(goType reflect.Type, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return intake.DecodeBy(kjson.UnmarshalCaseSensitivePreserveInts, text, reflect.New(goType).Interface(), limits)
}

// memberType is the type of a map's values, or of a struct's field by its name in JSON. Nil means that there is no
// field of this name. The fields of embedded structs count as the struct's own, as in the decoder.
func memberType(goType reflect.Type, name string) reflect.Type {
	if goType.Kind() == reflect.Map {
		return goType.Elem()
	}
	for i := range goType.NumField() {
		f := goType.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			if inner := memberType(f.Type, name); inner != nil {
				return inner
			}
		} else if tag == name && tag != "-" {
			return f.Type
		}
	}
	return nil
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
