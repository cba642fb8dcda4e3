package comparison

import (
	"math"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// Question is whether a figure changed from the baseline's runs to the candidate's, and whether that is allowed.
// More is better in all runs. Runs of a figure of which less is better hold its reciprocals (Figure.Runs).
type Question struct {
	Figure              Figure
	Candidate, Baseline []Run
	// Allowance is what is allowed. It is nil where nothing is demanded, and the Answer says only what the runs
	// show.
	Allowance *Allowance
}

// Allowance is by how much a candidate may be less than its baseline, and what is assumed about their runs.
type Allowance struct {
	// MaxRegression is the share by which the candidate may be less, or, of a figure of which less is better, more.
	MaxRegression units.Ratio
	// MaxWorkRegression is the share by which a frame may take longer, where a comparison of rates shows neither claim.
	// It is nil where nothing is asked then.
	MaxWorkRegression *units.Ratio
	// AssumedSpread is the standard deviation of a single run, as a share, that the user vouches for where too few
	// runs were measured to show it. It is 0 where the user vouches for none.
	AssumedSpread units.Ratio
	// Tries is how often these runs are judged at most, as runs are added until they decide, or all are made anew.
	// 0 is once. All tries together are wrong as seldom as one is.
	Tries int
}

// Answer is what the runs show of a Question, about the ratio of the two devices' medians. Each of the two claims,
// Passed and DidFail, is wrong with a probability of at most 2.5 %, by simulation of runs of many shapes, numbers
// and spreads (docs/statistics.md).
type Answer struct {
	// Outcome is whether the change is allowed. It is empty where nothing is demanded.
	Outcome report.Outcome
	// Judgement is what the runs show of a difference, whatever is allowed.
	Judgement report.Judgement
	// Change is the difference with its interval. It is nil where the runs show none.
	Change *report.Change
	// Sentence has the figures, and the way out where the Outcome is Undecided. Without an Allowance it has only
	// the interval of the difference, or why the runs show none.
	Sentence string
	// Reason is why the Outcome is what it is.
	Reason Reason
	// Needed is how many runs would decide, where the Outcome is Undecided and more runs would. Otherwise it is
	// zero.
	Needed Needed
	// Chance is what the claims rest on. Without enough runs both are 1.
	Chance Chance
}

// Chance is the probability with which chance alone, for a candidate that has exactly what is allowed, would show
// as much as the runs do. Passed is that of the claim that it has no less, and Failed that it has less. A claim is
// made where its probability is at most 2.5 %.
type Chance struct{ Passed, Failed float64 }

// Reason is why an Outcome is what it is.
type Reason string

// The reasons.
const (
	Shown      Reason = "Shown"      // the runs show it
	NoRuns     Reason = "NoRuns"     // there is nothing to compare
	NoBaseline Reason = "NoBaseline" // the baseline is 0, so no change can be given as a share of it
	TooFewRuns Reason = "TooFewRuns" // fewer than five on a side, and nobody vouches for their spread
	TooWide    Reason = "TooWide"    // the allowed change lies within the interval, which more runs make narrower
	// the allowed change lies within the measurements' own resolution, where a finer search helps and more runs
	// don't
	Unresolved Reason = "Unresolved"
	// figures are lower bounds, where more runs don't help, but removing what was in their way does, such as a
	// target, another direction or a generator
	LowerBounds  Reason = "LowerBounds"
	SpreadDenied Reason = "SpreadDenied" // the runs lie further apart than the spread that was vouched for allows
)

// Needed is how many runs of each would likely decide (in about nine of ten cases, if the runs so far are typical).
type Needed struct {
	Candidate, Baseline int
}

// Compare answers the question.
func Compare(q Question) Answer {
	c := newComparison(q)
	c.decide()
	answer := Answer{Judgement: c.judgement(), Change: c.reportedChange(), Reason: c.reason, Needed: c.needed,
		Chance: c.chance}
	if q.Allowance == nil {
		answer.Sentence = c.differenceSentence(answer)
		return answer
	}
	answer.Outcome, answer.Sentence = c.outcome, c.sentence()
	return answer
}

// comparison is a Question while it is answered.
type comparison struct {
	figure                            Figure
	candidate, baseline               []Run
	allowed, spread                   float64            // the Allowance, as shares of 1
	asked                             float64            // what is allowed of the figure itself
	candidateSummary, baselineSummary statistics.Summary // of the candidate's figures, and of the baseline's

	outcome report.Outcome
	reason  Reason
	change  change
	chance  Chance
	tail    float64 // how improbable a wrong claim is to be
	assumed bool    // the change's interval is made from the spread that is vouched for
	needed  Needed
}

// allowed is the share by which the candidate's runs may be less than the baseline's. A figure that may be 25 %
// more has a reciprocal that may be 20 % less.
func (q Question) allowed() float64 {
	a := q.Allowance.MaxRegression.Float()
	if q.Figure.lessIsBetter() {
		return a / (1 + a)
	}
	return a
}

func newComparison(q Question) *comparison {
	c := &comparison{figure: q.Figure, candidate: q.Candidate, baseline: q.Baseline, outcome: report.Undecided,
		change: change{high: math.Inf(1)}, chance: Chance{Passed: 1, Failed: 1}, tail: worstTail}
	if a := q.Allowance; a != nil {
		c.asked, c.allowed, c.spread = a.MaxRegression.Float(), q.allowed(), a.AssumedSpread.Float()
		c.tail = worstTail / float64(max(1, a.Tries))
	}
	c.candidateSummary, c.baselineSummary = statistics.Summarize(lows(c.candidate)),
		statistics.Summarize(lows(c.baseline))
	return c
}

// decide fills in the change, the outcome, the reason, and how many runs would decide.
func (c *comparison) decide() {
	c.reason = c.compare()
	if c.reason == TooFewRuns || c.reason == TooWide {
		c.needed = needed(c.candidate, c.baseline, 1-c.allowed, c.tail)
	}
}

func (c *comparison) compare() Reason {
	switch {
	case len(c.candidate) == 0 || len(c.baseline) == 0 || !allSound(c.candidate) || !allSound(c.baseline):
		return NoRuns
	case c.baselineSummary.Median == 0:
		return NoBaseline
	}
	candidate, baseline, minRatio := sampleOf(c.candidate), sampleOf(c.baseline), 1-c.allowed
	common := candidate.common + baseline.common
	c.change = estimate(candidate, baseline)
	var loss, gain gap
	switch {
	case enoughRuns(len(c.candidate), len(c.baseline)):
		method := methodOf(len(c.candidate), len(c.baseline))
		loss, gain = method.lossGap(candidate, baseline), method.gainGap(candidate, baseline)
	case c.spread <= 0:
		return c.whyOpen(distanceBeyondAllowed(candidate, baseline, minRatio))
	case spreadDenied(c.candidate, c.spread) || spreadDenied(c.baseline, c.spread):
		return SpreadDenied
	default:
		loss, gain = assumedGap(candidate.highs, baseline.lows, c.spread, common), assumedGap(baseline.highs,
			candidate.lows, c.spread, common)
		c.assumed, common = true, 0
	}
	c.chance, c.change = chances(loss, gain, minRatio, common), changeWithin(c.change.ratio, loss, gain, c.tail, common)
	switch {
	case c.chance.Passed <= c.tail:
		c.outcome = report.Passed
	case c.chance.Failed <= c.tail:
		c.outcome = report.DidFail
	default:
		return c.whyOpen(distanceBeyondAllowed(candidate, baseline, minRatio))
	}
	return Shown
}

// whyOpen says why the runs show neither claim, by how far they lie beyond what hides the difference. More runs
// like these may help, or may not.
func (c *comparison) whyOpen(beyond float64) Reason {
	switch {
	case beyond > 0 && c.change.confidence > 0:
		return TooWide
	case beyond > 0:
		return TooFewRuns
	case lowerBoundCount(c.candidate) > 0 || lowerBoundCount(c.baseline) > 0:
		return LowerBounds
	}
	return Unresolved
}

// figureChange is the change of the figure itself, which may be one of which less is better.
func (c *comparison) figureChange() change {
	if !c.figure.lessIsBetter() {
		return c.change
	}
	return change{ratio: 1 / c.change.ratio, low: 1 / c.change.high, high: 1 / c.change.low,
		confidence: c.change.confidence}
}

// judgement is what the runs show of a difference, whatever is allowed.
func (c *comparison) judgement() report.Judgement {
	switch {
	case c.reason == NoRuns || c.reason == NoBaseline:
		return report.NotComparable
	case c.figureChange().high < 1:
		return report.Less
	case c.figureChange().low > 1:
		return report.More
	case c.change.confidence == 0:
		return report.TooFew
	}
	return report.NotShown
}

// reportedChange is the change as documents have it. It is nil where no change can be claimed, as when lower bounds
// hide it, because the difference between two generators shows nothing of two devices.
func (c *comparison) reportedChange() *report.Change {
	current := c.figureChange()
	shown := c.change.high < 1 || c.change.low > 1
	switch {
	case c.reason == NoRuns || c.reason == NoBaseline || math.IsNaN(c.change.ratio) || math.IsInf(c.change.ratio, 0):
		return nil
	case !shown && lowerBoundCount(c.candidate)+lowerBoundCount(c.baseline) > 0:
		return nil
	}
	written := &report.Change{Percent: units.PercentOfShare(current.ratio - 1)}
	if c.change.confidence == 0 {
		return written
	}
	written.Confidence = units.PercentOfShare(c.change.confidence)
	if current.low > 0 {
		low := units.PercentOfShare(current.low - 1)
		written.LowPercent = &low
	}
	if !math.IsInf(current.high, 1) {
		high := units.PercentOfShare(current.high - 1)
		written.HighPercent = &high
		// all that is known of most of them is what they can't do
		if 2*lossyAtAnyLoadCount(c.candidate) > len(c.candidate) {
			written.Percent = max(written.Percent, high)
		}
	}
	return written
}

// ChangeFromMedian is how far a figure lies from the median of the runs around it, without a claim that it changed.
// It is nil where that is unknown, as where both are lower bounds, or one is of frames and the other of sessions.
func ChangeFromMedian(figures, median *report.Figures) *report.Change {
	const limit = 1e6 // further apart it is no distance that anybody reads
	if figures == nil || median == nil || figures.LowerBound && median.LowerBound ||
		figures.OfSessions() != median.OfSessions() || figures.OfTrains() != median.OfTrains() {
		return nil
	}
	distance := float64(figures.Throughput())/float64(median.Throughput()) - 1
	if !(math.Abs(distance) <= limit) { // NaN, too
		return nil
	}
	return &report.Change{Percent: units.PercentOfShare(distance)}
}
