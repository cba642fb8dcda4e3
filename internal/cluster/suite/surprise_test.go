package suite

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/surprise"
)

// A suite keeps enough of its runs for the rules of surprises, which need the device, and how the generators
// sent.
func TestASuitesDocumentSurprises(t *testing.T) {
	const spec = `
template: {spec: {dut: {type: Reference}, links: [{name: west}, {name: east}]}}
axes: [{name: mode, values: [{name: router}, {name: filter}]}]
`
	measured := func(paths map[string]string) []surprise.Surprise {
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		a := NewLocal(Expand(written(t, spec)), "test", now)
		for {
			w, ok := a.Next(now)
			if !ok {
				break
			}
			r := figureOf(w.Name, 1000)
			mode := &plan.Mode{Router: &plan.RouterMode{Routes: 1}}
			if a.Cell(w.Cell).Name == "filter" {
				r, mode = figureOf(w.Name, 1100), &plan.Mode{Filter: &plan.FilterMode{Rules: 100}}
			}
			r.Plan.DUT = plan.DUT{Type: "Reference", Forwarding: plan.L3, Reference: &plan.Reference{Mode: mode}}
			r.Plan.Sending = &plan.Sending{Path: paths[a.Cell(w.Cell).Name]}
			a.Record(LocalRun(w, r, "sha256:"+w.Name))
		}
		document, _, err := report.SuiteJSON(a.Document(now))
		if err != nil {
			t.Fatal(err)
		}
		s, err := report.ReadSuite(document)
		if err != nil {
			t.Fatal(err)
		}
		return surprise.Find(s)
	}
	if found := measured(nil); len(found) != 1 || !strings.Contains(found[0].Words, "carried 10.0 % more than router") {
		t.Errorf("got %+v", found)
	}
	if found := measured(map[string]string{"router": "af_packet", "filter": "af_xdp"}); len(found) != 0 {
		t.Errorf("sent by other paths, they aren't set side by side: %+v", found)
	}
}
