package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// defaultWidth is the line length of text that goes to a file or a pipe.
const defaultWidth = 100

// TextOptions says how text is laid out. The zero value is for files and pipes: 100 characters, no colour.
type TextOptions struct {
	Width int  // characters in a line; 0: 100. Under 60 counts as 60.
	Color bool // ANSI colours, for a terminal
}

// Text writes the published tests' table for all reports, then each test's evidence, without colour: TextOptions{}.Write.
func Text(w io.Writer, reports ...*Report) error { return TextOptions{}.Write(w, reports...) }

// Write writes the table of all reports (product, loadtest, throughput in pps and bps at layer 1, % of line rate, each the sum over
// the directions, which a footnote says) and below it per test the answer, its figures per direction, the verdict and every
// reason to doubt it. The same reports and options give the same bytes.
func (o TextOptions) Write(w io.Writer, reports ...*Report) error {
	p := newPrinter(o)
	p.table(reports)
	for _, r := range reports {
		p.line("")
		p.test(r)
	}
	return writeAll(w, "text", &p.out)
}

// printer collects lines.
type printer struct {
	out   bytes.Buffer
	width int
	color bool
}

func newPrinter(o TextOptions) *printer {
	return &printer{width: max(cmp.Or(o.Width, defaultWidth), 60), color: o.Color}
}

// writeAll writes at once what was collected in a format: nobody is left with half of it for a fault of ours.
func writeAll(w io.Writer, format string, from *bytes.Buffer) error {
	if _, err := w.Write(from.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", format, err)
	}
	return nil
}

func (p *printer) line(s string) { p.out.WriteString(s + "\n") }

