package kubectl

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/render"
)

// board shows the progress of tests. A terminal has a line for each test, which is drawn again and again.
// Elsewhere the board prints a line for each new phase, and one from time to time between. It is for one
// goroutine.
type board struct {
	stderr io.Writer
	live   bool
	quiet  bool
	width  func() int
	clock  func() time.Time

	rows   []row
	drawn  int  // lines of the board on the terminal
	paused bool // something else is on the terminal, so nothing is drawn until resume
}

// row is one test, or a suite with the lines of its tests as details.
type row struct {
	name      string
	text      string
	details   []string
	phase     string
	nextPrint time.Time
}

func newBoard(o Options, quiet bool, names []string) *board {
	b := &board{stderr: o.Stderr, live: o.Terminal != nil, quiet: quiet,
		width: func() int { return sidebyside.TerminalWidth(o.Terminal) }, clock: time.Now}
	for _, name := range names {
		b.rows = append(b.rows, row{name: name})
	}
	return b
}

// show shows a test's moment in the row of this index.
func (b *board) show(index int, m moment) {
	r, sentence, phase := &b.rows[index], m.sentence(), m.phase()
	r.text, r.details = sentence, nil
	if b.live {
		r.text, r.details = sentenceWithBar(m), m.details()
	}
	switch instant := b.clock(); {
	case b.quiet, b.paused:
	case b.live:
		b.draw()
	case phase != r.phase || !m.ended() && m.running() && !instant.Before(r.nextPrint):
		r.phase, r.nextPrint = phase, instant.Add(m.printInterval())
		fmt.Fprintf(b.stderr, "%s: %s\n", r.name, oneLine(sentence))
	}
}

// sentenceWithBar is a moment's sentence behind a progress bar, if the moment has a percentage.
func sentenceWithBar(m moment) string {
	if percent, ok := m.percent(); ok {
		return fmt.Sprintf("%s %3d %%  %s", render.ProgressBar(percent), percent, m.sentence())
	}
	return m.sentence()
}

// print prints a message that stays on the terminal above the rows, unless the board is quiet.
func (b *board) print(message string) {
	if b.quiet {
		return
	}
	b.say("%s", oneLine(message))
	if b.live && !b.paused {
		b.draw()
	}
}

// say prints a line in place of the rows, also on a quiet board.
func (b *board) say(format string, args ...any) {
	b.clear()
	fmt.Fprintf(b.stderr, format+"\n", args...)
}

// pause leaves the terminal to something else until resume.
func (b *board) pause() {
	b.clear()
	b.paused = true
}

func (b *board) resume() {
	if b.paused = false; b.live && !b.quiet {
		b.draw()
	}
}

// draw draws all rows anew in the terminal's present width.
func (b *board) draw() {
	var s strings.Builder
	s.WriteString(b.wipe())
	b.drawn = 0
	for _, r := range b.rows {
		if r.text == "" {
			continue
		}
		b.line(&s, r.name+" "+r.text)
		for _, detail := range r.details {
			b.line(&s, "  "+detail)
		}
	}
	fmt.Fprint(b.stderr, s.String())
}

// line draws a line, cut at the terminal's width.
func (b *board) line(s *strings.Builder, text string) {
	line := []rune(oneLine(text))
	if width := b.width() - 1; len(line) > width {
		line = append(line[:width-1], '…')
	}
	s.WriteString(string(line) + "\n")
	b.drawn++
}

// clear removes the rows from the terminal.
func (b *board) clear() {
	if b.drawn > 0 {
		fmt.Fprint(b.stderr, b.wipe())
		b.drawn = 0
	}
}

// wipe moves the cursor to the first row, and clears the terminal from there on.
func (b *board) wipe() string {
	if b.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", b.drawn)
}
