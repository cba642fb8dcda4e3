package impaired

import (
	"sync/atomic"
	"time"

	"github.com/linerate-dev/linerate/internal/transit"
)

// longestFrame is the longest that a port takes, without its check sequence.
const longestFrame = 1 << 14

// stays are for how long frames stayed inside, by their length. One thread notes, any may read.
type stays [longestFrame]atomic.Pointer[[transit.Buckets]atomic.Uint64]

// arrival is a frame that came, of so many bytes.
type arrival struct {
	at    time.Duration
	bytes int
}

// note takes the frames that one call handed on, in their order: the kernel takes them one after the other, each for its share of the call's time.
//
//	began ├──1──┼──2──┼──3──┤ ended
//	         ·     ·     ·     when each is taken to have left
func (s *stays) note(came []arrival, began, ended time.Duration) {
	for i, a := range came {
		left := began + (ended-began)*time.Duration(2*i+1)/time.Duration(2*len(came))
		of := s[min(a.bytes, longestFrame-1)].Load()
		if of == nil {
			of = new([transit.Buckets]atomic.Uint64)
			s[min(a.bytes, longestFrame-1)].Store(of)
		}
		of[transit.Index(left-a.at)].Add(1)
	}
}

// read is how many frames there were by their length, and by their bucket in package transit.
func (s *stays) read() map[int]map[int]uint64 {
	all := map[int]map[int]uint64{}
	for bytes := range s {
		of := s[bytes].Load()
		if of == nil {
			continue
		}
		all[bytes] = map[int]uint64{}
		for bucket := range of {
			if frames := of[bucket].Load(); frames > 0 {
				all[bytes][bucket] = frames
			}
		}
	}
	return all
}
