package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/sanitize"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// TextOptions says how text is laid out. The zero value is for files and pipes, with 100 characters and no colour.
type TextOptions struct {
	Width int  // characters in a line, 100 for 0, and at least 60
	Color bool // ANSI colours, for a terminal
	// Evidence adds what is behind each answer.
	Evidence bool
}

// defaultWidth is the line length of text that goes to a file or a pipe.
const defaultWidth = 100

// textFormat is for terminals, files and pipes. Shares of the line rate are summed over directions, as in the
// published tables. The same document and options give the same bytes.
func textFormat() format {
	return format{name: "text", forPeople: true, write: func(w io.Writer, d Document, o TextOptions) error {
		p := &printer{width: max(cmp.Or(o.Width, defaultWidth), 60), color: o.Color, evidence: o.Evidence}
		for i := range d.views {
			p.gap()
			p.view(&d.views[i])
		}
		return writeStyled(w, "text", &p.text, p.color)
	}}
}

// writeAll writes a whole document at once, so that an error of linerate never leaves half a document.
func writeAll(w io.Writer, format string, source *bytes.Buffer) error {
	return writeStyled(w, format, source, false)
}

// writeStyled is writeAll of what may have colours. No document is written past sanitize.
func writeStyled(w io.Writer, format string, source *bytes.Buffer, colors bool) error {
	if _, err := sanitize.NewWriter(w, colors).Write(source.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", format, err)
	}
	return nil
}

// printer collects lines.
type printer struct {
	text     bytes.Buffer
	width    int
	color    bool
	evidence bool // what is behind each answer is written, too
	blankDue bool // an empty line is due before the next one
}

func (p *printer) view(v *view) {
	switch {
	case v.judgement != nil:
		p.painted(string(v.judgement.outcome), colorOf(toneOf(v.judgement.outcome)), ": "+v.judgement.message)
	case v.answer != nil && v.title != "":
		p.painted(wording.Printable(v.title), bold, ": "+v.answer.Summary)
	case v.answer != nil:
		p.paragraph("", 2, v.answer.Summary)
	case v.title != "":
		p.line(p.paint(wording.Printable(v.title), bold))
	}
	if v.answer != nil {
		p.paragraph("", 2, v.answer.Message)
	}
	p.gap()
	if v.table != nil {
		p.table("", v.table, true)
		p.paragraphs(v.legend.summed)
	}
	for i := range v.sections {
		if v.sections[i].background && !p.evidence {
			continue
		}
		p.gap()
		p.section(&v.sections[i])
	}
	p.gap()
	if v.table == nil {
		p.paragraphs(v.legend.summed)
		p.gap()
	}
	shown, evidence := v.remarksAndEvidence()
	p.remarks(shown)
	if p.evidence {
		p.remarks(evidence)
	}
	if v.leftOut > 0 {
		p.paragraph("  ", 2, moreWords(v.leftOut, "line"))
	}
	for _, n := range v.notes {
		p.paragraph("  ! ", 4, n)
	}
}

func (p *printer) section(s *section) {
	p.painted(wording.Printable(s.title), bold, ": "+s.ended())
	if s.standing != "" {
		begin, rest := capital(s.standing), ""
		if after, ok := strings.CutPrefix(s.answer, begin); ok {
			rest = after
		} else {
			begin = s.answer
		}
		p.painted(begin, colorOf(s.tone), rest)
	}
	p.remarks(s.findings)
	for _, t := range s.tables {
		p.gap()
		p.table("  ", t, false)
	}
	for _, words := range s.caveats {
		p.paragraph("  ", 2, words)
	}
	for _, f := range s.facts {
		p.paragraph("  "+f.Term+": ", 4, f.Text)
	}
	if v := s.verdict; v != nil {
		p.line("  verdict: " + p.paint(wording.Printable(verdictText(*v)), colorOf(toneOf(v.Outcome))))
		for _, c := range v.Criteria {
			p.paragraph(fmt.Sprintf("    %-9s  ", wording.Printable(strings.ToLower(string(c.Outcome)))), 15, c.Name+
				": "+c.Message)
		}
	}
	p.remarks(s.remarks)
	if p.evidence {
		p.behind(s.evidence)
	}
}

// behind writes what is behind an answer.
func (p *printer) behind(e evidence) {
	if t := e.table(); t != nil {
		p.gap()
		p.table("  ", t, false)
	}
	for _, t := range e.tables {
		p.gap()
		p.table("  ", t, false)
	}
	for _, words := range slices.Concat(e.caveats, e.doubts) {
		p.paragraph("  ", 2, words)
	}
	for _, f := range e.facts {
		p.paragraph("  "+f.Term+": ", 4, f.Text)
	}
}

