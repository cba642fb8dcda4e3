package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/wording"
)

// defaultWidth is the line length of text that goes to a file or a pipe.
const defaultWidth = 100

// TextOptions says how text is laid out. The zero value is for files and pipes: 100 characters, no colour.
type TextOptions struct {
	Width int  // characters in a line; 0: 100. Under 60 counts as 60.
	Color bool // ANSI colours, for a terminal
}

// testsText writes the table of all reports (product, loadtest, throughput in pps and bps at layer 1, % of line rate, each the sum over
// the directions, which a footnote says) and below it per test the answer, its figures per direction, the verdict and every
// reason to doubt it. The same reports and options give the same bytes.
func testsText(w io.Writer, o TextOptions, reports []*report.Report) error {
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

// paragraph writes a text, its first line led by a mark and the others by so many spaces.
func (p *printer) paragraph(mark string, hang int, text string) {
	indent := strings.Repeat(" ", hang)
	for i, l := range wrap(text, p.width-hang, len(mark)-hang) {
		if i == 0 {
			p.line(mark + wording.Printable(l))
			continue
		}
		p.line(indent + wording.Printable(l))
	}
}

// painted writes a paragraph that begins with words which are coloured on a terminal, and hangs below them by two.
func (p *printer) painted(words, sgr, text string) {
	for i, l := range wrap(words+text, p.width-2, -2) {
		l = wording.Printable(l)
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
		p.line(indent + wording.Printable(l))
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
func (p *printer) table(reports []*report.Report) {
	g := grid{header: []string{"product", "loadtest", "throughput pps", "throughput bps", sumHead}, left: 2}
	var all []report.Headline
	for _, r := range reports {
		h := report.HeadlineOf(r)
		all = append(all, h)
		g.rows = append(g.rows, []string{h.Product, h.Loadtest, h.Signed(wording.Bare(wording.PacketRate(h.PacketsPerSecond), "pps")), h.Signed(wording.Bare(wording.BitRate(h.Layer1BitsPerSecond), "bps")), h.Signed(h.PercentSum.FormatFixed())})
	}
	p.grid("", g, true)
	p.line("")
	p.paragraph("", 0, sumWords)
	for _, words := range signWords(all) {
		p.paragraph("", 0, words)
	}
}

// test is one test's evidence.
func (p *printer) test(r *report.Report) {
	h := report.HeadlineOf(r)
	p.line(p.paint(wording.Printable(h.Title()), "1") + " (" + wording.Printable(h.Name) + "): " + p.paint(standing(r), standingColor(r)))
	p.paragraph("  ", 2, answer(r))
	if report.HasFigure(r) {
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
	p.line("  verdict: " + p.paint(wording.Printable(verdictText(r.Verdict)), outcomeColor(r.Verdict.Outcome)))
	for _, c := range r.Verdict.Criteria {
		p.paragraph(fmt.Sprintf("    %-9s  ", wording.Printable(strings.ToLower(string(c.Outcome)))), 15, c.Name+": "+c.Message)
	}
	for _, w := range warnings(r) {
		p.paragraph("  ! ", 4, w)
	}
}

// facts are the lines that qualify the figure.
func (p *printer) facts(r *report.Report) {
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
func negativeLoss(r *report.Report) bool {
	return slices.ContainsFunc(r.Result.Directions, func(d report.Measured) bool { return d.LossRatio < 0 })
}

// directionGrid has the three figures per direction and summed, with loss and share of line rate.
func directionGrid(r *report.Report) grid {
	h := report.HeadlineOf(r)
	g := grid{header: []string{"direction", "intended", "offered", "received", "layer 1", "layer 2", "loss", "line rate"}, left: 1}
	for _, d := range r.Result.Directions {
		g.rows = append(g.rows, flowRow(h, wording.Direction(d.From, d.To), d.Intended, d.Offered, d.Received, wording.Loss(d.LossRatio), wording.Percent(d.LineRatePercent)))
	}
	if len(r.Result.Directions) > 1 {
		t := r.Result.Total
		g.rows = append(g.rows, flowRow(h, "all", t.Intended, t.Offered, t.Received, wording.Loss(t.LossRatio), wording.Percent(t.LineRatePercent)))
	}
	return g
}

// generatorGrid has what each of several generators sent and got, and how well they started together.
func generatorGrid(r *report.Report) grid {
	g := grid{header: []string{"generator", "offered", "received", "started after"}, left: 1}
	for _, s := range r.Result.Generators {
		g.rows = append(g.rows, []string{s.Name, wording.PacketRate(s.OfferedPacketsPerSecond), wording.PacketRate(s.ReceivedPacketsPerSecond), skewText(s)})
	}
	return g
}

// skewText is how much later than the first a generator began; one that sends nothing never did.
func skewText(s report.GeneratorShare) string {
	if s.OfferedPacketsPerSecond == 0 {
		return "sends nothing"
	}
	return s.StartSkew.Std().Round(10 * time.Microsecond).String()
}

func flowRow(h report.Headline, name string, intended, offered, received report.Flow, loss, percent string) []string {
	return slices.Concat([]string{name, wording.PacketRate(intended.PacketsPerSecond), wording.PacketRate(offered.PacketsPerSecond)},
		[]string{h.Signed(wording.PacketRate(received.PacketsPerSecond)), h.Signed(wording.BitRate(received.Layer1BitsPerSecond)), h.Signed(wording.BitRate(received.Layer2BitsPerSecond)), loss, h.Signed(percent)})
}

// SGR codes: bold red, green and yellow.
const (
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
)

func standingColor(r *report.Report) string {
	switch {
	case !report.HasFigure(r):
		return red
	case r.Result.Saturated && !r.Unconfirmed():
		return green
	}
	return yellow
}

func outcomeColor(o report.Outcome) string {
	switch o {
	case report.Passed:
		return green
	case report.DidFail:
		return red
	case report.Undecided:
	}
	return yellow
}
