package constantload_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/constantload"
	"github.com/linerate-dev/linerate/internal/units"
)

// sessionsWindow is a second of 100 Mb/s in which receivers held the senders back for so much of the time.
func sessionsWindow(phase report.Phase, goodput int64, heldByReceiver time.Duration,
	quality report.Quality) report.Window {
	s := &report.Sessions{Connections: 1, ReceivedBytes: goodput / 8, ReceivedIn: plan.Duration(time.Second),
		GoodputBitsPerSecond: goodput, Segments: 100,
		Senders: report.SenderTime{Observed: plan.Duration(time.Second), Busy: plan.Duration(time.Second),
			ReceiverLimited: plan.Duration(heldByReceiver), Samples: 50, HeldByPath: 50}}
	return report.Window{Phase: phase, Duration: plan.Duration(time.Second), Quality: quality, Reason: "broken",
		Directions: []report.Direction{{From: "west", To: "east", Quality: quality, Sessions: s}}}
}

// Goodput is that of all windows that count together, and the claim follows from what limited them.
func TestSessionsThatSendAllTheyCan(t *testing.T) {
	p := constantload.New(plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true,
		WarmupDuration: plan.Duration(2 * time.Second),
		Duration:       plan.Duration(3 * time.Second), Window: plan.Duration(time.Second)}})
	warm := sessionsWindow(report.WarmUp, 1_000, 0, report.Good)
	hold := func(goodput int64, lasts time.Duration, q report.Quality) report.Window {
		return sessionsWindow(report.Hold, goodput, lasts, q)
	}
	for name, c := range map[string]struct {
		history []report.Window
		reason  report.Reason
		goodput int64
		phrase  string
	}{
		"the path was the limit": {[]report.Window{warm, hold(100e6, 0, report.Good), hold(80e6, 0, report.Good),
			hold(90e6, 0, report.Good)}, report.PathLimited, 90e6,
			"90.00 Mb/s goodput, 0 retransmits, held back by what is between the ends"},
		"the receiver was": {[]report.Window{warm, hold(100e6, time.Second/2, report.Good),
			hold(100e6, time.Second/2, report.Good), hold(100e6, time.Second/2, report.Good)}, report.GeneratorLimited,
			100e6, "the receiver was too slow"},
		"a window that broke is void": {[]report.Window{warm, hold(100e6, 0, report.Good),
			hold(5e6, 0, report.Invalid), hold(100e6, 0, report.Good)}, report.PathLimited, 100e6,
			"1 window says nothing about the device (window 0: broken)"},
		"one of many that was held up": {[]report.Window{warm, hold(100e6, 0, report.Good),
			hold(100e6, 0, report.Good), hold(100e6, time.Second/10, report.Good)}, report.PathLimited, 100e6,
			"between the ends"},
		"nothing is claimed of nothing": {[]report.Window{warm, hold(5e6, 0, report.Invalid),
			hold(5e6, 0, report.Invalid), hold(5e6, 0, report.Invalid)}, report.NotMeasured, 0,
			"3 windows say nothing"},
	} {
		got := p.Conclude(c.history)
		if got.Reason != c.reason || !got.Finished || !strings.Contains(got.Sentence, c.phrase) {
			t.Errorf("%s: %s, finished %v: %s", name, got.Reason, got.Finished, got.Sentence)
		}
		if c.goodput > 0 && (got.Whole == nil || got.Whole.Directions[0].Sessions.GoodputBitsPerSecond != c.goodput) {
			t.Errorf("%s: the whole is %+v, want %d bit/s", name, got.Whole, c.goodput)
		}
	}
	if s := p.Describe().Sentence; s != "send all that connections carry for 3s in windows of 1s" {
		t.Errorf("it is described as %q", s)
	}
	if end := p.Next([]report.Window{sessionsWindow(report.WarmUp, 0, 0, report.Good)}); !end.End ||
		!strings.Contains(end.Reason, "no payload came from west to east") {
		t.Errorf("a silent warm-up goes on: %+v", end)
	}
	untold := sessionsWindow(report.WarmUp, 0, 0, report.Invalid)
	untold.Directions[0].Sessions.ReceivedIn = 0
	if next := p.Next([]report.Window{untold}); next.End {
		t.Errorf("a warm-up in which the receiver told nothing ends the run: %+v", next)
	}
}

// All that was asked for came only where it did in each direction.
func TestDatagramsAtARate(t *testing.T) {
	p := constantload.New(plan.Procedure{Type: plan.TypeConstantLoad,
		ConstantLoad: &plan.ConstantLoad{Rate: units.Rate{Kind: units.Layer2Bits, Micros: 8e12},
			Duration: plan.Duration(time.Second), Window: plan.Duration(time.Second)}})
	direction := func(source, destination string, sent, lost int64) report.Direction {
		return report.Direction{From: source, To: destination, Quality: report.Good,
			Sessions: &report.Sessions{Connections: 1, AskedBitsPerSecond: 8_000_000, WrittenBytes: sent * 1000,
				SentBytes: sent * 1000, SentIn: plan.Duration(time.Second), ReceivedBytes: (sent - lost) * 1000,
				ReceivedIn: plan.Duration(time.Second), GoodputBitsPerSecond: (sent - lost) * 8000,
				Datagrams: &report.Datagrams{Sent: sent, Received: sent - lost, Lost: lost,
					LossRatio: units.RatioOf(lost, sent)}}}
	}
	for name, c := range map[string]struct {
		outward, homeward report.Direction
		reason            report.Reason
		phrase            string
	}{
		"all came both ways": {direction("west", "east", 1000, 0), direction("east", "west", 1000, 0),
			report.TargetReached, "8mbps of payload per direction was to be sent for 1s in 1 window"},
		"some were lost one way": {direction("west", "east", 1000, 0), direction("east", "west", 1000, 10),
			report.PathLimited, "east→west: 7.92 Mb/s goodput, 10 of 1000 datagrams were lost (1 %)"},
		"a sender was too weak": {direction("west", "east", 900, 0), direction("east", "west", 1000, 10),
			report.GeneratorLimited, "the sender sent only 7.20 Mb/s of 8.00 Mb/s asked for"},
		"the other direction's is": {direction("west", "east", 1000, 10), direction("east", "west", 1000, 0),
			report.PathLimited, "west→east: 7.92 Mb/s goodput"},
	} {
		w := report.Window{Phase: report.Hold, Duration: plan.Duration(time.Second), Quality: report.Good,
			Directions: []report.Direction{c.outward, c.homeward}}
		if got := p.Conclude([]report.Window{w}); got.Reason != c.reason || !strings.Contains(got.Sentence, c.phrase) {
			t.Errorf("%s: %s: %s; want %s, %q", name, got.Reason, got.Sentence, c.reason, c.phrase)
		}
	}
}
