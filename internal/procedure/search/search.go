package search

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The bounds of repeats. On a machine whose host takes 10 ms every other second, two of three trials of 1 s near the
// limit are disturbed. A disturbed trial that counts makes a limit a lower bound.
const (
	invalidRepeats = 5  // times that one trial is repeated because it was disturbed
	repeatBudget   = 40 // such repeats in the whole search
)

// initialTrial is how long the shortest trials are, unless the trials that decide are shorter.
const initialTrial = time.Second

// Search is the procedure of a Plan.
type Search struct {
	plan     plan.Search
	settings goals.Settings
}

var _ procedure.Procedure = Search{}

// New is the search that the Plan describes.
func New(p plan.Procedure) Search {
	if p.Search == nil {
		return Search{}
	}
	s := Search{plan: *p.Search, settings: goals.Settings{Classification: goals.Classification(p.Search.Classification),
		MaxLoad: 1, MinLoad: 1}}
	if lowest, highest := p.Search.MinRate, p.Search.MaxRate; lowest.Kind == highest.Kind && highest.Micros > 0 &&
		lowest.Micros > 0 {
		s.settings.MinLoad = min(1, float64(lowest.Micros)/float64(highest.Micros))
	}
	for _, g := range p.Search.Goals {
		s.settings.Goals = append(s.settings.Goals, goals.Goal{Name: g.Name, LossRatio: g.LossRatio.Float(),
			ExceedRatio: g.ExceedRatio.Float(), Width: g.Width.Float(),
			InitialTrial: min(initialTrial, g.FinalTrialDuration.Std()), FinalTrial: g.FinalTrialDuration.Std(),
			DurationSum: g.DurationSum.Std()})
	}
	return s
}

// loadOf converts a load of package goals, a share of the highest, to a step's load. It is never 0, since the lowest
// load is more than 0.
func loadOf(load float64) units.Ratio {
	return max(1, min(units.One, units.RatioOfShare(load)))
}

// warmUpShare is the part of the highest load that warms the device up, where the lowest load is less.
const warmUpShare = 1000

// Rates are the highest load, which all loads are shares of, and the warm-up's. That is the lowest load, or a little
// more where that is next to nothing.
func (s Search) Rates() procedure.Rates {
	warmUp := s.plan.MinRate
	if warmUp.Kind == s.plan.MaxRate.Kind {
		warmUp.Micros = max(warmUp.Micros, s.plan.MaxRate.Micros/warmUpShare)
	}
	return s.warmUp().Rates(procedure.Rate{Field: "search.maxRate", Rate: s.plan.MaxRate},
		procedure.Rate{Field: "search.minRate", Rate: warmUp})
}

func (s Search) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: s.plan.WarmupDuration.Std()}
}

// course is the state that replaying the trials leads to.
type course struct {
	procedure.Course

	trials   []trial
	searched int // how many of them the search asked for. The trials after them only show whose limit it is
	ask      goals.Ask
	repeats  int // of the trial asked for, because it was disturbed
	budget   int // repeats left for all trials
	steady   []steady
	step     procedure.Step // the next step after all trials
	unheld   string         // why a load could not be held
}

// trial is a trial that counts.
type trial struct {
	goals.Trial
	window int // its index in the history
}

// counted are the trials as package goals takes them.
func (c *course) counted() []goals.Trial {
	trials := make([]goals.Trial, len(c.trials))
	for i, t := range c.trials {
		trials[i] = t.Trial
	}
	return trials
}

// replay plays the history through the search.
func (s Search) replay(history []report.Window) course {
	c := course{budget: repeatBudget}
	if len(s.settings.Goals) == 0 {
		c.End("the search has no goal")
		return c
	}
	if lost := s.warmUp().NothingCameBack(history); lost != "" {
		c.End(lost)
		return c
	}
	c.Ended = true
	next := s.warmUp().Steps()
	play := func(ask goals.Ask) (goals.Trial, bool) {
		c.ask, c.repeats, c.Reason = ask, 0, ask.Reason
		for ; next < len(history); next++ {
			if t, counts := s.observe(&c, history[next]); counts {
				c.trials = append(c.trials, trial{t, next})
				next++
				return t, true
			}
		}
		c.Ended = false
		return goals.Trial{}, false
	}
	s.settings.Search(play)
	c.searched = len(c.trials)
	for c.Ended {
		ask, wanted := s.nextOwnLimitTrial(&c, history)
		if !wanted {
			break
		}
		play(ask)
	}
	if c.Ended {
		s.holdLowerBounds(&c, history, next)
	}
	if c.Ended {
		c.Reason = "the search is over after " + wording.Counted(len(c.trials), "trial")
	}
	return c
}

