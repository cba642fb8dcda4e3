package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

const (
	dialect = "https://json-schema.org/draft/2020-12/schema"
	decimal = `-?[0-9]+(\.[0-9]+)?`
)

// written are linerate's types whose JSON form differs from their Go type.
func written() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[units.Ratio](): {Type: "string", Pattern: "^" + decimal + "$",
			Examples: []any{"0.001", "1"}},
		reflect.TypeFor[units.Percent](): {Type: "string", Pattern: "^" + decimal + "$",
			Examples: []any{"99.95", "100"}},
		reflect.TypeFor[report.Integers](): {Type: "string", Pattern: "^(-?[0-9]+( -?[0-9]+)*)?$",
			Examples: []any{"940000 941000"}},
		reflect.TypeFor[units.PacketRate](): {Type: "number", Examples: []any{10000.667}},
		reflect.TypeFor[units.Rate](): {Type: "string",
			Pattern: `^([0-9]+(\.[0-9]+)?([kmgt]?(pps|bps|bpsl1)|%))?$`, Examples: []any{"20kpps", "10gbps", "10gbpsl1",
				"95%"}},
		reflect.TypeFor[plan.Duration](): {Type: "string", Pattern: `^-?(0|([0-9]+(\.[0-9]+)?(ns|µs|ms|s|m|h))+)$`,
			Examples: []any{"2s", "1m30s", "500ms"}},
		reflect.TypeFor[report.Number](): {Type: "string", Pattern: "^(" + decimal + ")?$",
			Examples: []any{"0.0003", "20000"}},
	}
}

// members are those that a type writes whatever traffic is, and those that it writes of sessions and of trains. The
// others that are required are of frames.
type members struct{ common, sessions, trains []string }

// withoutFrames are the types that leave the members of frames out where traffic is sessions, or trains.
func withoutFrames() map[reflect.Type]*members {
	return map[reflect.Type]*members{
		reflect.TypeFor[report.Direction](): {[]string{"from", "to", "quality", "reason"},
			[]string{"sessions"}, []string{"trains"}},
		reflect.TypeFor[report.Sessions](): {[]string{"connections", "writtenBytes", "sentBytes", "receivedBytes",
			"receivedIn", "goodputBitsPerSecond"},
			[]string{"askedBitsPerSecond", "datagrams", "sentIn"}, nil}, // of UDP, and the others of TCP
		reflect.TypeFor[report.SampleDirection](): {nil, []string{"sessions"}, nil},
		reflect.TypeFor[report.Sum]():             {[]string{"window"}, []string{"sessions"}, nil},
		reflect.TypeFor[report.Figures](): {[]string{"runs"}, []string{"goodputBitsPerSecond"},
			[]string{"picosecondsPerFrame"}},
		reflect.TypeFor[report.Spread](): {[]string{"percent"}, []string{"lowGoodputBitsPerSecond",
			"highGoodputBitsPerSecond"}, []string{"lowPicosecondsPerFrame", "highPicosecondsPerFrame"}},
	}
}

// foreign are types of Go's library, in the form in which it writes them.
func foreign() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[netip.Prefix](): {Type: "string", Examples: []any{"198.18.0.1/24", "2001:db8::1/64"}},
		reflect.TypeFor[time.Time]():    {Type: "string", Format: "date-time"},
		reflect.TypeFor[metav1.Time]():  {Type: "string", Format: "date-time"},
		reflect.TypeFor[[]byte]():       {Type: "string", ContentEncoding: "base64"},
	}
}

// maker makes schemas of types: one definition of each type, to which the others refer.
type maker struct {
	words    words
	written  map[reflect.Type]*jsonschema.Schema
	foreign  map[reflect.Type]*jsonschema.Schema
	versions map[reflect.Type]string
}

