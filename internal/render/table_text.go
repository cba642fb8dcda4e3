package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

// The lines that say what a table's figures are.
const (
	sumWords = "Throughput is what was received, summed over all directions of one moment, and so is its % of line rate: 200 is full duplex between two ports. " +
		"bps are layer 1, with preamble and inter-frame gap."
	togetherWords = "Throughput is what was received, summed over all directions of one moment; bps are layer 1; 100 % is every direction at its line rate."
	medianWords   = "Of several runs, the median; ± is how far they are apart, in percent of it."
	boundWords    = "≥ is a lower bound: the device's limit lies there or above."
)

// tableText writes the table as the published ones are, the share of the line rate summed over directions, which a line below says.
func tableText(t *report.Table, w io.Writer, o TextOptions) error {
	p := newPrinter(o)
	if t.Title != "" {
		p.line(p.paint(wording.Printable(t.Title), "1"))
		p.line("")
	}
	traits := traitsOf(t)
	p.grid("", tableGrid(t, traits, sumHead, summed, func(o report.Outcome) string { return cmp.Or(string(o), "-") }), true)
	p.line("")
	for _, words := range tableFootnotes(t, traits, sumWords) {
		p.paragraph("", 0, words)
	}
	tableEvidence(t, p)
	return writeAll(w, "text", &p.out)
}

// tableEvidence is what the cells have to say, and what is missing.
func tableEvidence(t *report.Table, p *printer) {
	if traitsOf(t).missing || len(t.Notes) > 0 || slices.ContainsFunc(t.Cells, func(c report.Cell) bool { return c.Message != "" }) {
		p.line("")
	}
	for _, c := range arranged(t) {
		if words := cellWords(c); words != "" {
			p.paragraph("  ", 2, words)
		}
		for _, words := range gaps(c.Missing, c.Repeated) {
			p.paragraph("  ! ", 4, cellTitle(c)+": "+words)
		}
	}
	for _, n := range t.Notes {
		p.paragraph("  ! ", 4, n)
	}
}

// tableFootnotes say what the figures are, as far as this table has such figures.
func tableFootnotes(t *report.Table, traits tableTraits, what string) []string {
	words := []string{what}
	if traits.repeated {
		words = append(words, medianWords)
	}
	var figures []*report.Figures
	for _, c := range t.Cells {
		figures = append(figures, c.Figures)
	}
	words = append(words, signWords(headlines(figures))...)
	var uses []imageUse
	for _, c := range arranged(t) {
		uses = append(uses, imageUse{cellTitle(c), c.Images})
	}
	return append(words, imageWords(uses)...)
}

// tableMarkdown writes the table for a pull request or a wiki (GitHub's dialect). Percentages are shares of what all directions can carry, at
// most 100.
func tableMarkdown(t *report.Table, w io.Writer) error {
	m := new(markdown)
	if t.Title != "" {
		m.line("### ", markdownText(t.Title), "\n")
	}
	traits := traitsOf(t)
	m.grid(tableGrid(t, traits, togetherHead, together, tableSign))
	m.line("<sub>", markdownText(strings.Join(tableFootnotes(t, traits, togetherWords), " ")), "</sub>\n")
	for _, c := range arranged(t) {
		if c.Message != "" {
			m.line("- ", verdictMark(c.Verdict), "**", markdownText(cellTitle(c)), "**: ", markdownText(c.Message))
		}
		for _, words := range gaps(c.Missing, c.Repeated) {
			m.line("- ⚠️ **", markdownText(cellTitle(c)), "**: ", markdownText(words))
		}
	}
	for _, n := range t.Notes {
		m.line("- ⚠️ ", markdownText(n))
	}
	return writeAll(w, "markdown", &m.out)
}

// tableSign is a verdict in a table's cell.
func tableSign(o report.Outcome) string {
	if o == "" {
		return "no criteria"
	}
	return sign(o) + " " + string(o)
}

// verdictMark goes before a line; without criteria there is none.
func verdictMark(o report.Outcome) string {
	if o == "" {
		return ""
	}
	return sign(o) + " "
}

func shortCount(n int) string { return strconv.Itoa(n) }

// signWords explain the signs that figures have.
func signWords(of []report.Headline) (words []string) {
	bound, loose := false, false
	for _, h := range of {
		bound, loose = bound || h.Bound, loose || h.Sign() == "~"
	}
	if bound {
		words = append(words, boundWords)
	}
	if loose {
		words = append(words, looseWords)
	}
	return words
}

// headlines are those of figures, as far as there are any.
func headlines(all []*report.Figures) (out []report.Headline) {
	for _, f := range all {
		if f != nil {
			out = append(out, f.Headline())
		}
	}
	return out
}

const looseWords = "~ is not confirmed: the rate was not held as long as was asked for."

// imageUse is what was measured somewhere.
type imageUse struct {
	where  string
	images []plan.Container
}

// mostUses is how many places are named that measured the same images.
const mostUses = 12

