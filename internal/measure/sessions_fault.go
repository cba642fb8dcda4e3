package measure

import (
	"cmp"
	"fmt"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// fault is why the readings say nothing about the device. It is empty for sound readings.
func (s SessionSpan) fault() string {
	if len(s.Sending) < 2 || len(s.Receiving) < 2 {
		return fmt.Sprintf("%s: the connections' counters could not be read at both edges of the window",
			wording.Direction(s.From, s.To))
	}
	if wrong := cmp.Or(s.broken(), s.unequal()); wrong != "" {
		return wrong
	}
	a, b := s.Sending[0], s.Sending[len(s.Sending)-1]
	start, end := s.Receiving[0], s.Receiving[len(s.Receiving)-1]
	switch {
	case b.At <= a.At || end.At <= start.At:
		return fmt.Sprintf("an end's clock stood still between the window's edges: %s passed at %s and %s at %s",
			b.At-a.At, s.From, end.At-start.At, s.To)
	case end.Bytes < start.Bytes || b.SentBytes < a.SentBytes || b.AcknowledgedBytes < a.AcknowledgedBytes ||
		b.Segments < a.Segments || b.Busy < a.Busy:
		return fmt.Sprintf("counters of the connections %s went back: an end was restarted, or its kernel counts otherwise than TCP_INFO says", wording.Direction(s.From, s.To))
	}
	return ""
}

// unequal is how many connections or streams one end has and the other hasn't. It is empty where both have the
// same, all the time.
func (s SessionSpan) unequal() string {
	a, b := s.Sending[0], s.Sending[len(s.Sending)-1]
	start, end := s.Receiving[0], s.Receiving[len(s.Receiving)-1]
	switch {
	case a.Connections != b.Connections || start.Connections != end.Connections || a.Connections != end.Connections ||
		a.Connections == 0:
		return fmt.Sprintf("of %d connections %s the receiver had %d", a.Connections, wording.Direction(s.From, s.To),
			end.Connections)
	case len(a.Datagrams) != len(b.Datagrams) || len(b.Datagrams) != len(end.Streams) ||
		len(start.Streams) != len(end.Streams):
		return fmt.Sprintf("of %d streams of datagrams %s the receiver had %d", len(b.Datagrams),
			wording.Direction(s.From, s.To), len(end.Streams))
	}
	return ""
}

// broken is what became of the first connection that broke. It is empty where all stand.
func (s SessionSpan) broken() string {
	for _, r := range s.Sending {
		if r.Broken != "" {
			return fmt.Sprintf("a connection %s broke: %s", wording.Direction(s.From, s.To), r.Broken)
		}
	}
	for _, r := range s.Receiving {
		if r.Broken != "" {
			return fmt.Sprintf("a connection %s broke at its receiver: %s", wording.Direction(s.From, s.To), r.Broken)
		}
	}
	return ""
}
