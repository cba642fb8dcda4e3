package goals

import (
	"cmp"
	"slices"
	"time"
)

// Sequential does for each goal the same again and again:
//
//	what looks    lo ─────────────── hi     the highest load that looks good below the lowest that looks bad, by the majority of their trials
//	wide          lo ──────┼──────── hi     try one in between, in short trials, until they are a width apart
//	close enough  lower ───────── upper     repeat trials at two loads a width apart, until each is decided
//
// Goals are first looked for, from the one that allows most loss to the strictest. Then trials are repeated at all their bounds by turns, so that those at one load lie apart in time: a device that still warms up, or is
// worse for some seconds, isn't judged by one moment. A load that looked good and turns out bad is the next hi, and the other way round. Nothing is remembered but trials, so that each choice can be made again from them.
func (s *search) playSequential() {
	if _, _, ok := s.measure(Ask{Load: s.MaxLoad, Duration: s.opening(), Goal: -1, Reason: "what the maximum load forwards"}); !ok {
		return
	}
	for {
		c, ok := s.choose()
		if !ok {
			return
		}
		ask := Ask{Load: s.grid.load(c.load), Duration: c.duration, Goal: c.goal, Reason: c.reason}
		if !c.whole {
			ask.StopAbove = s.stopAbove(c.load)
		}
		if _, _, ok := s.measure(ask); !ok {
			return
		}
	}
}

// A choice is what may be tried next.
type choice struct {
	load     int
	duration time.Duration
	goal     int
	reason   string
	whole    bool // it is played to its end, though it may be decided before
}

// choose is what is tried next: what a goal is looked for by, else, of the loads to confirm, the one that wasn't tried for longest, and the lowest of those that never were. False: all goals are reached.
func (s *search) choose() (choice, bool) {
	var confirm []choice
	for _, goal := range s.loosest() {
		if s.reached(goal) {
			continue
		}
		v := s.view(goal)
		if c, ok := v.explore(); ok {
			return c, true
		}
		confirm = append(confirm, v.confirm()...)
	}
	if len(confirm) == 0 {
		return choice{}, false
	}
	return slices.MinFunc(confirm, func(a, b choice) int {
		return cmp.Or(cmp.Compare(s.ledger.last(a.load), s.ledger.last(b.load)), cmp.Compare(a.load, b.load))
	}), true
}

// loosest is the goals, from the one that allows most loss to the strictest.
func (s *search) loosest() []int {
	order := make([]int, len(s.Goals))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Goals[b].LossRatio, s.Goals[a].LossRatio) })
	return order
}

// opening is how long the first trial is, for all goals to look by.
func (s *search) opening() (duration time.Duration) {
	for _, g := range s.Goals {
		duration = max(duration, g.initialTrial())
	}
	return duration
}

// reached says that a goal's bounds are close enough.
func (s *search) reached(goal int) bool {
	last := s.final(goal)
	return s.ledger.bounds(last).enough(s.ledger.targets[last].width, s.grid.top)
}

// A view is what the trials look like to one goal.
type view struct {
	*search
	goal   int
	index  int // of the goal's target
	target target
	bounds bounds // what is decided
	looks  bounds // what looks good below what looks bad
	first  int    // where the limit is by the search's first trial, which overloaded the device
	// short says that short trials are looked at. They aren't any more once long ones were bad at a load that looked good by short ones: loss that comes now and then, which short trials miss.
	short bool
}

func (s *search) view(goal int) view {
	v := view{search: s, goal: goal, index: s.final(goal), first: s.grid.top}
	v.target, v.bounds = s.ledger.targets[v.index], s.ledger.bounds(v.index)
	v.short = !slices.ContainsFunc(s.ledger.loads, func(e *entry) bool {
		y := e.tallies[v.index]
		return y.shortGood > 0 && y.shortBad == 0 && y.class(v.target) == upper
	})
	if len(v.trials) > 0 {
		v.first = v.through(v.grid.top, v.trials[0], v.target.loss)
	}
	v.looks = bounds{v.bounds.low, v.bounds.high}
	for _, e := range s.ledger.loads {
		if e.load <= v.bounds.low || v.bounds.high != none && e.load >= v.bounds.high {
			continue
		}
		switch v.look(e) {
		case lower:
			v.looks.low = e.load
		case upper:
			v.looks.high = e.load
			return v
		case undecided:
		}
	}
	return v
}

// look is what most of a load's long trials were, or, where there are none, most of its short ones.
func (v view) look(e *entry) class {
	y := e.tallies[v.index]
	weight := v.target.exceed / (1 - v.target.exceed)
	good, bad := y.good, y.bad
	if good+bad == 0 && v.short {
		good, bad = y.shortGood, y.shortBad
	}
	switch class := y.class(v.target); {
	case class != undecided:
		return class
	case good+bad == 0:
		return undecided
	case float64(bad) > weight*float64(good):
		return upper
	}
	return lower
}

// explore is a load to look at. False: the goal's two loads are close enough to be confirmed.
func (v view) explore() (choice, bool) {
	lo, hi := v.looks.low, v.looks.high
	switch {
	case hi == none || hi == 0:
		return choice{}, false
	case lo == none:
		return choice{v.down(hi), v.looking(), v.goal, "look for a load that holds", false}, true
	case hi-lo > v.target.width:
		return choice{v.between(lo, hi), v.looking(), v.goal, "close in", false}, true
	}
	for _, end := range []int{lo, hi} {
		if !v.sure(end) {
			return choice{end, v.looking(), v.goal, "look once more before longer trials", false}, true
		}
	}
	return choice{}, false
}

