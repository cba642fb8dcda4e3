package delivery

import (
	"encoding/json"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// FuzzDecodeReport seals whatever it is given as if it were a Report: a digest that is right says nothing of what
// is inside.
func FuzzDecodeReport(f *testing.F) {
	document, err := json.Marshal(wide(1, 2, 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document, "Completed")
	f.Add([]byte(`{"version":"linerate.dev/report.v1alpha1","plan":{"version":"linerate.dev/plan.v1alpha1"},"ending":"Failed"}`), "Failed")
	f.Fuzz(func(t *testing.T, document []byte, ending string) {
		packed, err := pack(document)
		if err != nil {
			t.Skip("no writer packs it:", err)
		}
		e := Envelope{Digest: report.Digest(document), Ending: ending, Attempt: 1}
		r, _, err := DecodeReport(map[string][]byte{KeyReport: packed}, e.Annotations())
		if err == nil && (r.Version != report.Version || string(r.Ending) != ending || r.Plan == nil) {
			t.Errorf("took %+v as %s", r, ending)
		}
	})
}

// FuzzUnpack feeds what anybody may have put into a ConfigMap.
func FuzzUnpack(f *testing.F) {
	packed, err := pack([]byte("a document"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Fuzz(func(t *testing.T, packed []byte) {
		if document, err := unpack(packed); err == nil && len(document) > maxUnpacked {
			t.Errorf("unpacked %d bytes", len(document))
		}
	})
}