// Printable takes out what would drive a terminal, but for the control characters that are kept: a report, a fault or a pod's last words may come from
// anywhere.
func Printable(s string, kept ...rune) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !slices.Contains(kept, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// paragraph writes a text, its first line led by a mark and the others by so many spaces.
func (p *printer) paragraph(mark string, hang int, text string) {
	indent := strings.Repeat(" ", hang)
	for i, l := range wrap(text, p.width-hang, len(mark)-hang) {
		if i == 0 {
			p.line(mark + Printable(l))
			continue
		}
		p.line(indent + Printable(l))
	}
}

// painted writes a paragraph that begins with words which are coloured on a terminal, and hangs below them by two.
func (p *printer) painted(words, sgr, text string) {
	for i, l := range wrap(words+text, p.width-2, -2) {
		l = Printable(l)
		if i > 0 {
			l = "  " + l
		}
		if rest, begins := strings.CutPrefix(l, words); begins && i == 0 {
			l = p.paint(words, sgr) + rest
		}
		p.line(l)
	}
}

// grid writes a table at an indent, or as blocks where it doesn't fit.
func (p *printer) grid(indent string, g grid, rule bool) {
	lines := g.lines(rule)
	if len(indent)+g.width() > p.width {
		lines = g.stacked()
	}
	for _, l := range lines {
		p.line(indent + Printable(l))
	}
}

// paint colours a word on a terminal.
func (p *printer) paint(word, sgr string) string {
	if !p.color {
		return word
	}
	return "\x1b[" + sgr + "m" + word + "\x1b[0m"
}

// table is the published tests' table, sums over the directions.
func (p *printer) table(reports []*Report) {
	g := grid{header: []string{"product", "loadtest", "throughput pps", "throughput bps", sumHead}, left: 2}
	var all []headline
	for _, r := range reports {
		h := headlineOf(r)
		all = append(all, h)
		g.rows = append(g.rows, []string{h.Product, h.Loadtest, h.bound(bare(pps(h.PacketsPerSecond), "pps")), h.bound(bare(bps(h.Layer1BitsPerSecond), "bps")), h.bound(h.PercentSum.FormatFixed())})
	}
	p.grid("", g, true)
	p.line("")
	p.paragraph("", 0, sumWords)
	for _, words := range signWords(all) {
		p.paragraph("", 0, words)
	}
}

// test is one test's evidence.
func (p *printer) test(r *Report) {
	h := headlineOf(r)
	p.line(p.paint(Printable(h.title()), "1") + " (" + Printable(h.Name) + "): " + p.paint(standing(r), standingColor(r)))
	p.paragraph("  ", 2, answer(r))
	if hasFigure(r) {
		p.line("")
		p.grid("  ", directionGrid(r), false)
		p.line("")
		if len(r.Result.Generators) > 1 {
			p.grid("  ", generatorGrid(r), false)
			p.line("")
		}
		p.facts(r)
	}
	if r.Device != nil {
		for _, c := range r.Device.Containers {
			p.paragraph("  device: ", 4, c.Name+" ran "+c.Short())
		}
	}
	p.line("  verdict: " + p.paint(Printable(verdictText(r.Verdict)), outcomeColor(r.Verdict.Outcome)))
	for _, c := range r.Verdict.Criteria {
		p.paragraph(fmt.Sprintf("    %-9s  ", Printable(strings.ToLower(string(c.Outcome)))), 15, c.Name+": "+c.Message)
	}
	for _, w := range warnings(r) {
		p.paragraph("  ! ", 4, w)
	}
}

// facts are the lines that qualify the figure.
func (p *printer) facts(r *Report) {
	if negativeLoss(r) {
		p.paragraph("  ", 2, "Negative loss: more came back in this window than was sent in it; those frames were on their way when it began.")
	}
	if s := resolutionText(r); s != "" {
		p.paragraph("  resolution: ", 4, s)
	}
	if m := r.Result.MaxReceived; m != nil {
		p.paragraph("  max received, apart from the result: ", 4, mostReceived(m))
	}
}

// negativeLoss says that a direction of the result got back more than it sent.
func negativeLoss(r *Report) bool {
	return slices.ContainsFunc(r.Result.Directions, func(d Measured) bool { return d.LossRatio < 0 })
}

// directionGrid has the three figures per direction and summed, with loss and share of line rate.
func directionGrid(r *Report) grid {
	h := headlineOf(r)
	g := grid{header: []string{"direction", "intended", "offered", "received", "layer 1", "layer 2", "loss", "line rate"}, left: 1}
	for _, d := range r.Result.Directions {
		g.rows = append(g.rows, flowRow(h, arrow(d.From, d.To), d.Intended, d.Offered, d.Received, lossText(d.LossRatio), percentOf(d.LineRatePercent)))
	}
	if len(r.Result.Directions) > 1 {
		t := r.Result.Total
		g.rows = append(g.rows, flowRow(h, "all", t.Intended, t.Offered, t.Received, lossText(t.LossRatio), percentOf(t.LineRatePercent)))
	}
	return g
}

// generatorGrid has what each of several generators sent and got, and how well they started together.
func generatorGrid(r *Report) grid {
	g := grid{header: []string{"generator", "offered", "received", "started after"}, left: 1}
	for _, s := range r.Result.Generators {
		g.rows = append(g.rows, []string{s.Name, pps(s.OfferedPacketsPerSecond), pps(s.ReceivedPacketsPerSecond), skewText(s)})
	}
	return g
}

// skewText is how much later than the first a generator began; one that sends nothing never did.
func skewText(s GeneratorShare) string {
	if s.OfferedPacketsPerSecond == 0 {
		return "sends nothing"
	}
	return s.StartSkew.Std().Round(10 * time.Microsecond).String()
}

func flowRow(h headline, name string, intended, offered, received Flow, loss, percent string) []string {
	return slices.Concat([]string{name, pps(intended.PacketsPerSecond), pps(offered.PacketsPerSecond)},
		[]string{h.bound(pps(received.PacketsPerSecond)), h.bound(bps(received.Layer1BitsPerSecond)), h.bound(bps(received.Layer2BitsPerSecond)), loss, h.bound(percent)})
}

// SGR codes: bold red, green and yellow.
const (
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
)

func standingColor(r *Report) string {
	switch {
	case !hasFigure(r):
		return red
	case r.Result.Saturated && !r.Unconfirmed():
		return green
	}
	return yellow
}

func outcomeColor(o Outcome) string {
	switch o {
	case Passed:
		return green
	case DidFail:
		return red
	case Undecided:
	}
	return yellow
}
