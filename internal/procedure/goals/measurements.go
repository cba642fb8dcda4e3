package goals

import (
	"math"
	"slices"
)

// measurements are all trials by load, as each target counts them.
type measurements struct {
	grid    *grid
	targets []target
	loads   []*loadStats // ascending
}

// loadStats are the trials at one load of the grid.
type loadStats struct {
	load    int
	trials  []int // their indexes
	targets []targetStats
}

// add counts a trial for each target, and returns the number of its load.
func (l *measurements) add(trialIndex int, trial Trial) int {
	load := l.grid.nearest(trial.Load)
	index, found := l.find(load)
	if !found {
		l.loads = slices.Insert(l.loads, index, &loadStats{load: load, targets: make([]targetStats, len(l.targets))})
	}
	e := l.loads[index]
	e.trials = append(e.trials, trialIndex)
	for i := range e.targets {
		e.targets[i].add(l.targets[i], trial)
	}
	return load
}

func (l *measurements) find(load int) (index int, found bool) {
	return slices.BinarySearchFunc(l.loads, load, func(e *loadStats, load int) int { return e.load - load })
}

// statsAt is the statistics of a load, or nil.
func (l *measurements) statsAt(load int) *loadStats {
	if index, found := l.find(load); found {
		return l.loads[index]
	}
	return nil
}

// class is what trials at a load, if any, show of a target.
func (l *measurements) class(load, target int) class {
	e := l.statsAt(load)
	if e == nil {
		return undecided
	}
	return e.targets[target].class(l.targets[target])
}

// lastTrial is the index of a load's last trial, or absent.
func (l *measurements) lastTrial(load int) int {
	if e := l.statsAt(load); e != nil {
		return e.trials[len(e.trials)-1]
	}
	return absent
}

// bounds are the relevant bounds of a target. high is the lowest load at which the target isn't met, and low the
// highest load below high at which the target is met. Loads above high don't count, even where they look clean. Either
// bound may be absent.
type bounds struct{ low, high int }

const absent = -1

func (l *measurements) bounds(target int) bounds {
	b := bounds{absent, absent}
	for _, e := range l.loads {
		switch e.targets[target].class(l.targets[target]) {
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

// closeEnough reports that nothing is left to find between the bounds, for a width in steps of the grid.
func (b bounds) closeEnough(width, top int) bool {
	switch {
	case b.low == absent && b.high == absent:
		return false
	case b.low == absent:
		return b.high == 0
	case b.high == absent:
		return b.low == top
	}
	return b.high-b.low <= width
}

// Conclude returns what trials show of each goal, in the goals' order. The search need not have ended.
func (s Settings) Conclude(trials []Trial) []Result {
	if s.Check() != nil {
		return make([]Result, len(s.Goals))
	}
	search := s.newSearch(nil)
	for i, trial := range trials {
		trial = sane(trial)
		search.trials = append(search.trials, trial)
		search.measurements.add(i, trial)
	}
	results := make([]Result, len(s.Goals))
	for i := range s.Goals {
		results[i] = search.result(i)
	}
	return results
}

func (s *search) result(goal int) Result {
	index := s.final(goal)
	t, b := s.measurements.targets[index], s.measurements.bounds(index)
	result := Result{Lower: s.bound(b.low), Upper: s.bound(b.high), WrongClass: s.wrongClass(t)}
	if b.low != absent {
		var trials []Trial
		for _, index := range result.Lower.Trials {
			trials = append(trials, s.trials[index])
		}
		result.ConditionalThroughput = result.Lower.Load * forwarded(t, trials, !t.early)
	}
	switch {
	case !b.closeEnough(t.width, s.grid.top):
		result.Irregular = Unfinished
	case b.low == absent:
		result.Irregular = MinimumLossy
	case b.high == absent:
		result.Irregular = MaximumClean
	}
	return result
}

func (s *search) bound(load int) *Bound {
	if load == absent {
		return nil
	}
	return &Bound{Load: s.grid.load(load), Trials: slices.Clone(s.measurements.statsAt(load).trials)}
}

// sane is a trial within physical limits. Its loss ratio is from none to all, and its time doesn't run backwards. A
// loss ratio that isn't a number counts as all.
func sane(t Trial) Trial {
	if math.IsNaN(t.LossRatio) {
		t.LossRatio = 1
	}
	t.LossRatio = min(max(t.LossRatio, 0), 1)
	t.Duration = min(max(t.Duration, 0), longest)
	t.Took = min(max(t.Took, t.Duration), longest)
	return t
}
