package lifecycle

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

var westEast = v1alpha1.FlowDirection{From: "west", To: "east"}

// TestAStatusHasLatencyByLoad finds it in a line, and as figures of each direction.
func TestAStatusHasLatencyByLoad(t *testing.T) {
	got := resultOf(reporttest.WithLatency(20_000))
	if want := "p99 20.1 µs at 0 %, 40.2 µs at 50 %"; got.Latency != want {
		t.Errorf("%q, want %q", got.Latency, want)
	}
	figuresOf := func(metric, load string) (figures []v1alpha1.Figure) {
		for _, f := range got.Figures {
			if f.Metric == metric && f.Load == load {
				figures = append(figures, f)
			}
		}
		return figures
	}
	if figures := figuresOf("LatencyP50", "50%"); len(figures) != 2 || *figures[0].Direction != westEast ||
		!strings.HasPrefix(figures[0].High, "20") {
		t.Errorf("%+v, want the median of both directions at half of the load", figures)
	}
	if figures := figuresOf("LatencyP99.9", "0%"); len(figures) != 2 {
		t.Errorf("%+v, want p99.9 of single frames", figures)
	}
	if got := resultOf(reporttest.Measured()); got.Latency != "" {
		t.Errorf("%q of a test that measures no latency", got.Latency)
	}
}
