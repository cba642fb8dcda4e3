package verify

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// TestPercentilesFollowFromTheirDistribution: a percentile that was changed by hand contradicts the distribution
// beside it, and so does a number of frames.
func TestPercentilesFollowFromTheirDistribution(t *testing.T) {
	for name, c := range map[string]struct {
		change func(l *report.Latency)
		finds  string
	}{
		"as measured":            {func(*report.Latency) {}, ""},
		"a shorter percentile":   {func(l *report.Latency) { l.Within[0].Nanoseconds-- }, "latency[0].within[0].nanoseconds"},
		"one that isn't told":    {func(l *report.Latency) { l.Uncounted, l.Frames = 30, l.Frames+30 }, "latency[0].within"},
		"frames that nobody saw": {func(l *report.Latency) { l.Frames++ }, "latency[0].frames"},
		"no distribution":        {func(l *report.Latency) { l.Histogram = "HISTFAAA" }, "latency[0].histogram"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reporttest.WithLatency(20_000)
			w := r.Windows[len(r.Windows)-1]
			c.change(&w.Directions[0].Latency[0])
			d := newDiffer(CheckWindows)
			latency(d, "window", w.Directions[0].Latency)
			var fields []string
			for _, f := range d.check.Findings {
				fields = append(fields, f.Field)
			}
			if got := strings.Join(fields, " "); c.finds == "" && got != "" || !strings.Contains(got, c.finds) {
				t.Errorf("%q, want %q", got, c.finds)
			}
		})
	}
}
