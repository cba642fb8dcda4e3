package kubectl

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/render"
)

// board shows how tests are getting on: on a terminal as a line for each that is drawn again and again, elsewhere as a line for each new
// thing, and now and then one between. It is for one goroutine.
type board struct {
	out   io.Writer
	live  bool
	quiet bool
	width func() int
	now   func() time.Time

	rows  []row
	drawn int  // lines on the terminal that are ours
	held  bool // something else is on the terminal: what is shown now is drawn later
}

// row is one test, or a suite with the lines of its tests below it.
type row struct {
	name  string
	text  string
	under []string
	phase string
	next  time.Time
}

func newBoard(o Options, quiet bool, names []string) *board {
	b := &board{out: o.Err, live: o.Terminal != nil, quiet: quiet, width: o.width, now: time.Now}
	for _, name := range names {
		b.rows = append(b.rows, row{name: name})
	}
	return b
}

// show takes a test's moment.
func (b *board) show(of int, m moment) {
	r, words, phase := &b.rows[of], m.sentence(), m.phase()
	r.text, r.under = words, nil
	if b.live {
		r.text, r.under = barred(m), m.under()
	}
	switch now := b.now(); {
	case b.quiet, b.held:
	case b.live:
		b.draw()
	case phase != r.phase || !m.ended() && m.running() && !now.Before(r.next):
		r.phase, r.next = phase, now.Add(m.every())
		fmt.Fprintf(b.out, "%s: %s\n", r.name, oneLine(words))
	}
}

// barred is a moment's sentence with a bar before it, where it is known how much is done.
func barred(m moment) string {
	if percent, known := m.percent(); known {
		return fmt.Sprintf("%s %3d %%  %s", render.ProgressBar(percent), percent, m.sentence())
	}
	return m.sentence()
}

// tell prints a message above what is drawn; it stays on the terminal.
func (b *board) tell(words string) {
	if b.quiet {
		return
	}
	b.say("%s", oneLine(words))
	if b.live && !b.held {
		b.draw()
	}
}

// say says something between.
func (b *board) say(format string, args ...any) {
	b.clear()
	fmt.Fprintf(b.out, format+"\n", args...)
}

// hold leaves the terminal to something else, until release.
func (b *board) hold() {
	b.clear()
	b.held = true
}

func (b *board) release() {
	if b.held = false; b.live && !b.quiet {
		b.draw()
	}
}

// draw draws all lines anew, each as wide as the terminal is now.
func (b *board) draw() {
	var s strings.Builder
	s.WriteString(b.up())
	b.drawn = 0
	for _, r := range b.rows {
		if r.text == "" {
			continue
		}
		b.line(&s, r.name+" "+r.text)
		for _, below := range r.under {
			b.line(&s, "  "+below)
		}
	}
	fmt.Fprint(b.out, s.String())
}

// line draws a line as far as there is room.
func (b *board) line(s *strings.Builder, text string) {
	line := []rune(oneLine(text))
	if most := b.width() - 1; len(line) > most {
		line = append(line[:most-1], '…')
	}
	s.WriteString(string(line) + "\n")
	b.drawn++
}

// clear leaves the terminal as if nothing had been drawn.
func (b *board) clear() {
	if b.drawn > 0 {
		fmt.Fprint(b.out, b.up())
		b.drawn = 0
	}
}

// up goes to the beginning of what was drawn, and wipes from there on.
func (b *board) up() string {
	if b.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", b.drawn)
}
