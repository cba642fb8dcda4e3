package measure

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// share is one pair's part of a direction.
type share struct {
	pair                  Pair
	sent, returned, edges int64
	offered, received     units.PacketRate
}

// shares are the generators' parts of a window, all directions together. There are none with only one generator.
func (s Setup) shares(span Span) []report.GeneratorShare {
	if len(s.Generators) < 2 {
		return nil
	}
	offered, received := make([]units.PacketRate, len(s.Generators)), make([]units.PacketRate, len(s.Generators))
	for i, d := range s.Directions {
		f := s.figures(d, span, i, true)
		for _, part := range f.shares {
			offered[part.pair.Generator] += part.offered
			received[part.pair.Receiver] += part.received
		}
	}
	var shares []report.GeneratorShare
	for g, name := range s.Generators {
		shares = append(shares, report.GeneratorShare{Name: name, OfferedPacketsPerSecond: offered[g].Whole(),
			ReceivedPacketsPerSecond: received[g].Whole()})
	}
	return shares
}

// surplus is of the pairs that got more than they sent, where flows of another replica may have come back to them.
// Each replica has networks of its own, which the device routes to it alone, and a correct sum says nothing of
// that.
func (f *figures) surplus() []report.Surplus {
	if len(f.shares) < 2 {
		return nil
	}
	var surpluses []report.Surplus
	for _, s := range f.shares {
		if surplus := s.returned - s.sent - s.edges - f.foreign; surplus > 0 {
			surpluses = append(surpluses, report.Surplus{Generator: f.setup.name(s.pair.Receiver), Sent: s.sent,
				Returned: s.returned, Unexplained: surplus})
		}
	}
	return surpluses
}
