package analysis

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// A search that believes no load to be clean doesn't say that no window was, where one was by chance.
func TestWhyThereIsNoFigure(t *testing.T) {
	window := func(number int, phase report.Phase, load units.Ratio, q report.Quality) report.Window {
		return report.Window{Number: number, Phase: phase, Load: load, Quality: q, Directions: []report.Direction{{From: "west", To: "east", Quality: q, Reason: "lost"}}}
	}
	warmUp, lossy, clean := window(1, report.WarmUp, units.One/20, report.Good), window(2, report.Ramping, units.One/20, report.Lossy), window(3, report.Refine, units.One/40, report.Good)
	for name, c := range map[string]struct {
		windows []report.Window
		says    string
	}{
		"none was":                {[]report.Window{warmUp, lossy}, "clean load: no window was clean; lowest loss, window 2: at 5.00 % of the target"},
		"only one of latency was": {[]report.Window{warmUp, lossy, window(3, report.AtLoad, units.One/40, report.Good)}, "clean load: no window was clean; lowest loss"},
		"one was, by chance":      {[]report.Window{warmUp, lossy, clean}, "clean load: no load stayed clean, though window 3 was, at 2.50 % of the target; lowest loss, window 2"},
	} {
		rows := evidenceWithoutFigure(&report.Report{Windows: c.windows}, procedure.Conclusion{Reason: report.NoCleanLoad, Lossy: 1})
		if got := (report.Answer{Evidence: rows}).EvidenceText(); !strings.HasPrefix(got, c.says) {
			t.Errorf("%s: %q, want %q…", name, got, c.says)
		}
	}
}
