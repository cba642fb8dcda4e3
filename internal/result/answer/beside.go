package answer

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// besideCause is what the second line of a document of several tests is about.
type besideCause string

const (
	gatePassed      besideCause = "gate passed"
	gateShows       besideCause = "gate passed, and what it would show is known"
	gateDoubted     besideCause = "gate not followed to its end"
	gateEmpty       besideCause = "gate without a row"
	gateByChance    besideCause = "gate failed by one row of many"
	rowFellBehind   besideCause = "a row carries less than its baseline"
	rowWorksMore    besideCause = "a row works longer on a frame than its baseline"
	rowFailed       besideCause = "a row does not meet a criterion"
	rowUndecided    besideCause = "a row's runs do not decide a criterion"
	rowNotMeasured  besideCause = "a row has no figure"
	rowNotJudged    besideCause = "a row has figures, and no criterion's result"
	sideWorksMore   besideCause = "a side works longer on a frame"
	sideLess        besideCause = "a side carries less"
	sideTooLow      besideCause = "a side carries less than is allowed"
	sideMore        besideCause = "a side carries more"
	sideNotMeasured besideCause = "a side has no figure"
	sideOtherwise   besideCause = "a side was measured in another way"
	sideTooFew      besideCause = "a side has too few runs"
	sideKept        besideCause = "a side carries less, which is allowed"
	sideBroken      besideCause = "a side loses frames at any load"
	sideHidden      besideCause = "lower bounds hide any difference"
	sidesAlike      besideCause = "no side differs"
	sideUndecided   besideCause = "a side's runs do not decide what is demanded"
	cellsBounded    besideCause = "cells are lower bounds"
	cellsMeasured   besideCause = "all cells are measured"
	cellsPassed     besideCause = "all cells are measured and passed"
	nothingYet      besideCause = "no cell has a figure"
	latestOutlies   besideCause = "the latest run lies far from the others"
	latestMissing   besideCause = "the latest run has no figure"
	latestChanged   besideCause = "the latest run was measured in another way"
	latestUsual     besideCause = "the latest runs are as usual"
	checksFailed    besideCause = "a check failed"
	checksUnknown   besideCause = "a check could not be made"
	checksWarn      besideCause = "a check has a doubt"
	checksPassed    besideCause = "all checks passed"
)

// besides has a sentence for each cause. Braces and brackets are as in rows of Reports.
func besides() map[besideCause]row {
	return map[besideCause]row{
		gatePassed:  {says: "each test meets each of its criteria.", wayOut: noWayOut},
		gateShows:   {says: "each test meets each of its criteria; these runs would show a regression of about {smallest} on.", wayOut: noWayOut},
		gateDoubted: {says: "the gate did not see all tests end.", wayOut: "See the notes below, then start it again."},
		gateEmpty:   {says: "no test has a run to judge.", wayOut: "See why its conditions say it did not run, then start the gate again."},
		gateByChance: {says: "{row} alone does not meet {criterion}, which chance may show among so many tests.",
			wayOut: "Repeat each test more often."},
		rowFellBehind: {says: "{row} carries {change} less than its baseline, which criterion {criterion} forbids.",
			wayOut: "Find what changed in the device."},
		rowWorksMore: {says: "{row} works {work} longer on a frame, which {criterion} forbids; its limit is undecided.",
			wayOut: "Find what changed."},
		rowFailed: {says: "{row} does not meet {criterion}.",
			wayOut: "Find what limits the device there, or correct the criterion."},
		rowUndecided: {says: "the runs of {row} do not decide {criterion}.",
			wayOut: "Repeat the test more often, where nothing else disturbs it."},
		rowNotMeasured: {says: "{row} has no figure[ ({reason})].", wayOut: "See why in its Report, then measure it again."},
		rowNotJudged:   {says: "{row} could not be judged.", wayOut: "See why below, then measure it again."},
		sideLess:       {says: "{row} carries {change} less in {side} than in {first}.", wayOut: "Find what changed in the device."},
		sideWorksMore: {says: "{row} works {work} longer on a frame in {side} than in {first}.",
			wayOut: "Bounds hide its limit."},
		sideTooLow: {says: "{row} carries {change} less in {side} than in {first}; {allowed} is allowed.",
			wayOut: "Find what changed."},
		sideMore: {says: "{row} carries {change} more in {side} than in {first}.", wayOut: noWayOut},
		sideNotMeasured: {says: "{row} has no figure in {side}[ ({reason})].",
			wayOut: "See why below, then measure it again."},
		sideOtherwise: {says: "{row} was measured in another way in {side} than in {first}.",
			wayOut: "Measure both with the same test and machines."},
		sideTooFew: {says: "{row} has too few runs to tell {side} from {first}.", wayOut: "Repeat both more often."},
		sideKept:   {says: "{row} carries {change} less in {side} than in {first}, which is allowed.", wayOut: noWayOut},
		sideBroken: {says: "{row} loses frames at any load in {side}.", wayOut: "See in its Report whether the device is broken."},
		sideHidden: {says: "{row} has a lower bound (≥) in {side} or {first}, which hides any difference.",
			wayOut: "See its Report."},
		sidesAlike: {says: "the runs show no difference from {first}.", wayOut: "Smaller differences take more runs."},
		sideUndecided: {says: "the runs of {row} do not show whether {side} keeps what is demanded.",
			wayOut: "Repeat both sides more often."},
		cellsBounded: {says: "{row} is a lower bound (≥), as the device's limit was not found.",
			wayOut: "See why in that test's Report."},
		cellsMeasured: {says: "each test has a figure.", wayOut: noWayOut},
		cellsPassed:   {says: "each figure meets its criteria.", wayOut: noWayOut},
		nothingYet:    {says: "no test has a figure.", wayOut: "Wait for the first test to end, or see why none ran."},
		latestOutlies: {says: "the latest run of {row} lies far from those before[, {change} from the median].",
			wayOut: "Measure again; if it stays, find what changed."},
		latestMissing: {says: "the latest run of {row} has no figure[ ({reason})].", wayOut: "See why in its Report, then measure again."},
		latestChanged: {says: "the {changed} of {row} changed at the latest run, so earlier ones don't compare.",
			wayOut: "Repeat it for a new median."},
		latestUsual:   {says: "no latest run lies far from the runs before it.", wayOut: noWayOut},
		checksFailed:  {says: "the check \"{check}\" failed, so tests can't run.", wayOut: "Do what stands behind its arrow (→), then run doctor again."},
		checksUnknown: {says: "the check \"{check}\" can't be made with your rights.", wayOut: "Do what stands behind its arrow (→), or ask who may."},
		checksWarn: {says: "tests can run, though the check \"{check}\" has a doubt.",
			wayOut: "See what stands behind its arrow (→)."},
		checksPassed: {says: "all that a test needs is there.", wayOut: "Start one with kubectl linerate run FILE."},
	}
}

