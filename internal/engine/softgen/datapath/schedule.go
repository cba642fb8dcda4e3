package datapath

import "math"

// schedule says which frame of which stream a sending thread must send next. It is pure: the caller passes the time in.
//
// Threads share a stream frame by frame: thread k of n has its frames k, k+n, k+2n, …, each when it is due in the whole. Every thread
// therefore follows all streams and chains, by arithmetic, and sends its own part.
type schedule struct {
	cursors []*cursor // a binary heap, earliest first
	thread  uint64
	threads uint64
	factor  float64
}

// cursor walks a chain of streams: it stands at the next frame of the present one.
type cursor struct {
	track *track
	line  timeline
	step  uint64
	frame uint64
	when  float64           // when the frame is due, or, past the last one, when the stream ends
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
func (s *schedule) play(c *cursor, t *track, at float64) {
	c.track, c.line = t, t.timeline(at, s.factor)
	c.step, c.frame = s.threads, s.thread
	if t.alone {
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
		c.when = c.line.end()
	case c.frame == math.MaxUint64:
		c.when = math.Inf(1)
	default:
		c.when = c.line.due(c.frame)
	}
}

// next is when something is due; infinite: never again.
func (s *schedule) next() float64 {
	if len(s.cursors) == 0 {
		return math.Inf(1)
	}
	return s.cursors[0].when
}

// pop takes what is due next: a frame of a track, or nil where a stream of a chain ended and its successor was started.
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
	after := c.track.next
	if after == nil || (c.track.loops > 0 && c.loops[c.track] >= c.track.loops) {
		c.when = math.Inf(1)
		return
	}
	s.play(c, after, c.line.end()+after.wait)
}

// setFactor changes the rate of all tracks that have one to multiply, from the time at.
func (s *schedule) setFactor(at, factor float64) {
	s.factor = factor
	for _, c := range s.cursors {
		if gap := c.track.gap(factor); gap != c.line.gap && !math.IsInf(c.when, 1) {
			c.line.rescale(at, gap)
			c.aim()
		}
	}
	for i := len(s.cursors)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
}

// rate is how many frames per nanosecond fall to this thread at present.
func (s *schedule) rate() float64 {
	var rate float64
	for _, c := range s.cursors {
		if !math.IsInf(c.when, 1) {
			rate += 1 / (c.line.gap * float64(c.step))
		}
	}
	return rate
}

// sink restores the heap below i.
func (s *schedule) sink(i int) {
	for {
		least := 2*i + 1
		if least >= len(s.cursors) {
			return
		}
		if right := least + 1; right < len(s.cursors) && s.cursors[right].when < s.cursors[least].when {
			least = right
		}
		if s.cursors[i].when <= s.cursors[least].when {
			return
		}
		s.cursors[i], s.cursors[least] = s.cursors[least], s.cursors[i]
		i = least
	}
}
