package gate

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// TestAReleaseThatCreepsIsSeenFromTheAnchor has releases that lose a little each. Each release is 1 % less than the one
// before, of which 2 % are allowed, and beside a reference that doesn't move the sum shows.
func TestAReleaseThatCreepsIsSeenFromTheAnchor(t *testing.T) {
	reportsOf := func(packets int64) (reports []analysis.KeptReport) {
		m := measured(t, onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true, Suffix: "first"}),
			steady(packets))
		for _, run := range m.Runs {
			reports = append(reports, analysis.KeptReport{Report: run.Evidence, Method: run.Plan})
		}
		return reports
	}
	first := &suite.Reference{Kind: suite.KindFile, Name: "releases/1.0", Reports: reportsOf(100_000)}
	for name, c := range map[string]struct {
		baseline, candidate int64
		anchor              *suite.Reference
		code                int
		message             string
	}{
		"without an anchor 1 % a release passes for ever": {97_000, 96_000, nil, 0, ""},
		"from the anchor it is 4 %":                       {97_000, 96_000, first, 1, "no-slower since the anchor: "},
		"the first release after it":                      {100_000, 99_500, first, 0, ""},
		"an anchor that has nothing": {100_000, 99_500, &suite.Reference{Kind: suite.KindFile,
			Name: "releases/0.9"}, 3, "no-slower since the anchor: "},
	} {
		t.Run(name, func(t *testing.T) {
			m := measured(t, onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true, Anchor: true}),
				steady(c.candidate))
			m.Baseline, m.Anchor = &suite.Reference{Kind: suite.KindFile, Name: "last.json",
				Reports: reportsOf(c.baseline)}, c.anchor
			g := Judge([]MeasuredSuite{m}, "test")
			row := g.Rows[0]
			if g.ExitCode != c.code || !strings.Contains(row.Words(), c.message) {
				t.Errorf("exit code %d, want %d: %s", g.ExitCode, c.code, row.Words())
			}
			if hasAnchor := c.anchor == first; hasAnchor != (row.Anchor != nil) || hasAnchor &&
				(row.AnchorName != "releases/1.0" || row.Anchor.Change == nil) {
				t.Errorf("the row has of the anchor %q %+v", row.AnchorName, row.Anchor)
			}
		})
	}
	t.Run("measured in turns with the last release", func(t *testing.T) {
		m := inTurns(t, 99_000, 5) // the last one is at 100 000
		m.Anchor = &suite.Reference{Kind: suite.KindFile, Name: "releases/1.0", Reports: reportsOf(103_000)}
		g := Judge([]MeasuredSuite{m}, "test")
		if len(g.Rows) != 1 || g.ExitCode != 1 || g.Rows[0].Anchor == nil || g.Rows[0].Criteria[0].Outcome != "Passed" {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows)
		}
	})
	t.Run("only what compares is judged once more", func(t *testing.T) {
		m := measured(t, onlySubject(t, router+absolute, Options{MaxRegression: "2%", Baseline: true, Anchor: true}),
			steady(99_500))
		m.Baseline, m.Anchor = &suite.Reference{Kind: suite.KindFile, Name: "last.json", Reports: reportsOf(100_000)},
			first
		var names []string
		for _, c := range Judge([]MeasuredSuite{m}, "test").Rows[0].Criteria {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, ", "); got != "line-rate, no-slower, no-slower since the anchor" {
			t.Errorf("judged are %s", got)
		}
	})
	t.Run("a witness that the anchor has none of is left as it is", func(t *testing.T) {
		m := measured(t, onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true, Anchor: true}),
			steady(99_500))
		m.Baseline, m.Anchor, m.Witness = &suite.Reference{Kind: suite.KindFile, Name: "last.json",
			Reports: reportsOf(100_000)}, &suite.Reference{Kind: suite.KindFile, Name: "releases/0.9"}, true
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 0 || g.Rows[0].AnchorName != "" {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows[0])
		}
	})
	t.Run("an anchor of which no criterion speaks is refused", func(t *testing.T) {
		if _, err := prepared(t, router+absolute, Options{Anchor: true}); err == nil ||
			!strings.Contains(err.Error(), "there is an anchor, but no criterion compares with it") {
			t.Error(err)
		}
	})
}
