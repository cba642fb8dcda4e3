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
	// RFC9971 is the standard's rule, and asks load by load what the library MLRsearch 1.2.1 asks. A load is decided once nothing that is missing of a goal's duration sum could change it.
	RFC9971 Classification = "RFC9971"
	// Sequential also decides a load as soon as its trials are one-sided enough, lets trials end once they are decided, and goes by what loads look like. If trials are independent, it puts a load on the wrong side at most 0.25 points more often than RFC9971. It is faster.
	Sequential Classification = "Sequential"
)

// Goal is what a search looks for: the highest load at which trials lose no more than LossRatio.
type Goal struct {
	Name string
	// LossRatio is what share of its frames a trial may lose and still be good, from 0 to below 1.
	LossRatio float64
	// ExceedRatio is what share of the duration sum bad trials may take at a load that holds, from 0 to below 1.
	ExceedRatio float64
	// Width is how far the two bounds may lie apart at the end, as a share of the upper one.
	Width float64
	// InitialTrial is how long the shortest trials are; 0 is one second, or FinalTrial where that is shorter.
	InitialTrial time.Duration
	// FinalTrial is how long a trial must be to show that a load holds.
	FinalTrial time.Duration
	// DurationSum is how much time of trials, overheads included, decides a load in the closest case.
	DurationSum time.Duration
}

// RFC2544 is the goal of RFC 2544's throughput: one trial of 60 s without loss.
func RFC2544(width float64) Goal {
	return Goal{Name: "RFC2544", Width: width, FinalTrial: time.Minute, DurationSum: time.Minute}
}

// TST009 is the goal of ETSI GS NFV-TST 009's binary search with loss verification: most of two or three trials of 60 s must be without loss. Of a sum of 120 s one bad trial with its overhead would be more than half, and decide
// alone; of 130 s it takes two, as long as overheads are below 5 s.
func TST009(width float64) Goal {
	return Goal{Name: "TST009", ExceedRatio: 0.5, Width: width, FinalTrial: time.Minute, DurationSum: 130 * time.Second}
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
	// MinLoad and MaxLoad are the least and the most that is ever tried, in frames/s or in any other unit.
	MinLoad, MaxLoad float64
	// MaxTime is how long all trials together may take, overheads included. 0 has a default computed from the goals.
	MaxTime time.Duration
}

// Trial is what one trial showed.
type Trial struct {
	// Load is what was asked for, in the unit of Settings.
	Load float64
	// Duration is what was asked for; whether a trial is long enough for a goal goes by it.
	Duration time.Duration
	// Took is Duration with overheads, which duration sums add.
	Took time.Duration
	// LossRatio is (|lost| + |intended - sent|) / max(sent, intended), of the worst direction, from 0 to 1.
	LossRatio float64
	// Stopped says that the trial ended as soon as it was decided. LossRatio is then the least that the full trial would have lost; the trial counts with its full length, and Took is what that would have taken.
	Stopped bool
}

// Ask is what a search wants to try next.
type Ask struct {
	Load     float64
	Duration time.Duration
	// StopAbove is the share of the planned frames, that is of Load × Duration, above which loss decides the trial for each goal that its load is still open for; the trial may stop there. Nil: it has to be played to its end.
	StopAbove *float64
	// Goal is the index of the goal that the trial is for, or -1 for the trials that a search begins with.
	Goal   int
	Reason string
}

// Bound is a load that is decided, and the indexes of all trials there.
type Bound struct {
	Load   float64
	Trials []int
}

// What is irregular about a Result.
const (
	// MinimumLossy says that even the minimum load is an upper bound.
	MinimumLossy = "MinimumLossy"
	// MaximumClean says that even the maximum load is a lower bound.
	MaximumClean = "MaximumClean"
	// Unfinished says that the search ended before the bounds were close enough.
	Unfinished = "Unfinished"
)

// Result is what trials show of a goal.
type Result struct {
	// Upper is the lowest load at which the goal isn't met, Lower the highest below it at which it is. Nil where there is none.
	Lower, Upper *Bound
	// ConditionalThroughput is what came through at Lower, in the unit of loads: Lower × (1 - the loss ratio that no more than the goal's exceed ratio of trials were worse than). 0 without Lower.
	ConditionalThroughput float64
	// Irregular is empty where both bounds are there and no further apart than the goal's width.
	Irregular string
	// WrongClass is the chance that one load is put on the wrong side where trials are bad with a probability of 0.2, or of 0.8, whichever is worse, independently of each other: a load should hold where that probability is no more
	// than the goal's exceed ratio. NaN where no trial was long enough for the goal, since overheads count.
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

// Check says what about the settings can't be searched for.
func (s Settings) Check() error {
	var wrong []error
	say := func(when bool, format string, of ...any) {
		if when {
			wrong = append(wrong, fmt.Errorf(format, of...))
		}
	}
	say(s.Classification != RFC9971 && s.Classification != Sequential, "classification %q is neither %s nor %s", s.Classification, RFC9971, Sequential)
	say(!(s.MinLoad > 0 && s.MinLoad < s.MaxLoad) || math.IsInf(s.MaxLoad, 0), "loads must ascend from above 0: from %g to %g they don't", s.MinLoad, s.MaxLoad)
	say(s.MaxTime < 0 || s.MaxTime > longest, "the trials' time together must be between 0 and %s, and is %s", longest, s.MaxTime)
	say(len(s.Goals) == 0 || len(s.Goals) > maxGoals, "a search has 1 to %d goals, and here are %d", maxGoals, len(s.Goals))
	for i, g := range s.Goals {
		name := fmt.Sprintf("goal %d (%s)", i+1, g.Name)
		say(!(g.LossRatio >= 0 && g.LossRatio < 1), "%s: a loss ratio of %g isn't from 0 to below 1", name, g.LossRatio)
		say(!(g.ExceedRatio >= 0 && g.ExceedRatio < 1), "%s: an exceed ratio of %g isn't from 0 to below 1", name, g.ExceedRatio)
		say(!(g.Width >= leastWidth && g.Width <= mostWidth), "%s: a width of %g isn't from %g to %g", name, g.Width, leastWidth, mostWidth)
		say(g.InitialTrial < 0 || g.initialTrial() < leastTrial, "%s: an initial trial of %s is shorter than %s", name, g.initialTrial(), leastTrial)
		say(g.FinalTrial < g.initialTrial(), "%s: the final trial of %s is shorter than the initial one of %s", name, g.FinalTrial, g.initialTrial())
		say(g.DurationSum < g.FinalTrial, "%s: the duration sum of %s is shorter than a final trial of %s", name, g.DurationSum, g.FinalTrial)
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

// Longest bounds what Next ever asks for: how many trials, their durations together, and the longest of them.
// A search also ends where its trials took so long that the next one wouldn't end within that span.
func (s Settings) Longest() (trials int, span, trial time.Duration) {
	span = s.maxTime()
	shortest := longest
	for _, g := range s.Goals {
		shortest, trial = min(shortest, max(g.initialTrial(), leastTrial)), max(trial, g.FinalTrial)
	}
	return min(int(span/shortest), mostTrials), span, min(trial, span)
}

// mostTrials ends a search of a device that never agrees with itself.
const mostTrials = 10_000
