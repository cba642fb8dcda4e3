package goals

import (
	"math"
	"slices"
)

// A ledger is all trials, load by load, as each target counts them.
type ledger struct {
	grid    *grid
	targets []target
	loads   []*entry // ascending
}

// An entry is what was tried at one load of the grid.
type entry struct {
	load    int
	trials  []int // their indexes
	tallies []tally
}

// add counts a trial for each target, and returns the number of its load.
func (l *ledger) add(index int, trial Trial) int {
	load := l.grid.nearest(trial.Load)
	at, found := slices.BinarySearchFunc(l.loads, load, func(e *entry, load int) int { return e.load - load })
	if !found {
		l.loads = slices.Insert(l.loads, at, &entry{load: load, tallies: make([]tally, len(l.targets))})
	}
	e := l.loads[at]
	e.trials = append(e.trials, index)
	for i := range e.tallies {
		e.tallies[i].add(l.targets[i], trial)
	}
	return load
}

// at is what was tried at a load, or nil.
func (l *ledger) at(load int) *entry {
	at, found := slices.BinarySearchFunc(l.loads, load, func(e *entry, load int) int { return e.load - load })
	if !found {
		return nil
	}
	return l.loads[at]
}

// class is what trials at a load, if any, show of a target.
func (l *ledger) class(load, target int) class {
	e := l.at(load)
	if e == nil {
		return undecided
	}
	return e.tallies[target].class(l.targets[target])
}

// last is the index of a load's last trial, or none.
func (l *ledger) last(load int) int {
	if e := l.at(load); e != nil {
		return e.trials[len(e.trials)-1]
	}
	return none
}

// Bounds are the loads that matter to a target: the lowest at which it isn't met, and the highest below that at which it is. What looks clean above a bad load is ignored. Either may be none.
type bounds struct{ low, high int }

const none = -1

func (l *ledger) bounds(target int) bounds {
	b := bounds{none, none}
	for _, e := range l.loads {
		switch e.tallies[target].class(l.targets[target]) {
		case lower:
			b.low = e.load
		case upper:
			b.high = e.load
			return b
		case undecided:
		}
	}
	return b
}

// enough says whether there is nothing left to find for bounds, of a width in steps.
func (b bounds) enough(width, top int) bool {
	switch {
	case b.low == none && b.high == none:
		return false
	case b.low == none:
		return b.high == 0
	case b.high == none:
		return b.low == top
	}
	return b.high-b.low <= width
}

// Conclude says what trials show of each goal, in the goals' order; also of a search that hasn't ended.
func (s Settings) Conclude(trials []Trial) []Result {
	if s.Check() != nil {
		return make([]Result, len(s.Goals))
	}
	search := s.search(nil)
	for i, trial := range trials {
		trial = sane(trial)
		search.trials = append(search.trials, trial)
		search.ledger.add(i, trial)
	}
	results := make([]Result, len(s.Goals))
	for i := range s.Goals {
		results[i] = search.result(i)
	}
	return results
}

func (s *search) result(goal int) Result {
	last := s.final(goal)
	t, b := s.ledger.targets[last], s.ledger.bounds(last)
	result := Result{Lower: s.bound(b.low), Upper: s.bound(b.high), WrongClass: s.wrongClass(t)}
	if b.low != none {
		var there []Trial
		for _, index := range result.Lower.Trials {
			there = append(there, s.trials[index])
		}
		result.ConditionalThroughput = result.Lower.Load * forwarded(t, there, !t.early)
	}
	switch {
	case !b.enough(t.width, s.grid.top):
		result.Irregular = Unfinished
	case b.low == none:
		result.Irregular = MinimumLossy
	case b.high == none:
		result.Irregular = MaximumClean
	}
	return result
}

func (s *search) bound(load int) *Bound {
	if load == none {
		return nil
	}
	return &Bound{Load: s.grid.load(load), Trials: slices.Clone(s.ledger.at(load).trials)}
}

// sane is a trial as it can only have been: loss from none to all, and no time that runs backwards. What isn't a number is lost.
func sane(t Trial) Trial {
	if math.IsNaN(t.LossRatio) {
		t.LossRatio = 1
	}
	t.LossRatio = min(max(t.LossRatio, 0), 1)
	t.Duration = min(max(t.Duration, 0), longest)
	t.Took = min(max(t.Took, t.Duration), longest)
	return t
}
