package measure

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// Sizes are the lengths of a direction's frames, in bytes with FCS. The zero value is unknown, and nothing is
// checked against it.
type Sizes struct{ Shortest, Longest int64 }

const (
	// headerBytes is by how much frames may be longer or shorter on average and still be the frames that were sent,
	// for a driver that leaves out the FCS, and a VLAN tag.
	headerBytes = 8
	// mixed is how many frames of a mix may be others at a window's two edges than the mix has on average.
	mixed = 100
	// otherPeoples is the length that frames may have which aren't ours, where ours aren't longer.
	otherPeoples = 1518
)

// mostDifference is by how many bytes a frame of others may differ from one of ours.
func (s Sizes) mostDifference() int64 { return max(otherPeoples, s.Longest) }

// resized is by how many bytes all returned frames are longer than the sent ones (below zero for shorter), beyond
// what their mix explains, as a device may lose frames of one size only. It is 0 for less than a byte a frame.
//
//	came back, of sent bytes     sent − lost × most          sent − lost × least
//	──────────────────────────────────├──────────────────────────────┤──────▶ bytes
//	                 shorter          │   the frames that were sent  │  longer
func (f *figures) resized() int64 {
	s := f.direction.Sizes
	if s.Longest == 0 || f.returned.Packets == 0 {
		return 0
	}
	smallest, largest := f.lost()*s.Shortest, f.lost()*s.Longest
	slack := (f.edges+f.foreign+edgeFrames)*s.mostDifference() + mixed*(s.Longest-s.Shortest)
	return beyond(f.returned.Bytes, f.sent.Bytes-max(smallest, largest)-slack, f.sent.Bytes-min(smallest, largest)+
		slack, f.returned.Packets)
}

// miscounted is by how many bytes the sending ports counted more (below zero for less) than such frames have.
func (f *figures) miscounted() int64 {
	s := f.direction.Sizes
	if s.Longest == 0 {
		return 0
	}
	slack := edgeFrames * s.mostDifference()
	return beyond(f.sent.Bytes, f.sent.Packets*s.Shortest-slack, f.sent.Packets*s.Longest+slack, f.sent.Packets)
}

// beyond is how far a value lies outside an interval, or 0 where it is not far enough to be worth reporting.
func beyond(v, low, high, worthTelling int64) int64 {
	switch {
	case v < low && low-v >= worthTelling:
		return v - low
	case v > high && v-high >= worthTelling:
		return v - high
	}
	return 0
}

// implausible is why a direction's bytes can't be those of the frames that were sent. It is empty where they can.
func (f *figures) implausible() string {
	m := report.Direction{From: f.direction.From, To: f.direction.To, Sent: f.sent, Returned: f.returned}
	switch wrong, sizeFault := f.miscounted(), f.resized(); {
	case wrong > headerBytes*f.sent.Packets || wrong < -headerBytes*f.sent.Packets:
		return fmt.Sprintf("%s→%s: the generator's ports counted %s a frame, and the profile's frames have %s: their counters are wrong, or somebody else sends there",
			m.From, m.To, meanSize(m.Sent.Bytes, m.Sent.Packets), f.direction.Sizes)
	case f.direction.Reshapes:
	case sizeFault > headerBytes*f.returned.Packets || sizeFault < -headerBytes*f.returned.Packets:
		return fmt.Sprintf("%s→%s: frames came back with %s on average where %s were sent: they were cut short, merged, or wrapped into others: a LoadTest needs frames that come out as they went in (linerate ramp takes a device that changes them)",
			m.From, m.To, meanSize(m.Returned.Bytes, m.Returned.Packets), meanSize(m.Sent.Bytes, m.Sent.Packets))
	}
	return ""
}

func (s Sizes) String() string {
	if s.Shortest == s.Longest {
		return fmt.Sprintf("%d bytes", s.Shortest)
	}
	return fmt.Sprintf("%d to %d bytes", s.Shortest, s.Longest)
}

func meanSize(bytes, packets int64) string {
	return fmt.Sprintf("%.1f bytes", float64(bytes)/float64(max(packets, 1)))
}
