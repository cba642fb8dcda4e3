package measure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// stretches are what was seen between successive readings, one after the other: so many times, so long, so many
// frames sent and lost.
type stretches []struct {
	times      int
	lasts      time.Duration
	sent, lost int64
}

// window reads a port that is asked for 10 kpps at the ends of all stretches.
func (s stretches) window(streams int, changes ...func(*engine.PortCounters)) report.Window {
	return judged(s.read(streams, changes...))
}

func (s stretches) read(streams int, changes ...func(*engine.PortCounters)) (measure.Setup, measure.Span) {
	setup := onePort(streams)
	asked := []units.PacketRate{10 * kpps}
	span := measure.Span{Intended: asked, Pace: setup.Pace(asked)}
	var at time.Duration
	var sent, returned int64
	read := func() {
		r := readAt(at, 0, sent)
		back := r.Ports[1]
		back.Received = units.Traffic{Packets: 5_000_000 + returned, Bytes: 64 * (5_000_000 + returned)}
		r.Ports[1] = back
		for _, change := range changes {
			edit([]engine.Reading{r}, 0, change)
		}
		span.Pace.Add([]engine.Reading{r})
		span.Readings = [][]engine.Reading{{r}}
	}
	read()
	first := span.Readings[0][0]
	for _, piece := range s {
		for range piece.times {
			at, sent, returned = at+piece.lasts, sent+piece.sent, returned+piece.sent-piece.lost
			read()
		}
	}
	span.Readings[0] = []engine.Reading{first, span.Readings[0][0]}
	return setup, span
}

func TestWhatWasLostInBurstsIsNotTheDevices(t *testing.T) {
	tests := map[string]struct {
		seen      stretches
		want      report.Quality
		says      string
		bursts    int
		unwatched time.Duration
	}{
		"lost in a burst": {stretches{{30, 20 * ms, 200, 0}, {5, 20 * ms, 0, 0}, {1, 20 * ms, 1200, 500}, {30, 20 * ms, 200, 0}}, report.Invalid,
			"500 of 13200 frames did not come back: 3.7879 % lost, limit 0.1 %; but generator generator-0 sent in bursts, once in this window: " +
				"60.00 kpps for 20ms on west after a pause of 100ms, where 10.00 kpps was asked for; a device may lose those at any load: give the generator processors", 1, 0},
		"taken, though it came in bursts":              {stretches{{30, 20 * ms, 200, 0}, {5, 20 * ms, 0, 0}, {1, 20 * ms, 1200, 0}, {30, 20 * ms, 200, 0}}, report.Good, "all 13200", 1, 0},
		"lost all the time, also in a burst":           {stretches{{30, 20 * ms, 200, 40}, {5, 20 * ms, 0, 0}, {1, 20 * ms, 1200, 900}, {30, 20 * ms, 200, 40}}, report.Lossy, "3300 of 13200", 1, 0},
		"lost now and then, and bursts were seen":      {stretches{{30, 20 * ms, 200, 0}, {1, 20 * ms, 1200, 0}, {20, 20 * ms, 200, 40}}, report.Invalid, "sent in bursts", 1, 0},
		"lost all the time, but nearly all are bursts": {stretches{{4, 20 * ms, 200, 50}, {20, 20 * ms, 400, 200}}, report.Invalid, "once in this window: 20.00 kpps for 400ms", 1, 0},
		"lost for a moment, and sent evenly":           {stretches{{30, 20 * ms, 200, 0}, {1, 20 * ms, 200, 100}, {30, 20 * ms, 200, 0}}, report.Lossy, "100 of 12200", 0, 0},
		"lost while nobody looked": {stretches{{30, 20 * ms, 200, 0}, {1, 300 * ms, 3000, 700}, {30, 20 * ms, 200, 0}}, report.Invalid,
			"700 of 15000 frames did not come back: 4.6667 % lost, limit 0.1 %; but nothing could be read for 300ms: generator or runner was held up", 0, 300 * ms},
		"lost while nobody looked for a moment":     {stretches{{30, 20 * ms, 200, 0}, {1, 80 * ms, 800, 300}, {30, 20 * ms, 200, 0}}, report.Invalid, "nothing could be read for 80ms", 0, 80 * ms},
		"lost also while somebody looked":           {stretches{{30, 20 * ms, 200, 1}, {1, 300 * ms, 3000, 700}, {30, 20 * ms, 200, 1}}, report.Lossy, "760 of 15000", 0, 300 * ms},
		"lost too little to tell while one looked":  {stretches{{30, 20 * ms, 200, 0}, {1, 300 * ms, 3000, 700}, {15, 20 * ms, 200, 1}}, report.Invalid, "nothing could be read", 0, 300 * ms},
		"nobody looked for a moment, nothing lost":  {stretches{{30, 20 * ms, 200, 0}, {1, 300 * ms, 3000, 0}, {30, 20 * ms, 200, 0}}, report.Good, "", 0, 300 * ms},
		"a server that takes its time is no gap":    {stretches{{10, 250 * ms, 2500, 0}, {1, 250 * ms, 2500, 100}}, report.Lossy, "100 of 27500", 0, 0},
		"a little late is no gap":                   {stretches{{30, 20 * ms, 200, 0}, {1, 50 * ms, 500, 100}, {30, 20 * ms, 200, 0}}, report.Lossy, "", 0, 0},
		"a lower bound stays one, bursts or none":   {stretches{{30, 20 * ms, 150, 0}, {1, 20 * ms, 1200, 0}, {30, 20 * ms, 150, 0}}, report.Short, "", 1, 0},
		"a port that was reset is told as it is":    {stretches{{30, 20 * ms, 200, 0}, {1, 20 * ms, -9000, 0}, {30, 20 * ms, 200, 0}}, report.Invalid, "went backwards", 0, 0},
		"somebody else's traffic is told as it was": {stretches{{30, 20 * ms, 200, 0}, {1, 20 * ms, 1200, -500}}, report.Invalid, "500 frames more came back", 1, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := test.seen.window(1)
			if w.Quality != test.want || !strings.Contains(w.Reason, test.says) || len(w.Bursts) != test.bursts || w.Unwatched.Std() != test.unwatched {
				t.Errorf("%s: %s\nbursts %+v, unwatched %s", w.Quality, w.Reason, w.Bursts, w.Unwatched.Std())
			}
			if uneven := strings.Contains(w.Reason, "; but "); w.LostToBursts() != uneven {
				t.Errorf("lost to bursts: %v", w.LostToBursts())
			}
		})
	}
}

func TestAGapOfAGeneratorThatNeverCatchesUpHidesNothing(t *testing.T) {
	gap := stretches{{30, 20 * ms, 200, 0}, {1, 300 * ms, 2000, 700}, {30, 20 * ms, 200, 0}}
	w := gap.window(1, func(c *engine.PortCounters) { c.Paced = true })
	if w.Quality != report.Lossy || w.Unwatched != 0 {
		t.Errorf("%s: %s, unwatched %s", w.Quality, w.Reason, w.Unwatched.Std())
	}
}

func TestAPaceThatNobodyFollowsExcusesNothing(t *testing.T) {
	w := stretches{{60, 20 * ms, 200, 0}, {1, 20 * ms, 5000, 3000}}.window(-1)
	if w.Quality != report.Lossy || len(w.Bursts) != 0 {
		t.Errorf("streams without a steady pace: %s: %s", w.Quality, w.Reason)
	}
}
