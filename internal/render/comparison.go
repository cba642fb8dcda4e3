package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/wording"
)

// comparisonText writes the sides beside each other, as wide as the options allow, and below what is said of each row.
func comparisonText(c *report.Comparison, w io.Writer, o TextOptions) error {
	p := newPrinter(o)
	if c.Title != "" {
		p.line(p.paint(wording.Printable(c.Title), "1"))
		p.line("")
	}
	p.grid("", comparisonGrid(c, func(o report.Outcome) string { return cmp.Or(string(o), "-") }), true)
	p.line("")
	for _, words := range comparisonFootnotes(c) {
		p.paragraph("", 0, words)
	}
	p.says(comparisonSays(c), c.Notes)
	return writeAll(w, "text", &p.out)
}

// says writes the lines below a table.
func (p *printer) says(lines []sideLine, notes []string) {
	if len(lines)+len(notes) > 0 {
		p.line("")
	}
	for _, l := range lines {
		mark := "  "
		if l.Class == "warning" {
			mark = "  ! "
		}
		p.paragraph(mark, len(mark), l.Name+": "+l.Text)
	}
	for _, n := range notes {
		p.paragraph("  ! ", 4, n)
	}
}

// comparisonMarkdown writes the comparison for a pull request (GitHub's dialect).
func comparisonMarkdown(c *report.Comparison, w io.Writer) error {
	m := new(markdown)
	if c.Title != "" {
		m.line("### ", markdownText(c.Title), "\n")
	}
	m.grid(comparisonGrid(c, tableSign))
	m.line("<sub>", markdownText(strings.Join(comparisonFootnotes(c), " ")), "</sub>\n")
	m.says(comparisonSays(c), c.Notes)
	return writeAll(w, "markdown", &m.out)
}

func (m *markdown) says(lines []sideLine, notes []string) {
	signs := map[string]string{"warning": "⚠️ ", "passed": "✅ ", "failed": "❌ ", "undecided": "❔ "}
	for _, l := range lines {
		m.line("- ", signs[l.Class], "**", markdownText(l.Name), "**: ", markdownText(l.Text))
	}
	for _, n := range notes {
		m.line("- ⚠️ ", markdownText(n))
	}
}

// comparePage is a comparison as the page's template writes it.
type comparePage struct {
	Sides  []string
	Judged bool
	Rows   []compareRowView
}

type compareRowView struct {
	Product, Loadtest string
	Sides             []comparedView
}

type comparedView struct {
	report.Compared
	First                bool
	Packets, Bits        figure
	Spread               string
	Change, Words, Class string
	VerdictClass         string
	Interval             string
	Nothing              string
}

// comparisonHTML writes the comparison as one page that needs nothing else, in the reader's light or dark scheme.
func comparisonHTML(c *report.Comparison, w io.Writer) error {
	return writeComparisonPage(c, w, c.MaxRegressionPercent != nil)
}

// writeComparisonPage is the page with verdicts, or without.
func writeComparisonPage(c *report.Comparison, w io.Writer, judged bool) error {
	p := &sidePage{Title: cmp.Or(c.Title, "linerate: "+strings.Join(c.Sides, " · ")), Footnotes: comparisonFootnotes(c), Notes: c.Notes, Says: comparisonSays(c)}
	p.Description = p.Title
	p.Comparison = &comparePage{Sides: c.Sides, Judged: judged}
	for _, r := range c.Rows {
		row := compareRowView{Product: r.Product, Loadtest: r.Loadtest}
		for i, s := range r.Sides {
			row.Sides = append(row.Sides, newComparedView(s, i == 0))
		}
		p.Comparison.Rows = append(p.Comparison.Rows, row)
	}
	return p.write(w)
}

func newComparedView(s report.Compared, first bool) comparedView {
	v := comparedView{Compared: s, First: first, Change: sideChange(s), Words: judgedWords(s), Class: judgementClass(s.Judgement), VerdictClass: outcomeClass(s.Verdict), Interval: intervalText(s.Change), Nothing: nothingText(s)}
	if f := s.Figures; f != nil {
		h := f.Headline()
		v.Packets = split(h, wording.PacketRate(f.PacketsPerSecond), exact(f.PacketsPerSecond, "packets per second"))
		v.Bits = split(h, wording.BitRate(f.Layer1BitsPerSecond), exact(f.Layer1BitsPerSecond, "bits per second"))
		v.Spread = "(" + shortCount(f.Runs) + ")"
		if f.Spread != nil {
			v.Spread = "±" + spreadText(f) + " " + v.Spread
		}
	}
	return v
}

