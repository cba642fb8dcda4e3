package intake

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// shape says what values of a Go type take in memory besides what their holder already has for them. It is nil
// where nothing is kept of the value, as of a member that the type doesn't know.
type shape struct {
	// base is what pointers to the value lead to, allocated when it isn't null.
	base int64
	// perElement is what an element of a list or an entry of a map takes, with the room that lists and maps have
	// too much and what they leave behind as they grow.
	perElement int64
	// generic says that any value may stand here, and becomes what encoding/json makes of it.
	generic bool
	// raw says that the type keeps or reads the text itself.
	raw     bool
	element *shape
	// members are those of a struct, by their folded names. They are nil for other types.
	members map[string]member
}

// member is a struct's. Bit is its own among those of the struct, of which mostBits have one.
type member struct {
	shape *shape
	bit   int
}

// A growing list has up to its size too much, and its last smaller copy besides. Any value becomes an interface's
// content, and a map with a group of eight entries.
const (
	growth       = 3
	genericValue = 32
	genericMap   = 384
	mapBytes     = 48
)

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	shapes          sync.Map // of reflect.Type
	generic         = newGeneric()
)

func newGeneric() *shape {
	s := &shape{generic: true, perElement: growth*(16+16) + mapBytes}
	s.element = s
	return s
}

// shapeOf is the shape of the type that a document is decoded into, or nil where none is known.
func shapeOf(target reflect.Type) *shape {
	if target == nil {
		return nil
	}
	if s, ok := shapes.Load(target); ok {
		return s.(*shape)
	}
	s := newShape(target, map[reflect.Type]*shape{})
	shapes.Store(target, s)
	return s
}

func newShape(t reflect.Type, started map[reflect.Type]*shape) *shape {
	if s, ok := started[t]; ok {
		return s
	}
	s := new(shape)
	started[t] = s
	if reads := reflect.PointerTo(t); reads.Implements(unmarshaler) || reads.Implements(textUnmarshaler) {
		s.raw = true
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		*s = *newShape(t.Elem(), started)
		s.base += int64(t.Elem().Size())
	case reflect.Interface:
		*s = *generic
	case reflect.Slice:
		s.perElement, s.element = growth*int64(t.Elem().Size()), newShape(t.Elem(), started)
	case reflect.Array:
		s.element = newShape(t.Elem(), started)
	case reflect.Map:
		s.base = genericMap
		s.perElement, s.element = growth*int64(t.Key().Size()+t.Elem().Size())+mapBytes, newShape(t.Elem(), started)
	case reflect.Struct:
		s.members = map[string]member{}
		s.addMembers(t, started)
	default: // a plain value, which its holder has room for
	}
	return s
}

// addMembers adds a struct's members as encoding/json finds them, those of embedded structs among its own.
func (s *shape) addMembers(t reflect.Type, started map[reflect.Type]*shape) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			s.addMembers(inner, started)
		default:
			if name == "" {
				name = f.Name
			}
			s.members[folded(name)] = member{newShape(f.Type, started), len(s.members)}
		}
	}
}

// unquoted is a name that is written so between its quotes. Where that isn't JSON, it is as it is written, and the
// decoder says so.
func unquoted(written []byte) string {
	name := string(written)
	if strings.IndexByte(name, '\\') < 0 || json.Unmarshal([]byte(`"`+name+`"`), &name) != nil {
		return string(written)
	}
	return name
}

// folded is a name as encoding/json compares it with names of fields, which it finds in any case.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, name)
}
