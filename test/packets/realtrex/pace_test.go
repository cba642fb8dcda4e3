//go:build trex

package realtrex

import (
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// TestCountersAreReadAtTheRequest: internal/measure tells bursts by counters that are asked for many times a second. They are the ports'
// own at each question, not refreshed at intervals of the server's.
func TestCountersAreReadAtTheRequest(t *testing.T) {
	const rate, every = 5000, 10 * time.Millisecond
	c := claim(t)
	point(t, c)
	must(t, c.AddStreams(t.Context(), 0, udp(t, 0)))
	_, err := c.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(rate), Duration: 8 * time.Second})
	must(t, err)
	time.Sleep(time.Second)
	var stale, still int
	var took, width, apart []time.Duration
	var last trex.Snapshot
	for n := range 200 {
		asked := time.Now()
		s, err := c.Snapshot(t.Context(), []int{0, 1}, trex.Detail{})
		must(t, err)
		took, width = append(took, time.Since(asked)), append(width, s.End-s.Begin)
		if n > 0 {
			gap := s.Begin - last.End
			apart = append(apart, gap)
			sent := s.Ports[0].SentPackets - last.Ports[0].SentPackets
			switch {
			case sent == 0 && gap > 5*time.Millisecond:
				stale++
			case float64(sent) < rate*gap.Seconds()/2:
				still++
			}
		}
		last = s
		time.Sleep(every - min(every, time.Since(asked)))
	}
	must(t, c.StopTraffic(t.Context(), 0))
	settle(t, c)
	middle := func(all []time.Duration) (median, most time.Duration) {
		slices.Sort(all)
		return all[len(all)/2], all[len(all)-1]
	}
	for name, all := range map[string][]time.Duration{"a question takes": took, "the server reads within": width, "between readings lie": apart} {
		median, most := middle(all)
		t.Logf("%s %s, at most %s", name, median, most)
	}
	t.Logf("nothing had been sent between %d pairs of readings, less than half of what was due between %d more", stale, still)
	if stale > 50 {
		t.Errorf("%d of 199 readings, %s apart, showed nothing new", stale, every)
	}
}
