package render

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// FuzzRead reads anything, and renders what it took for a report: neither may panic.
func FuzzRead(f *testing.F) {
	for _, s := range reporttest.Scenarios() {
		r := *s.Report // kept small: the fuzzer minimizes what it finds
		r.Samples, r.Windows, r.Generators = r.Samples[:min(len(r.Samples), 3)], r.Windows[:min(len(r.Windows), 1)], nil
		document, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reports, err := report.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, name := range Formats(Tests) {
			if err := Write(io.Discard, name, OfReports(reports...), TextOptions{}); err != nil && name != "viz" {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, r := range reports {
			_ = Viz(io.Discard, r) // an error is an answer
			if figures.Summary(r) == "" {
				t.Error("an empty summary")
			}
		}
	})
}
