package kubectl

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// pages writes tables with an empty line between them. On a terminal the last column, which is a sentence, is folded.
type pages struct {
	stdout     io.Writer
	width      int  // of the terminal in characters; 0: there is none
	namespaces bool // tables have a column of namespaces
	text       strings.Builder
	table      *tabwriter.Writer // nil before the first table
}

func (p *pages) begin(header ...string) {
	if p.table != nil {
		fmt.Fprintln(p.stdout)
	}
	p.text.Reset()
	p.table = tabwriter.NewWriter(&p.text, 0, 0, 2, ' ', 0)
	p.line("NAMESPACE", header...)
}

func (p *pages) line(namespace string, cells ...string) {
	if p.namespaces {
		cells = append([]string{namespace}, cells...)
	}
	for i := range cells {
		cells[i] = oneLine(cells[i])
	}
	fmt.Fprintln(p.table, strings.Join(cells, "\t"))
}

func (p *pages) end() {
	_ = p.table.Flush() // into memory
	header, _, _ := strings.Cut(p.text.String(), "\n")
	for line := range strings.Lines(p.text.String()) {
		for _, l := range fold(strings.TrimSuffix(line, "\n"), strings.LastIndex(header, "  ")+2, p.width) {
			fmt.Fprintln(p.stdout, l)
		}
	}
}

// say writes a line below the tables.
func (p *pages) say(format string, args ...any) { fmt.Fprintf(p.stdout, format+"\n", args...) }

const (
	// minColumn is how wide the last column must be to hold a sentence. In a narrower one, the sentence begins on
	// a line of its own, foldIndent characters deep.
	minColumn  = 24
	foldIndent = 4
)

// fold breaks a line into lines no wider than width, if its words allow it. The last column begins at character
// column. Where the columns before it are too wide, all cells are folded like one sentence. A width of 0 is unlimited.
func fold(line string, column, width int) []string {
	if width == 0 || utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	r := []rune(line)
	column = min(column, len(r))
	first, indent := string(r[:column]), column
	if utf8.RuneCountInString(strings.TrimRight(first, " ")) > width {
		column, first, indent = 0, "", foldIndent
	}
	var lines []string
	if width-column < minColumn {
		lines, first, indent = append(lines, strings.TrimRight(first, " ")), strings.Repeat(" ", foldIndent), foldIndent
	}
	text := first
	for i, word := range strings.Fields(string(r[column:])) {
		switch {
		case i == 0:
			text += word
		case utf8.RuneCountInString(text)+1+utf8.RuneCountInString(word) > width:
			lines, text = append(lines, text), strings.Repeat(" ", indent)+word
		default:
			text += " " + word
		}
	}
	return append(lines, text)
}

// oneLine makes a text one line, without characters that control a terminal.
func oneLine(text string) string {
	return wording.Printable(strings.NewReplacer("\n", " ", "\t", " ").Replace(text))
}
