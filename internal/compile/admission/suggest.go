package admission

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// unknownField says what is wrong with a field that the schema doesn't have: the nearest one beside it, or one of that name elsewhere.
func (s *resource) unknownField(name string) string {
	p := parsePath(name)
	message := name + " is not a field of " + s.kind
	if len(p) == 0 {
		return message
	}
	last := p[len(p)-1]
	if parent := p[:len(p)-1].schema(s.structural); parent != nil {
		if near := nearest(last, names(parent)); near != "" {
			return message + ": did you mean " + near + "?"
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
	if near := nearest(text, values); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// names are the fields of a schema's object, sorted.
func names(s *structuralschema.Structural) []string {
	var all []string
	for name := range s.Properties {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// elsewhere is the place of the field that somebody wrote at the path: below its parent, or the only one of this name in the spec. Of several in other parts none is meant.
func (s *resource) elsewhere(p path, parent *structuralschema.Structural) string {
	last, at := p[len(p)-1], ""
	for i, piece := range p[:len(p)-1] {
		if _, isIndex := strconv.Atoi(piece); isIndex == nil {
			at += "[]"
			continue
		}
		at += "."[:min(i, 1)] + piece
	}
	if below := find(parent, last, at); len(below) > 0 {
		return slices.MinFunc(below, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
	}
	spec := s.structural.Properties["spec"]
	if all := find(&spec, last, "spec"); len(all) == 1 {
		return all[0]
	}
	return ""
}

// find are the places of all fields of this name below a schema's place, in the order of their names.
func find(s *structuralschema.Structural, name, at string) (places []string) {
	if s.Items != nil {
		return find(s.Items, name, at+"[]")
	}
	for _, property := range names(s) {
		where := at + "." + property
		if strings.EqualFold(property, name) {
			places = append(places, where)
			continue
		}
		child := s.Properties[property]
		places = append(places, find(&child, name, where)...)
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

// distance is the number of letters to insert, remove, replace or swap with the next between two words (Damerau's, each letter swapped once).
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
