package admission

import (
	"encoding/json"
	"fmt"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// sentence is a field error as a sentence. It says what the field is, what the field has to be, and the schema's
// example if there is one.
func (s *resource) sentence(e *field.Error, object any) string {
	p := parsePath(e.Field)
	switch e.Type {
	case field.ErrorTypeRequired:
		return e.Field + " is missing" + detail(": ", e.Detail) + s.example(p)
	case field.ErrorTypeNotSupported:
		return fmt.Sprintf("%s is %s: must be one of %s%s", e.Field, quoted(e.BadValue), supported(e.Detail),
			s.meantValue(p, e.BadValue))
	case field.ErrorTypeDuplicate:
		return fmt.Sprintf("%s repeats %s: the list may have it only once", e.Field, quoted(e.BadValue))
	default:
		message, fromSchema := plain(e)
		value, shown := e.BadValue, isScalar(e.BadValue)
		if fromSchema || !shown {
			value, shown = p.value(object)
		}
		if fromSchema {
			message += s.example(p)
		}
		if text, ok := value.(string); ok && len(text) > longestShown && !fromSchema {
			shown = false
		}
		if !shown || !isScalar(value) {
			return s.subject(e.Field) + ": " + message
		}
		return s.subject(e.Field) + " is " + quoted(value) + ": " + message
	}
}

// narrowed is a rule's error at the field that its author has to change. An error of metadata is of the name, the only
// member that rules read. The error of a union is of the member that the union's type forbids or lacks.
func (s *resource) narrowed(e *field.Error, object any) *field.Error {
	p := parsePath(e.Field)
	value, _ := p.value(object)
	members, isObject := value.(map[string]any)
	switch node := p.schema(s.structural); {
	case e.Type != field.ErrorTypeInvalid || !isObject:
	case e.Field == "metadata":
		return field.Invalid(field.NewPath("metadata", "name"), members["name"], e.Detail)
	case node != nil && strings.Contains(e.Detail, unionRule):
		return narrowedUnion(e, node, members)
	}
	return e
}

// unionRule is what the messages of unions' rules have in common. Such a message stands for all members, as a rule
// cannot name one.
const unionRule = " for the type of "

// narrowedUnion is the error of a union's rule at a member that the type forbids, or else at the member that the type
// needs. A member has the name of its type.
func narrowedUnion(e *field.Error, node *structuralschema.Structural, members map[string]any) *field.Error {
	lacking := e
	for _, name := range names(node) {
		for _, memberType := range node.Properties["type"].ValueValidation.Enum {
			if !strings.EqualFold(fmt.Sprint(memberType.Object), name) {
				continue
			}
			_, present := members[name]
			switch matches := memberType.Object == members["type"]; {
			case present && !matches:
				return &field.Error{Type: e.Type, Field: e.Field + "." + name, BadValue: field.OmitValueType{},
					Detail: fmt.Sprintf("%[1]s is for type %[2]v, and type is %[3]v: set type: %[2]v, or remove %[1]s", name,
						memberType.Object, members["type"])}
			case !present && matches:
				lacking = &field.Error{Type: field.ErrorTypeRequired, Field: e.Field + "." + name,
					Detail: fmt.Sprintf("type %v needs it", memberType.Object)}
			}
		}
	}
	return lacking
}

// longestShown is how long a text may be that a sentence repeats, unless its length may be what is wrong.
const longestShown = 100

// subject is what a sentence about a field begins with. Rules of the whole object have no field.
func (s *resource) subject(fieldPath string) string {
	if fieldPath == "" || fieldPath == "<nil>" {
		return "the " + s.kind
	}
	return fieldPath
}

func detail(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// plain removes the schema validator's own words ("spec.x in body should be …") from a message, and says
// whether words of its own are left.
func plain(e *field.Error) (message string, fromSchema bool) {
	_, words, found := strings.Cut(e.Detail, " in body ")
	if !found {
		return e.Detail, e.Type == field.ErrorTypeTooLong || e.Type == field.ErrorTypeTooMany
	}
	words = strings.NewReplacer(
		"should be greater than or equal to", "must be at least",
		"should be less than or equal to", "must be at most",
		"should ", "must ",
		"chars long", "characters long",
	).Replace(words)
	if text, found := form(words, e.BadValue); found {
		return text, strings.HasPrefix(text, nameForm)
	}
	if got, want, typed := cutType(words); typed {
		return fmt.Sprintf("must be of type %s, not %s", want, got), true
	}
	return words, true
}

// cutType reads `must be of type integer: "string"`.
func cutType(words string) (got, want string, ok bool) {
	words, ok = strings.CutPrefix(words, "must be of type ")
	if !ok {
		return "", "", false
	}
	want, got, ok = strings.Cut(words, ": ")
	return strings.Trim(got, `"`), want, ok
}

// supported reads `supported values: "A", "B"`.
func supported(detail string) string {
	_, values, _ := strings.Cut(detail, "supported values: ")
	return strings.ReplaceAll(values, `"`, "")
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any, field.OmitValueType, nil:
		return false
	}
	return true
}

// maxQuoted is how much of a value is repeated to its author.
const maxQuoted = 60

// quoted is a value as it stands in a file.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > maxQuoted {
		return string(text[:maxQuoted]) + "…"
	}
	return string(text)
}

// exampleText finds the example that a field's description ends with, on one line.
func exampleText(description string) string {
	_, example, _ := strings.Cut(strings.Join(strings.Fields(description), " "), "Example: ")
	return strings.TrimSuffix(example, ".")
}

// example is the schema's own example of a field, as the end of a sentence.
func (s *resource) example(p path) string {
	node := p.schema(s.structural)
	if node == nil {
		return ""
	}
	text := exampleText(node.Description)
	if text == "" {
		return ""
	}
	return ", for example " + text
}