// schema is the JSON Schema of the document, by the sources below root.
func (d document) schema(root string) ([]byte, error) {
	m := maker{words: words{root: root}, written: written(), foreign: foreign(), versions: map[reflect.Type]string{}}
	for _, documentSpec := range documents() {
		m.versions[documentSpec.goType] = documentSpec.version
	}
	types := m.typesIn(d.goType, nil)
	definitions := map[string]*jsonschema.Schema{}
	for _, t := range types {
		s, err := m.define(t, types)
		if err != nil {
			return nil, err
		}
		definitions[name(t)] = s
	}
	whole := definitions[name(d.goType)]
	delete(definitions, name(d.goType))
	whole.Schema, whole.Title, whole.Defs = dialect, d.title, definitions
	var stdout bytes.Buffer
	enc := json.NewEncoder(&stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(whole); err != nil {
		return nil, err
	}
	return stdout.Bytes(), nil
}

// name is what a type's definition is called: "plan.Link".
func name(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + t.Name() }

// typesIn appends the types that a type's definition, and those in it, need one of their own for; the type
// itself first.
func (m maker) typesIn(t reflect.Type, found []reflect.Type) []reflect.Type {
	switch {
	case m.foreign[t] != nil || slices.Contains(found, t):
		return found
	case m.written[t] != nil || t.Kind() == reflect.String && t.PkgPath() != "":
		return append(found, t)
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return m.typesIn(t.Elem(), found)
	case reflect.Struct:
		found = append(found, t)
		for _, field := range reflect.VisibleFields(t) { // the members of an embedded type are the type's own
			if !field.Anonymous && field.Tag.Get("json") != "-" {
				found = m.typesIn(field.Type, found)
			}
		}
	default: // what JSON has itself
	}
	return found
}

// define is the definition of a type, which refers to those of the other types.
func (m maker) define(t reflect.Type, types []reflect.Type) (*jsonschema.Schema, error) {
	comment, err := m.words.commentOf(t)
	if err != nil {
		return nil, err
	}
	if s := m.written[t]; s != nil {
		s.Description = comment.typeText
		return s, nil
	}
	if t.Kind() == reflect.String {
		return &jsonschema.Schema{Type: "string", Description: comment.typeText, Examples: comment.values}, nil
	}
	schemasByType := maps.Clone(m.foreign)
	for _, goType := range types {
		if goType != t {
			schemasByType[goType] = &jsonschema.Schema{Ref: "#/$defs/" + name(goType)}
		}
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: schemasByType})
	if err != nil {
		return nil, err
	}
	s.Description = comment.typeText
	s.AdditionalProperties = nil // readers of a document ignore unknown members
	for _, field := range reflect.VisibleFields(t) {
		if field.Anonymous {
			embedded, err := m.words.commentOf(field.Type)
			if err != nil {
				return nil, err
			}
			maps.Copy(comment.members, embedded.members)
		}
		member, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if p := s.Properties[member]; p != nil {
			p.Description = comment.members[field.Name]
			plain(p, slices.Contains(s.Required, member))
		}
	}
	if t == reflect.TypeFor[stream.Instruction]() {
		s.Required = []string{"type"} // it writes the members that its type has
	}
	if membersOf := withoutFrames()[t]; membersOf != nil { // it writes the members of frames, of sessions, or of trains
		frames := slices.DeleteFunc(slices.Clone(s.Required),
			func(member string) bool { return slices.Contains(membersOf.common, member) })
		s.Required, s.AnyOf = membersOf.common, []*jsonschema.Schema{{Required: frames}, {Required: membersOf.sessions}}
		if membersOf.trains != nil {
			s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Required: membersOf.trains})
		}
	}
	if version := m.versions[t]; version != "" {
		s.Properties["version"].Enum = []any{version}
	}
	return s, nil
}

// plain takes null from what is left out where there is nothing, and from what refers to a definition: that
// says its own type.
func plain(s *jsonschema.Schema, required bool) {
	if s.Ref != "" {
		s.Types = nil
	}
	if !required && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1], nil
	}
	if s.Items != nil {
		plain(s.Items, true)
	}
	if s.AdditionalProperties != nil {
		plain(s.AdditionalProperties, true)
	}
}
