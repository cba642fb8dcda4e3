package measure

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// Sizes are the lengths of a direction's frames, in bytes with FCS; the zero value: unknown, and nothing is checked against them.
type Sizes struct{ Least, Most int64 }

const (
	// headerBytes is by how much frames may be longer or shorter on average and still be the frames that were sent, for a driver that leaves out the FCS, and a VLAN tag.
	headerBytes = 8
	// mixed is how many frames of a mix may be others at a window's two edges than the mix has on average.
	mixed = 100
	// otherPeoples is the length that frames may have which aren't ours, where ours aren't longer.
	otherPeoples = 1518
)

// mostDifference is by how many bytes a frame of others may differ from one of ours.
func (s Sizes) mostDifference() int64 { return max(otherPeoples, s.Most) }

// resized is by how many bytes all frames that came back are longer than those that were sent (below zero: shorter), beyond what their mix explains: a device may lose those of one size only. 0 is
// less than a byte a frame.
//
//	came back, of sent bytes     sent − lost × most          sent − lost × least
//	──────────────────────────────────├──────────────────────────────┤──────▶ bytes
//	                 shorter          │   the frames that were sent  │  longer
func (f *figures) resized() int64 {
	s := f.direction.Sizes
	if s.Most == 0 || f.returned.Packets == 0 {
		return 0
	}
	few, many := f.lost()*s.Least, f.lost()*s.Most
	slack := (f.edges+f.foreign+edgeFrames)*s.mostDifference() + mixed*(s.Most-s.Least)
	return beyond(f.returned.Bytes, f.sent.Bytes-max(few, many)-slack, f.sent.Bytes-min(few, many)+slack, f.returned.Packets)
}

// miscounted is by how many bytes the sending ports counted more (below zero: less) than such frames have.
func (f *figures) miscounted() int64 {
	s := f.direction.Sizes
	if s.Most == 0 {
		return 0
	}
	slack := edgeFrames * s.mostDifference()
	return beyond(f.sent.Bytes, f.sent.Packets*s.Least-slack, f.sent.Packets*s.Most+slack, f.sent.Packets)
}

// beyond is how far a value lies outside an interval; 0: not far enough to be worth reporting.
func beyond(v, least, most, worthTelling int64) int64 {
	switch {
	case v < least && least-v >= worthTelling:
		return v - least
	case v > most && v-most >= worthTelling:
		return v - most
	}
	return 0
}

// implausible is why a direction's bytes can't be those of the frames that were sent; empty: they can.
func (f *figures) implausible() string {
	m := report.Direction{From: f.direction.From, To: f.direction.To, Sent: f.sent, Returned: f.returned}
	switch off, again := f.miscounted(), f.resized(); {
	case off > headerBytes*f.sent.Packets || off < -headerBytes*f.sent.Packets:
		return fmt.Sprintf("%s→%s: the generator's ports counted %s a frame, and the profile's frames have %s: their counters are wrong, or somebody else sends there",
			m.From, m.To, meanSize(m.Sent.Bytes, m.Sent.Packets), f.direction.Sizes)
	case f.direction.Reshapes:
	case again > headerBytes*f.returned.Packets || again < -headerBytes*f.returned.Packets:
		return fmt.Sprintf("%s→%s: frames came back with %s on average where %s were sent: they were cut short, merged, or wrapped into others: a LoadTest needs frames that come out as they went in (linerate ramp takes a device that changes them)",
			m.From, m.To, meanSize(m.Returned.Bytes, m.Returned.Packets), meanSize(m.Sent.Bytes, m.Sent.Packets))
	}
	return ""
}

func (s Sizes) String() string {
	if s.Least == s.Most {
		return fmt.Sprintf("%d bytes", s.Least)
	}
	return fmt.Sprintf("%d to %d bytes", s.Least, s.Most)
}

func meanSize(bytes, packets int64) string {
	return fmt.Sprintf("%.1f bytes", float64(bytes)/float64(max(packets, 1)))
}
