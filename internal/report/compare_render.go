package report

import (
	"cmp"
	"io"
	"strings"
)

// Text writes the sides beside each other, as wide as the options allow, and below what is said of each row.
func (c *Comparison) Text(w io.Writer, o TextOptions) error {
	p := newPrinter(o)
	if c.Title != "" {
		p.line(p.paint(Printable(c.Title), "1"))
		p.line("")
	}
	p.grid("", c.grid(func(o Outcome) string { return cmp.Or(string(o), "-") }), true)
	p.line("")
	for _, words := range c.footnotes() {
		p.paragraph("", 0, words)
	}
	p.says(c.says(), c.Notes)
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

// Markdown writes the comparison for a pull request (GitHub's dialect).
func (c *Comparison) Markdown(w io.Writer) error {
	m := new(markdown)
	if c.Title != "" {
		m.line("### ", markdownText(c.Title), "\n")
	}
	m.grid(c.grid(tableSign))
	m.line("<sub>", markdownText(strings.Join(c.footnotes(), " ")), "</sub>\n")
	m.says(c.says(), c.Notes)
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

// JSON writes the comparison as a document, indented.
func (c *Comparison) JSON(w io.Writer) error {
	out := *c
	out.Version = ComparisonVersion
	return writeDocument(w, &out)
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
	Compared
	First                bool
	Packets, Bits        figure
	Spread               string
	Change, Words, Class string
	VerdictClass         string
	Interval             string
	Nothing              string
}

// HTML writes the comparison as one page that needs nothing else, in the reader's light or dark scheme.
func (c *Comparison) HTML(w io.Writer) error {
	p := &sidePage{Title: cmp.Or(c.Title, "linerate: "+strings.Join(c.Sides, " · ")), Footnotes: c.footnotes(), Notes: c.Notes, Says: c.says()}
	p.Description = p.Title
	p.Comparison = &comparePage{Sides: c.Sides, Judged: c.MaxRegressionPercent != nil || c.judged}
	for _, r := range c.Rows {
		row := compareRowView{Product: r.Product, Loadtest: r.Loadtest}
		for i, s := range r.Sides {
			row.Sides = append(row.Sides, newComparedView(s, i == 0))
		}
		p.Comparison.Rows = append(p.Comparison.Rows, row)
	}
	return p.write(w)
}

func newComparedView(s Compared, first bool) comparedView {
	v := comparedView{Compared: s, First: first, Change: s.changeText(), Words: s.judged(), Class: s.Judgement.class(), VerdictClass: outcomeClass(s.Verdict), Interval: s.Change.interval(), Nothing: s.nothing()}
	if f := s.Figures; f != nil {
		h := f.headline()
		v.Packets = split(h, pps(f.PacketsPerSecond), exact(f.PacketsPerSecond, "packets per second"))
		v.Bits = split(h, bps(f.Layer1BitsPerSecond), exact(f.Layer1BitsPerSecond, "bits per second"))
		v.Spread = "(" + shortCount(f.Runs) + ")"
		if f.Spread != nil {
			v.Spread = "±" + spreadText(f) + " " + v.Spread
		}
	}
	return v
}

// interval is what encloses a change: "-3.60% to -2.51%".
func (c *Change) interval() string {
	if c == nil || c.LowPercent == nil && c.HighPercent == nil {
		return ""
	}
	switch {
	case c.LowPercent == nil:
		return "at most " + changeText(&Change{Percent: *c.HighPercent})
	case c.HighPercent == nil:
		return "at least " + changeText(&Change{Percent: *c.LowPercent})
	}
	return changeText(&Change{Percent: *c.LowPercent}) + " to " + changeText(&Change{Percent: *c.HighPercent})
}