// observe takes in a window of the trial that was asked for, and reports whether the trial counts. A trial that stays
// disturbed however often it is repeated counts as it is, so that the search comes to an end. What such a trial lacks
// bounds nothing (see reasonOfUpperBound).
func (s Search) observe(c *course, w report.Window) (t goals.Trial, counts bool) {
	if reason := s.whyDisturbed(w); reason != "" && c.repeats < invalidRepeats && c.budget > 0 {
		c.repeats++
		c.budget--
		c.Reason = reason
		return t, false
	}
	t = s.trialOf(c.ask, w)
	if !s.countsForSomeGoal(w) {
		t.LossRatio = 1
	}
	return t, true
}

// Next is the next trial, or the disturbed one again.
func (s Search) Next(history []report.Window) procedure.Step {
	c := s.replay(history)
	return c.Next(s.warmUp(), history, func() procedure.Step {
		if step := c.step; step.Judge > 0 {
			step.Narrows = true
			return step
		}
		step := procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: loadOf(c.ask.Load),
			Judge: c.ask.Duration, Reason: c.Reason, Narrows: true}
		if limit, ends := decidedAbove(c.ask); ends {
			step.StopAbove = &limit
		}
		return step
	})
}

// decidedAbove is the loss ratio above which a trial is bad for every goal that it may show something of, so that the
// rest of the trial would show nothing. False means that the trial is played to its end.
func decidedAbove(ask goals.Ask) (limit units.Ratio, ends bool) {
	if ask.StopAbove == nil {
		return 0, false
	}
	return units.Ratio(math.Ceil(*ask.StopAbove * float64(units.One))), true
}

// Bound is the most that the search asks for, with every repeat.
func (s Search) Bound() procedure.Bound {
	if len(s.settings.Goals) == 0 {
		return s.warmUp().Bound(0, 0, 0)
	}
	trials, span, longest := s.settings.Longest()
	ownLimitTrials, apartSpan := s.mostOwnLimitTrials()
	trials, span = trials+ownLimitTrials, span+apartSpan
	repeats := min(repeatBudget, invalidRepeats*trials)
	b := s.warmUp().Bound(trials+repeats, span+time.Duration(repeats)*longest, longest)
	holds, heldSpan := s.mostHeldTogether()
	b.Steps, b.Time, b.LongestHold = b.Steps+holds, b.Time+heldSpan, heldSpan
	return b
}

// Usual is the warm-up, three short trials to begin with, and the trials that decide each goal's two bounds. Of these
// trials the second half is rarely needed.
func (s Search) Usual() time.Duration {
	usual := s.plan.WarmupDuration.Std()
	for i, g := range s.plan.Goals {
		if i == 0 {
			usual += 3 * min(time.Second, g.FinalTrialDuration.Std())
		}
		usual += 2 * max(g.FinalTrialDuration.Std(), g.DurationSum.Std()/2)
	}
	return usual
}

// Remaining is the rest of the usual time, and at least the next trial.
func (s Search) Remaining(history []report.Window) time.Duration {
	c := s.replay(history)
	if c.Ended {
		return 0
	}
	if s.warmUp().Due(history) {
		return min(s.Usual(), s.Bound().Time)
	}
	remaining := s.Usual() - s.plan.WarmupDuration.Std()
	for _, t := range c.trials {
		remaining -= t.Duration
	}
	return min(max(remaining, c.ask.Duration), s.Bound().Time)
}

// Describe says what is searched for, and how long the trials last that decide the first goal.
func (s Search) Describe() procedure.Description {
	var d procedure.Description
	if len(s.plan.Goals) > 0 {
		d.Trial = s.plan.Goals[0].FinalTrialDuration.Std()
	}
	if s.plan.MaxRate.IsZero() {
		return d
	}
	var goalTexts []string
	for _, g := range s.plan.Goals {
		goalTexts = append(goalTexts, fmt.Sprintf("%s (at most %s %% lost)", g.Name, g.LossRatio.Percent()))
	}
	d.Parts, d.OnTop = "warm-up and trials", "what a device that loses now and then, and disturbed trials, repeat"
	d.Sentence = fmt.Sprintf("search for %s between %s and %s per direction, in trials of up to %s each, classified by %s",
		strings.Join(goalTexts, " and "), s.plan.MinRate, s.plan.MaxRate, s.longestTrial(), s.plan.Classification)
	return d
}

func (s Search) longestTrial() (longest time.Duration) {
	for _, g := range s.plan.Goals {
		longest = max(longest, g.FinalTrialDuration.Std())
	}
	return longest
}
