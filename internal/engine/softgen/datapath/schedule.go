package datapath

import "math"

// schedule says which frame of which stream a sending thread must send next. It is pure, and the caller passes
// the time in.
//
// Threads share a stream frame by frame. Thread k of n has the stream's frames k, k+n, k+2n, …, each when it
// is due in the whole stream. So every thread computes all streams and chains, and sends its own part.
type schedule struct {
	cursors []*cursor // a binary heap, earliest first
	thread  uint64
	threads uint64
	factor  float64
}

// cursor walks a chain of streams. It points to the next frame of the present stream.
type cursor struct {
	track *track
	line  timeline
	step  uint64
	frame uint64
	due   float64           // when the frame is due or, past the last frame, when the stream ends
	loops map[*track]uint32 // how often a stream of the chain was played
}

// newSchedule starts every self-starting track at time zero.
func newSchedule(tracks []*track, factor float64, thread, threads int) *schedule {
	s := &schedule{thread: uint64(thread), threads: uint64(threads), factor: factor}
	for _, t := range tracks {
		if !t.selfStart {
			continue
		}
		c := &cursor{loops: map[*track]uint32{}}
		s.play(c, t, t.wait)
		s.cursors = append(s.cursors, c)
	}
	for i := len(s.cursors)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
	return s
}

// play sets a cursor to the beginning of a track.
func (s *schedule) play(c *cursor, t *track, start float64) {
	c.track, c.line = t, t.timeline(start, s.factor)
	c.step, c.frame = s.threads, s.thread
	if t.singleThread {
		c.step, c.frame = 1, 0
		if s.thread != 0 {
			c.frame = math.MaxUint64
		}
	}
	c.aim()
}

func (c *cursor) aim() {
	switch {
	case c.line.total > 0 && c.frame >= c.line.total:
		c.due = c.line.end()
	case c.frame == math.MaxUint64:
		c.due = math.Inf(1)
	default:
		c.due = c.line.due(c.frame)
	}
}

// next is when the next frame is due. It is infinite if no frame is left.
func (s *schedule) next() float64 {
	if len(s.cursors) == 0 {
		return math.Inf(1)
	}
	return s.cursors[0].due
}

// pop takes the next frame of a track. It returns nil where a stream of a chain ended and its successor was started.
func (s *schedule) pop() (*track, uint64) {
	c := s.cursors[0]
	if c.line.total > 0 && c.frame >= c.line.total {
		s.follow(c)
		s.sink(0)
		return nil, 0
	}
	t, frame := c.track, c.frame
	c.frame += c.step
	c.aim()
	s.sink(0)
	return t, frame
}

// follow goes on to the next stream of the chain, or ends it.
func (s *schedule) follow(c *cursor) {
	c.loops[c.track]++
	successor := c.track.next
	if successor == nil || (c.track.loops > 0 && c.loops[c.track] >= c.track.loops) {
		c.due = math.Inf(1)
		return
	}
	s.play(c, successor, c.line.end()+successor.wait)
}

// setFactor changes the rate of all tracks without a fixed rate, from the instant on.
func (s *schedule) setFactor(instant, factor float64) {
	s.factor = factor
	for _, c := range s.cursors {
		if gap := c.track.gap(factor); gap != c.line.gap && !math.IsInf(c.due, 1) {
			c.line.rescale(instant, gap)
			c.aim()
		}
	}
	for i := len(s.cursors)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
}

// rate is how many frames per nanosecond this thread sends at present.
func (s *schedule) rate() float64 {
	var rate float64
	for _, c := range s.cursors {
		if !math.IsInf(c.due, 1) {
			rate += 1 / (c.line.gap * float64(c.step))
		}
	}
	return rate
}

// sink restores the heap below i.
func (s *schedule) sink(i int) {
	for {
		earliest := 2*i + 1
		if earliest >= len(s.cursors) {
			return
		}
		if right := earliest + 1; right < len(s.cursors) && s.cursors[right].due < s.cursors[earliest].due {
			earliest = right
		}
		if s.cursors[i].due <= s.cursors[earliest].due {
			return
		}
		s.cursors[i], s.cursors[earliest] = s.cursors[earliest], s.cursors[i]
		i = earliest
	}
}
