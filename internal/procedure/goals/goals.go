package goals

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Classification is the rule by which trials at one load decide whether a goal is met there.
type Classification string

const (
	// RFC9971 is the standard's rule. The search asks load by load what the library MLRsearch 1.2.1 asks. A load is
	// decided once no result of the rest of the goal's duration sum could change its class.
	RFC9971 Classification = "RFC9971"
	// Sequential also decides a load as soon as its trials are one-sided enough, ends trials that are decided, and
	// chooses loads by apparent bounds. If trials are independent, Sequential puts a load on the wrong side at most
	// 0.25 points more often than RFC9971. It is faster than RFC9971.
	Sequential Classification = "Sequential"
)

// Goal is what a search looks for, the highest load at which trials lose no more than LossRatio.
type Goal struct {
	Name string
	// LossRatio is what share of its frames a trial may lose and still be good, from 0 to below 1.
	LossRatio float64
	// ExceedRatio is what share of the duration sum bad trials may take at a load that holds, from 0 to below 1.
	ExceedRatio float64
	// Width is how far the two bounds may lie apart at the end, as a share of the upper one.
	Width float64
	// InitialTrial is how long the shortest trials are. 0 means one second, or FinalTrial where that is shorter.
	InitialTrial time.Duration
	// FinalTrial is how long a trial must be to show that a load holds.
	FinalTrial time.Duration
	// DurationSum is how much time of trials, overheads included, decides a load in the closest case.
	DurationSum time.Duration
}

func (g Goal) initialTrial() time.Duration {
	if g.InitialTrial > 0 {
		return g.InitialTrial
	}
	return min(time.Second, g.FinalTrial)
}

// Settings are what a search is asked for.
type Settings struct {
	Classification Classification
	Goals          []Goal
	// MinLoad and MaxLoad are the lowest and the highest load that is ever tried, in frames/s or in any other unit.
	MinLoad, MaxLoad float64
	// MaxTime is how long all trials together may take, overheads included. 0 means a default computed from the goals.
	MaxTime time.Duration
}

// Trial is what one trial showed.
type Trial struct {
	// Load is the intended load, in the unit of Settings.
	Load float64
	// Duration is the intended duration. It decides whether a trial is long enough for a goal.
	Duration time.Duration
	// Took is Duration with overheads. Duration sums add Took.
	Took time.Duration
	// LossRatio is (|lost| + |intended - sent|) / max(sent, intended), of the worst direction, from 0 to 1.
	LossRatio float64
	// Stopped reports that the trial ended as soon as it was decided. LossRatio is then the least that the full trial
	// would have lost. The trial counts with its full length, and Took is what the full trial would have taken.
	Stopped bool
}

// Ask is the trial that a search wants next.
type Ask struct {
	Load     float64
	Duration time.Duration
	// StopAbove is the share of the planned frames (Load × Duration) above which loss decides the trial for each goal
	// that its load is still open for. The trial may stop there. Nil means that the trial is played to its end.
	StopAbove *float64
	// Goal is the index of the goal that the trial is for, or -1 for the trials that a search begins with.
	Goal   int
	Reason string
}

// Bound is a decided load, and the indexes of all trials at this load.
type Bound struct {
	Load   float64
	Trials []int
}

// What is irregular about a Result.
const (
	// MinimumLossy means that even the minimum load is an upper bound.
	MinimumLossy = "MinimumLossy"
	// MaximumClean means that even the maximum load is a lower bound.
	MaximumClean = "MaximumClean"
	// Unfinished means that the search ended before the bounds were close enough.
	Unfinished = "Unfinished"
)

// Result is what trials show of a goal.
type Result struct {
	// Lower and Upper are the relevant bounds. Upper is the lowest load at which the goal isn't met, and Lower the
	// highest load below Upper at which the goal is met. Nil means that there is no such load.
	Lower, Upper *Bound
	// ConditionalThroughput is Lower × (1 - the loss ratio that at most the goal's exceed ratio of trials were worse
	// than), in the unit of loads. 0 means that there is no Lower.
	ConditionalThroughput float64
	// Irregular is empty where both bounds exist and are no further apart than the goal's width.
	Irregular string
	// WrongClass is the chance that one load is put on the wrong side. Trials are assumed to be bad independently of
	// each other, with a probability of 0.2 or of 0.8, whichever makes the chance larger. A load should hold where that
	// probability is no more than the goal's exceed ratio. NaN means that no trial was long enough for the goal, since
	// overheads count.
	WrongClass float64
}

