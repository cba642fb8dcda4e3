package history_test

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
)

// A Report may come from anywhere, and hold any number.
func TestNoNumberBreaksADocument(t *testing.T) {
	extreme := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53}
	var records []history.Record
	for i, a := range extreme {
		for k, b := range extreme {
			r := record(len(extreme)*i+k, a, within(units.Ratio(b)), func(r *report.Report) {
				r.Answer.Total.LineRatePercent, r.Answer.Total.Received.Layer1BitsPerSecond = units.Percent(b), b
				r.Answer.Directions[0].LineRatePercent = units.Percent(b)
			})
			records = append(records, r)
		}
	}
	records[3].Report.Started, records[5].Report.Started = time.Time{}, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	records[7].Report.Plan = nil
	records[8].Report.Plan = &plan.Plan{}
	records[9].Report.Plan.Test.Name = "\x1b[2J<script>|`@everyone"
	demand := &comparison.Allowance{MaxRegression: units.One / 50}
	table, trend := history.Table("", records), history.Trend("", records, nil)
	var writes []func(io.Writer) error
	for _, format := range render.Formats(render.Table) {
		writes = append(writes, in(format, render.OfTable(table)))
	}
	for _, format := range render.Formats(render.Trend) {
		writes = append(writes, in(format, render.OfTrend(trend)))
	}
	for i := range records {
		for _, d := range []*comparison.Allowance{nil, demand} {
			c := history.Compare([]history.Side{{Name: "a", Records: records[i : i+1]}, {Name: "b", Records: records[:i]}, {Name: "c", Records: records}}, d, nil)
			for _, format := range render.Formats(render.Comparison) {
				writes = append(writes, in(format, render.OfComparison(c)))
			}
		}
	}
	for i, write := range writes {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Errorf("document %d: %v", i, err)
		}
		for _, bad := range []string{"NaN", "+Inf", "-Inf", "%!", "ZgotmplZ", "\x1b[2J"} {
			if bad == "\x1b[2J" && strings.HasPrefix(out.String(), "<!DOCTYPE html>") {
				continue // it drives terminals, and no browser
			}
			if strings.Contains(out.String(), bad) {
				t.Errorf("document %d holds %q", i, bad)
			}
		}
	}
}

// Nothing at all is no reason to fall over.
func TestNothingAtAll(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"a comparison of nothing":       in("html", render.OfComparison(history.Compare(nil, nil, nil))),
		"a comparison of empty sides":   in("markdown", render.OfComparison(history.Compare([]history.Side{{Name: "a"}, {Name: "b"}}, nil, nil))),
		"a trend of nothing":            in("html", render.OfTrend(history.Trend("", nil, nil))),
		"a table of nothing":            in("html", render.OfTable(history.Table("", nil))),
		"a trend of one":                in("html", render.OfTrend(history.Trend("", []history.Record{record(0, 1)}, nil))),
		"a trend of one that is missed": in("html", render.OfTrend(history.Trend("", []history.Record{record(0, 1, lost)}, nil))),
	} {
		if err := write(io.Discard); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