// besideSentence fills a cause's sentence in.
func besideSentence(c besideCause, values map[string]string) string {
	for name, characters := range map[string]int{"row": longestRow, "side": longestSide, "first": longestSide,
		"criterion": longestCriterion, "reason": longestReason, "check": longestCriterion} {
		if text := []rune(wording.Printable(values[name])); len(text) > characters {
			values[name] = string(text[:characters-1]) + "…"
		}
	}
	found := besides()[c]
	says := fill(found.says, values)
	if !strings.HasPrefix(found.says, "{") { // names stay as they are written
		says = capital(says)
	}
	return wording.JoinNonEmpty(" ", says, found.wayOut)
}

// These are how many characters names have in a sentence.
const (
	longestRow       = 34
	longestSide      = 18
	longestCriterion = 24
	longestReason    = 24
)

// Checks counts the checks of a cluster, with the first check of the gravest kind.
type Checks struct {
	Failed, Unknown, Warned, Passed int
	First                           string
}

// OfChecks is the answer of a diagnosis.
func OfChecks(c Checks) report.Lines {
	cause := checksPassed
	switch {
	case c.Failed > 0:
		cause = checksFailed
	case c.Unknown > 0:
		cause = checksUnknown
	case c.Warned > 0:
		cause = checksWarn
	}
	return report.Lines{Summary: fmt.Sprintf("%d failed, %d unknown, %d in doubt, %d ok.", c.Failed, c.Unknown, c.Warned,
		c.Passed), Message: besideSentence(cause, map[string]string{"check": c.First})}
}

func rowName(product, loadtest string) string {
	return report.Headline{Product: product, Loadtest: loadtest}.Title()
}

// reasonOf is why the first run that is missing has no figure.
func reasonOf(missing []report.Missing) string {
	if len(missing) == 0 {
		return ""
	}
	return missing[0].Reason
}

// shareOf is a change's size, such as "5.06 %".
func shareOf(c *report.Change) string {
	if c == nil {
		return ""
	}
	return max(c.Percent, -c.Percent).FormatFixed() + " %"
}

// longerText is by how much longer a frame takes, such as "0.50 ± 0.05 µs".
func longerText(c *report.TimeChange) string {
	return strings.TrimPrefix(comparison.TimeChangeText(*c), "+")
}

// signed is a change with its sign, such as "-5.06 %".
func signed(c *report.Change) string {
	if c.Percent > 0 {
		return "+" + c.Percent.FormatFixed() + " %"
	}
	return c.Percent.FormatFixed() + " %"
}
