package render

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
	"github.com/linerate-dev/linerate/test/rigs/sanitizetest"
)

// closed are texts that a document isn't one without, or that a format needs.
var closed = []string{"Version", "Ending", "Quality", "Type", "Outcome", "Tone", "Phase"}

// Whatever stands in a Report's texts, no format of it drives a terminal, commands who reads a log, or has markup
// of its own.
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

// Nor does a suite's document, or what is made of several: a gate's judgement, a table, a comparison, a trend.
func TestNoDocumentOfSeveralTestsSaysWhatAHostileOneWantsItTo(t *testing.T) {
	for from := 0; from < len(sanitizetest.Words); from += 7 {
		hostile := func(v any) {
			sanitizetest.Fill(reflect.ValueOf(v), from, append([]string{"Kind", "Judgement", "Witness", "Metric"}, closed...)...)
		}
		night, gate, table, comparison, trend := reporttest.Night(), &report.Gate{}, &report.Table{}, &report.Comparison{}, &report.Trend{}
		for _, v := range []any{gate, table, comparison, trend} {
			sanitizetest.Make(reflect.ValueOf(v))
		}
		gate.Suites = []*report.Suite{reporttest.Night()}
		for _, v := range []any{night, gate, table, comparison, trend} {
			hostile(v)
		}
		for kind, d := range map[Kind]Document{Tests: OfTests(report.Documents{Suites: []*report.Suite{night}}), Gate: OfGate(gate), Table: OfTable(table), Comparison: OfComparison(comparison), Trend: OfTrend(trend)} {
			for _, format := range Formats(kind) {
				var out bytes.Buffer
				if err := Write(&out, format, d, TextOptions{Width: 60 + from}); err != nil && format != "viz" {
					t.Errorf("%s as %s: %v", kind, format, err)
				}
				sanitizetest.Check(t, string(kind), format, out.Bytes())
			}
		}
	}
}
