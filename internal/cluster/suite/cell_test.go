package suite

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// written is a suite as a user writes it.
func written(tb testing.TB, spec string) *v1alpha1.LoadTestSuite {
	tb.Helper()
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Name: "night", Namespace: "lab", UID: "suite-uid",
		Generation: 1}}
	s.Spec.Repetitions, s.Spec.Parallelism, s.Spec.HistoryLimit, s.Spec.InvalidRetries = 1, 1, new(int32(1000)),
		new(int32(1))
	if err := yaml.UnmarshalStrict([]byte(spec), &s.Spec); err != nil {
		tb.Fatal(err)
	}
	return s
}

const twoByTwo = `
template: {spec: {links: [{name: west}, {name: east}], dut: {type: Reference, reference: {limit: {packetsPerSecond: 1000}}}}}
axes:
- name: system
  values:
  - name: apu6
  - {name: vpp, patch: {dut: {reference: {limit: null}}, links: [{name: north}]}}
- name: frames
  values:
  - {name: imix}
  - {name: 64b, patch: {traffic: {profile: FixedSize, frameSize: 64}}}
`

func TestAxesMultiply(t *testing.T) {
	m := Expand(written(t, twoByTwo))
	var got []string
	for i, c := range m.Cells {
		got = append(got, fmt.Sprintf("%s %s/%s %s", c.Name, c.Product, c.Loadtest, m.TestName(i, 1, 1)))
	}
	want := []string{"apu6-imix apu6/imix night-apu6-imix-r1", "apu6-64b apu6/64b night-apu6-64b-r1",
		"vpp-imix vpp/imix night-vpp-imix-r1", "vpp-64b vpp/64b night-vpp-64b-r1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	t.Run("what is excluded isn't a cell", func(t *testing.T) {
		m := Expand(written(t, twoByTwo+"exclusions: [{system: vpp, frames: 64b}, {system: apu6}]\n"))
		if len(m.Cells) != 1 || m.Cells[0].Name != "vpp-imix" {
			t.Errorf("left are %+v", m.Cells)
		}
	})
	t.Run("without axes there is one cell", func(t *testing.T) {
		m := Expand(written(t, "template: {spec: {}}\nrepetitions: 2\n"))
		if len(m.Cells) != 1 || m.TestName(0, 2, 1) != "night-test-r2" || m.TestName(0, 2, 3) != "night-test-r2t3" {
			t.Errorf("got %+v, %s", m.Cells, m.TestName(0, 2, 3))
		}
	})
}

func TestPatchesMergeIntoTheTemplate(t *testing.T) {
	content, err := Expand(written(t, twoByTwo)).Content(3, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"links":   []any{map[string]any{"name": "north"}}, // a list is replaced as a whole
		"dut":     map[string]any{"type": "Reference", "reference": map[string]any{}},
		"traffic": map[string]any{"profile": "FixedSize", "frameSize": int64(64)},
	}
	if !reflect.DeepEqual(content["spec"], want) {
		t.Errorf("spec is %v", content["spec"])
	}
}

