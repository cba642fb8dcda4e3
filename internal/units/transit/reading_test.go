package transit_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

func TestReading(t *testing.T) {
	hundred := func(d time.Duration, beyond uint64) (h transit.Histogram) {
		h.Add(transit.Index(d), 100)
		if beyond > 0 {
			h.Add(transit.Beyond, beyond)
		}
		return h
	}
	tail := hundred(time.Microsecond, 0)
	tail.Add(transit.Index(time.Microsecond), 9_889)
	tail.Add(transit.Index(37*time.Microsecond), 11)
	for name, c := range map[string]struct {
		h       transit.Histogram
		missing uint64
		want    string
	}{
		"nothing":                           {transit.Histogram{}, 0, "no frames"},
		"few frames tell no tail":           {hundred(250*time.Nanosecond, 0), 0, "100 frames: p50 250ns, p90 250ns, all 250ns"},
		"a tail, where frames stand for it": {tail, 0, "10000 frames: p50 1µs, p90 1µs, p99 1µs, p99.9 37.1µs, all 37.1µs"},
		"what took too long to tell":        {hundred(time.Millisecond, 1), 0, "101 frames: p50 1ms, p90 1ms, all over 17.2s; 1 took 17.2s or longer"},
		"what missing frames can't change":  {tail, 5, "10000 frames: p50 1µs, p90 1µs, p99 1µs, p99.9 37.1µs"},
		"p99.9 may be one that is missing":  {tail, 20, "10000 frames: p50 1µs, p90 1µs, p99 1µs"},
		"any of all may be one":             {tail, 10_000, "10000 frames: "},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.h.Read(c.missing).String(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestShares(t *testing.T) {
	for share, want := range map[transit.Share]string{transit.P50: "p50", transit.P999: "p99.9", transit.P99999: "p99.999", 1: "p0.0001", transit.Whole: "all"} {
		if got := share.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
