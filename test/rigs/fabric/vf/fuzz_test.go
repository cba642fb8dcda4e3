package vf_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

func FuzzParse(f *testing.F) {
	whole, err := json.Marshal(inventory(nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"resources":[{"name":"a/b","devices":[]}]}`))
	f.Add([]byte(`{"resources":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := vf.Parse(text)
		if err != nil {
			return
		}
		encoded, err := json.Marshal(parsed)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := vf.Parse(encoded)
		if err != nil {
			t.Fatalf("what was taken is refused when written again: %v\n%s", err, encoded)
		}
		if diff := cmp.Diff(parsed, decoded); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
		for d := range parsed.Devices() {
			if found, ok := parsed.Find(d.ID); !ok || found != d {
				t.Errorf("device %s isn't found", d.ID)
			}
		}
	})
}
