package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The lines that say what a table's figures are.
const (
	sumWords = "Throughput is what was received, summed over all directions of one moment, and so is its % of line rate: 200 is full duplex between two ports. " +
		"bps are layer 1, with preamble and inter-frame gap."
	togetherWords = "Throughput is what was received, summed over all directions of one moment; bps are layer 1; 100 % is every direction at its line rate."
	medianWords   = "Of several runs, the median; ± is how far they are apart, in percent of it."
	boundWords    = "≥ is a lower bound: the device's limit lies there or above."
)

// Text writes the table as the published ones are, the share of the line rate summed over directions, which a line below says.
func (t *Table) Text(w io.Writer, o TextOptions) error {
	p := newPrinter(o)
	if t.Title != "" {
		p.line(p.paint(Printable(t.Title), "1"))
		p.line("")
	}
	traits := t.traits()
	p.grid("", t.grid(traits, sumHead, summed, func(o Outcome) string { return cmp.Or(string(o), "-") }), true)
	p.line("")
	for _, words := range t.footnotes(traits, sumWords) {
		p.paragraph("", 0, words)
	}
	t.evidence(p)
	return writeAll(w, "text", &p.out)
}

// evidence is what the cells have to say, and what is missing.
func (t *Table) evidence(p *printer) {
	if t.traits().missing || len(t.Notes) > 0 || slices.ContainsFunc(t.Cells, func(c Cell) bool { return c.Message != "" }) {
		p.line("")
	}
	for _, c := range t.arranged() {
		if words := c.said(); words != "" {
			p.paragraph("  ", 2, words)
		}
		for _, words := range gaps(c.Missing, c.Repeated) {
			p.paragraph("  ! ", 4, c.title()+": "+words)
		}
	}
	for _, n := range t.Notes {
		p.paragraph("  ! ", 4, n)
	}
}

// footnotes say what the figures are, as far as this table has such figures.
func (t *Table) footnotes(traits tableTraits, what string) []string {
	words := []string{what}
	if traits.repeated {
		words = append(words, medianWords)
	}
	var figures []*Figures
	for _, c := range t.Cells {
		figures = append(figures, c.Figures)
	}
	words = append(words, signWords(headlines(figures))...)
	var uses []imageUse
	for _, c := range t.arranged() {
		uses = append(uses, imageUse{c.title(), c.Images})
	}
	return append(words, imageWords(uses)...)
}

// Markdown writes the table for a pull request or a wiki (GitHub's dialect). Percentages are shares of what all directions can carry, at
// most 100.
func (t *Table) Markdown(w io.Writer) error {
	m := new(markdown)
	if t.Title != "" {
		m.line("### ", markdownText(t.Title), "\n")
	}
	traits := t.traits()
	m.grid(t.grid(traits, togetherHead, together, tableSign))
	m.line("<sub>", markdownText(strings.Join(t.footnotes(traits, togetherWords), " ")), "</sub>\n")
	for _, c := range t.arranged() {
		if c.Message != "" {
			m.line("- ", verdictMark(c.Verdict), "**", markdownText(c.title()), "**: ", markdownText(c.Message))
		}
		for _, words := range gaps(c.Missing, c.Repeated) {
			m.line("- ⚠️ **", markdownText(c.title()), "**: ", markdownText(words))
		}
	}
	for _, n := range t.Notes {
		m.line("- ⚠️ ", markdownText(n))
	}
	return writeAll(w, "markdown", &m.out)
}

// tableSign is a verdict in a table's cell.
func tableSign(o Outcome) string {
	if o == "" {
		return "no criteria"
	}
	return sign(o) + " " + string(o)
}

// verdictMark goes before a line; without criteria there is none.
func verdictMark(o Outcome) string {
	if o == "" {
		return ""
	}
	return sign(o) + " "
}

// JSON writes the table as a document, indented.
func (t *Table) JSON(w io.Writer) error {
	out := *t
	out.Version = TableVersion
	return writeDocument(w, &out)
}

// writeDocument writes a value as JSON that people can read, too.
func writeDocument(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return writeAll(w, "json", &b)
}

func shortCount(n int) string { return strconv.Itoa(n) }

// shareOf is "3 of 5".
func shareOf(n, all int) string { return strconv.Itoa(n) + " of " + strconv.Itoa(all) }