func (p *printer) remarks(remarks []remark) {
	for _, r := range remarks {
		mark, subject := "  ", ""
		if r.marked {
			mark = "  ! "
		}
		if r.Name != "" {
			subject = r.Name + ": "
		}
		p.paragraph(mark, len(mark), subject+r.Text)
	}
}

// gap leaves an empty line before the next one, if there is something before it and after it.
func (p *printer) gap() { p.blankDue = p.text.Len() > 0 }

func (p *printer) line(s string) {
	if p.blankDue {
		p.text.WriteByte('\n')
	}
	p.blankDue = false
	p.text.WriteString(s + "\n")
}

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

// table writes a table at an indent, or as blocks where it doesn't fit, and leaves an empty line.
func (p *printer) table(indent string, t *table, rule bool) {
	g := t.grid(summed, func(o report.Outcome) string { return cmp.Or(string(o), "-") })
	lines := g.lines(rule)
	if len(indent)+g.width() > p.width {
		lines = g.stacked(p.width - len(indent))
	}
	for _, l := range lines {
		p.line(indent + wording.Printable(l))
	}
	p.gap()
}

func (p *printer) paragraphs(texts []string) {
	for _, text := range texts {
		p.paragraph("", 0, text)
	}
}

// paint colours a word on a terminal.
func (p *printer) paint(word, sgr string) string {
	if !p.color {
		return word
	}
	return "\x1b[" + sgr + "m" + word + "\x1b[0m"
}

// SGR codes.
const (
	bold   = "1"
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
)

func colorOf(t tone) string {
	switch t {
	case tonePassed:
		return green
	case toneFailed:
		return red
	case toneUndecided, toneWarning, toneNone:
	}
	return yellow
}

// widths are the columns' widths in characters.
func (g grid) widths() []int {
	widths := make([]int, len(g.header))
	for _, row := range append([][]string{g.header}, g.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// width is how many characters a line takes.
func (g grid) width() int {
	total := 2 * (len(g.header) - 1)
	for _, w := range g.widths() {
		total += w
	}
	return total
}

// lines are the header, a rule where asked for, and the rows.
func (g grid) lines(rule bool) []string {
	widths := g.widths()
	lines := []string{g.line(g.header, widths)}
	if rule {
		dashes := make([]string, len(widths))
		for i, w := range widths {
			dashes[i] = strings.Repeat("-", w)
		}
		lines = append(lines, g.line(dashes, widths))
	}
	for _, row := range g.rows {
		lines = append(lines, g.line(row, widths))
	}
	return lines
}

func (g grid) line(cells []string, widths []int) string {
	padded := make([]string, len(cells))
	for i, cell := range cells {
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		padded[i] = gap + cell
		if i < g.left {
			padded[i] = cell + gap
		}
	}
	return strings.TrimRight(strings.Join(padded, "  "), " ")
}

// stacked writes each row as a block of lines, for a terminal too narrow for the table. A text that doesn't fit
// beside its column's name goes on below itself.
func (g grid) stacked(width int) []string {
	var out []string
	for _, row := range g.rows {
		block := grid{header: []string{"", ""}, left: 1}
		for i := range row[1:] {
			block.rows = append(block.rows, []string{"  " + g.header[i+1], ""})
		}
		room := block.width()
		for i, cell := range row[1:] {
			if room+utf8.RuneCountInString(cell) <= width {
				block.rows[i][1] = cell
			}
		}
		lines := block.lines(false)
		out = append(out, row[0])
		for i, cell := range row[1:] {
			if block.rows[i][1] == cell {
				out = append(out, lines[i+1])
				continue
			}
			for j, piece := range pieces(cell, width-room) {
				name := ""
				if j == 0 {
					name = lines[i+1]
				}
				out = append(out, name+strings.Repeat(" ", room-utf8.RuneCountInString(name))+piece)
			}
		}
	}
	return out
}

// pieces are a cell's lines of at most width characters. A name that is longer is broken.
func pieces(cell string, width int) (lines []string) {
	for _, line := range wrap(cell, width, 0) {
		for characters := range slices.Chunk([]rune(line), max(1, width)) {
			lines = append(lines, string(characters))
		}
	}
	return lines
}

// wrap breaks a text at spaces into lines of at most width characters, of which the first has so many taken. A
// longer word gets a line of its own.
func wrap(text string, width, used int) []string {
	var lines []string
	line, length := "", used
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if line != "" && length+1+n > width {
			lines, line, length = append(lines, line), "", 0
		}
		if line != "" {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}
