package render

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestSeveralGeneratorsAreShownEach(t *testing.T) {
	r := reporttest.Measured(reporttest.Limited(150_000))
	r.Answer.Generators = []report.GeneratorShare{
		{Name: "generator-0", OfferedPacketsPerSecond: 150_000, ReceivedPacketsPerSecond: 149_000},
		{Name: "generator-1", OfferedPacketsPerSecond: 151_000, ReceivedPacketsPerSecond: 148_000, StartSkew: plan.Duration(1_234_567 * time.Nanosecond)},
		{Name: "generator-2-east", ReceivedPacketsPerSecond: 2_000},
	}
	for format, want := range map[string][]string{
		"text":     {"generator-1       151.00 kpps", "1.23ms", "sends nothing"},
		"markdown": {"| generator | offered | received | started after |", "| generator-1 | 151.00 kpps | 148.00 kpps | 1.23ms |"},
		"html":     {`<th scope="row">generator-1</th><td class="n">151.00 kpps</td><td class="n">148.00 kpps</td><td class="n">1.23ms</td>`},
	} {
		t.Run("as "+format, func(t *testing.T) {
			got := string(rendered(t, format, r))
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is missing in\n%s", w, got)
				}
			}
		})
	}
	t.Run("one generator alone is not shown apart", func(t *testing.T) {
		if got := string(rendered(t, "text", reporttest.Measured(reporttest.Limited(150_000)))); strings.Contains(got, "started after") {
			t.Errorf("got\n%s", got)
		}
	})
}