// imageWords say which images were measured, each once, and where, if not everywhere.
func imageWords(uses []imageUse) []string {
	where, order := map[string][]string{}, []string(nil)
	for _, u := range uses {
		if len(u.images) == 0 {
			continue
		}
		var ran []string
		for _, c := range u.images {
			ran = append(ran, c.Name+" ran "+c.Short())
		}
		text := strings.Join(ran, ", ")
		if where[text] == nil {
			order = append(order, text)
		}
		if !slices.Contains(where[text], u.where) {
			where[text] = append(where[text], u.where)
		}
	}
	var out []string
	for _, text := range order {
		places := where[text]
		switch more := len(places) - mostUses; {
		case len(order) == 1 && len(places) == len(uses):
			out = append(out, "Device under test: "+text+".")
			continue
		case more > 0:
			places = append(places[:mostUses:mostUses], fmt.Sprintf("and %d more", more))
		}
		out = append(out, "Device under test of "+strings.Join(places, ", ")+": "+text+".")
	}
	return out
}

// cellFigure writes a figure of the cell, as report.Headline does.
func cellFigure(c report.Cell, figure func(*report.Figures) string) string {
	if c.Figures == nil {
		return wording.NotMeasured
	}
	return c.Figures.Headline().Signed(figure(c.Figures))
}

// arranged are the cells as they are shown.
func arranged(t *report.Table) []report.Cell {
	var products, loadtests []string
	for _, c := range t.Cells {
		if !slices.Contains(products, c.Product) {
			products = append(products, c.Product)
		}
		if !slices.Contains(loadtests, c.Loadtest) {
			loadtests = append(loadtests, c.Loadtest)
		}
	}
	place := func(c report.Cell) int {
		return slices.Index(loadtests, c.Loadtest)*len(products) + slices.Index(products, c.Product)
	}
	cells := slices.Clone(t.Cells)
	slices.SortStableFunc(cells, func(a, b report.Cell) int { return place(a) - place(b) })
	return cells
}

// tableTraits says what of a table needs a column or a line.
type tableTraits struct{ repeated, judged, missing bool }

func traitsOf(t *report.Table) tableTraits {
	var out tableTraits
	for _, c := range t.Cells {
		out.judged = out.judged || c.Verdict != ""
		out.missing = out.missing || len(c.Missing)+len(c.Repeated) > 0
		if f := c.Figures; f != nil {
			out.repeated = out.repeated || f.Runs > 1
		}
	}
	return out
}

// spreadText is what stands behind ±.
func spreadText(f *report.Figures) string {
	if f == nil || f.Spread == nil {
		return "-"
	}
	return f.Spread.Percent.FormatFixed() + "%"
}

// The heads of the column with the share of the line rate: a share of what all directions carry together is at most 100, and the directions' shares summed
// are 200 at full duplex between two ports. Two figures never stand under one head.
const (
	togetherHead = "% of line rate"
	sumHead      = "% line rate, sum"
)

// tableGrid is the table for people. The verdict stands where sign puts it; percent picks how the share of the line rate is summed, which head says.
func tableGrid(t *report.Table, traits tableTraits, head string, percent func(*report.Figures) units.Percent, sign func(report.Outcome) string) grid {
	g := grid{header: []string{"product", "loadtest"}, left: 2}
	if traits.judged {
		g.header, g.left = append(g.header, "verdict"), 3
	}
	g.header = append(g.header, "throughput pps", "throughput bps", head)
	if traits.repeated {
		g.header = append(g.header, "±", "runs")
	}
	for _, c := range arranged(t) {
		row := []string{c.Product, c.Loadtest}
		if traits.judged {
			row = append(row, sign(c.Verdict))
		}
		row = append(row,
			cellFigure(c, func(f *report.Figures) string { return wording.Bare(wording.PacketRate(f.PacketsPerSecond), "pps") }),
			cellFigure(c, func(f *report.Figures) string { return wording.Bare(wording.BitRate(f.Layer1BitsPerSecond), "bps") }),
			cellFigure(c, func(f *report.Figures) string { return percent(f).FormatFixed() }))
		if traits.repeated {
			row = append(row, spreadText(c.Figures), runsText(c))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// runsText is how many runs the figures are of, and of how many.
func runsText(c report.Cell) string {
	measured := 0
	if c.Figures != nil {
		measured = c.Figures.Runs
	}
	if all := measured + len(c.Missing); all != measured {
		return wording.ShareOf(measured, all)
	}
	return shortCount(measured)
}

// share of what all directions carry together, as the status has it.
func together(f *report.Figures) units.Percent { return min(f.LineRatePercent, units.Hundred) }

// summed over the directions, as the published tables have it.
func summed(f *report.Figures) units.Percent { return f.LineRatePercentSum }

// cellWords are a cell's words with its name before them; empty: there is nothing to say.
func cellWords(c report.Cell) string {
	if c.Message == "" {
		return ""
	}
	return cellTitle(c) + ": " + c.Message
}

func cellTitle(c report.Cell) string {
	return report.Headline{Product: c.Product, Loadtest: c.Loadtest}.Title()
}

// gaps says which runs gave no figure, and which were repeated.
func gaps(missing, repeated []report.Missing) []string {
	var lines []string
	for _, m := range missing {
		lines = append(lines, m.Test+" was not measured: "+missingWords(m))
	}
	for _, m := range repeated {
		lines = append(lines, m.Test+" was "+againWords(m)+": "+missingWords(m))
	}
	return lines
}

// againWords says in what way a run was repeated.
func againWords(m report.Missing) string {
	if m.LowerBound > 0 {
		return "repeated"
	}
	return "repeated, as it gave no figure"
}

// missingWords of a run that gave no figure that counts.
func missingWords(m report.Missing) string {
	if m.Message == "" {
		return m.Reason
	}
	return m.Reason + ": " + m.Message
}
