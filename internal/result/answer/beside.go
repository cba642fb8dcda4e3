package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Beside is the answer of a document that sets tests beside each other.
type Beside struct {
	// Figure is the first line, with how many tests became what.
	Figure string
	// Sentence is the second line, about the test that matters most.
	Sentence string
}

// besideCause is what a Beside's sentence is about.
type besideCause string

const (
	gatePassed      besideCause = "gate passed"
	gateShows       besideCause = "gate passed, and what it would show is known"
	gateDoubted     besideCause = "gate not followed to its end"
	gateEmpty       besideCause = "gate without a row"
	gateByChance    besideCause = "gate failed by one row of many"
	rowFellBehind   besideCause = "a row carries less than its baseline"
	rowFailed       besideCause = "a row does not meet a criterion"
	rowUndecided    besideCause = "a row's runs do not decide a criterion"
	rowNotMeasured  besideCause = "a row has no figure"
	rowNotJudged    besideCause = "a row has figures, and no criterion's result"
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
		rowFailed: {says: "{row} does not meet {criterion}.",
			wayOut: "Find what limits the device there, or correct the criterion."},
		rowUndecided: {says: "the runs of {row} do not decide {criterion}.",
			wayOut: "Repeat the test more often, where nothing else disturbs it."},
		rowNotMeasured: {says: "{row} has no figure[ ({reason})].", wayOut: "See why in its Report, then measure it again."},
		rowNotJudged:   {says: "{row} could not be judged.", wayOut: "See why below, then measure it again."},
		sideLess:       {says: "{row} carries {change} less in {side} than in {first}.", wayOut: "Find what changed in the device."},
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

// OfGate is a gate's answer. Its first line is the gate's own judgement.
func OfGate(g *report.Gate) Beside {
	values := map[string]string{}
	return Beside{g.Headline() + ".", besideSentence(causeOfGate(g, values), values)}
}

func causeOfGate(g *report.Gate, values map[string]string) besideCause {
	decisive := func(outcome report.Outcome) *report.GateRow {
		i := slices.IndexFunc(g.Rows, func(r report.GateRow) bool { return r.Outcome == outcome && !r.Silent })
		if i < 0 {
			return nil
		}
		values["row"] = rowName(g.Rows[i].Product, g.Rows[i].Loadtest)
		values["criterion"] = criterionOf(g.Rows[i].Criteria, outcome)
		return &g.Rows[i]
	}
	if failed := decisive(report.DidFail); failed != nil {
		switch {
		case g.Outcome != report.DidFail:
			return gateByChance
		case comparesLess(failed, values["criterion"]):
			values["change"] = shareOf(failed.Candidate.Change)
			return rowFellBehind
		}
		return rowFailed
	}
	if open := decisive(report.Undecided); open != nil {
		switch {
		case open.Candidate.Figures == nil || len(open.Candidate.Missing) > 0:
			values["reason"] = reasonOf(open.Candidate.Missing)
			return rowNotMeasured
		case values["criterion"] != "":
			return rowUndecided
		}
		return rowNotJudged
	}
	switch {
	case len(g.Rows) == 0:
		return gateEmpty
	case g.Outcome != report.Passed:
		return gateDoubted
	}
	var smallest units.Percent
	for _, r := range g.Rows {
		if s := r.Candidate.SmallestPercent; s != nil {
			smallest = max(smallest, *s)
		}
	}
	if smallest > 0 {
		values["smallest"] = smallest.FormatFixed() + " %"
		return gateShows
	}
	return gatePassed
}

// OfComparison is a comparison's answer.
func OfComparison(c *report.Comparison) Beside {
	values := map[string]string{"first": "the first side"}
	if len(c.Sides) > 0 {
		values["first"] = c.Sides[0]
	}
	count, outcomes, found, weight, hidden := map[report.Judgement]int{}, map[report.Outcome]int{}, sidesAlike, 0, 0
	for _, r := range c.Rows {
		for i, s := range r.Sides[min(1, len(r.Sides)):] {
			count[s.Judgement]++
			outcomes[s.Verdict]++
			if s.Judgement == report.NotShown && s.Change == nil {
				hidden++
			}
			cause, w := causeOfSide(s, c.MaxRegressionPercent != nil)
			if w <= weight {
				continue
			}
			found, weight = cause, w
			values["row"], values["change"], values["reason"] = rowName(r.Product, r.Loadtest), shareOf(s.Change),
				reasonOf(s.Missing)
			if i+1 < len(c.Sides) {
				values["side"] = c.Sides[i+1]
			}
		}
	}
	if c.MaxRegressionPercent != nil {
		values["allowed"] = c.MaxRegressionPercent.FormatFixed() + " %"
		return Beside{fmt.Sprintf("%s: %d passed, %d failed, %d undecided.", worstOf(outcomes), outcomes[report.Passed],
			outcomes[report.DidFail], outcomes[report.Undecided]), besideSentence(found, values)}
	}
	unknown := count[report.TooFew] + count[report.NotComparable] + hidden
	less, more, alike := count[report.Less], count[report.More], count[report.NotShown]-hidden
	return Beside{fmt.Sprintf("Of %s, %d %s less than in %s, %d %s more, %d as much, %d can't be compared.",
		wording.Counted(less+more+alike+unknown, "test"), less, wording.Verb(less, "carries", "carry"), values["first"],
		more, wording.Verb(more, "carries", "carry"), alike, unknown), besideSentence(found, values)}
}

// worstOf is the outcome of all together.
func worstOf(outcomes map[report.Outcome]int) report.Outcome {
	switch {
	case outcomes[report.DidFail] > 0:
		return report.DidFail
	case outcomes[report.Undecided] > 0 || outcomes[report.Passed] == 0:
		return report.Undecided
	}
	return report.Passed
}

// causeOfSide is what a side shows, and how much that matters beside the other sides.
func causeOfSide(s report.Compared, demanded bool) (c besideCause, weight int) {
	known := s.Change != nil
	less := known && s.Judgement == report.Less
	switch {
	case demanded && s.Verdict == report.DidFail && less:
		return sideTooLow, 8
	case !demanded && less:
		return sideLess, 7
	case s.Figures == nil:
		return causeOfAbsence(s.Judgement)
	case s.Judgement == report.NotComparable:
		return sideOtherwise, 5
	case s.Judgement == report.TooFew:
		return sideTooFew, 4
	case demanded && s.Verdict == report.Undecided:
		return sideUndecided, 3
	case less:
		return sideKept, 2
	}
	return causeOfChange(s.Judgement, known)
}

// causeOfChange is what a side shows that leaves nothing to do.
func causeOfChange(j report.Judgement, known bool) (c besideCause, weight int) {
	switch {
	case j == report.NotShown && !known:
		return sideHidden, 2
	case j == report.More && known:
		return sideMore, 2
	}
	return sidesAlike, 1
}

// causeOfAbsence is why a side has no figure.
func causeOfAbsence(j report.Judgement) (c besideCause, weight int) {
	if j == report.Less {
		return sideBroken, 9
	}
	return sideNotMeasured, 6
}

// OfTable is the answer of a table of tests, such as a suite's.
func OfTable(t *report.Table) Beside {
	measured, outcomes := 0, map[report.Outcome]int{}
	for _, c := range t.Cells {
		if c.Figures != nil {
			measured++
		}
		outcomes[c.Verdict]++
	}
	figure := wording.ShareOf(measured, len(t.Cells)) + " " + wording.Verb(len(t.Cells), "row has", "rows have") +
		" a figure"
	if len(t.Cells) > outcomes[""] {
		figure += fmt.Sprintf(": %d passed, %d failed, %d undecided", outcomes[report.Passed], outcomes[report.DidFail],
			outcomes[report.Undecided])
	}
	values := map[string]string{}
	return Beside{figure + ".", besideSentence(causeOfTable(t, measured, values), values)}
}

func causeOfTable(t *report.Table, measured int, values map[string]string) besideCause {
	find := func(matches func(report.Cell) bool) *report.Cell {
		i := slices.IndexFunc(t.Cells, matches)
		if i < 0 {
			return nil
		}
		values["row"], values["reason"] = rowName(t.Cells[i].Product, t.Cells[i].Loadtest), reasonOf(t.Cells[i].Missing)
		return &t.Cells[i]
	}
	judged := func(o report.Outcome) func(report.Cell) bool {
		return func(c report.Cell) bool { return c.Verdict == o && c.Figures != nil }
	}
	failed := find(judged(report.DidFail))
	switch {
	case measured == 0:
		return nothingYet
	case failed != nil:
		values["criterion"], _, _ = strings.Cut(failed.Message, ":")
		if values["criterion"] == failed.Message {
			values["criterion"] = "its criteria"
		}
		return rowFailed
	case find(func(c report.Cell) bool { return c.Figures == nil }) != nil:
		return rowNotMeasured
	case find(judged(report.Undecided)) != nil:
		values["criterion"] = "its criteria"
		return rowUndecided
	case slices.ContainsFunc(t.Cells, judged(report.Passed)):
		return cellsPassed
	case find(func(c report.Cell) bool { return c.Figures.LowerBound }) != nil:
		return cellsBounded
	}
	return cellsMeasured
}

// OfTrend is a trend's answer.
func OfTrend(t *report.Trend) Beside {
	values, found, weight, unusual := map[string]string{}, latestUsual, 0, 0
	for i := range t.Series {
		cause, w := causeOfSeries(&t.Series[i])
		if w > 0 {
			unusual++
		}
		if w <= weight {
			continue
		}
		found, weight = cause, w
		final := t.Series[i].Points[len(t.Series[i].Points)-1]
		values["row"], values["changed"] = rowName(t.Series[i].Product, t.Series[i].Loadtest), changedIn(final)
		if final.Missing != nil {
			values["reason"] = final.Missing.Reason
		}
		if final.FromMedian != nil {
			values["change"] = signed(final.FromMedian)
		}
	}
	return Beside{fmt.Sprintf("%s, %s as usual.", strconv.Itoa(len(t.Series))+" series",
		strconv.Itoa(len(t.Series)-unusual)), besideSentence(found, values)}
}

// causeOfSeries is what the latest run of a series shows, and how much that matters. The weight is 0 where the run is
// as the ones before.
func causeOfSeries(s *report.Series) (c besideCause, weight int) {
	if len(s.Points) == 0 {
		return latestUsual, 0
	}
	switch final := s.Points[len(s.Points)-1]; {
	case final.Figures == nil:
		return latestMissing, 2
	case final.Outlier:
		return latestOutlies, 3
	case len(s.Points) > 1 && changedIn(final) != "":
		return latestChanged, 1
	}
	return latestUsual, 0
}

// changedIn is what began a new median at a point. It is empty where nothing did.
func changedIn(p report.Point) string {
	switch {
	case len(p.PlanChange) > 0:
		return "plan"
	case len(p.DeviceChange) > 0:
		return "device"
	case len(p.EnvironmentChange) > 0:
		return "environment"
	}
	return ""
}

// Checks counts the checks of a cluster, with the first check of the gravest kind.
type Checks struct {
	Failed, Unknown, Warned, Passed int
	First                           string
}

// OfChecks is the answer of a diagnosis.
func OfChecks(c Checks) Beside {
	cause := checksPassed
	switch {
	case c.Failed > 0:
		cause = checksFailed
	case c.Unknown > 0:
		cause = checksUnknown
	case c.Warned > 0:
		cause = checksWarn
	}
	return Beside{fmt.Sprintf("%d failed, %d unknown, %d in doubt, %d ok.", c.Failed, c.Unknown, c.Warned, c.Passed),
		besideSentence(cause, map[string]string{"check": c.First})}
}

func rowName(product, loadtest string) string {
	return report.Headline{Product: product, Loadtest: loadtest}.Title()
}

// criterionOf is the name of the first criterion with this outcome. It is empty for none.
func criterionOf(criteria []report.CriterionResult, o report.Outcome) string {
	for _, c := range criteria {
		if c.Outcome == o {
			return c.Name
		}
	}
	return ""
}

// comparesLess says that a row failed a criterion that compares it with its baseline, and that it carries less.
func comparesLess(r *report.GateRow, criterion string) bool {
	compares := slices.ContainsFunc(r.Criteria,
		func(c report.CriterionResult) bool { return c.Name == criterion && c.Chance > 0 })
	return compares && r.Candidate.Judgement == report.Less && r.Candidate.Change != nil
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

// signed is a change with its sign, such as "-5.06 %".
func signed(c *report.Change) string {
	if c.Percent > 0 {
		return "+" + c.Percent.FormatFixed() + " %"
	}
	return c.Percent.FormatFixed() + " %"
}
