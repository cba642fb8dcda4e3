package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// viewOfComparison has the sides beside each other, and what is said of each row, what lies apart, and what is missing.
func viewOfComparison(c *report.Comparison) view {
	v := view{source: c, title: c.Title, answer: &c.Answer, table: new(table),
		legend: always(comparisonFootnotes(c)...), notes: c.Notes}
	demands := c.MaxRegressionPercent != nil
	v.table.columns = []column{{head: "product", left: true}, {head: "loadtest", left: true}}
	for i, side := range c.Sides {
		v.table.columns = append(v.table.columns, column{head: side})
		if i > 0 {
			v.table.columns = append(v.table.columns, column{head: "change"}, column{})
		}
		if i > 0 && demands {
			v.table.columns = append(v.table.columns, column{head: "verdict", verdict: true})
		}
	}
	for _, r := range c.Rows {
		row := []string{r.Product, r.Loadtest}
		for i, s := range r.Sides {
			row = append(row, sideText(s))
			if i > 0 {
				row = append(row, sideChange(s), judgedWords(s))
			}
			if i > 0 && demands {
				row = append(row, string(s.Verdict))
			}
		}
		v.table.add(row...)
		v.remarks = append(v.remarks, rowRemarks(c, r)...)
	}
	if v.sections = latencySections(c); len(v.sections) > 0 {
		v.legend = always(append(comparisonFootnotes(c), besideWords)...)
	}
	return v
}

// rowRemarks are what is said of a row, side by side.
func rowRemarks(c *report.Comparison, r report.ComparisonRow) (remarks []remark) {
	for i, s := range r.Sides {
		title := titleOf(r.Product, r.Loadtest)
		if i < len(c.Sides) {
			title += ", " + c.Sides[i]
		}
		if s.Message != "" {
			t := sideTone(s)
			remarks = append(remarks, remark{t, title, s.Message, t == toneWarning, isShown(s)})
		}
		if words := setAsideWords(s); words != "" {
			remarks = append(remarks, warning(title, words))
		}
		remarks = append(remarks, warningsOf(title, s.Doubts)...)
		for _, o := range s.Outliers {
			remarks = append(remarks, warning(title, o+" lies far from the others, but counts"))
		}
		remarks = append(remarks, warningsOf(title, gaps(s.Missing, s.Repeated))...)
	}
	return remarks
}

// isShown says that the runs show what the change is, or that what is demanded is kept.
func isShown(c report.Compared) bool {
	if c.Verdict != "" {
		return c.Verdict == report.Passed
	}
	return c.Change != nil && c.Judgement != report.TooFew && c.Judgement != report.NotComparable
}

// sideTone is how the message of a side is meant.
func sideTone(c report.Compared) tone {
	switch {
	case c.Verdict != "":
		return toneOf(c.Verdict)
	case c.Judgement == report.NotComparable, c.Figures == nil && c.Judgement != report.Less:
		return toneWarning
	}
	return toneNone
}

// comparisonFootnotes say what the figures are.
func comparisonFootnotes(c *report.Comparison) []string {
	var figures []*report.Figures
	for _, r := range c.Rows {
		for _, s := range r.Sides {
			figures = append(figures, s.Figures)
		}
	}
	words := []string{rateWords(trafficOf(headlines(figures))) +
		"; of several runs (their number in brackets) the median, and ± is how far they are apart. " +
		"Changes are against " + first(c.Sides) +
		". A difference is claimed only where the runs show it, by medians and their bounds, with 95 % confidence."}
	words = append(words, signWords(headlines(figures))...)
	return append(words, imageWords(comparisonImages(c))...)
}

