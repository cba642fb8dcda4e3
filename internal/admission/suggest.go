package admission

import (
	"fmt"
	"slices"
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
		if elsewhere := find(s.structural, last, ""); elsewhere != "" {
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

// find looks for a field of the spec by its name and gives its path: of several the one that is nearest to the top.
func find(s *structuralschema.Structural, name, at string) (nearest string) {
	if s.Items != nil {
		return find(s.Items, name, at+"[]")
	}
	for _, property := range names(s) {
		if at == "" && property != "spec" {
			continue
		}
		where := strings.TrimPrefix(at+"."+property, ".")
		if !strings.EqualFold(property, name) {
			child := s.Properties[property]
			where = find(&child, name, where)
		}
		if where != "" && (nearest == "" || strings.Count(where, ".") < strings.Count(nearest, ".")) {
			nearest = where
		}
	}
	return nearest
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