// sure says that a load looks good, or bad, clearly enough to be left to long trials: by so many short ones more than otherwise. Of a goal that no trial may exceed none is repeated, since one that is bad decides, however short.
func (v view) sure(load int) bool {
	const margin, enough = 5, 15
	y := v.ledger.at(load).tallies[v.index]
	ahead := y.shortGood - y.shortBad
	return !v.short || v.target.exceed == 0 || v.looking() >= v.target.trial || y.good+y.bad > 0 || y.class(v.target) != undecided || max(ahead, -ahead) >= margin || y.shortGood+y.shortBad >= enough
}

// confirm is the loads that are still to be decided.
//
// Where several trials decide a load, those at the lower one are played to their end: bad ones that end early make room for more trials while the device is worse, and it would be judged by these.
func (v view) confirm() (all []choice) {
	_, several := raceOf(v.target.sum, v.target.exceed, v.target.trial.Seconds()).lead()
	low, high := v.ends()
	if low != none && v.ledger.class(low, v.index) == undecided {
		all = append(all, choice{low, v.target.trial, v.goal, "confirm the lower bound", v.target.early && several})
	}
	if high != none && v.ledger.class(high, v.index) == undecided {
		all = append(all, choice{high, v.target.trial, v.goal, "confirm the upper bound", false})
	}
	return all
}

// wants says whether a trial at a load may show something of the goal, where nothing is decided there: it doesn't below the lower of the two loads that matter.
func (v view) wants(load int) bool {
	low, _ := v.ends()
	return load >= low
}

// looking is how long a trial is that only looks.
func (v view) looking() time.Duration {
	if v.short {
		return v.Goals[v.goal].initialTrial()
	}
	return v.target.trial
}

// surprises is how many loads look good above where a limit was seen, or bad below.
func (v view) surprises(c class, limit int) (count int) {
	for _, e := range v.ledger.loads {
		if e.load < v.grid.top && v.look(e) == c && (e.load > limit) == (c == lower) {
			count++
		}
	}
	return count
}

// doubled is a width, doubled so many times.
func (v view) doubled(times int) int {
	return min(v.target.width<<min(max(times, 0), 20), v.grid.top)
}

// limit is where the goal's limit is, if the device forwards no more of any load than it did of one that it lost too much of. False: nobody knows, since trials there were stopped.
func (v view) limit(load int) (int, bool) {
	sum, whole := 0.0, 0
	for _, i := range v.ledger.at(load).trials {
		if t := v.trials[i]; !t.Stopped && t.LossRatio > v.target.loss {
			sum += t.Load * (1 - t.LossRatio)
			whole++
		}
	}
	if whole == 0 {
		return 0, false
	}
	return v.grid.nearest(sum / float64(whole) / (1 - v.target.loss)), true
}

// down is a load below hi, which looks bad as all below it that was tried: half a width below the limit, and further down with each load that turned out bad there.
func (v view) down(hi int) int {
	limit, ok := v.limit(hi)
	if !ok {
		limit = v.first
	}
	load := min(hi-1, limit-v.target.width/2)
	if tried := v.surprises(upper, v.first); tried > 0 {
		load = min(load, hi-v.doubled(tried-1))
	}
	return v.grid.within(load)
}

// between is a load between two that are more than a width apart: half a width below or above the limit, if that lies between them; else a step up from lo, or the middle.
func (v view) between(lo, hi int) int {
	middle, half := (lo+hi)/2, v.target.width/2
	limit, ok := v.limit(hi)
	switch {
	case ok && limit-half > lo && limit-half < hi:
		return limit - half
	case ok && limit+half > lo && limit+half < hi:
		return limit + half
	}
	seen := v.first
	if ok { // a device that was away in a trial forwarded less there than it carries
		seen = min(seen, limit)
	}
	return min(lo+v.doubled(v.surprises(lower, seen)-1), middle)
}

// ends are the two loads that matter: lo and hi while they are further than a width apart, and none where nothing looks good, or bad. Closer by, they are lo and hi where trials count that were made there, else as far from the limit as the width lets them be.
func (v view) ends() (low, high int) {
	lo, hi := v.looks.low, v.looks.high
	b, width := v.bounds, v.target.width
	switch {
	case hi == none:
		return v.grid.top, none
	case lo == none || hi-lo > width:
		return lo, hi
	case lo == b.low && hi == b.high:
		return lo, hi
	case hi == b.high && !v.long(lo):
		return v.grid.within(hi - width), hi
	case lo == b.low && !v.long(hi):
		return lo, v.grid.within(lo + width)
	case hi == b.high, lo == b.low, hi-lo >= width/4 && (v.long(lo) || v.long(hi)):
		return lo, hi
	}
	low = max(v.grid.within((lo+hi-width)/2), b.low)
	return low, v.grid.within(low + width)
}

// long says whether there are trials at a load that count.
func (v view) long(load int) bool {
	y := v.ledger.at(load).tallies[v.index]
	return y.good+y.bad > 0
}
