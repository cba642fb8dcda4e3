package softgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// params reads the members of a JSON object and stores the first fault, so that a handler reads all its members
// and then checks once. Other members are ignored. A missing member and a null one are the same, as in TRex.
type params struct {
	members map[string]json.RawMessage
	wrong   *string // shared with the objects inside
}

// readObject starts reading a JSON object.
func readObject(text json.RawMessage) (*params, error) {
	p := &params{wrong: new(string)}
	if err := json.Unmarshal(text, &p.members); err != nil || p.members == nil {
		return nil, fmt.Errorf("not an object")
	}
	return p, nil
}

// failed returns the answer that names the first wrong parameter, or nil.
func (p *params) failed() error {
	if *p.wrong == "" {
		return nil
	}
	return badParameters("%s", *p.wrong)
}

func (p *params) fail(format string, args ...any) {
	if *p.wrong == "" {
		*p.wrong = fmt.Sprintf(format, args...)
	}
}

func (p *params) has(name string) bool {
	text, ok := p.members[name]
	return ok && !bytes.Equal(bytes.TrimSpace(text), []byte("null"))
}

// required returns the member's text. A missing or null member is a failure.
func (p *params) required(name string) (json.RawMessage, bool) {
	if !p.has(name) {
		p.fail("field '%s' value is null", name)
		return nil, false
	}
	return p.members[name], true
}

func (p *params) mismatch(name string, text json.RawMessage, want string) {
	p.fail("'%s' is '%s', expecting '%s'", name, kindOf(text), want)
}

func (p *params) text(name string) string { return decode[string](p, name, "string") }

func (p *params) textOr(name, fallback string) string { return optional(p, name, fallback, p.text) }

// optional reads a member that may be missing.
func optional[T any](p *params, name string, fallback T, read func(name string) T) T {
	if !p.has(name) {
		return fallback
	}
	return read(name)
}

func (p *params) boolean(name string) bool { return decode[bool](p, name, "boolean") }

// flag reads an optional boolean, which defaults to false.
func (p *params) flag(name string) bool { return p.has(name) && p.boolean(name) }

// texts reads a list of strings that may be missing.
func (p *params) texts(name string) []string {
	if !p.has(name) {
		return nil
	}
	return decode[[]string](p, name, "array of strings")
}

func (p *params) real(name string) float64 { return decode[float64](p, name, "double") }

func (p *params) list(name string) []json.RawMessage {
	return decode[[]json.RawMessage](p, name, "array")
}

// choice reads a string that must be one of a few.
func (p *params) choice(name string, choices ...string) string {
	value := p.text(name)
	if *p.wrong == "" && !slices.Contains(choices, value) {
		p.fail("field '%s' can only be one of ['%s']", name, strings.Join(choices, "' ,'"))
	}
	return value
}

// object reads an inner object, which shares this object's first fault.
func (p *params) object(name string) *params {
	inner := &params{wrong: p.wrong, members: map[string]json.RawMessage{}}
	text, ok := p.required(name)
	if ok && kindOf(text) != "object" {
		p.mismatch(name, text, "object")
	} else if ok {
		_ = json.Unmarshal(text, &inner.members) // valid JSON, as the whole request is
	}
	return inner
}

// objects reads a list of objects, which share this object's first fault.
func (p *params) objects(name string) []*params {
	var objects []*params
	for _, text := range p.list(name) {
		inner, err := readObject(text)
		if err != nil {
			p.fail("'%s' must hold objects", name)
			break
		}
		inner.wrong = p.wrong
		objects = append(objects, inner)
	}
	return objects
}

func (p *params) byte(name string) uint8 { return uint8(p.unsigned(name, "byte", math.MaxUint8)) }

func (p *params) uint32(name string) uint32 {
	return uint32(p.unsigned(name, "uint32", math.MaxUint32))
}

func (p *params) uint64(name string) uint64 { return p.unsigned(name, "uint64", math.MaxUint64) }

// unsigned reads a whole number. A number with a fraction of zero (5.0) counts as whole.
func (p *params) unsigned(name, kind string, limit uint64) uint64 {
	text, ok := p.required(name)
	if !ok {
		return 0
	}
	value, negative, whole := wholeNumber(text)
	switch {
	case !whole:
		p.mismatch(name, text, kind)
	case negative:
		p.fail("field '%s' has negative value.", name)
	case value > limit:
		p.fail("field '%s' has size bigger than uint%d.", name, bitsOf(limit))
	default:
		return value
	}
	return 0
}

// integer reads a whole number of either sign.
func (p *params) integer(name string) int64 {
	text, ok := p.required(name)
	if !ok {
		return 0
	}
	value, negative, whole := wholeNumber(text)
	if !whole || value > math.MaxInt64 {
		p.mismatch(name, text, "int")
		return 0
	}
	if negative {
		return -int64(value)
	}
	return int64(value)
}

func decode[T any](p *params, name, want string) (value T) {
	text, ok := p.required(name)
	if !ok {
		return value
	}
	if json.Unmarshal(text, &value) != nil {
		var zero T
		p.mismatch(name, text, want)
		return zero
	}
	return value
}

func wholeNumber(text json.RawMessage) (value uint64, negative, whole bool) {
	digits, negative := strings.CutPrefix(string(bytes.TrimSpace(text)), "-")
	if value, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return value, negative && value > 0, true
	}
	v, err := strconv.ParseFloat(digits, 64)
	if kindOf(text) != "number" || err != nil || v != math.Trunc(v) || v >= 1<<63 {
		return 0, false, false
	}
	return uint64(v), negative && v > 0, true
}

func bitsOf(limit uint64) int { return len(strconv.FormatUint(limit, 2)) }

// kindOf names a JSON text's type.
func kindOf(text json.RawMessage) string {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "null"
	}
	switch text[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}
