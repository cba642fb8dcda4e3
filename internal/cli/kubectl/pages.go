package kubectl

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// pages writes tables, with an empty line between them, and their namespaces where they are of all. On a terminal the last column, which is a
// sentence, goes on below itself.
type pages struct {
	out        io.Writer
	width      int // of the terminal; 0: none
	everywhere bool
	text       strings.Builder
	table      *tabwriter.Writer
	begun      bool
}

func (p *pages) begin(header ...string) {
	if p.begun {
		fmt.Fprintln(p.out)
	}
	p.text.Reset()
	p.begun, p.table = true, tabwriter.NewWriter(&p.text, 0, 0, 2, ' ', 0)
	p.line("NAMESPACE", header...)
}

func (p *pages) line(namespace string, cells ...string) {
	if p.everywhere {
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
			fmt.Fprintln(p.out, l)
		}
	}
}

// say writes a line below what is there.
func (p *pages) say(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

const (
	// leastColumn is how wide a column must be to hold a sentence; where it isn't, the sentence begins on a line of its own, belowIndent deep.
	leastColumn = 24
	belowIndent = 4
)

// fold breaks a line whose last column begins so many characters in into lines no wider than width, where words allow it; width 0 is any.
func fold(line string, column, width int) []string {
	if width == 0 || utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	r := []rune(line)
	column = min(column, len(r))
	first, indent := string(r[:column]), column
	var out []string
	if width-column < leastColumn {
		out, first, indent = append(out, strings.TrimRight(first, " ")), strings.Repeat(" ", belowIndent), belowIndent
	}
	text := first
	for i, word := range strings.Fields(string(r[column:])) {
		switch {
		case i == 0:
			text += word
		case utf8.RuneCountInString(text)+1+utf8.RuneCountInString(word) > width:
			out, text = append(out, text), strings.Repeat(" ", indent)+word
		default:
			text += " " + word
		}
	}
	return append(out, text)
}

// oneLine is a text as it may be shown: in one line, and without what would drive a terminal.
func oneLine(text string) string {
	return wording.Printable(strings.NewReplacer("\n", " ", "\t", " ").Replace(text))
}
