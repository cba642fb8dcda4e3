package goals

import "time"

// A search plays Settings through trials, one after another.
type search struct {
	Settings
	grid   *grid
	ledger *ledger
	carry  func(Ask) (Trial, bool) // carries a trial out; false: there is none, and the search stays where it is
	trials []Trial                 // those in the ledger
	spent  time.Duration           // of all trials
	global int                     // the width of the last step, in steps of the grid, which the next ones of other goals are at least as wide as
}

// search has no trial in its ledger yet.
func (s Settings) search(carry func(Ask) (Trial, bool)) *search {
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
	return &search{Settings: s, grid: grid, ledger: &ledger{grid: grid, targets: targets}, carry: carry}
}

// final is the index of a goal's own target.
func (s *search) final(goal int) int { return goal*(coarser+1) + coarser }

// Walk carries a search out, from its first trial to its end, or until carry has no trial: in one pass what Next answers trial by trial.
func (s Settings) Walk(carry func(Ask) (Trial, bool)) {
	if s.Check() != nil {
		return
	}
	if s.Classification == Sequential {
		s.search(carry).playSequential()
		return
	}
	s.search(carry).play()
}

// Next is what to try after the trials so far, and done once there is nothing left to try, or no time.
func (s Settings) Next(trials []Trial) (ask Ask, done bool) {
	played := 0
	done = true
	s.Walk(func(next Ask) (Trial, bool) {
		if played == len(trials) {
			ask, done = next, false
			return Trial{}, false
		}
		played++
		return trials[played-1], true
	})
	return ask, done
}

// play goes through the whole search, to its end or as far as trials can be carried out.
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
			if c, ok := selector.nominate(); ok && (next.selector == nil || !s.before(next, c)) {
				next = c
			}
		}
		if next.selector == nil {
			return
		}
		if _, _, ok := s.measure(Ask{Load: s.grid.load(next.load), Duration: next.target.trial, StopAbove: s.stopAbove(next.load), Goal: next.target.goal, Reason: next.reason}); !ok {
			return
		}
		s.global = next.width
		next.selector.tried(next)
	}
}

// before says which of two candidates is tried first: the lower load, then the longer trial, then the wider step.
func (s *search) before(a, b candidate) bool {
	switch {
	case a.load != b.load:
		return a.load < b.load
	case a.target.trial != b.target.trial:
		return a.target.trial > b.target.trial
	}
	return a.width >= b.width
}

// start is the trials that a search begins with: at the maximum, at what came through there, and once more so, or one width above it if nothing was lost. It returns the last two loads.
func (s *search) start() (low, high int, ok bool) {
	loss, duration, width := s.initial()
	first, load, ok := s.measure(Ask{Load: s.MaxLoad, Duration: duration, Goal: -1, Reason: "what the maximum load forwards"})
	if !ok {
		return 0, 0, false
	}
	second := s.through(load, first, loss)
	if second >= s.grid.top {
		return load, load, true
	}
	second, _ = s.keepAway(second, width, bounds{none, s.grid.top})
	trial, at, ok := s.measure(Ask{Load: s.grid.load(second), Duration: duration, Goal: -1, Reason: "what came through at the maximum load"})
	if !ok {
		return 0, 0, false
	}
	var third int
	var worth bool
	if trial.LossRatio > loss {
		third, worth = s.keepAway(s.through(at, trial, loss), width, bounds{none, at})
	} else {
		third, worth = s.keepAway(at+width, width, bounds{at, s.grid.top})
	}
	if !worth {
		return at, at, true
	}
	_, last, ok := s.measure(Ask{Load: s.grid.load(third), Duration: duration, Goal: -1, Reason: "close in on what comes through"})
	return min(at, last), max(at, last), ok
}

// initial is the smallest loss ratio, the longest trial and the largest width of the goals' first targets.
func (s *search) initial() (loss float64, duration time.Duration, width int) {
	loss = 1
	for goal := range s.Goals {
		first := s.ledger.targets[goal*(coarser+1)]
		loss, duration, width = min(loss, first.loss), max(duration, first.trial), max(width, first.width)
	}
	return loss, duration, width
}

// through is the load of which a device loses a share, if it forwards no more of it than it did in a trial.
func (s *search) through(load int, trial Trial, loss float64) int {
	return s.grid.floor(s.grid.load(load) * (1 - trial.LossRatio) * (1 / (1 - loss)))
}

// measure has a trial carried out, if there is time for it, and returns it with the number of its load.
func (s *search) measure(ask Ask) (Trial, int, bool) {
	if s.overdue(ask.Duration) {
		return Trial{}, 0, false
	}
	trial, ok := s.carry(ask)
	if !ok {
		return Trial{}, 0, false
	}
	trial = sane(trial)
	s.spent += trial.Took
	s.trials = append(s.trials, trial)
	return trial, s.ledger.add(len(s.trials)-1, trial), true
}

// overdue says that the search may not begin another trial.
func (s *search) overdue(next time.Duration) bool {
	most, span, _ := s.Longest()
	return len(s.trials) >= most || next > span-min(s.spent, span)
}

// stopAbove is the loss ratio above which a trial at a load is decided for all goals, or nil.
//
// By RFC9971 it is so only if one bad trial decides each goal: more of the trial would change nothing. By Sequential goals don't matter that are decided at the load, or have bounds on one side of it.
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

// open says whether a trial at a load may still show something of a goal.
func (s *search) open(goal, load int) bool {
	last := s.final(goal)
	b := s.ledger.bounds(last)
	if b.low != none && load <= b.low || b.high != none && load >= b.high {
		return false
	}
	return s.ledger.class(load, last) == undecided && s.view(goal).wants(load)
}