// The limits of settings, which keep a search in a machine's memory and in a person's day.
const (
	maxGoals   = 16
	leastWidth = 1e-4
	mostWidth  = 0.5
	leastTrial = time.Millisecond
	longest    = 30 * 24 * time.Hour
)

// Check returns what about the settings can't be searched for.
func (s Settings) Check() error {
	var wrong []error
	say := func(fault bool, format string, args ...any) {
		if fault {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	say(s.Classification != RFC9971 && s.Classification != Sequential, "classification %q is neither %s nor %s",
		s.Classification, RFC9971, Sequential)
	say(!(s.MinLoad > 0 && s.MinLoad < s.MaxLoad) || math.IsInf(s.MaxLoad, 0),
		"loads must ascend from above 0: from %g to %g they don't", s.MinLoad, s.MaxLoad)
	say(s.MaxTime < 0 || s.MaxTime > longest, "the trials' time together must be between 0 and %s, and is %s", longest,
		s.MaxTime)
	say(len(s.Goals) == 0 || len(s.Goals) > maxGoals, "a search has 1 to %d goals, and here are %d", maxGoals,
		len(s.Goals))
	for i, g := range s.Goals {
		name := fmt.Sprintf("goal %d (%s)", i+1, g.Name)
		say(!(g.LossRatio >= 0 && g.LossRatio < 1), "%s: a loss ratio of %g isn't from 0 to below 1", name, g.LossRatio)
		say(!(g.ExceedRatio >= 0 && g.ExceedRatio < 1), "%s: an exceed ratio of %g isn't from 0 to below 1", name,
			g.ExceedRatio)
		say(!(g.Width >= leastWidth && g.Width <= mostWidth), "%s: a width of %g isn't from %g to %g", name, g.Width,
			leastWidth, mostWidth)
		say(g.InitialTrial < 0 || g.initialTrial() < leastTrial, "%s: an initial trial of %s is shorter than %s", name,
			g.initialTrial(), leastTrial)
		say(g.FinalTrial < g.initialTrial(), "%s: the final trial of %s is shorter than the initial one of %s", name,
			g.FinalTrial, g.initialTrial())
		say(g.DurationSum < g.FinalTrial, "%s: the duration sum of %s is shorter than a final trial of %s", name,
			g.DurationSum, g.FinalTrial)
		say(g.DurationSum > longest, "%s: the duration sum of %s is longer than %s", name, g.DurationSum, longest)
	}
	return errors.Join(wrong...)
}

// Of a search's default time: searches of ordinary devices take a third of it or less.
const (
	leastMaxTime = 20 * time.Minute
	sumsOfGoal   = 12 // a goal's loads: two bounds, and the walk there
)

// maxTime is how long all trials together may take.
func (s Settings) maxTime() time.Duration {
	if s.MaxTime > 0 {
		return s.MaxTime
	}
	var sums time.Duration
	for _, g := range s.Goals {
		sums += sumsOfGoal * min(g.DurationSum, longest)
	}
	return max(leastMaxTime, sums)
}

// Longest bounds what Search ever asks for, by the number of trials, the sum of their durations, and the
// longest of them. A search also ends where its trials took so long that the next one wouldn't end within that
// span.
func (s Settings) Longest() (trials int, span, trial time.Duration) {
	span = s.maxTime()
	shortest := longest
	for _, g := range s.Goals {
		shortest, trial = min(shortest, max(g.initialTrial(), leastTrial)), max(trial, g.FinalTrial)
	}
	return min(int(span/shortest), mostTrials), span, min(trial, span)
}

// mostTrials ends a search of a device whose trials keep contradicting each other.
const mostTrials = 10_000
