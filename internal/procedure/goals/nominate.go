package goals

// selector nominates the next candidate for one goal. It goes through the goal's targets from the coarsest to the
// goal's own.
type selector struct {
	*search
	goal      int
	level     int // the place in the chain of the present target
	low, high int // the loads that the target before found. Either may be absent
	external  int // how far from a bound the next load is looked for, in steps
}

// side is where a candidate lies. A candidate beyond the bounds widens the next step if it finds the same bound again.
type side int

const (
	inside    side = iota // between the bounds
	upwards               // above the lower bound
	downwards             // below the upper bound
)

// candidate is a trial that a selector nominates.
type candidate struct {
	load     int
	target   target
	width    int // the least width of all selectors' next steps, if this candidate is tried
	selector *selector
	side     side
	reason   string
}

// begin sets the target's loads, and the width of its steps.
func (s *selector) begin(low, high int) {
	s.low, s.high = low, high
	width := s.target().width
	if low != absent && high != absent {
		width = max(width, high-low)
	}
	s.external = width
	s.expand()
}

func (s *selector) target() target { return s.measurements.targets[s.targetIndex()] }

func (s *selector) targetIndex() int { return s.goal*(coarser+1) + s.level }

// expansion is the factor by which a step in vain widens the next one.
const expansion = 2

func (s *selector) expand() { s.external = s.grid.clamp(s.external * expansion) }

// limit sets the next step to at most twice the larger of a width that was found to be enough and the target's width.
func (s *selector) limit(width int) {
	s.external = max(width, s.target().width)
	s.expand()
}

// step is the width of the next step. It is never less than that of the other goals' last step, so that two goals don't
// take the same small steps by turns.
func (s *selector) step() int { return max(s.external, s.global) }

// nominate is the goal's next candidate. It leaves reached targets behind. False means that the goal is reached.
func (s *selector) nominate() (candidate, bool) {
	for {
		b := s.measurements.bounds(s.targetIndex())
		for _, rule := range []func(bounds) (candidate, bool){s.halve, s.refineLow, s.refineHigh, s.extendDown,
			s.extendUp, s.bisect} {
			if c, ok := rule(b); ok {
				c.target, c.selector = s.target(), s
				return c, true
			}
		}
		if s.level == coarser || b.low == absent && b.high == absent {
			return candidate{}, false
		}
		s.level++
		s.begin(b.low, b.high)
	}
}

// tried widens the next step where a candidate's trial found the bound again that the step started from.
func (s *selector) tried(c candidate) {
	b := s.measurements.bounds(s.targetIndex())
	if c.side == upwards && c.load == b.low || c.side == downwards && c.load == b.high {
		s.expand()
		s.global = s.external
	}
}

// The rules, in the order in which they are asked.

// halve tries the middle of the target's first loads, where these are at most two of its widths apart.
func (s *selector) halve(b bounds) (candidate, bool) {
	width := s.target().width
	if s.low == absent || s.high == absent || s.high-s.low > 2*width || s.high-s.low <= width {
		return candidate{}, false
	}
	load := middle(s.low, s.high, width)
	if s.pointless(b, load) {
		return candidate{}, false
	}
	s.limit(width)
	return candidate{load: load, width: width, reason: "halve what shorter trials left"}, true
}

// refineLow tries the lower of the target's first loads.
func (s *selector) refineLow(b bounds) (candidate, bool) {
	return s.refine(b, s.low, "confirm the load that held")
}

// refineHigh tries the upper of the target's first loads.
func (s *selector) refineHigh(b bounds) (candidate, bool) {
	return s.refine(b, s.high, "confirm the load that lost too much")
}

func (s *selector) refine(b bounds, load int, reason string) (candidate, bool) {
	if load == absent || s.pointless(b, load) {
		return candidate{}, false
	}
	s.limit(s.target().width)
	return candidate{load: load, width: s.target().width, reason: reason}, true
}

// extendDown looks for a lower bound where there is only an upper one.
func (s *selector) extendDown(b bounds) (candidate, bool) {
	if b.low != absent || b.high == absent || b.high == 0 {
		return candidate{}, false
	}
	step := s.step()
	load, ok := s.keepAway(b.high-step, s.target().width, b)
	return candidate{load: load, width: step, side: downwards, reason: "look for a load that holds"}, ok &&
		!s.pointless(b, load)
}

// extendUp looks for an upper bound where there is only a lower one.
func (s *selector) extendUp(b bounds) (candidate, bool) {
	if b.high != absent || b.low == absent || b.low == s.grid.top {
		return candidate{}, false
	}
	step := s.step()
	load, ok := s.keepAway(b.low+step, s.target().width, b)
	return candidate{load: load, width: step, side: upwards, reason: "look for a load that loses too much"}, ok &&
		!s.pointless(b, load)
}

// bisect narrows the two bounds. Where the target's first loads lie outside of the bounds, the limit is likely close to
// these loads, and bisect takes small steps from them.
func (s *selector) bisect(b bounds) (candidate, bool) {
	width := s.target().width
	if b.low == absent || b.high == absent || b.low == s.grid.top || b.high == 0 || b.high-b.low <= width {
		return candidate{}, false
	}
	half, step := middle(b.low, b.high, width), s.step()
	if s.high != absent && half < s.high {
		if load, ok := s.keepAway(b.high-step, width, b); ok && load > half && load < s.high {
			return candidate{load: load, width: step, side: downwards, reason: "step down from what lost too much"},
				true
		}
	}
	if s.low != absent && half > s.low {
		if load, ok := s.keepAway(b.low+step, width, b); ok && load < half && load > s.low {
			return candidate{load: load, width: step, side: upwards, reason: "step up from what held"}, true
		}
	}
	part := min(half-b.low, b.high-half)
	s.limit(part)
	return candidate{load: half, width: part, reason: "halve"}, true
}

// pointless reports that a trial at a load would move no bound, or that the bounds are close enough.
func (s *selector) pointless(b bounds, load int) bool {
	return b.low != absent && b.low >= load || b.high != absent && b.high <= load ||
		b.low != absent && b.high != absent && b.high-b.low <= s.target().width
}

// keepAway moves a load until it lies at least a width from the bounds and from the grid's ends, or at an end. False
// means that there is no such load.
func (s *search) keepAway(load, width int, b bounds) (int, bool) {
	load = s.grid.clamp(load)
	low, high := b.low, b.high
	if low == absent {
		low = 0
	}
	if high == absent {
		high = s.grid.top
	}
	switch {
	case b.low != absent && load <= b.low, b.high != absent && load >= b.high:
		return absent, false
	case width >= high-low && b.low == absent:
		return low, high > 0 // the least load itself
	case width >= high-low:
		return high, b.high == absent
	}
	leastFree, mostFree := low+width, high-width
	if leastFree > mostFree {
		leastFree = middle(low, high, width)
		mostFree = leastFree
	}
	switch {
	case load < leastFree && b.low == absent:
		return low, true
	case load < leastFree:
		return leastFree, true
	case load > mostFree && b.high == absent:
		return high, true
	case load > mostFree:
		return mostFree, true
	}
	return load, true
}
