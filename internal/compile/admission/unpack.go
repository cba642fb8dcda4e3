package admission

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// packed is one object of a document.
type packed struct {
	source  source
	content map[string]any
}

// unpack are the objects of a document. They are those of a List, as kubectl get writes it, and of Lists in it, or the
// document itself.
func unpack(src source, content map[string]any) (objects []packed, faults Faults) {
	kind, _ := content["kind"].(string)
	if kind != "List" && kind != v1alpha1.LoadTestKind+"List" && kind != v1alpha1.LoadTestSuiteKind+"List" {
		return []packed{{src, content}}, nil
	}
	items, _ := content["items"].([]any)
	if len(items) == 0 {
		return nil, Faults{src.fault("items", fmt.Sprintf("the %s has no items: write LoadTests there", kind))}
	}
	for i, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			faults = append(faults, src.fault(fmt.Sprintf("items[%d]", i),
				fmt.Sprintf("items[%d] is %s: an item is a whole object, such as a LoadTest", i, quoted(item))))
			continue
		}
		inner, wrong := unpack(src.part("items", fmt.Sprint(i)), object)
		objects, faults = append(objects, inner...), append(faults, wrong...)
	}
	return objects, faults
}

// part is the source of a part of the document.
func (s source) part(pieces ...string) source {
	node := s.root
	if node != nil && node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	for _, piece := range pieces {
		if node != nil {
			_, node = child(node, piece)
		}
	}
	s.root = node
	return s
}

// unread is an object of a kind that isn't read here.
type unread struct {
	name   string
	faults Faults
}

// foreign says that an object is none of linerate's, and names it.
func (p packed) foreign() (unread, bool) {
	version, _ := p.content["apiVersion"].(string)
	kind, named := p.content["kind"].(string)
	faults := kindFaults(p.source, p.content)
	if len(faults) == 0 || !named || version == "" || strings.HasPrefix(version, v1alpha1.GroupVersion.Group+"/") {
		return unread{}, false
	}
	meta, _ := p.content["metadata"].(map[string]any)
	return unread{strings.TrimSpace(fmt.Sprint(kind, " ", textOf(meta["name"]))), faults}, true
}

func textOf(v any) string {
	text, _ := v.(string)
	return text
}

func namesOf(objects []unread) (names []string) {
	for _, u := range objects {
		names = append(names, u.name)
	}
	return names
}
