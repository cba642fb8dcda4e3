package render

import (
	"strings"
	"unicode/utf8"
)

// grid is a table in plain text: columns as wide as their widest cell, two spaces apart.
type grid struct {
	header []string
	left   int // how many columns, from the first, are set to the left; figures are set to the right
	rows   [][]string
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
	out := []string{g.line(g.header, widths)}
	if rule {
		dashes := make([]string, len(widths))
		for i, w := range widths {
			dashes[i] = strings.Repeat("-", w)
		}
		out = append(out, g.line(dashes, widths))
	}
	for _, row := range g.rows {
		out = append(out, g.line(row, widths))
	}
	return out
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

// stacked writes each row as a block of lines, for a terminal too narrow for the table.
func (g grid) stacked() []string {
	var out []string
	for _, row := range g.rows {
		block := grid{header: []string{row[0], ""}, left: 1}
		for i, cell := range row[1:] {
			block.rows = append(block.rows, []string{"  " + g.header[i+1], cell})
		}
		out = append(out, block.lines(false)...)
	}
	return out
}

// wrap breaks a text at spaces into lines of at most width characters, of which the first has so many taken; a longer word gets a
// line of its own.
func wrap(text string, width, taken int) []string {
	var out []string
	line, length := "", taken
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if line != "" && length+1+n > width {
			out, line, length = append(out, line), "", 0
		}
		if line != "" {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	if line == "" {
		return out
	}
	return append(out, line)
}
