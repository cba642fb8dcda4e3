package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// ComparisonVersion is the kind and version of a Comparison as JSON.
const ComparisonVersion = "linerate.dev/comparison.v1alpha1"

// Comparison sets what was measured at several times, or with several releases, side by side. The first side is what the others are compared
// with.
type Comparison struct {
	Version string   `json:"version"`
	Title   string   `json:"title,omitempty"`
	Sides   []string `json:"sides"`
	// MaxRegressionPercent is by how much less than the first side another may be; nil: nothing is demanded, and there are no verdicts.
	MaxRegressionPercent *units.Percent  `json:"maxRegressionPercent,omitempty"`
	Rows                 []ComparisonRow `json:"rows"`
	Notes                []string        `json:"notes,omitempty"`

	judged bool // there are verdicts, though not by MaxRegressionPercent
}

// ComparisonRow is one product under one loadtest, on all sides.
type ComparisonRow struct {
	Product  string `json:"product"`
	Loadtest string `json:"loadtest"`
	// Sides are in the order of Comparison.Sides.
	Sides []Compared `json:"sides"`
}

// Compared is a row on one side.
type Compared struct {
	// Figures are the medians of the side's runs that count; nil: none does.
	Figures *Figures `json:"figures,omitempty"`
	// Absent says in a word or two why there are no figures, where it isn't that no run was measured.
	Absent string `json:"absent,omitempty"`
	// Missing are the runs that gave no figure, but for those that were repeated; Repeated are those, and the ones whose figure doesn't count for it.
	Missing  []Missing `json:"missing,omitempty"`
	Repeated []Missing `json:"repeated,omitempty"`
	// Doubts are reasons to look twice at the figures, which count nevertheless.
	Doubts []string `json:"doubts,omitempty"`
	// SetAside are runs that have a figure which doesn't count, and why. Neither Figures nor the judgement are of them.
	SetAside []Missing `json:"setAside,omitempty"`
	// Images are what the device's pod ran in all runs of the side; empty: it isn't known, or not the same, which Message says then.
	Images []plan.Container `json:"images,omitempty"`
	// Outliers are runs that lie far from the others of this side. They count nevertheless.
	Outliers []string `json:"outliers,omitempty"`
	// Judgement is how it compares with the first side; empty on the first side.
	Judgement Judgement `json:"judgement,omitempty"`
	// Change is by how much it differs from the first side; nil where that can't be said.
	Change *Change `json:"change,omitempty"`
	// Verdict is whether the demand is met; empty: there is none.
	Verdict Outcome `json:"verdict,omitempty"`
	Message string  `json:"message,omitempty"`
}

// ReasonNotConfirmed is why a run is set aside whose figure a longer window was to confirm, and didn't.
const ReasonNotConfirmed = "NotConfirmed"

// setAsideWords tell how many runs don't count, why, and which; empty: all do.
func (c Compared) setAsideWords() string {
	n := len(c.SetAside)
	if n == 0 {
		return ""
	}
	of := n
	if c.Figures != nil {
		of += c.Figures.Runs
	}
	var reasons, tests []string
	for _, r := range c.SetAside {
		tests = append(tests, r.Test)
		if !slices.Contains(reasons, r.Message) {
			reasons = append(reasons, r.Message)
		}
	}
	return fmt.Sprintf("%d of %s set aside (%s): %s", n, counted(of, "measured run"), strings.Join(reasons, "; "), strings.Join(tests, ", "))
}

// Change is a difference of packet rates in percent of the first side's; less is negative.
type Change struct {
	Percent units.Percent `json:"percent"`
	// LowPercent and HighPercent enclose it; nil: nothing does, at that end.
	LowPercent  *units.Percent `json:"lowPercent,omitempty"`
	HighPercent *units.Percent `json:"highPercent,omitempty"`
	Confidence  units.Percent  `json:"confidencePercent,omitempty"`
}

// Judgement is what the runs show of a difference.
type Judgement string

// The judgements.
const (
	Less          Judgement = "Less"          // it is less than the first side
	More          Judgement = "More"          // it is more
	NotShown      Judgement = "NotShown"      // the runs show no difference
	TooFew        Judgement = "TooFew"        // the runs are too few to tell a difference from chance
	NotComparable Judgement = "NotComparable" // it was measured in another way, or not at all
)

// words are what people read.
func (j Judgement) words() string {
	switch j {
	case Less:
		return "less"
	case More:
		return "more"
	case NotShown:
		return "no difference shown"
	case TooFew:
		return "too few runs"
	case NotComparable:
		return "not comparable"
	}
	return ""
}

// judged are the words of a side's judgement. Where lower bounds hide any difference, that none is shown would read as if there were none.
func (c Compared) judged() string {
	if c.Judgement == NotShown && c.Change == nil {
		return "can't be told"
	}
	return c.Judgement.words()
}

