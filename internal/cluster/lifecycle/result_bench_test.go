package lifecycle

import (
	"encoding/json"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// BenchmarkAStatusWrite is what a Report costs on its way into a status, for the result and its JSON.
func BenchmarkAStatusWrite(b *testing.B) {
	r := &report.Report{Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Message: "window 12 at 50 % of the target was clean", Directions: []report.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}, Total: &report.Sum{}, MaxReceived: &report.Sum{}, Claim: report.Claim{Saturated: true, Confirmed: true, Resolution: 5_000_000}}}
	b.ReportAllocs()
	for b.Loop() {
		document, err := json.Marshal(resultOf(r))
		if err != nil || len(document) == 0 {
			b.Fatal(err)
		}
	}
}
