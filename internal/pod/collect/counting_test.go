package collect

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Each row is two readings of an agent, and what of a counter is known of the time between.
func TestWhatACounterGrewByFromOneReadingToTheNext(t *testing.T) {
	start := time.Unix(0, 0)
	type read struct {
		raw           uint64
		elapsed       time.Duration // the first reading
		uptime        uint32        // in hundredths of a second
		discontinuity uint32
	}
	for name, c := range map[string]struct {
		bits          int
		first, second read
		grown         uint64
		anew          string
	}{
		"it grew": {64, read{100, 0, 500, 0}, read{350, 5 * time.Second, 1000,
			0}, 250, ""},
		"it stood still": {64, read{100, 0, 500, 0}, read{100, 5 * time.Second, 1000,
			0}, 0, ""},
		"64 bits began anew": {64, read{math.MaxUint64 - 9, 0, 500, 0},
			read{240, 5 * time.Second, 1000, 0}, 250, ""},
		"32 bits began anew": {32, read{math.MaxUint32 - 9, 0, 500, 0},
			read{240, 5 * time.Second, 1000, 0}, 250, ""},
		"an uptime began anew after 497 days": {64, read{100, 0, math.MaxUint32 - 99, 0},
			read{350, 5 * time.Second, 400, 0}, 250, ""},
		"an uptime in whole seconds": {64, read{100, 0, 500, 0}, read{350, 900 * time.Millisecond,
			500, 0}, 250, ""},
		"cleared": {64, read{1_000, 0, 500, 0}, read{240, 5 * time.Second, 1000,
			0}, 0, "the counter went back"},
		"32 bits cleared": {32, read{1_000, 0, 500, 0}, read{240, 5 * time.Second, 1000,
			0}, 0, "the counter went back"},
		"restarted, and less": {64, read{1_000, 0, 15_389, 0}, read{0, 5 * time.Second, 66,
			0}, 0, "the agent was restarted"},
		"restarted, and more than before": {64, read{1_000, 0, 15_389, 0}, read{9_000, 5 * time.Second,
			66, 0}, 0, "the agent was restarted"},
		"restarted again before it ran as long": {64, read{1_000, 0, 100, 0}, read{9_000, 8 * time.Second, 101,
			0}, 0, "the agent was restarted"},
		"restarted after more than half of 497 days": {64, read{1_000, 0, 3_000_000_000, 0},
			read{9_000, 5 * time.Second, 66, 0}, 0, "the agent was restarted"},
		"the interface's counters began anew": {64, read{1_000, 0, 500, 0}, read{9_000, 5 * time.Second,
			1000, 700}, 0, "ifCounterDiscontinuityTime"},
		"32 bits that were not read for long": {32, read{100, 0, 500, 0}, read{350, 13 * time.Second, 1800,
			0}, 0, "was not read for 13s"},
		"64 bits that were not read for long": {64, read{100, 0, 500, 0}, read{350, 13 * time.Second, 1800,
			0}, 250, ""},
		"so many that a float64 has only each 2048th of": {64, read{1<<64 - 5_001, 0, 500, 0},
			read{1<<64 - 1, 5 * time.Second, 1000, 0}, 5_000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var remembered counter
			count := func(r read) count {
				return count{raw: r.raw, bits: c.bits, read: start.Add(r.elapsed), uptime: &r.uptime,
					discontinuity: &r.discontinuity}
			}
			first, anew := remembered.read(count(c.first))
			if anew != "" {
				t.Errorf("%q of the first reading", anew)
			}
			second, anew := remembered.read(count(c.second))
			if (c.anew == "") != (anew == "") || !strings.Contains(anew, c.anew) || anew == "" &&
				(float64(second)-float64(first) != float64(c.grown)) {
				t.Errorf("from %d to %d, %q; want %d more, %q", first, second, anew, c.grown, c.anew)
			}
		})
	}
}
