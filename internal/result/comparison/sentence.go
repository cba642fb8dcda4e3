package comparison

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// sentence says what was compared with what, what that shows, and the way out where it shows nothing.
func (c *comparison) sentence() string {
	if c.reason == NoRuns {
		return fmt.Sprintf("there are %s to compare with %s of the baseline", runsText(len(c.candidate)),
			runsText(len(c.baseline)))
	}
	if c.reason == NoBaseline {
		return noBaseline
	}
	format := c.figure.formatRun
	text := fmt.Sprintf("%s in %s, %s in %s of the baseline: %s", format(c.candidateSummary.Median),
		runsText(len(c.candidate)), format(c.baselineSummary.Median), runsText(len(c.baseline)),
		c.figureChange().text())
	text += fmt.Sprintf(", at most %s %% %s allowed", percent(c.asked), c.figure.worse())
	if c.assumed {
		text += fmt.Sprintf(" (taking runs to spread by the %s %% that assumedSpread vouches for)", percent(c.spread))
	}
	if c.tail < worstTail {
		text += fmt.Sprintf(" (in one of %.0f tries)", worstTail/c.tail)
	}
	return text + c.wayOutText() + outliersText("the runs", c.candidateSummary, format) +
		outliersText("the baseline's runs", c.baselineSummary, format)
}

const noBaseline = "the baseline is 0, so no change can be given as a share of it"

// differenceSentence is the sentence where nothing is demanded.
func (c *comparison) differenceSentence(a Answer) string {
	switch {
	case a.Judgement == report.NotComparable:
		return c.sentence()
	case a.Change == nil:
		if slices.ContainsFunc(slices.Concat(c.candidate, c.baseline), func(r Run) bool {
			return r.Bound == report.OtherDirection || r.Bound == report.BurstsMeasured ||
				r.Bound == report.LoadEstimated
		}) {
			return "figures are lower bounds, so no difference can be shown: " +
				boundsWayOut(slices.Concat(c.candidate, c.baseline))
		}
		return "figures are lower bounds, so no difference can be shown: the generator was the limit, or all that was asked for came back"
	case a.Judgement == report.TooFew:
		return fmt.Sprintf("%d against %d runs are too few to tell any difference from chance: make at least %d of each; more runs show smaller differences", len(c.candidate), len(c.baseline), leastRuns)
	case a.Judgement == report.NotShown:
		return "no difference is shown: it " + enclosure(a.Change)
	}
	return "the difference " + enclosure(a.Change)
}

// enclosure says where a change in a document's percentages lies, as in "lies within -3.60 % to -2.51 % (confidence
// 96.83 %)". Where figures are lower bounds, it has one end.
func enclosure(c *report.Change) string {
	text := func(p *units.Percent) string {
		if *p > 0 {
			return "+" + p.FormatFixed() + " %"
		}
		return p.FormatFixed() + " %"
	}
	var place string
	switch {
	case c.LowPercent != nil && c.HighPercent != nil:
		place = "lies within " + text(c.LowPercent) + " to " + text(c.HighPercent)
	case c.LowPercent != nil:
		place = "is at least " + text(c.LowPercent)
	case c.HighPercent != nil:
		place = "is at most " + text(c.HighPercent)
	default:
		place = "may be any"
	}
	return place + " (confidence " + c.Confidence.FormatFixed() + " %)"
}

// text is the change and its interval.
func (c change) text() string {
	text := changeText(c.ratio)
	if c.low <= 0 && math.IsInf(c.high, 1) {
		return text
	}
	return fmt.Sprintf("%s (%s %% interval: %s)", text, strconv.FormatFloat(100*c.confidence, 'f', 1, 64),
		intervalText(c.low, c.high))
}

// wayOutText says why the comparison is undecided, and what would decide it.
func (c *comparison) wayOutText() string {
	switch c.reason {
	case TooFewRuns:
		return ": too few runs to tell it from chance" + c.needed.text(len(c.candidate), len(c.baseline))
	case TooWide:
		return ": it may be less or more than is allowed" + c.needed.text(len(c.candidate), len(c.baseline))
	case Unresolved:
		return ": the difference is finer than the measurements resolve, and more runs won't help: let the search go on to a finer bracket"
	case LowerBounds:
		return fmt.Sprintf(": %s, and more runs won't help: %s", boundsText(lowerBoundCount(c.candidate),
			lowerBoundCount(c.baseline)), boundsWayOut(slices.Concat(c.candidate, c.baseline)))
	case SpreadDenied:
		return fmt.Sprintf(": the runs lie further apart than a spread of %s %% explains: raise assumedSpread, or make at least %d runs of each", percent(c.spread), leastRuns)
	default:
		return ""
	}
}

