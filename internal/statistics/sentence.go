package statistics

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sentence tells the judgement with its figures.
func (j *Judgement) sentence(candidate, baseline []Run, d Demand) string {
	format := d.Format
	if format == nil {
		format = func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	}
	switch j.Reason {
	case NoRuns:
		return fmt.Sprintf("there are %s to compare with %s of the baseline", runsText(len(candidate)), runsText(len(baseline)))
	case NoBaseline:
		return "the baseline is 0: nothing is a share of that"
	default:
		return j.comparison(candidate, baseline, d, format)
	}
}

// comparison tells what was compared with what, and what that shows.
func (j *Judgement) comparison(candidate, baseline []Run, d Demand, format func(float64) string) string {
	text := fmt.Sprintf("%s in %s, %s in %s of the baseline: %s", format(j.Candidate.Median), runsText(len(candidate)), format(j.Baseline.Median), runsText(len(baseline)), j.figures())
	text += fmt.Sprintf(", at most %s %% less allowed", percent(d.Allowed))
	if j.assumed {
		text += fmt.Sprintf(" (taking runs to spread by the %s %% that assumedSpread vouches for)", percent(d.AssumedSpread))
	}
	return text + j.wayOut(candidate, baseline, d) + apart("the runs", j.Candidate, format) + apart("the baseline's runs", j.Baseline, format)
}

// figures are the change and what encloses it.
func (j *Judgement) figures() string {
	text := changeText(j.Change.Ratio)
	if j.Change.Low <= 0 && math.IsInf(j.Change.High, 1) {
		return text
	}
	return fmt.Sprintf("%s (%s %% interval: %s)", text, strconv.FormatFloat(100*j.Change.Confidence, 'f', 1, 64), intervalText(j.Change.Low, j.Change.High))
}

// wayOut says why it is undecided, and what would decide it.
func (j *Judgement) wayOut(candidate, baseline []Run, d Demand) string {
	switch j.Reason {
	case TooFewRuns:
		return ": too few runs to tell it from chance" + j.Needed.text(len(candidate), len(baseline))
	case TooWide:
		return ": it may be less or more than that" + j.Needed.text(len(candidate), len(baseline))
	case Unresolved:
		return ": the difference is finer than the measurements resolve, and more runs won't tell: let the search go on to a finer bracket"
	case LowerBounds:
		return fmt.Sprintf(": %s, and more runs won't tell: the generator was the limit, give it more", boundsText(bounds(candidate), bounds(baseline)))
	case SpreadDenied:
		return fmt.Sprintf(": the runs lie further apart than a spread of %s %% explains: raise assumedSpread, or make at least %d runs of each", percent(d.AssumedSpread), recommended)
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

func countText(n int) string { return strconv.Itoa(n) }

// text says how many runs would do, where some number would.
func (n Needed) text(candidate, baseline int) string {
	switch {
	case n.Candidate == 0:
		return fmt.Sprintf(", and not even %d runs of each would tell", mostRuns)
	case n.Candidate == n.Baseline:
		return fmt.Sprintf(", about %d runs of each would do", n.Candidate)
	case n.Baseline == baseline:
		return fmt.Sprintf(", about %d runs would do against the baseline's %d", n.Candidate, baseline)
	case n.Candidate <= candidate:
		return fmt.Sprintf(", about %d runs of the baseline would do", n.Baseline)
	}
	return fmt.Sprintf(", about %d runs against %d of the baseline would do", n.Candidate, n.Baseline)
}

// apart names the outliers; it is empty where there are none.
func apart(whose string, s Summary, format func(float64) string) string {
	if len(s.Outliers) == 0 {
		return ""
	}
	values := make([]string, len(s.Outliers))
	for i, o := range s.Outliers {
		values[i] = format(o.Value)
	}
	return fmt.Sprintf("; far from the rest of %s: %s", whose, strings.Join(values, ", "))
}

func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return strconv.Itoa(n) + " runs"
}

// changeText is a ratio in words: "3.02 % less".
func changeText(ratio float64) string {
	switch {
	case math.IsInf(ratio, 1):
		return "more"
	case ratio < 1:
		return hundredths(1-ratio) + " % less"
	}
	return hundredths(ratio-1) + " % more"
}

// intervalText is an interval of ratios in words: "2.51 to 3.60 % less".
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
