package render

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/internal/report/reporttest"
	"github.com/linerate-dev/linerate/internal/sanitize/sanitizetest"
)

// closed are texts that a document isn't one without, or that a format needs.
var closed = []string{"Version", "Ending", "Quality", "Type", "Outcome", "Tone", "Phase"}

// Whatever stands in a Report's texts, no format of it drives a terminal, commands who reads a log, or has markup of its own.
func TestNoFormatSaysWhatAHostileReportWantsItTo(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		for from := 0; from < len(sanitizetest.Words); from += 11 {
			r := s.Report
			sanitizetest.Fill(reflect.ValueOf(r), from, closed...)
			for _, format := range Formats(Tests) {
				var out bytes.Buffer
				if err := Write(&out, format, OfReports(r), TextOptions{Width: 60 + from}); err != nil && format != "viz" {
					t.Errorf("%s: %v", format, err)
				}
				sanitizetest.Check(t, s.Name, format, out.Bytes())
			}
		}
	}
}
