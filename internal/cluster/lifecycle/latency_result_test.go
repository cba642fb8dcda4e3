package lifecycle

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// TestAStatusHasLatencyByLoad finds it in a line.
func TestAStatusHasLatencyByLoad(t *testing.T) {
	got := resultOf(reporttest.WithLatency(20_000))
	if want := "p99 20.1 µs at 0 %, 40.2 µs at 50 %"; got.Latency != want {
		t.Errorf("%q, want %q", got.Latency, want)
	}
	for _, f := range got.Figures {
		if strings.HasPrefix(f.Metric, "Latency") {
			t.Errorf("%+v: the Report has the latency of each direction at each load", f)
		}
	}
	if got := resultOf(reporttest.Measured()); got.Latency != "" {
		t.Errorf("%q of a test that measures no latency", got.Latency)
	}
}
