package intake

import (
	"testing"
)

func TestADocumentIsMeasuredByItsBytesAndTheElementsOfItsLists(t *testing.T) {
	for document, elements := range map[string]int64{
		`{}`: 0, `[]`: 0, `[ ]`: 0, "[\n]": 0, `[1]`: 1, `[1, 2]`: 2, `[{}]`: 1, `[[], [[]]]`: 3, `{"a": 1, "b": {"c": 2, "d": 3}}`: 0,
		`{"a": [{"b": 1, "c": [true, null]}, {}]}`: 4,
		`["a,b", "[", "\"", "\\", "]"]`:            5,
		`{"[": ["{"], "x": "[1,2,3]"}`:             1,
	} {
		whole, bytewise := NewMeter(Limits{Bytes: 100, Elements: 10}, nil), NewMeter(Limits{Bytes: 100, Elements: 10}, nil)
		if _, err := whole.Write([]byte(document)); err != nil {
			t.Fatal(err)
		}
		for i := range document {
			if _, err := bytewise.Write([]byte{document[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if whole.Size != bytewise.Size || whole.Bytes != int64(len(document)) || whole.Elements != elements {
			t.Errorf("%s is %+v, byte by byte %+v, want %d elements", document, whole.Size, bytewise.Size, elements)
		}
	}
}

func TestAllValuesCount(t *testing.T) {
	for document, want := range map[string]Size{
		`{}`: {Values: 1, Containers: 1, Depth: 1}, `12.5e3`: {Values: 1}, `[1,true,null,"a"]`: {Values: 5, Containers: 1, Depth: 1, Elements: 4},
		`{"a":{"b":[ false , -1]},"c":""}`: {Values: 6, Containers: 3, Depth: 3, Elements: 2},
	} {
		want.Bytes = int64(len(document))
		if got, err := Measure([]byte(document), Limits{}, nil); err != nil || got != want {
			t.Errorf("%s is %+v, want %+v (%v)", document, got, want, err)
		}
	}
}

// The runs of a sheet are in an object, by their names.
func TestEntriesOfANamedDepthCountAsElements(t *testing.T) {
	for document, elements := range map[string]int64{
		`{}`: 0, `{"runs":{}}`: 0, `{"runs":{"a":1}}`: 1, `{"suite":"x","runs":{"a":{"b":1,"c":{"d":1,"e":1}}, "f":[1,2]},"continued":true}`: 4,
	} {
		if got, err := Measure([]byte(document), Limits{Entries: 2}, nil); err != nil || got.Elements != elements {
			t.Errorf("%s has %d elements, want %d (%v)", document, got.Elements, elements, err)
		}
	}
}

func TestDocumentsThatFollowEachOtherArePartedWhereEachEnds(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		" \n":                       nil,
		`{"a":"}"}`:                 {`{"a":"}"}`},
		"{}\n[1]{\"b\":[{}]} ":      {"{}", "\n[1]", `{"b":[{}]}`},
		`{} {"cut":`:                {"{}", ` {"cut":`},
		`words of something`:        {`words of something`},
		`]}{"a":1}`:                 {`]`, `}`, `{"a":1}`},
		`{"a":"\"}{"}{"b":"\\"} x `: {`{"a":"\"}{"}`, `{"b":"\\"}`, " x "},
	} {
		var got []string
		for _, d := range split([]byte(text)) {
			got = append(got, string(d))
		}
		if len(got) != len(want) {
			t.Errorf("%q has the documents %q, want %q", text, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q has the documents %q, want %q", text, got, want)
			}
		}
	}
}