func TestATestSaysWhoseItIs(t *testing.T) {
	s := written(t, twoByTwo)
	s.Spec.Template.Metadata.Labels = map[string]v1alpha1.TemplateText{"team": "routing", v1alpha1.LabelProduct: "mine"}
	s.Spec.Template.Metadata.Annotations = map[string]v1alpha1.TemplateText{"change": "1"}
	content, err := Expand(s).Content(1, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(content["metadata"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"annotations":{"change":"1"},"labels":{"linerate.dev/cell":"apu6-64b","linerate.dev/loadtest":"64b","linerate.dev/product":"mine","linerate.dev/repetition":"3",` +
		`"linerate.dev/suite":"night","linerate.dev/suite-uid":"suite-uid","linerate.dev/try":"2","team":"routing"},"name":"night-apu6-64b-r3t2","namespace":"lab",` +
		`"ownerReferences":[{"apiVersion":"linerate.dev/v1alpha1","controller":true,"kind":"LoadTestSuite","name":"night","uid":"suite-uid"}]}`
	if string(got) != want {
		t.Errorf("metadata is\n%s, want\n%s", got, want)
	}
}

// Names are valid and unique for each cell and each test, and the same suite always has the same names.
func TestNamesCollideNever(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	valid := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	for range 300 {
		s := anySuite(random)
		m, second := Expand(s), Expand(s.DeepCopy())
		cells, tests := map[string]bool{}, map[string]bool{}
		for i, c := range m.Cells {
			if cells[c.Name] || len(c.Name) > 63 || !valid.MatchString(c.Name) {
				t.Fatalf("%s: cell %q isn't its own, or no label", s.Name, c.Name)
			}
			cells[c.Name] = true
			for _, rt := range [][2]int32{{1, 1}, {s.Spec.Repetitions, 1}, {s.Spec.Repetitions, *s.Spec.InvalidRetries +
				1}} {
				name := m.TestName(i, rt[0], rt[1])
				if key := fmt.Sprint(i, rt); tests[name] && !tests[name+key] || len(name) > 40 ||
					!valid.MatchString(name) {
					t.Fatalf("%s: test %q of cell %q isn't its own, or too long", s.Name, name, c.Name)
				} else {
					tests[name], tests[name+key] = true, true
				}
				if name != second.TestName(i, rt[0], rt[1]) {
					t.Fatalf("%s is called %s the next time", name, second.TestName(i, rt[0], rt[1]))
				}
			}
		}
	}
}

// anySuite has axes whose joined values are easily confused, such as a-b and c, and a and b-c.
func anySuite(random *rand.Rand) *v1alpha1.LoadTestSuite {
	word := func(maxLength int) string {
		text := "x"
		for len(text) < 1+random.IntN(maxLength) {
			text += []string{"a", "b", "-a", "-b", "-r1", "1"}[random.IntN(6)]
		}
		return text[:min(len(text), maxLength)]
	}
	clean := func(text string) string { return strings.TrimRight(text, "-") }
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Name: clean(word(26))}}
	s.Spec.Repetitions, s.Spec.InvalidRetries = 1+random.Int32N(100), new(random.Int32N(9))
	for n := range random.IntN(5) {
		axis, used := v1alpha1.Axis{Name: v1alpha1.AxisName(fmt.Sprint("axis", n))}, map[string]bool{}
		for range 1 + random.IntN(5) {
			if name := clean(word(1 + random.IntN(32))); !used[name] {
				used[name] = true
				axis.Values = append(axis.Values, v1alpha1.AxisValue{Name: v1alpha1.AxisName(name)})
			}
		}
		s.Spec.Axes = append(s.Spec.Axes, axis)
	}
	return s
}

// merged is RFC 7396's pseudocode.
func merged(target, patch any) any {
	change, isMap := patch.(map[string]any)
	if !isMap {
		return patch
	}
	result, isMap := target.(map[string]any)
	if !isMap {
		result = map[string]any{}
	}
	for k, v := range change {
		if v == nil {
			delete(result, k)
		} else {
			result[k] = merged(result[k], v)
		}
	}
	return result
}

func TestPatchesAreThoseOfTheRFC(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var anyValue func(depth int, nulls bool) any
	anyValue = func(depth int, nulls bool) any {
		switch n := random.IntN(6); {
		case depth > 0 && n < 3:
			members := map[string]any{}
			for range random.IntN(4) {
				members[string(rune('a'+random.IntN(4)))] = anyValue(depth-1, nulls)
			}
			return members
		case depth > 0 && n == 3:
			return []any{anyValue(0, false), anyValue(0, false)}
		case nulls && n == 4:
			return nil
		}
		return float64(random.IntN(9))
	}
	object := func(nulls bool) v1alpha1.Freeform {
		text, err := json.Marshal(map[string]any{"a": anyValue(3, nulls), "b": anyValue(3, nulls)})
		if err != nil {
			t.Fatal(err)
		}
		var form v1alpha1.Freeform
		if err := json.Unmarshal(text, &form); err != nil {
			t.Fatal(err)
		}
		return form
	}
	for range 500 {
		template, patch := object(false), object(true)
		s := &v1alpha1.LoadTestSuite{}
		s.Spec.Template.Spec = template
		s.Spec.Axes = []v1alpha1.Axis{{Name: "a", Values: []v1alpha1.AxisValue{{Name: "v", Patch: patch}}}}
		content, err := Expand(s).Content(0, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := content["spec"], normal(t, merged(plain(t, template),
			plain(t, patch))); !reflect.DeepEqual(normal(t, got), want) {
			t.Fatalf("%s patched by %s is %v, want %v", template, patch, got, want)
		}
	}
}

func plain(t *testing.T, f v1alpha1.Freeform) any {
	t.Helper()
	return normal(t, map[string]apiextensionsv1.JSON(f))
}

// normal is a document as encoding/json reads it.
func normal(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}
