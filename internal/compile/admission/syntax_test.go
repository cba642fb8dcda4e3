package admission

import (
	"strings"
	"testing"
)

// The line that is named is the one to look at, and the sentence ends with what to do there.
func TestWhatIsNotYAML(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a list that is indented less than its key": {"spec:\n  dut:\n    type: Reference\n  - {name: west}\n",
			`f.yaml:4: not YAML: did not find expected key, at "- {name: west}": indent it like the lines that it belongs to`},
		"a field between two depths": {"spec:\n  dut:\n    type: Reference\n   forwarding: L3\n",
			`f.yaml:4: not YAML: did not find expected key, at "forwarding: L3": indent it like the lines that it belongs to`},
		"a tab": {"spec:\n\tdut: {}\n",
			`f.yaml:2: not YAML: found character that cannot start any token, at "dut: {}": indent with spaces, not with tabs`},
		"two colons": {"spec:\n  dut: type: Pod\n",
			`f.yaml:2: not YAML: mapping values are not allowed in this context, at "dut: type: Pod": a colon too many`},
		"a key without its colon": {"spec\n  dut: {}\n",
			`f.yaml:2: not YAML: mapping values are not allowed in this context, at "dut: {}": a colon too many, or the line before lacks its own`},
		"a brace that stays open": {"spec:\n  dut: {type: Pod\n  links: []\n",
			`f.yaml:3: not YAML: did not find expected ',' or '}', at "links: []": a bracket or brace before it isn't closed`},
		"a brace and nothing else": {"{", `f.yaml:1: not YAML: did not find expected node content, at "{": a bracket or brace before it isn't closed`},
		"a quote that stays open": {"spec:\n  image: \"vpp\n",
			`f.yaml:2: not YAML: found unexpected end of stream, at "image: \"vpp": a quote that isn't closed`},
		"a percent sign in front": {"spec:\n  rate: %5\n",
			`f.yaml:2: not YAML: found character that cannot start any token, at "rate: %5": a value that begins with %, @ or`},
		"an anchor that isn't": {"spec: *none\n", `f.yaml:1: not YAML: unknown anchor 'none' referenced`},
		"a key twice": {"spec: {}\nkind: LoadTest\nspec: {}\n",
			`f.yaml:3: key "spec" appears twice: remove one`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&Server{}).Load("f.yaml", strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// The lines count in the file, whatever documents come before.
func TestALineOfALaterDocumentThatIsNotYAML(t *testing.T) {
	_, err := (&Server{}).Load("f.yaml", strings.NewReader("a b\n---\nspec:\n  dut: {}\n   x: 1\n"))
	if want := `f.yaml:5 (document 2): not YAML: did not find expected key, at "x: 1"`; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