// class is the style sheet's name.
func (j Judgement) class() string {
	switch j {
	case Less:
		return "worse"
	case More:
		return "better"
	case NotShown:
		return "same"
	case TooFew:
		return "unsure"
	case NotComparable:
	}
	return "apart"
}

// changeText is a difference with its sign: "-3.02%".
func changeText(c *Change) string {
	if c == nil {
		return "-"
	}
	sign := ""
	if c.Percent > 0 {
		sign = "+"
	}
	return sign + c.Percent.FormatFixed() + "%"
}

// changeText is a side's difference; a lower bound makes it one, too.
func (c Compared) changeText() string {
	text := changeText(c.Change)
	switch {
	case c.Change == nil || c.Change.Confidence == 0:
	case c.Judgement == More && c.Change.HighPercent == nil:
		return "≥" + text
	case c.Judgement == Less && c.Change.LowPercent == nil:
		return "≤" + text
	}
	return text
}

// notConfirmed stands where no run has a figure that counts.
const notConfirmed = "not confirmed"

// nothing stands where there is no figure.
func (c Compared) nothing() string {
	switch {
	case c.Judgement == Less:
		return "loses at any load"
	case len(c.SetAside) > 0:
		return notConfirmed
	}
	return cmp.Or(c.Absent, notMeasured)
}

// sideText is a side's figure in a cell: "1.78 Mpps ±0.31% (5)".
func (c Compared) sideText() string {
	f := c.Figures
	if f == nil {
		return c.nothing()
	}
	text := f.headline().bound(pps(f.PacketsPerSecond))
	if f.Spread != nil {
		text += " ±" + f.Spread.Percent.FormatFixed() + "%"
	}
	return text + " (" + shortCount(f.Runs) + ")"
}

func (c *Comparison) grid(sign func(Outcome) string) grid {
	g := grid{header: []string{"product", "loadtest"}, left: 2}
	for i, side := range c.Sides {
		g.header = append(g.header, side)
		if i > 0 {
			g.header = append(g.header, "change", "")
		}
		if i > 0 && c.MaxRegressionPercent != nil {
			g.header = append(g.header, "verdict")
		}
	}
	for _, r := range c.Rows {
		row := []string{r.Product, r.Loadtest}
		for i, s := range r.Sides {
			row = append(row, s.sideText())
			if i > 0 {
				row = append(row, s.changeText(), s.judged())
			}
			if i > 0 && c.MaxRegressionPercent != nil {
				row = append(row, sign(s.Verdict))
			}
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// footnotes say what the figures are.
func (c *Comparison) footnotes() []string {
	words := []string{"Packets per second that were received, summed over all directions of one moment; of several runs (their number in brackets) the median, and ± is how far they are apart. " +
		"Changes are against " + first(c.Sides) + ". A difference is told only where the runs show it, by ranks alone, with 95 % confidence at least."}
	var figures []*Figures
	for _, r := range c.Rows {
		for _, s := range r.Sides {
			figures = append(figures, s.Figures)
		}
	}
	words = append(words, signWords(headlines(figures))...)
	return append(words, imageWords(c.imageUses())...)
}

// imageUses are the images of each side of each row; where all rows of a side have the same, only the side is named.
func (c *Comparison) imageUses() (uses []imageUse) {
	for i, side := range c.Sides {
		var own []imageUse
		same := true
		for _, r := range c.Rows {
			if i < len(r.Sides) && (r.Sides[i].Figures != nil || len(r.Sides[i].Images) > 0) {
				own = append(own, imageUse{Cell{Product: r.Product, Loadtest: r.Loadtest}.title() + " in " + side, r.Sides[i].Images})
				same = same && slices.Equal(own[0].images, r.Sides[i].Images)
			}
		}
		if same && len(own) > 0 {
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

// says are the lines below the table: what is said of each row, what lies apart, and what is missing.
func (c *Comparison) says() []sideLine {
	var lines []sideLine
	for _, r := range c.Rows {
		title := Cell{Product: r.Product, Loadtest: r.Loadtest}.title()
		for i, s := range r.Sides {
			at := title
			if i < len(c.Sides) {
				at += ", " + c.Sides[i]
			}
			if s.Message != "" {
				lines = append(lines, sideLine{s.lineClass(), at, s.Message})
			}
			if words := s.setAsideWords(); words != "" {
				lines = append(lines, sideLine{"warning", at, words})
			}
			for _, doubt := range s.Doubts {
				lines = append(lines, sideLine{"warning", at, doubt})
			}
			for _, o := range s.Outliers {
				lines = append(lines, sideLine{"warning", at, o + " lies far from the others, and counts all the same"})
			}
			for _, words := range gaps(s.Missing, s.Repeated) {
				lines = append(lines, sideLine{"warning", at, words})
			}
		}
	}
	return lines
}

func (c Compared) lineClass() string {
	switch {
	case c.Verdict != "":
		return outcomeClass(c.Verdict)
	case c.Judgement == NotComparable, c.Figures == nil && c.Judgement != Less:
		return "warning"
	}
	return "none"
}
