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

// While one direction varies, the other one is told and not judged, whatever came back of it; and what the window
// is worth the first alone decides.
func TestADirectionBesideTheOneThatVaries(t *testing.T) {
	both := measure.Setup{Directions: []measure.Direction{
		{From: "west", To: "east", Mix: units.Traffic{Packets: 1, Bytes: 64}, Pairs: []measure.Pair{{Send: 0, Receive: 1}}},
		{From: "east", To: "west", Mix: units.Traffic{Packets: 1, Bytes: 64}, Pairs: []measure.Pair{{Send: 1, Receive: 0}}},
	}}
	span := func(varied string, back, lost int64) measure.Span {
		counters := func(sent, received int64) engine.PortCounters {
			return engine.PortCounters{Sent: units.Traffic{Packets: sent, Bytes: 64 * sent}, Received: units.Traffic{Packets: received, Bytes: 64 * received}, LinkUp: true, PauseFrames: -1}
		}
		return measure.Span{Planned: 10 * time.Second, Varied: varied, Intended: []units.PacketRate{1000 * units.PacketPerSecond, units.PacketRate(back/10) * units.PacketPerSecond},
			Readings: [][]engine.Reading{{
				{Ports: map[int]engine.PortCounters{0: counters(0, 0), 1: counters(0, 0)}},
				{Instant: 10 * time.Second, Ports: map[int]engine.PortCounters{0: counters(10_000, back-lost), 1: counters(back, 10_000)}},
			}}}
	}
	for name, c := range map[string]struct {
		varied     string
		back, lost int64
		window     report.Quality
		beside     report.Quality
		says       string
	}{
		"nothing was sent in it":                {"west→east", 0, 0, report.Good, report.Unjudged, "nothing was sent, while west→east varied"},
		"all of it came back":                   {"west→east", 500, 0, report.Good, report.Unjudged, "not judged, while west→east varied: all 500 frames came back"},
		"half of it was lost":                   {"west→east", 500, 250, report.Good, report.Unjudged, "250 of 500 frames did not come back: 50 % lost"},
		"somebody else's frames came back":      {"west→east", 0, -20, report.Good, report.Unjudged, "nothing was sent"},
		"half of it was lost, and it is judged": {"", 500, 250, report.Lossy, report.Lossy, "50 % lost"},
		"nothing was sent, and it is judged":    {"", 0, 0, report.Invalid, report.Invalid, "sent nothing"},
		"the other way round":                   {"east→west", 500, 250, report.Lossy, report.Lossy, "50 % lost"},
	} {
		t.Run(name, func(t *testing.T) {
			counted := both.Window(span(c.varied, c.back, c.lost))
			// any goal leaves alone what isn't judged
			for _, limit := range []units.Ratio{units.One / 1000, units.One / 100} {
				w := measure.Judge(counted, measure.Goal{MaxLossRatio: limit})
				if d := w.Directions[1]; w.Quality != c.window || d.Quality != c.beside || !strings.Contains(d.Reason, c.says) {
					t.Errorf("the window is %s, and the direction %s: %s; want %s and %s: %s", w.Quality, d.Quality, d.Reason, c.window, c.beside, c.says)
				}
				if w.Counts() != (c.window != report.Invalid) {
					t.Errorf("a window that is %s counts: %t", w.Quality, w.Counts())
				}
			}
		})
	}
}
