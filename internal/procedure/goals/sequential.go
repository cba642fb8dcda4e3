package goals

import (
	"cmp"
	"slices"
	"time"
)

// playSequential repeats these steps for each goal:
//
//	apparent bounds  lo ─────────────── hi     the highest load that looks good below the lowest that looks bad
//	wide             lo ──────┼──────── hi     try one in between, in short trials, until they are a width apart
//	close enough     lower ───────── upper     repeat trials at two loads a width apart, until each is decided
//
// Goals are explored first, from the one that allows most loss to the strictest. Then trials are repeated at all their
// bounds by turns, so that the trials at one load lie apart in time, and a device that warms up, or is worse for some
// seconds, isn't judged by one moment. A load that looked good and turns out bad becomes the next hi, and the other way
// round. Each choice follows from the trials alone.
func (s *search) playSequential() {
	if _, _, ok := s.measure(Ask{Load: s.MaxLoad, Duration: s.opening(), Goal: -1,
		Reason: "what the maximum load forwards"}); !ok {
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

// choice is a trial that may come next.
type choice struct {
	load     int
	duration time.Duration
	goal     int
	reason   string
	whole    bool // it is played to its end, though it may be decided before
}

// choose is the trial that comes next. A goal that is still explored comes first. Of the loads to confirm, choose takes
// the one whose last trial is the oldest, and among loads without a trial the lowest. False means that all goals are
// reached.
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
		return cmp.Or(cmp.Compare(s.measurements.lastTrial(a.load), s.measurements.lastTrial(b.load)),
			cmp.Compare(a.load, b.load))
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

// opening is how long the first trial is, which all goals are explored by.
func (s *search) opening() (duration time.Duration) {
	for _, g := range s.Goals {
		duration = max(duration, g.initialTrial())
	}
	return duration
}

// reached reports that a goal's bounds are close enough.
func (s *search) reached(goal int) bool {
	index := s.final(goal)
	return s.measurements.bounds(index).closeEnough(s.measurements.targets[index].width, s.grid.top)
}

// view is what the trials look like to one goal.
type view struct {
	*search
	goal     int
	index    int // of the goal's target
	target   target
	bounds   bounds // the relevant bounds, which are decided
	apparent bounds // the highest load that looks good below the lowest that looks bad
	first    int    // where the limit is by the search's first trial, which overloaded the device
	// short reports that short trials count for the apparent bounds. They stop to count once long trials were bad at a
	// load that looked good in short ones, since short trials miss loss that comes now and then.
	short bool
}

func (s *search) view(goal int) view {
	v := view{search: s, goal: goal, index: s.final(goal), first: s.grid.top}
	v.target, v.bounds = s.measurements.targets[v.index], s.measurements.bounds(v.index)
	v.short = !slices.ContainsFunc(s.measurements.loads, func(e *loadStats) bool {
		y := e.targets[v.index]
		return y.shortGood > 0 && y.shortBad == 0 && y.class(v.target) == upper
	})
	if len(v.trials) > 0 {
		v.first = v.forwardedLoad(v.grid.top, v.trials[0], v.target.loss)
	}
	v.apparent = bounds{v.bounds.low, v.bounds.high}
	for _, e := range s.measurements.loads {
		if e.load <= v.bounds.low || v.bounds.high != absent && e.load >= v.bounds.high {
			continue
		}
		switch v.apparentClass(e) {
		case lower:
			v.apparent.low = e.load
		case upper:
			v.apparent.high = e.load
			return v
		case undecided:
		}
	}
	return v
}

// apparentClass is what most of a load's long trials were, or, where there are none, most of its short ones.
func (v view) apparentClass(e *loadStats) class {
	y := e.targets[v.index]
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

// explore is a trial that narrows the apparent bounds. False means that these are close enough to be confirmed.
func (v view) explore() (choice, bool) {
	lo, hi := v.apparent.low, v.apparent.high
	switch {
	case hi == absent || hi == 0:
		return choice{}, false
	case lo == absent:
		return choice{v.loadBelow(hi), v.exploreDuration(), v.goal, "look for a load that holds", false}, true
	case hi-lo > v.target.width:
		return choice{v.loadBetween(lo, hi), v.exploreDuration(), v.goal, "close in", false}, true
	}
	for _, end := range []int{lo, hi} {
		if !v.sure(end) {
			return choice{end, v.exploreDuration(), v.goal, "look once more before longer trials", false}, true
		}
	}
	return choice{}, false
}

// sure reports that a load looks good, or bad, clearly enough to be confirmed by long trials. Short trials of one kind
// have to be ahead by a margin. With a goal that no trial may exceed no short trial is repeated, since one bad trial
// decides, however short.
func (v view) sure(load int) bool {
	const margin, limit = 5, 15
	y := v.measurements.statsAt(load).targets[v.index]
	ahead := y.shortGood - y.shortBad
	return !v.short || v.target.exceed == 0 || v.exploreDuration() >= v.target.trial || y.good+y.bad > 0 ||
		y.class(v.target) != undecided || max(ahead, -ahead) >= margin || y.shortGood+y.shortBad >= limit
}

// confirm is the loads that are still to be decided.
//
// Where several trials decide a load, the trials at the lower load are played to their end. Bad trials that end early
// make room for more trials while the device is worse, and these would judge the device.
func (v view) confirm() (choices []choice) {
	_, several := quorumOf(v.target.sum, v.target.exceed, v.target.trial.Seconds()).margins()
	low, high := v.loadsToConfirm()
	if low != absent && v.measurements.class(low, v.index) == undecided {
		choices = append(choices, choice{low, v.target.trial, v.goal, "confirm the lower bound", v.target.early &&
			several})
	}
	if high != absent && v.measurements.class(high, v.index) == undecided {
		choices = append(choices, choice{high, v.target.trial, v.goal, "confirm the upper bound", false})
	}
	return choices
}

// isOpenAt reports whether a trial at an undecided load may show something of the goal. Below the lower of the two
// loads to confirm it doesn't.
func (v view) isOpenAt(load int) bool {
	low, _ := v.loadsToConfirm()
	return load >= low
}

// exploreDuration is how long a trial is that narrows the apparent bounds.
func (v view) exploreDuration() time.Duration {
	if v.short {
		return v.Goals[v.goal].initialTrial()
	}
	return v.target.trial
}

// surprises is how many loads look good above where a limit was seen, or bad below.
func (v view) surprises(c class, limit int) (count int) {
	for _, e := range v.measurements.loads {
		if e.load < v.grid.top && v.apparentClass(e) == c && (e.load > limit) == (c == lower) {
			count++
		}
	}
	return count
}

// doubled is the target's width, doubled so many times.
func (v view) doubled(times int) int {
	return min(v.target.width<<min(max(times, 0), 20), v.grid.top)
}

// limit is where the goal's limit is, if the device forwards no more of any load than it did of a load that lost too
// much. False means that the limit is unknown, since all trials at that load were stopped.
func (v view) limit(load int) (int, bool) {
	sum, whole := 0.0, 0
	for _, i := range v.measurements.statsAt(load).trials {
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

// loadBelow is a load below hi, where all loads that were tried look bad. It is half a width below the limit, and
// further below with each load that turned out bad there.
func (v view) loadBelow(hi int) int {
	limit, ok := v.limit(hi)
	if !ok {
		limit = v.first
	}
	load := min(hi-1, limit-v.target.width/2)
	if tried := v.surprises(upper, v.first); tried > 0 {
		load = min(load, hi-v.doubled(tried-1))
	}
	return v.grid.clamp(load)
}

// loadBetween is a load between two that are more than a width apart. It is half a width below or above the limit, if
// that lies between them, and otherwise a step up from lo, or the middle.
func (v view) loadBetween(lo, hi int) int {
	middle, half := (lo+hi)/2, v.target.width/2
	limit, ok := v.limit(hi)
	switch {
	case ok && limit-half > lo && limit-half < hi:
		return limit - half
	case ok && limit+half > lo && limit+half < hi:
		return limit + half
	}
	reference := v.first
	if ok { // a device that was away in a trial forwarded less there than it carries
		reference = min(reference, limit)
	}
	return min(lo+v.doubled(v.surprises(lower, reference)-1), middle)
}

// loadsToConfirm are the two loads around the goal's limit. While the apparent bounds are further than a width apart,
// the two loads are these bounds, and absent where no load looks good, or bad. Closer by, a bound whose trials count
// stays, and the other load is moved away from the limit as far as the width allows.
func (v view) loadsToConfirm() (low, high int) {
	lo, hi := v.apparent.low, v.apparent.high
	b, width := v.bounds, v.target.width
	switch {
	case hi == absent:
		return v.grid.top, absent
	case lo == absent || hi-lo > width:
		return lo, hi
	case lo == b.low && hi == b.high:
		return lo, hi
	case hi == b.high && !v.hasLongTrials(lo):
		return v.grid.clamp(hi - width), hi
	case lo == b.low && !v.hasLongTrials(hi):
		return lo, v.grid.clamp(lo + width)
	case hi == b.high, lo == b.low, hi-lo >= width/4 && (v.hasLongTrials(lo) || v.hasLongTrials(hi)):
		return lo, hi
	}
	low = max(v.grid.clamp((lo+hi-width)/2), b.low)
	return low, v.grid.clamp(low + width)
}

// hasLongTrials reports whether a load has trials that count.
func (v view) hasLongTrials(load int) bool {
	y := v.measurements.statsAt(load).targets[v.index]
	return y.good+y.bad > 0
}