// intervalText is what encloses a change: "-3.60% to -2.51%".
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
	return changeText(&report.Change{Percent: *c.LowPercent}) + " to " + changeText(&report.Change{Percent: *c.HighPercent})
}

// setAsideWords tell how many runs don't count, why, and which; empty: all do.
func setAsideWords(c report.Compared) string {
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
	return fmt.Sprintf("%d of %s set aside (%s): %s", n, wording.Counted(of, "measured run"), strings.Join(reasons, "; "), strings.Join(tests, ", "))
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

// judgedWords are the words of a side's judgement. Where lower bounds hide any difference, that none is shown would read as if there were none.
func judgedWords(c report.Compared) string {
	if c.Judgement == report.NotShown && c.Change == nil {
		return "can't be told"
	}
	return judgementWords(c.Judgement)
}

// judgementClass is the style sheet's name.
func judgementClass(j report.Judgement) string {
	switch j {
	case report.Less:
		return "worse"
	case report.More:
		return "better"
	case report.NotShown:
		return "same"
	case report.TooFew:
		return "unsure"
	case report.NotComparable:
	}
	return "apart"
}

// changeText is a difference with its sign: "-3.02%".
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

// sideChange is a side's difference; a lower bound makes it one, too.
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

// sideText is a side's figure in a cell: "1.78 Mpps ±0.31% (5)".
func sideText(c report.Compared) string {
	f := c.Figures
	if f == nil {
		return nothingText(c)
	}
	text := f.Headline().Signed(wording.PacketRate(f.PacketsPerSecond))
	if f.Spread != nil {
		text += " ±" + f.Spread.Percent.FormatFixed() + "%"
	}
	return text + " (" + shortCount(f.Runs) + ")"
}

func comparisonGrid(c *report.Comparison, sign func(report.Outcome) string) grid {
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
			row = append(row, sideText(s))
			if i > 0 {
				row = append(row, sideChange(s), judgedWords(s))
			}
			if i > 0 && c.MaxRegressionPercent != nil {
				row = append(row, sign(s.Verdict))
			}
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// comparisonFootnotes say what the figures are.
func comparisonFootnotes(c *report.Comparison) []string {
	words := []string{"Packets per second that were received, summed over all directions of one moment; of several runs (their number in brackets) the median, and ± is how far they are apart. " +
		"Changes are against " + first(c.Sides) + ". A difference is told only where the runs show it, by ranks alone, with 95 % confidence at least."}
	var figures []*report.Figures
	for _, r := range c.Rows {
		for _, s := range r.Sides {
			figures = append(figures, s.Figures)
		}
	}
	words = append(words, signWords(headlines(figures))...)
	return append(words, imageWords(comparisonImages(c))...)
}

// comparisonImages are the images of each side of each row; where all rows of a side have the same, only the side is named.
func comparisonImages(c *report.Comparison) (uses []imageUse) {
	for i, side := range c.Sides {
		var own []imageUse
		same := true
		for _, r := range c.Rows {
			if i < len(r.Sides) && (r.Sides[i].Figures != nil || len(r.Sides[i].Images) > 0) {
				own = append(own, imageUse{cellTitle(report.Cell{Product: r.Product, Loadtest: r.Loadtest}) + " in " + side, r.Sides[i].Images})
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

// comparisonSays are the lines below the table: what is said of each row, what lies apart, and what is missing.
func comparisonSays(c *report.Comparison) []sideLine {
	var lines []sideLine
	for _, r := range c.Rows {
		title := cellTitle(report.Cell{Product: r.Product, Loadtest: r.Loadtest})
		for i, s := range r.Sides {
			at := title
			if i < len(c.Sides) {
				at += ", " + c.Sides[i]
			}
			if s.Message != "" {
				lines = append(lines, sideLine{lineClass(s), at, s.Message})
			}
			if words := setAsideWords(s); words != "" {
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

func lineClass(c report.Compared) string {
	switch {
	case c.Verdict != "":
		return outcomeClass(c.Verdict)
	case c.Judgement == report.NotComparable, c.Figures == nil && c.Judgement != report.Less:
		return "warning"
	}
	return "none"
}
