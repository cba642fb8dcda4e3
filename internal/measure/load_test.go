package measure_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// A TRex on kernel interfaces counts some ARP among what it sent, and receives the device's: 46 bytes that never
// come back, or nobody sent.
func TestFramesByWhichAGeneratorTellsItsAddressAreNotTheDevicesLoss(t *testing.T) {
	frames := func(n, bytes int64) units.Traffic { return units.Traffic{Packets: n, Bytes: bytes} }
	for name, tt := range map[string]struct {
		sizes          measure.Sizes
		reshapes       bool
		sent, returned units.Traffic
		quality        report.Quality
		lost           int64
	}{
		"one frame of ARP sent":                       {measure.Sizes{Shortest: 64, Longest: 64}, false, frames(513, 512*64+46), frames(512, 512*64), report.Good, 0},
		"two of them beside longer ones":              {measure.Sizes{Shortest: 128, Longest: 128}, false, frames(514, 512*128+2*46), frames(512, 512*128), report.Good, 0},
		"one of the device's came":                    {measure.Sizes{Shortest: 64, Longest: 64}, false, frames(512, 512*64), frames(513, 512*64+46), report.Good, 0},
		"one that was counted before, and taken back": {measure.Sizes{Shortest: 64, Longest: 64}, false, frames(511, 512*64-46), frames(512, 512*64), report.Good, 0},
		"one came while one of the load was lost":     {measure.Sizes{Shortest: 64, Longest: 64}, false, frames(512, 512*64), frames(512, 511*64+46), report.Lossy, 1},
		"one of the load was lost":                    {measure.Sizes{Shortest: 64, Longest: 64}, false, frames(512, 512*64), frames(511, 511*64), report.Lossy, 1},
		"a port that counts no FCS":                   {measure.Sizes{Shortest: 64, Longest: 64}, false, frames(512, 512*60), frames(511, 511*60), report.Lossy, 1},
		"sizes that vary tell nothing":                {measure.Sizes{Shortest: 64, Longest: 1518}, false, frames(513, 512*64+46), frames(512, 512*64), report.Lossy, 1},
		"nor does a device that changes them":         {measure.Sizes{Shortest: 64, Longest: 64}, true, frames(513, 512*64+46), frames(512, 512*64), report.Lossy, 1},
	} {
		t.Run(name, func(t *testing.T) {
			setup, span := counted{planned: 1}.prepare()
			setup.Directions[0].Sizes, setup.Directions[0].Reshapes = tt.sizes, tt.reshapes
			first := engine.Reading{Ports: map[int]engine.PortCounters{0: {LinkUp: true}, 1: {LinkUp: true}}}
			last := engine.Reading{Instant: time.Second, Ports: map[int]engine.PortCounters{0: {Sent: tt.sent, LinkUp: true}, 1: {Received: tt.returned, LinkUp: true}}}
			span.Readings, span.Planned, span.Sending, span.Intended[0] = [][]engine.Reading{{first, last}}, 0, time.Second, 512*units.PacketPerSecond
			w := measure.Judge(setup.Window(span), measure.Goal{})
			if d := w.Directions[0]; d.Quality != tt.quality || d.Sent.Packets-d.Returned.Packets != tt.lost {
				t.Errorf("%s, want %s: %s", d.Quality, tt.quality, d.Reason)
			}
		})
	}
}
