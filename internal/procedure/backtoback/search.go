package backtoback

import (
	"math"
	"math/bits"

	"github.com/linerate-dev/linerate/internal/units"
)

// search is one search for the longest burst without loss in one direction. Its ends rest on its own bursts alone.
//
//	0 ────── clean ─────────────── lossy ─────▶ frames of a burst
//	  no frame lost    not tried     some lost
type search struct {
	clean, lossy int64 // 0: there is none yet
	lost         int64 // of the frames of the shortest burst with loss
	bursts       int   // that were judged
	sending      int64 // of the longest burst without loss, in ns; 0: unknown
}

// observe takes in a burst of so many frames, and how many of them the device surely lost.
func (s *search) observe(frames, lost, sending int64) {
	s.bursts++
	switch {
	case lost <= 0:
		s.clean, s.sending = max(s.clean, frames), sending
	case s.lossy == 0 || frames < s.lossy:
		s.lossy, s.lost = frames, lost
	}
}

// field is what all searches of a direction have in common. A burst that is a frame shorter loses excessShare frames
// less.
type field struct {
	longest     int64   // that a burst may be
	begin       int64   // with what the search begins
	excessShare float64 // the share of a burst's frames that come faster than the device forwards
	resolution  units.Ratio
}

// width is how near the ends have to come to each other.
func (f field) width(lossy int64) int64 {
	hi, lo := bits.Mul64(uint64(lossy), uint64(f.resolution))
	q, _ := bits.Div64(hi, lo, uint64(units.One))
	return max(1, int64(q))
}

// isFinished reports whether the ends of the search are near enough, or the longest burst allowed lost nothing.
func (f field) isFinished(s search) bool {
	if s.lossy == 0 {
		return s.clean >= f.longest
	}
	return s.lossy-s.clean <= f.width(s.lossy) || s.bursts >= maxBursts(f.resolution)
}

// next is how long the next burst is. A burst with loss shows by how many frames it was too long. The next two bursts
// try just below and just above that length. Each third burst halves what is left, so that the search ends whatever
// devices do.
func (f field) next(s search) int64 {
	if s.lossy == 0 {
		return f.longer(s)
	}
	half := f.width(s.lossy) / 2
	if guess := s.lossy - int64(math.Ceil(float64(s.lost)/f.excessShare)); s.bursts%3 != 0 && f.excessShare > 0 {
		for _, frames := range []int64{guess - half, guess + max(half, 1)} {
			if frames > s.clean && frames < s.lossy {
				return frames
			}
		}
	}
	if shortest := max(s.clean, 1); s.lossy/4 > shortest { // far apart: halve the number of digits
		return min(max(int64(math.Sqrt(float64(shortest))*math.Sqrt(float64(s.lossy))), s.clean+1), s.lossy-1)
	}
	return s.clean + (s.lossy-s.clean)/2
}

// longer is the next length while no burst has lost frames. It is a little more than the first, twice that, and then
// the longest.
func (f field) longer(s search) int64 {
	switch s.bursts {
	case 0:
		return min(max(f.begin, 1), f.longest)
	case 1:
		return min(s.clean+f.width(s.clean), f.longest)
	case 2:
		return min(2*s.clean, f.longest)
	}
	return f.longest
}

// maxBursts is how many bursts a search takes at most. Three find a burst with loss, and each halving of what is left
// may take two more that guess.
func maxBursts(resolution units.Ratio) int {
	const digits = 6 // halvings of the number of digits, of which 32 bits have ten at most
	return 4 + 3*(digits+bits.Len64(uint64(units.One/max(resolution, 1))))
}
