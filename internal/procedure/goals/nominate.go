package goals

// A selector finds what to try next for one goal, whose targets it goes through from the coarsest to the goal's own.
type selector struct {
	*search
	goal      int
	at        int // which target of the chain
	low, high int // the loads that the target began with: what the one before found. Either may be none
	external  int // how far from a bound the next one is looked for, in steps, where there is none yet
}

// A way is how a nomination came about, and so what its trial may show that makes the next step wider.
type way int

const (
	inside  way = iota // between what is known
	upwards            // beyond the lower load: a step in vain if that holds, too
	downwards
)

// A candidate is what a selector would try next.
type candidate struct {
	load     int
	target   target
	width    int // the step that all selectors' next steps are at least as wide as, if this one is tried
	selector *selector
	way      way
	reason   string
}

// begin makes the target's loads and the width of its steps ready.
func (s *selector) begin(low, high int) {
	s.low, s.high = low, high
	width := s.target().width
	if low != none && high != none {
		width = max(width, high-low)
	}
	s.external = width
	s.expand()
}

func (s *selector) target() target { return s.ledger.targets[s.targetIndex()] }

func (s *selector) targetIndex() int { return s.goal*(coarser+1) + s.at }

// expansion is by how much a step in vain makes the next one wider.
const expansion = 2

func (s *selector) expand() { s.external = s.grid.within(s.external * expansion) }

// limit has the next step begin at no more than a width that was found to be enough.
func (s *selector) limit(width int) {
	s.external = max(width, s.target().width)
	s.expand()
}

// step is how far the next step goes: never less than that of a goal that is looking, too, lest two goals walk the same way by turns.
func (s *selector) step() int { return max(s.external, s.global) }

// nominate is what the goal would try next, and false if the goal is reached. Targets that are reached are left behind.
func (s *selector) nominate() (candidate, bool) {
	for {
		b := s.ledger.bounds(s.targetIndex())
		for _, rule := range []func(bounds) (candidate, bool){s.halve, s.refineLow, s.refineHigh, s.extendDown, s.extendUp, s.bisect} {
			if c, ok := rule(b); ok {
				c.target, c.selector = s.target(), s
				return c, true
			}
		}
		if s.at == coarser || b.low == none && b.high == none {
			return candidate{}, false
		}
		s.at++
		s.begin(b.low, b.high)
	}
}

// tried widens the next step where the last one found the bound that it started from once more.
func (s *selector) tried(c candidate) {
	b := s.ledger.bounds(s.targetIndex())
	if c.way == upwards && c.load == b.low || c.way == downwards && c.load == b.high {
		s.expand()
		s.global = s.external
	}
}

// The rules, in the order in which they are asked.

// halve tries the middle of what the target began with, where that is at most two of its widths.
func (s *selector) halve(b bounds) (candidate, bool) {
	width := s.target().width
	if s.low == none || s.high == none || s.high-s.low > 2*width || s.high-s.low <= width {
		return candidate{}, false
	}
	load := middle(s.low, s.high, width)
	if s.pointless(b, load) {
		return candidate{}, false
	}
	s.limit(width)
	return candidate{load: load, width: width, reason: "halve what shorter trials left"}, true
}

// refineLow tries what the target began with as a load that holds.
func (s *selector) refineLow(b bounds) (candidate, bool) {
	return s.refine(b, s.low, "confirm the load that held")
}

// refineHigh tries what the target began with as a load that doesn't hold.
func (s *selector) refineHigh(b bounds) (candidate, bool) {
	return s.refine(b, s.high, "confirm the load that lost too much")
}

func (s *selector) refine(b bounds, load int, reason string) (candidate, bool) {
	if load == none || s.pointless(b, load) {
		return candidate{}, false
	}
	s.limit(s.target().width)
	return candidate{load: load, width: s.target().width, reason: reason}, true
}

// extendDown looks for a load that holds below one that doesn't.
func (s *selector) extendDown(b bounds) (candidate, bool) {
	if b.low != none || b.high == none || b.high == 0 {
		return candidate{}, false
	}
	step := s.step()
	load, ok := s.keepAway(b.high-step, s.target().width, b)
	return candidate{load: load, width: step, way: downwards, reason: "look for a load that holds"}, ok && !s.pointless(b, load)
}

// extendUp looks for a load that doesn't hold above one that does.
func (s *selector) extendUp(b bounds) (candidate, bool) {
	if b.high != none || b.low == none || b.low == s.grid.top {
		return candidate{}, false
	}
	step := s.step()
	load, ok := s.keepAway(b.low+step, s.target().width, b)
	return candidate{load: load, width: step, way: upwards, reason: "look for a load that loses too much"}, ok && !s.pointless(b, load)
}

// bisect narrows two bounds down, by small steps where the loads that the target began with lie outside, for then the truth is likely close to them.
func (s *selector) bisect(b bounds) (candidate, bool) {
	width := s.target().width
	if b.low == none || b.high == none || b.low == s.grid.top || b.high == 0 || b.high-b.low <= width {
		return candidate{}, false
	}
	half, step := middle(b.low, b.high, width), s.step()
	if s.high != none && half < s.high {
		if load, ok := s.keepAway(b.high-step, width, b); ok && load > half && load < s.high {
			return candidate{load: load, width: step, way: downwards, reason: "step down from what lost too much"}, true
		}
	}
	if s.low != none && half > s.low {
		if load, ok := s.keepAway(b.low+step, width, b); ok && load < half && load > s.low {
			return candidate{load: load, width: step, way: upwards, reason: "step up from what held"}, true
		}
	}
	part := min(half-b.low, b.high-half)
	s.limit(part)
	return candidate{load: half, width: part, reason: "halve"}, true
}

// pointless says that a trial at a load would move no bound, or that the bounds are close enough.
func (s *selector) pointless(b bounds, load int) bool {
	switch {
	case b.low != none && b.low >= load, b.high != none && b.high <= load:
		return true
	}
	return b.low != none && b.high != none && b.high-b.low <= s.target().width
}

// keepAway moves a load by so much that it lies at least a width from bounds and limits, or on a limit. False: there is no such load.
func (s *search) keepAway(load, width int, b bounds) (int, bool) {
	load = s.grid.within(load)
	low, high := b.low, b.high
	if low == none {
		low = 0
	}
	if high == none {
		high = s.grid.top
	}
	switch {
	case b.low != none && load <= b.low, b.high != none && load >= b.high:
		return none, false
	case width >= high-low && b.low == none:
		return low, high > 0 // the least load itself
	case width >= high-low:
		return high, b.high == none
	}
	leastFree, mostFree := low+width, high-width
	if leastFree > mostFree {
		leastFree = middle(low, high, width)
		mostFree = leastFree
	}
	switch {
	case load < leastFree && b.low == none:
		return low, true
	case load < leastFree:
		return leastFree, true
	case load > mostFree && b.high == none:
		return high, true
	case load > mostFree:
		return mostFree, true
	}
	return load, true
}
