package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"one document", "a: 1\n", `1@1"a: 1\n"`},
		{"without a last newline", "a: 1", `1@1"a: 1"`},
		{"two documents know their lines", "a: 1\n---\nb: 2\n", `1@1"a: 1\n" 2@3"b: 2\n"`},
		{"a separator first is no document", "---\na: 1\n", `1@2"a: 1\n"`},
		{"a comment first is no document", "# head\n---\na: 1\n", `1@3"a: 1\n"`},
		{"a separator with a comment", "a: 1\n--- # next\nb: 2\n", `1@1"a: 1\n" 2@3"b: 2\n"`},
		{"a separator last", "a: 1\n---\n", `1@1"a: 1\n"`},
		{"lines that end as on Windows", "a: 1\r\n---\r\nb: 2\r\n", `1@1"a: 1\r\n" 2@3"b: 2\r\n"`},
		{"dashes inside a text are no separator", "a: |\n  ---\n  x\n", `1@1"a: |\n  ---\n  x\n"`},
		{"dashes that begin a word are no separator", "----\n", `1@1"----\n"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			documents, err := split(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range documents {
				got = append(got, fmt.Sprintf("%d@%d%q", d.number, d.line, d.text))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestParsePath(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                      nil,
		"spec":                                  {"spec"},
		"spec.links[1].lineRate":                {"spec", "links", "1", "lineRate"},
		"metadata.labels[linerate.dev/product]": {"metadata", "labels", "linerate.dev/product"},
		"spec.links[0][1]":                      {"spec", "links", "0", "1"},
		"spec.links[0":                          {"spec", "links", "0"},
	} {
		if got := parsePath(text); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestLineOfAPath(t *testing.T) {
	var root yaml.Node
	text := "spec: &s\n  links:\n  - name: west\n    vlan: 7\n  - name: east\n  other: {a: 1,\n    b: 2}\nagain: *s\n"
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"spec": 1, "spec.links": 2, "spec.links[0].vlan": 4, "spec.links[1]": 5, "spec.links[1].vlan": 5,
		"spec.other.b": 7,
		"nowhere":      1, "again": 8, "again.links[0].vlan": 4, "spec.links[9]": 2, "spec.links[x]": 2, "": 1,
	} {
		if got := parsePath(path).line(&root); got != want {
			t.Errorf("%q is on line %d, want %d", path, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	fields := []string{"warmupRate", "targetRate", "rampDuration", "settle"}
	for name, want := range map[string]string{
		"targetrate": "targetRate", "targtRate": "targetRate", "rampduraton": "rampDuration", "setle": "settle",
		"hold": "", "x": "", "": "",
	} {
		if got := nearest(name, fields); got != want {
			t.Errorf("%q resembles %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