// comparisonImages are the images of each side of each row. Where all rows of a side have the same, it names only
// the side.
func comparisonImages(c *report.Comparison) (uses []imageUse) {
	for i, side := range c.Sides {
		var own []imageUse
		equal := true
		for _, r := range c.Rows {
			if i < len(r.Sides) && (r.Sides[i].Figures != nil || len(r.Sides[i].Images) > 0) {
				own = append(own, imageUse{titleOf(r.Product, r.Loadtest) + " in " + side, r.Sides[i].Images})
				equal = equal && slices.Equal(own[0].images, r.Sides[i].Images)
			}
		}
		if equal && len(own) > 0 {
			own = []imageUse{{side, own[0].images}}
		}
		uses = append(uses, own...)
	}
	return uses
}

func first(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return names[0]
}

// intervalText is the interval of a change, such as "-3.60% to -2.51%".
func intervalText(c *report.Change) string {
	if c == nil || c.LowPercent == nil && c.HighPercent == nil {
		return ""
	}
	switch {
	case c.LowPercent == nil:
		return "at most " + changeText(&report.Change{Percent: *c.HighPercent})
	case c.HighPercent == nil:
		return "at least " + changeText(&report.Change{Percent: *c.LowPercent})
	}
	return changeText(&report.Change{Percent: *c.LowPercent}) + " to " +
		changeText(&report.Change{Percent: *c.HighPercent})
}

// setAsideWords tell how many runs don't count, why, and which. They are empty where all runs count.
func setAsideWords(c report.Compared) string {
	n := len(c.SetAside)
	if n == 0 {
		return ""
	}
	total := n
	if c.Figures != nil {
		total += c.Figures.Runs
	}
	var reasons, tests []string
	for _, r := range c.SetAside {
		tests = append(tests, r.Test)
		if !slices.Contains(reasons, r.Message) {
			reasons = append(reasons, r.Message)
		}
	}
	return fmt.Sprintf("%d of %s set aside (%s): %s", n, wording.Counted(total, "measured run"),
		strings.Join(reasons, "; "), strings.Join(tests, ", "))
}

// judgementWords are what people read.
func judgementWords(j report.Judgement) string {
	switch j {
	case report.Less:
		return "less"
	case report.More:
		return "more"
	case report.NotShown:
		return "no difference shown"
	case report.TooFew:
		return "too few runs"
	case report.NotComparable:
		return "not comparable"
	}
	return ""
}

// judgedWords are the words of a side's judgement. Where lower bounds hide any difference, that none is shown would
// read as if there were none.
func judgedWords(c report.Compared) string {
	if c.Judgement == report.NotShown && c.Change == nil {
		return "unknown"
	}
	return judgementWords(c.Judgement)
}

// changeText is a difference with its sign, such as "-3.02%".
func changeText(c *report.Change) string {
	if c == nil {
		return "-"
	}
	sign := ""
	if c.Percent > 0 {
		sign = "+"
	}
	return sign + c.Percent.FormatFixed() + "%"
}

// sideChange is a side's difference. A lower bound makes the difference one, too.
func sideChange(c report.Compared) string {
	text := changeText(c.Change)
	switch {
	case c.Change == nil || c.Change.Confidence == 0:
	case c.Judgement == report.More && c.Change.HighPercent == nil:
		return "≥" + text
	case c.Judgement == report.Less && c.Change.LowPercent == nil:
		return "≤" + text
	}
	return text
}

// notConfirmed stands where no run has a figure that counts.
const notConfirmed = "not confirmed"

// nothingText stands where there is no figure.
func nothingText(c report.Compared) string {
	switch {
	case c.Judgement == report.Less:
		return "loses at any load"
	case len(c.SetAside) > 0:
		return notConfirmed
	}
	return cmp.Or(c.Absent, wording.NotMeasured)
}

// sideText is a side's figure in a cell, such as "1.78 Mpps ±0.31% (5)".
func sideText(c report.Compared) string {
	f := c.Figures
	if f == nil {
		return nothingText(c)
	}
	text := rateText(f)
	if f.Spread != nil {
		text += " ±" + f.Spread.Percent.FormatFixed() + "%"
	}
	return text + " (" + strconv.Itoa(f.Runs) + ")"
}
