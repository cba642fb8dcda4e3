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

// reading has sent and received all of 1000 packets/s until then, but not what should have been sent in a silence
// before it.
func reading(at, silent time.Duration) engine.Reading {
	packets := int64((at - silent).Seconds() * 1000)
	traffic := units.Traffic{Packets: packets, Bytes: packets * 64}
	return engine.Reading{Instant: at, CPUPercent: -1, Ports: map[int]engine.PortCounters{
		0: {Sent: traffic, LinkUp: true, PauseFrames: -1}, 1: {Received: traffic, LinkUp: true, PauseFrames: -1},
	}}
}

// TestARunnerThatStoodStill: in a long hold eleven silent seconds do not stretch the window noticeably, but the
// generator has stopped.
func TestARunnerThatStoodStill(t *testing.T) {
	setup := measure.Setup{Directions: []measure.Direction{
		{From: "west", To: "east", Mix: units.Traffic{Packets: 1, Bytes: 64}, Pairs: []measure.Pair{{Generator: 0, Send: 0, Receive: 1}}}}}
	for name, c := range map[string]struct {
		gap  time.Duration
		want report.Quality
	}{
		"a second late is nothing": {2 * time.Second, report.Good},
		"eleven seconds void it":   {11 * time.Second, report.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			silent := max(0, c.gap-2*time.Second) // the engine sends on for a while
			readings := []engine.Reading{reading(0, 0), reading(time.Second, 0)}
			for at := time.Second + c.gap; at <= 120*time.Second; at += time.Second {
				readings = append(readings, reading(at, silent))
			}
			w := judged(setup, measure.Span{Readings: [][]engine.Reading{readings}, Planned: 119 * time.Second, Intended: []units.PacketRate{1000 * units.PacketPerSecond}})
			if w.Quality != c.want {
				t.Errorf("%s: %s, want %s", w.Quality, w.Reason, c.want)
			}
			if c.want == report.Invalid && !strings.Contains(w.Reason, "nothing was read for 11s") {
				t.Errorf("the reason is %s", w.Reason)
			}
		})
	}
}
