package goals

import "time"

// search plays Settings through trials, one after another.
type search struct {
	Settings
	grid         *grid
	measurements *measurements
	measureTrial func(Ask) (Trial, bool) // measures a trial. False means that there is none, and the search ends
	trials       []Trial                 // all that were measured
	spent        time.Duration           // by all trials
	// the width of the last step in steps of the grid, a minimum for other goals' next steps
	global int
}

// newSearch is a search without any trial.
func (s Settings) newSearch(carry func(Ask) (Trial, bool)) *search {
	widths := make([]float64, len(s.Goals))
	for i, g := range s.Goals {
		widths[i] = g.Width
	}
	grid := newGrid(s.MinLoad, s.MaxLoad, widths)
	if s.Classification == Sequential {
		grid.top *= finer
	}
	var targets []target
	for i, g := range s.Goals {
		targets = append(targets, g.chain(i, grid, s.Classification)...)
	}
	return &search{Settings: s, grid: grid, measurements: &measurements{grid: grid, targets: targets},
		measureTrial: carry}
}

// final is the index of a goal's own target.
func (s *search) final(goal int) int { return goal*(coarser+1) + coarser }

// Search plays a search from its first trial to its end, or until measure has no trial. It keeps nothing, so that a
// search is continued by searching again, with the trials so far as measure's first ones.
func (s Settings) Search(carry func(Ask) (Trial, bool)) {
	if s.Check() != nil {
		return
	}
	if s.Classification == Sequential {
		s.newSearch(carry).playSequential()
		return
	}
	s.newSearch(carry).play()
}

// play plays the whole search, as far as trials can be measured.
func (s *search) play() {
	low, high, ok := s.start()
	if !ok {
		return
	}
	s.global = high - low
	selectors := make([]*selector, len(s.Goals))
	for i := range s.Goals {
		selectors[i] = &selector{search: s, goal: i}
		selectors[i].begin(low, high)
	}
	for {
		var next candidate
		for _, selector := range selectors {
			if c, ok := selector.nominate(); ok && (next.selector == nil || !s.precedes(next, c)) {
				next = c
			}
		}
		if next.selector == nil {
			return
		}
		if _, _, ok := s.measure(Ask{Load: s.grid.load(next.load), Duration: next.target.trial,
			StopAbove: s.stopAbove(next.load), Goal: next.target.goal, Reason: next.reason}); !ok {
			return
		}
		s.global = next.width
		next.selector.tried(next)
	}
}

// precedes reports whether candidate a is tried before candidate b. The lower load comes first, then the longer trial,
// then the wider step.
func (s *search) precedes(a, b candidate) bool {
	switch {
	case a.load != b.load:
		return a.load < b.load
	case a.target.trial != b.target.trial:
		return a.target.trial > b.target.trial
	}
	return a.width >= b.width
}

// start plays the trials that a search begins with. The first is at the maximum load, and the second at the load that
// was forwarded there. The third is at the load that was forwarded in the second, or one width above the second if
// nothing was lost there. start returns the last two loads.
func (s *search) start() (low, high int, ok bool) {
	loss, duration, width := s.initial()
	first, load, ok := s.measure(Ask{Load: s.MaxLoad, Duration: duration, Goal: -1,
		Reason: "what the maximum load forwards"})
	if !ok {
		return 0, 0, false
	}
	second := s.forwardedLoad(load, first, loss)
	if second >= s.grid.top {
		return load, load, true
	}
	second, _ = s.keepAway(second, width, bounds{absent, s.grid.top})
	trial, position, ok := s.measure(Ask{Load: s.grid.load(second), Duration: duration, Goal: -1,
		Reason: "what came through at the maximum load"})
	if !ok {
		return 0, 0, false
	}
	var third int
	var worth bool
	if trial.LossRatio > loss {
		third, worth = s.keepAway(s.forwardedLoad(position, trial, loss), width, bounds{absent, position})
	} else {
		third, worth = s.keepAway(position+width, width, bounds{position, s.grid.top})
	}
	if !worth {
		return position, position, true
	}
	_, lastPosition, ok := s.measure(Ask{Load: s.grid.load(third), Duration: duration, Goal: -1,
		Reason: "close in on what comes through"})
	return min(position, lastPosition), max(position, lastPosition), ok
}

// initial is the smallest loss ratio, the longest trial and the largest width of the goals' first targets.
func (s *search) initial() (loss float64, duration time.Duration, width int) {
	loss = 1
	for goal := range s.Goals {
		first := s.measurements.targets[goal*(coarser+1)]
		loss, duration, width = min(loss, first.loss), max(duration, first.trial), max(width, first.width)
	}
	return loss, duration, width
}

// forwardedLoad is the load of which a device loses the share loss, if the device forwards no more of that load than it
// did in a trial.
func (s *search) forwardedLoad(load int, trial Trial, loss float64) int {
	return s.grid.floor(s.grid.load(load) * (1 - trial.LossRatio) * (1 / (1 - loss)))
}

// measure has a trial measured, if there is time for the trial, and returns the trial with the number of its load.
func (s *search) measure(ask Ask) (Trial, int, bool) {
	if s.overdue(ask.Duration) {
		return Trial{}, 0, false
	}
	trial, ok := s.measureTrial(ask)
	if !ok {
		return Trial{}, 0, false
	}
	trial = sane(trial)
	s.spent += trial.Took
	s.trials = append(s.trials, trial)
	return trial, s.measurements.add(len(s.trials)-1, trial), true
}

// overdue reports that no time, or no trial, is left for another trial.
func (s *search) overdue(next time.Duration) bool {
	maxTrials, span, _ := s.Longest()
	return len(s.trials) >= maxTrials || next > span-min(s.spent, span)
}

// stopAbove is the loss ratio above which a trial at a load is decided for all goals, or nil.
//
// By RFC9971 a loss ratio decides a trial only if one bad trial decides each goal, since the rest of the trial would
// change nothing. By Sequential a goal doesn't count that is decided at the load, or whose bounds lie on one side of
// the load.
func (s *search) stopAbove(load int) *float64 {
	open := -1.0
	for goal, g := range s.Goals {
		if s.Classification == RFC9971 && g.ExceedRatio > 0 {
			return nil
		}
		if s.Classification == RFC9971 || s.open(goal, load) {
			open = max(open, g.LossRatio)
		}
	}
	if open < 0 {
		return nil
	}
	return &open
}

// open reports whether a trial at a load may still show something of a goal.
func (s *search) open(goal, load int) bool {
	index := s.final(goal)
	b := s.measurements.bounds(index)
	if b.low != absent && load <= b.low || b.high != absent && load >= b.high {
		return false
	}
	return s.measurements.class(load, index) == undecided && s.view(goal).isOpenAt(load)
}
