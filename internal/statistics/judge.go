package statistics

import "math"

// Outcome is three-valued.
type Outcome string

// The outcomes.
const (
	Passed    Outcome = "Passed"    // the runs show that it is not worse than allowed
	Failed    Outcome = "Failed"    // the runs show that it is worse than allowed
	Undecided Outcome = "Undecided" // the runs show neither
)

// Reason is why the outcome is what it is.
type Reason string

// The reasons.
const (
	Shown        Reason = "Shown"        // the runs show it
	NoRuns       Reason = "NoRuns"       // there is nothing to compare
	NoBaseline   Reason = "NoBaseline"   // the baseline is 0: nothing is a share of that
	TooFewRuns   Reason = "TooFewRuns"   // however these runs had come out, chance could have done it
	TooWide      Reason = "TooWide"      // what is allowed lies within the interval; more runs make it narrower
	Unresolved   Reason = "Unresolved"   // what is allowed lies within the measurements' own resolution; more runs don't help, a finer search does
	LowerBounds  Reason = "LowerBounds"  // figures are lower bounds; more runs don't help, a stronger generator does
	SpreadDenied Reason = "SpreadDenied" // the runs lie further apart than the spread that was vouched for allows
)

// Demand is what a relative criterion allows.
type Demand struct {
	// Allowed is the share by which the candidate may be less than the baseline: 0.02 is 2 %.
	Allowed float64
	// AssumedSpread is the standard deviation of runs, as a share, that somebody vouches for where the runs are too few to show it; 0: nobody.
	AssumedSpread float64
	// Format writes a figure with its unit; nil writes the number.
	Format func(float64) string
}

// Judgement is what became of a relative criterion.
type Judgement struct {
	Outcome Outcome
	Reason  Reason
	// Sentence holds the figures, and the way out where it is undecided.
	Sentence            string
	Change              Change
	Candidate, Baseline Summary
	// Needed is how many runs would do where it is undecided and more of them would; else zero.
	Needed Needed

	assumed bool // the change's interval is made from Demand.AssumedSpread
}

// Needed is how many runs of each would likely tell (in about nine of ten cases, if the runs so far are typical).
type Needed struct {
	Candidate, Baseline int
}

// Judge says whether the candidate is less than the baseline by more than is allowed. It claims so, or the opposite, only where the runs show
// it: each of the two claims is wrong with a probability of at most 2.5 %, whatever the runs' distribution. Of all figures more is better.
func Judge(candidate, baseline []Run, d Demand) Judgement {
	j := Judgement{Outcome: Undecided, Candidate: Summarize(figures(candidate)), Baseline: Summarize(figures(baseline)), Change: Change{High: math.Inf(1)}}
	j.Reason = j.decide(candidate, baseline, d)
	if j.Reason == TooFewRuns || j.Reason == TooWide {
		j.Needed = needed(candidate, baseline, d)
	}
	j.Sentence = j.sentence(candidate, baseline, d)
	return j
}

// decide fills in the outcome and the change, and says why it is so.
func (j *Judgement) decide(candidate, baseline []Run, d Demand) Reason {
	switch {
	case len(candidate) == 0 || len(baseline) == 0 || !allSound(candidate) || !allSound(baseline):
		return NoRuns
	case j.Baseline.Median == 0:
		return NoBaseline
	}
	known := true
	switch {
	case enough(len(candidate), len(baseline)):
		j.Change = change(candidate, baseline)
	case d.AssumedSpread <= 0:
		j.Change, known = estimate(candidate, baseline), false
	case denies(candidate, d.AssumedSpread) || denies(baseline, d.AssumedSpread):
		j.Change = estimate(candidate, baseline)
		return SpreadDenied
	default:
		j.Change, j.assumed = assumedChange(candidate, baseline, d.AssumedSpread), true
	}
	if known && j.shown(1-d.Allowed) {
		return Shown
	}
	return open(candidate, baseline, 1-d.Allowed, known)
}

// shown says whether the change's interval lies on one side of the least ratio that is allowed, and sets the outcome.
func (j *Judgement) shown(least float64) bool {
	switch {
	case j.Change.Low >= least:
		j.Outcome = Passed
	case j.Change.High < least:
		j.Outcome = Failed
	}
	return j.Outcome != Undecided
}

// open says why the runs show neither: whether more of them could, if they were like these.
func open(candidate, baseline []Run, least float64, known bool) Reason {
	switch {
	case gap(candidate, baseline, least) > 0 && known:
		return TooWide
	case gap(candidate, baseline, least) > 0:
		return TooFewRuns
	case bounds(candidate) > 0 || bounds(baseline) > 0:
		return LowerBounds
	}
	return Unresolved
}

func allSound(runs []Run) bool {
	for _, r := range runs {
		if !r.sound() {
			return false
		}
	}
	return true
}

// gap is how far the change lies from the least ratio allowed, on whichever side, as a natural logarithm, with the runs' own resolution taken
// off; 0 or less: it hides the difference.
func gap(candidate, baseline []Run, least float64) float64 {
	above := math.Log(middle(pairs(figures(candidate), ends(baseline))) / least)
	below := math.Log(least / middle(pairs(ends(candidate), figures(baseline))))
	return max(above, below)
}

// rangeOfNormal is the range in standard deviations that up to ten normal runs exceed in one of a hundred cases at most.
const rangeOfNormal = 5.2

// denies says that runs lie further apart than the spread that is vouched for explains.
func denies(runs []Run, spread float64) bool {
	least, most := math.Inf(1), 0.0
	for _, r := range runs {
		least, most = min(least, r.Low), max(most, r.Low)
	}
	return len(runs) > 1 && most > least*math.Exp(rangeOfNormal*spread)
}
