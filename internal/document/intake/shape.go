package intake

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// shape says what values of a Go type take in memory besides what their holder already has for them. Nil: nothing is kept of the value, as of a member that the type doesn't know.
type shape struct {
	// own is what pointers to the value lead to, allocated when it isn't null.
	own int64
	// each is what an element of a list or an entry of a map takes, with the room that lists and maps have too much and what they leave behind as they grow.
	each int64
	// generic: any value may stand here, and becomes what encoding/json makes of it.
	generic bool
	// raw: the type keeps or reads the text itself.
	raw     bool
	element *shape
	// members are those of a struct, by their folded names; nil: it is none.
	members map[string]member
}

// member is a struct's. Bit is its own among those of the struct, of which mostBits have one.
type member struct {
	shape *shape
	bit   int
}

// What grows has up to its size too much, and its last smaller copy besides. What any value becomes: an interface's content, and a map with a group of eight entries.
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
	s := &shape{generic: true, each: growth*(16+16) + mapBytes}
	s.element = s
	return s
}

// shapeOf is the shape of the type that a document is decoded into; nil: none is known.
func shapeOf(into reflect.Type) *shape {
	if into == nil {
		return nil
	}
	if s, known := shapes.Load(into); known {
		return s.(*shape)
	}
	s := newShape(into, map[reflect.Type]*shape{})
	shapes.Store(into, s)
	return s
}

func newShape(of reflect.Type, begun map[reflect.Type]*shape) *shape {
	if s, is := begun[of]; is {
		return s
	}
	s := new(shape)
	begun[of] = s
	if reads := reflect.PointerTo(of); reads.Implements(unmarshaler) || reads.Implements(textUnmarshaler) {
		s.raw = true
		return s
	}
	switch of.Kind() {
	case reflect.Pointer:
		*s = *newShape(of.Elem(), begun)
		s.own += int64(of.Elem().Size())
	case reflect.Interface:
		*s = *generic
	case reflect.Slice:
		s.each, s.element = growth*int64(of.Elem().Size()), newShape(of.Elem(), begun)
	case reflect.Array:
		s.element = newShape(of.Elem(), begun)
	case reflect.Map:
		s.own = genericMap
		s.each, s.element = growth*int64(of.Key().Size()+of.Elem().Size())+mapBytes, newShape(of.Elem(), begun)
	case reflect.Struct:
		s.members = map[string]member{}
		s.addMembers(of, begun)
	default: // a plain value, which its holder has room for
	}
	return s
}

// addMembers adds a struct's members as encoding/json finds them, those of embedded structs among its own.
func (s *shape) addMembers(of reflect.Type, begun map[reflect.Type]*shape) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			s.addMembers(inner, begun)
		default:
			if name == "" {
				name = f.Name
			}
			s.members[folded(name)] = member{newShape(f.Type, begun), len(s.members)}
		}
	}
}

// unquoted is a name that is written so between its quotes; as it is written where that isn't JSON, which the decoder says.
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
