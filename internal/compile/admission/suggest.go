package admission

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// unknownField says that the schema doesn't have a field, and suggests the nearest one beside it, or one of that name
// elsewhere.
func (s *resource) unknownField(name string) string {
	p := parsePath(name)
	message := name + " is not a field of " + s.kind
	if len(p) == 0 {
		return message
	}
	member := p[len(p)-1]
	if parent := p[:len(p)-1].schema(s.structural); parent != nil {
		if suggestion := nearest(member, names(parent)); suggestion != "" {
			return message + ": did you mean " + suggestion + "?"
		}
		if elsewhere := s.elsewhere(p, parent); elsewhere != "" {
			return message + ": did you mean " + elsewhere + "?"
		}
		return fmt.Sprintf("%s: here can be %s", message, strings.Join(names(parent), ", "))
	}
	return message
}

// meantValue suggests the nearest of a field's values.
func (s *resource) meantValue(p path, value any) string {
	node := p.schema(s.structural)
	text, ok := value.(string)
	if !ok || node == nil || node.ValueValidation == nil {
		return ""
	}
	var values []string
	for _, v := range node.ValueValidation.Enum {
		if v, ok := v.Object.(string); ok {
			values = append(values, v)
		}
	}
	if suggestion := nearest(text, values); suggestion != "" {
		return ": did you mean " + suggestion + "?"
	}
	return ""
}

// names are the fields of a schema's object, sorted.
func names(s *structuralschema.Structural) []string {
	var properties []string
	for name := range s.Properties {
		properties = append(properties, name)
	}
	slices.Sort(properties)
	return properties
}

// elsewhere is the place of the field that somebody wrote at the path. It is below the path's parent, or the only one
// of this name in the spec. Of several in other parts none is meant.
func (s *resource) elsewhere(p path, parent *structuralschema.Structural) string {
	name, place := p[len(p)-1], ""
	for i, piece := range p[:len(p)-1] {
		if _, isIndex := strconv.Atoi(piece); isIndex == nil {
			place += "[]"
			continue
		}
		place += "."[:min(i, 1)] + piece
	}
	if descendants := find(parent, name, place); len(descendants) > 0 {
		return slices.MinFunc(descendants, func(a, b string) int {
			return strings.Count(a, ".") - strings.Count(b, ".")
		})
	}
	spec := s.structural.Properties["spec"]
	if places := find(&spec, name, "spec"); len(places) == 1 {
		return places[0]
	}
	return ""
}

// find are the places of all fields of this name below a schema's place, in the order of their names.
func find(s *structuralschema.Structural, name, prefix string) (places []string) {
	if s.Items != nil {
		return find(s.Items, name, prefix+"[]")
	}
	for _, property := range names(s) {
		place := prefix + "." + property
		if strings.EqualFold(property, name) {
			places = append(places, place)
			continue
		}
		child := s.Properties[property]
		places = append(places, find(&child, name, place)...)
	}
	return places
}

// nearest is the candidate that a slip of the fingers turns into name, or "".
func nearest(name string, candidates []string) string {
	best, bestDistance := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove, replace or swap with the next between two words
// (Damerau's, each letter swapped once).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
