package measure

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
)

// fault is why the readings show nothing about the device at all. It is empty for sound readings. One port's fault
// voids the whole window, because all directions pass through the same device at the same time.
func (s Span) fault(directions []Direction) string {
	for _, d := range directions {
		for _, p := range d.Pairs {
			if fault := s.pairFault(d, p); fault != "" {
				return fault
			}
		}
	}
	return ""
}

func (s Span) pairFault(d Direction, p Pair) string {
	for _, g := range []int{p.Generator, p.Receiver} {
		if fault := s.generatorFault(g); fault != "" {
			return fault
		}
	}
	if fault := s.portFault(d.From, p.Generator, p.Send); fault != "" {
		return fault
	}
	return s.portFault(d.To, p.Receiver, p.Receive)
}

// generatorFault is why a generator's readings make no window.
func (s Span) generatorFault(g int) string {
	if g >= len(s.Readings) || len(s.Readings[g]) < 2 {
		return "the counters could not be read at both edges of the window"
	}
	readings := s.Readings[g]
	first, latest := edgesOf(readings)
	took := latest.Instant - first.Instant
	if took <= 0 {
		return fmt.Sprintf("the generator's clock went from %s to %s within the window: it was restarted or stands still", first.Instant, latest.Instant)
	}
	if s.Planned > 0 && took < s.Planned-s.Planned/10 {
		return fmt.Sprintf("the window lasted %s instead of %s: generator or runner was held up", took, s.Planned)
	}
	if gap := longestGap(readings); gap > MaxSilence && (s.longerThanPlanned(took) || len(readings) > 2) {
		return fmt.Sprintf("nothing was read for %s: the runner stood still, or the generator answered too late, and a generator that hears nothing stops by itself",
			gap.Round(time.Millisecond))
	}
	return ""
}

// longerThanPlanned reports whether a window took so much longer than planned that generator or runner was held up.
func (s Span) longerThanPlanned(took time.Duration) bool {
	return s.Planned > 0 && took > s.Planned+s.Planned/10
}

// heldUpFault is why a window that took longer than planned shows nothing of the device. Counters that are read late
// are as good as others while the load was offered all the time, as only the runner was late then. Where less was
// offered than asked, the generator itself may have stood still, and nobody knows when.
func (s Span) heldUpFault(evidence report.DirectionEvidence) string {
	shortest, longest := s.lasted()
	if !s.longerThanPlanned(longest) || !underOffered(evidence) && longest <= shortest+shortest/10 {
		return ""
	}
	return fmt.Sprintf("the window lasted %s instead of %s: generator or runner was held up", longest, s.Planned)
}

// lasted are the shortest and the longest time of a generator's readings.
func (s Span) lasted() (shortest, longest time.Duration) {
	for _, readings := range s.Readings {
		if len(readings) < 2 {
			continue
		}
		first, latest := edgesOf(readings)
		took := latest.Instant - first.Instant
		if longest == 0 || took < shortest {
			shortest = took
		}
		longest = max(longest, took)
	}
	return shortest, longest
}

// readLate is for how long the counters of a span were awaited that came too late to count. It is 0 where all came in
// time.
func (s Span) readLate() (late time.Duration) {
	if _, longest := s.lasted(); s.longerThanPlanned(longest) {
		late = longest - s.Planned
	}
	for _, readings := range s.Readings {
		if gap := longestGap(readings); gap > MaxSilence {
			late = max(late, gap)
		}
	}
	return late
}

// portFault is the first thing that happened to a port in the span.
func (s Span) portFault(link string, g, port int) string {
	readings := s.Readings[g]
	for i := range len(readings) - 1 {
		if fault := portFault(link, readings[i], readings[i+1], port); fault != "" {
			return fault
		}
	}
	return ""
}

// MaxSilence is how long a window may go without a reading. There should be one every second. A software engine that
// hears nothing stops after 10 s.
const MaxSilence = 8 * time.Second

func longestGap(readings []engine.Reading) time.Duration {
	var longest time.Duration
	for i := range len(readings) - 1 {
		longest = max(longest, readings[i+1].Instant-readings[i].Instant)
	}
	return longest
}

// portFault is what happened to a port between two successive readings that makes its counters worthless.
func portFault(link string, earlier, later engine.Reading, port int) string {
	a, found := earlier.Ports[port]
	b, ok := later.Ports[port]
	switch {
	case !found || !ok:
		return fmt.Sprintf("%s: port %d is missing from a reading", link, port)
	case !a.LinkUp || !b.LinkUp:
		return fmt.Sprintf("%s: the link was down", link)
	case a.LinkFlaps != b.LinkFlaps:
		return fmt.Sprintf("%s: the link changed its state %d times", link, b.LinkFlaps-a.LinkFlaps)
	case later.Instant < earlier.Instant || wentBack(a, b):
		return fmt.Sprintf("%s: the counters of port %d went backwards: they were cleared, or the generator was restarted", link, port)
	case a.PauseFrames >= 0 && b.PauseFrames > a.PauseFrames:
		return fmt.Sprintf("%s: %d pause frames came: flow control throttled the generator; turn it off on the device's port", link, b.PauseFrames-a.PauseFrames)
	case a.PauseFramesSent >= 0 && b.PauseFramesSent > a.PauseFramesSent:
		return fmt.Sprintf("%s: the generator's port sent %d pause frames, as it had no room for what came, and held the device up; turn flow control off on both ports, and give the generator processors that nothing else uses",
			link, b.PauseFramesSent-a.PauseFramesSent)
	}
	return ""
}

func wentBack(a, b engine.PortCounters) bool {
	sent, received := b.Sent.Sub(a.Sent), b.Received.Sub(a.Received)
	return sent.Packets < 0 || sent.Bytes < 0 || received.Packets < 0 || received.Bytes < 0 ||
		b.ReceiveErrors < a.ReceiveErrors || b.SendErrors < a.SendErrors || b.Damaged < a.Damaged ||
		b.SendDrops < a.SendDrops
}

// plannedSending is for how long a trial that went to its end was to be sent, or 0 where the span is none.
func (s Span) plannedSending() time.Duration {
	if s.Stopped != nil || s.Bursts != nil {
		return 0
	}
	return s.Sending
}

func edgesOf(readings []engine.Reading) (first, latest engine.Reading) {
	return readings[0], readings[len(readings)-1]
}
