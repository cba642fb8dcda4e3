package history_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
)

// working are runs beside which trains showed about so many nanoseconds a frame.
func working(nanoseconds float64, options ...option) []history.Record {
	records := runs(5, 1_000_000, options...)
	for i, off := range []float64{0, 0.006, -0.004, 0.003, -0.008} {
		middle := nanoseconds * (1 + off)
		number := func(v float64) report.Number { return report.Number(strconv.FormatFloat(v, 'f', 3, 64)) }
		for k := range records[i].Report.Answer.Directions {
			records[i].Report.Answer.Directions[k].Own = []report.OwnFigure{{Metric: procedure.TimePerFrame,
				Low: number(middle * 0.995), High: number(middle * 1.005)}}
		}
	}
	return records
}

// What bounds hide of the limit, trains show of the work for a frame. They pass nothing.
func TestAComparisonOfBoundsSpeaksOfTheWorkForAFrame(t *testing.T) {
	share := func(percent int64) *units.Ratio { return new(units.One * units.Ratio(percent) / 100) }
	rate := &comparison.Allowance{MaxRegression: *share(2)}
	work := &comparison.Allowance{MaxRegression: *share(2), MaxWorkRegression: share(3)}
	const longer = "Linux 64b works 0.500 ± 0.015 µs longer on a frame in is than in was."
	for name, c := range map[string]struct {
		was, is   []history.Record
		allowance *comparison.Allowance
		verdict   report.Outcome
		says      []string
		never     string
	}{
		"nothing is demanded": {working(940, weak), working(1440, weak), nil, "",
			[]string{longer, "the work for a frame changed by +0.500 ± 0.015 µs, which says nothing of the limit"}, ""},
		"equal builds": {working(940, weak), working(940, weak), work, report.Undecided, []string{"the work for a frame changed by +0"}, "longer on a frame"},
		"more work, not asked": {working(940, weak), working(1440, weak), rate, report.Undecided,
			[]string{"changed by +0.500 ± 0.015 µs"}, "longer on a frame"},
		"more work":        {working(940, weak), working(1440, weak), work, report.DidFail, []string{longer}, ""},
		"less work":        {working(940, weak), working(700, weak), work, report.Undecided, []string{"changed by -0.240 ± 0.008 µs"}, ""},
		"the rate decides": {working(940), working(1440), work, report.Passed, nil, "longer on a frame"},
		"one side without trains": {working(940, weak), runs(5, 1_000_000, weak), work, report.Undecided, nil,
			"the work for a frame"},
	} {
		t.Run(name, func(t *testing.T) {
			compared := history.Compare([]history.Side{{Name: "was", Records: c.was}, {Name: "is", Records: anew(c.is)}},
				c.allowance, nil)
			side := compared.Rows[0].Sides[1]
			if side.Verdict != c.verdict || (side.Reason == report.MoreWorkPerFrame) != (c.verdict == report.DidFail) {
				t.Errorf("%s, %q: %s", side.Verdict, side.Reason, side.Message)
			}
			var text strings.Builder
			if err := render.Write(&text, "text", render.OfComparison(compared), render.TextOptions{Width: 3000, Evidence: true}); err != nil {
				t.Fatal(err)
			}
			for _, says := range c.says {
				if !strings.Contains(text.String(), says) {
					t.Errorf("it doesn't say %q:\n%s", says, text.String())
				}
			}
			if c.never != "" && strings.Contains(text.String(), c.never) {
				t.Errorf("it says %q:\n%s", c.never, text.String())
			}
		})
	}
}
