package admission

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// path is a field path in pieces, which are field names, and list indices or map keys from brackets.
//
//	spec.links[1].lineRate → spec, links, 1, lineRate
type path []string

// parsePath takes a field path as field.Path prints it.
func parsePath(s string) path {
	var pieces path
	for len(s) > 0 {
		switch s[0] {
		case '.':
			s = s[1:]
		case '[':
			inside, rest, _ := strings.Cut(s[1:], "]")
			pieces, s = append(pieces, inside), rest
		default:
			end := strings.IndexAny(s, ".[")
			if end < 0 {
				end = len(s)
			}
			pieces, s = append(pieces, s[:end]), s[end:]
		}
	}
	return pieces
}

// value is what an object has at the path.
func (p path) value(object any) (any, bool) {
	for _, piece := range p {
		switch o := object.(type) {
		case map[string]any:
			next, ok := o[piece]
			if !ok {
				return nil, false
			}
			object = next
		case []any:
			i, err := strconv.Atoi(piece)
			if err != nil || i < 0 || i >= len(o) {
				return nil, false
			}
			object = o[i]
		default:
			return nil, false
		}
	}
	return object, true
}

// schema is what the schema says of the path, and nil where it says nothing.
func (p path) schema(s *structuralschema.Structural) *structuralschema.Structural {
	for _, piece := range p {
		if property, ok := s.Properties[piece]; ok {
			s = &property
			continue
		}
		if s.Items == nil {
			return nil
		}
		s = s.Items
	}
	return s
}

// line is where the path stands in a YAML document, or the deepest part of it that does, from 1.
func (p path) line(node *yaml.Node) int {
	line := node.Line
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	for _, piece := range p {
		childLine, next := child(node, piece)
		if next == nil {
			break
		}
		line, node = childLine, next
	}
	return max(line, 1)
}

// child is the node under a key or index, and the line on which it begins.
func child(node *yaml.Node, piece string) (int, *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == piece {
				return node.Content[i].Line, node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(piece); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i].Line, node.Content[i]
		}
	default:
	}
	return 0, nil
}
