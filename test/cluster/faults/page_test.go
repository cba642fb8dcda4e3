package faults

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// ledger is what became of the rows that were played, in the words of the document.
type ledger struct {
	// measured says when that was, and with which tree.
	measured string
	// lines are the rows', by their names.
	lines map[string]string
	count map[calm.Outcome]int
}

func newLedger(measured string) *ledger {
	return &ledger{measured: measured, lines: map[string]string{}, count: map[calm.Outcome]int{}}
}

// cells are those of a row that was played: a row that failed has its place in the table, too.
type cells struct{ status, figures, silence, again, machine string }

// add adds a row that was played, and returns its line.
func (l *ledger) add(r row, outcome calm.Outcome, c cells) string {
	if outcome == calm.Wrong {
		c.status += " **NOT AS IT SHOULD BE**"
	}
	line := r.cells() + strings.Join([]string{c.status, c.figures, c.silence, c.again, c.machine}, " | ") + " |"
	l.lines[r.name()] = line
	l.count[outcome]++
	return line
}

// tally counts the rows that were played.
func (l *ledger) tally() string {
	return fmt.Sprintf("%d rows, %d as they should be, %d disturbed, %d wrong", len(l.lines), l.count[calm.Right], l.count[calm.Disturbed], l.count[calm.Wrong])
}

// header are a table's first lines.
const header = "| fault | phase | what the status said | figures, packets/s | silent after | run again | machine |\n|---|---|---|---|---|---|---|"

// page is the table with the rows that were played, in its order. The others are as they stood there.
func (l *ledger) page(old string) string {
	out := []string{header}
	for _, r := range rows() {
		if now, played := l.lines[r.name()]; played {
			out = append(out, now)
			continue
		}
		for _, line := range lines(old) {
			if strings.HasPrefix(line, r.cells()) {
				out = append(out, widened(line))
			}
		}
	}
	provenance := l.tally() + ". " + l.measured
	if older := len(rows()) - len(l.lines); older > 0 {
		provenance += fmt.Sprintf(" The other %d rows are older.", older)
	}
	return strings.Join(append(out, "", provenance, ""), "\n")
}

// cells are how a row's line begins.
func (r row) cells() string { return "| " + string(r.fault) + " | " + string(r.phase) + " | " }

// widened is a line with as many cells as the header: the columns that it was written without are empty.
func widened(line string) string {
	columns, _, _ := strings.Cut(header, "\n")
	return line + strings.Repeat("  |", max(0, bars(columns)-bars(line)))
}

// bars counts what divides a line into cells.
func bars(line string) int { return strings.Count(line, "|") - strings.Count(line, `\|`) }

// cell is a text in one line of a table, cut where it is long.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 160 {
		text = string(r[:160]) + "…"
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// pageOf is the file of a page that is named from the project's directory: tests run in their package's.
func pageOf(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join("..", "..", "..", name)
}

// lines are the lines of a text that aren't empty.
func lines(text string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}