func boundsText(candidate, baseline int) string {
	var parts []string
	if candidate > 0 {
		parts = append(parts, fmt.Sprintf("%s of the candidate's", countText(candidate)))
	}
	if baseline > 0 {
		parts = append(parts, fmt.Sprintf("%s of the baseline's", countText(baseline)))
	}
	return strings.Join(parts, " and ") + " runs found a lower bound only"
}

// boundsWayOut says why these runs' figures are lower bounds, and what to do about it, one clause for each cause.
func boundsWayOut(runs []Run) string {
	var parts []string
	add := func(words string, match func(report.Reason) bool) {
		if slices.ContainsFunc(runs, func(r Run) bool { return math.IsInf(r.High, 1) && match(r.Bound) }) {
			parts = append(parts, words)
		}
	}
	isReason := func(wanted report.Reason) func(report.Reason) bool {
		return func(r report.Reason) bool { return r == wanted }
	}
	add("all that was asked for came back, so raise the target, or the load, to what the device can't carry or to line rate", isReason(report.TargetReached))
	add("another direction set the load, so measure each direction by itself ("+separateDirections+")",
		isReason(report.OtherDirection))
	add("they are close to what the generators do by themselves, and the limit may be theirs, so give them more",
		isReason(report.NearGenerators))
	add("the longest burst allowed lost nothing, so raise procedure.backToBack.maxBurstDuration",
		isReason(report.BurstsMeasured))
	add("no load that was offered is known to be too much, so raise procedure.soak.maxRate or .duration",
		isReason(report.LoadEstimated))
	add("the generator was the limit, give it more", func(r report.Reason) bool {
		return !slices.Contains([]report.Reason{report.TargetReached, report.OtherDirection, report.NearGenerators,
			report.BurstsMeasured, report.LoadEstimated}, r)
	})
	return strings.Join(parts, "; ")
}

// separateDirections is how a test asks for each direction's own limit.
const separateDirections = "procedure.directions: Each"

func countText(n int) string { return strconv.Itoa(n) }

// text says how many runs would suffice, if any number would.
func (n Needed) text(candidate, baseline int) string {
	switch {
	case n.Candidate == 0:
		return fmt.Sprintf(", and not even %d runs of each would decide", mostRuns)
	case n.Candidate == n.Baseline:
		return fmt.Sprintf(", about %d runs of each would decide", n.Candidate)
	case n.Baseline == baseline:
		return fmt.Sprintf(", about %d runs would decide against the baseline's %d", n.Candidate, baseline)
	case n.Candidate <= candidate:
		return fmt.Sprintf(", about %d runs of the baseline would decide", n.Baseline)
	}
	return fmt.Sprintf(", about %d runs against %d of the baseline would decide", n.Candidate, n.Baseline)
}

// outliersText names the outliers, or is empty for none.
func outliersText(owner string, s statistics.Summary, format func(float64) string) string {
	if len(s.Outliers) == 0 {
		return ""
	}
	values := make([]string, len(s.Outliers))
	for i, o := range s.Outliers {
		values[i] = format(o.Value)
	}
	return fmt.Sprintf("; far from the rest of %s: %s", owner, strings.Join(values, ", "))
}

func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return strconv.Itoa(n) + " runs"
}

// changeText is a ratio in words, such as "3.02 % less".
func changeText(ratio float64) string {
	switch {
	case math.IsNaN(ratio): // half of either's runs are nothing
		return "more or less"
	case math.IsInf(ratio, 1):
		return "more"
	case ratio < 1:
		return hundredths(1-ratio) + " % less"
	}
	return hundredths(ratio-1) + " % more"
}

// intervalText is an interval of ratios in words, such as "2.51 to 3.60 % less".
func intervalText(low, high float64) string {
	switch {
	case low <= 0 && high < 1:
		return "at least " + changeText(high)
	case low <= 0:
		return "at most " + changeText(high)
	case math.IsInf(high, 1) && low < 1:
		return "at most " + changeText(low)
	case math.IsInf(high, 1):
		return "at least " + changeText(low)
	case high < 1:
		return hundredths(1-high) + " to " + changeText(low)
	case low >= 1:
		return hundredths(low-1) + " to " + changeText(high)
	}
	return changeText(low) + " to " + changeText(high)
}

// hundredths is a share in percent with two decimals.
func hundredths(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) }

// percent is a share in percent as somebody wrote it.
func percent(share float64) string {
	return strconv.FormatFloat(math.Round(100*share*1e6)/1e6, 'f', -1, 64)
}
