package history_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/history"
)

func sharing(r *report.Report) {
	r.Answer.SharedPorts = []string{"port 0000:3b:00.0 of node gen-1 is behind links west and east"}
}

// What a stranger would take for something else: no figure for a failed run, a hidden difference for none, one
// row's device for that of all.
func TestAComparisonSaysWhatItMeans(t *testing.T) {
	for name, c := range map[string]struct {
		was, is []history.Record
		says    []string
		never   string
	}{
		"a side without a Report":        {append(runs(5, 1_000_000), runs(5, 1_000_000, called("VPP", "64b"))...), runs(5, 1_000_000, called("VPP", "64b")), []string{"no Report", "this side has no Report of it"}, "not measured"},
		"runs of several plans":          {runs(5, 1_000_000), append(runs(3, 1_000_000), record(8, 1_000_000, to(50))), []string{"no common figure"}, "not measured  "},
		"a difference that bounds hide":  {runs(5, 1_000_000), runs(5, 900_000, weak), []string{"no difference can be shown"}, "no difference shown"},
		"a device that is broken":        {runs(5, 1_000_000), runs(5, 0, broken), []string{"loses at any load", "≤-99.90%"}, "-100.00%"},
		"ends that shared a port":        {runs(5, 1_000_000), append(runs(3, 1_200_000), record(7, 1_200_000, sharing), record(8, 1_200_000, sharing)), []string{"! Linux 64b, is: 2 of 5 runs had several ends on one physical port"}, "is: 5 of 5"},
		"several builds on a side":       {runs(5, 1_000_000, ran("vpp", "11")), append(runs(3, 1_000_000, ran("vpp", "11")), record(7, 1_000_000, ran("vpp", "22"))), []string{"! Linux 64b, is: its runs are of several devices"}, ""},
		"a device that is known of some": {append(runs(5, 1_000_000, ran("vpp", "11")), runs(5, 1_000_000, called("VPP", "64b"))...), runs(5, 1_000_000, called("VPP", "64b")), []string{"Device under test of Linux 64b in was: vpp ran vpp"}, "Device under test: "},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			if err := render.Write(&text, "text", render.OfComparison(history.Compare([]history.Side{{Name: "was", Records: c.was}, {Name: "is", Records: anew(c.is)}}, nil, nil)), render.TextOptions{Width: 300}); err != nil {
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

func TestATableTellsOfSharedPorts(t *testing.T) {
	cell := history.Table("night", append(runs(2, 1_000_000), record(5, 1_000_000, sharing))).Cells[0]
	if !strings.Contains(cell.Message, "1 of 3 runs had several ends on one physical port") {
		t.Errorf("it says %q", cell.Message)
	}
}

// A lower bound is no distance from a median, and the latest figure isn't the latest night's where that came to
// nothing.
func TestATrendSaysWhatItMeans(t *testing.T) {
	trend := func(records ...history.Record) string {
		t.Helper()
		var text strings.Builder
		if err := render.Write(&text, "text", render.OfTrend(history.Trend("", records, nil)), render.TextOptions{Width: 200}); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	nights := runs(5, 1_000_000)
	for name, c := range map[string]struct {
		records []history.Record
		says    string
	}{
		"a median that is a lower bound":  {append(slices.Clone(nights), record(6, 900_000, weak), record(7, 1_000_000)), "against the median of 7 runs of the same plan, ≥"},
		"an exact figure below it":        {append(slices.Clone(nights), record(6, 900_000, weak), record(7, 900_000)), "latest 900.00 kpps, ≤-"},
		"a bound beside it":               {append(slices.Clone(nights), record(6, 900_000, weak)), "latest ≥900.00 kpps, against the median of 6 runs"},
		"a newest run without a figure":   {append(slices.Clone(nights), record(6, 0, lost)), "; the run since then was not measured"},
		"several newest without a figure": {append(slices.Clone(nights), record(6, 0, lost), record(7, 0, lost)), "; the 2 runs since then were not measured"},
		"a figure that isn't confirmed":   {[]history.Record{record(1, 900_000, unconfirmed)}, "latest ~900.00 kpps"},
		"ends that shared a port":         {append(slices.Clone(nights), record(6, 1_000_000, sharing)), "shared port"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := trend(c.records...); !strings.Contains(got, c.says) {
				t.Errorf("it doesn't say %q:\n%s", c.says, got)
			}
		})
	}
	var page strings.Builder
	// a wide drawing and a narrow one
	if err := in("html", render.OfTrend(history.Trend("", []history.Record{record(1, 900_000, unconfirmed)}, nil)))(&page); err != nil || strings.Count(page.String(), `class="mark loose"`) != 2 {
		t.Errorf("%v: what isn't confirmed is drawn as if it were", err)
	}
	if got := trend(nights...); strings.Contains(got, "since then") || strings.Contains(got, "≤") {
		t.Errorf("without any of it, it says\n%s", got)
	}
}
