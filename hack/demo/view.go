package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// view shows trials: on a terminal as one line for each, drawn again and again; elsewhere as a line for each change.
type view struct {
	w       io.Writer
	width   func() int // 0: no terminal
	drawn   int
	printed map[string]string
}

func newView(w io.Writer) *view {
	v := &view{w: w, width: func() int { return 0 }, printed: map[string]string{}}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		v.width = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil || width < 40 {
				return 100
			}
			return width
		}
	}
	return v
}

func (v *view) show(trials []*trial, now time.Time) {
	if width := v.width(); width > 0 {
		v.draw(trials, now, width)
		return
	}
	for _, t := range trials {
		if words := sentence(t); words != v.printed[t.name] {
			v.printed[t.name] = words
			fmt.Fprintf(v.w, "%s: %s\n", t.name, words)
		}
	}
}

// draw writes all lines over the ones before.
func (v *view) draw(trials []*trial, now time.Time, width int) {
	var b strings.Builder
	if v.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.drawn)
	}
	longest := 0
	for _, t := range trials {
		longest = max(longest, len(t.name))
	}
	for _, t := range trials {
		line := fmt.Sprintf("%-*s %s %s %s", longest, t.name, clock(age(t, now)), bar(percent(t)), sentence(t))
		b.WriteString("\r\x1b[K" + cut(line, width-1) + "\n")
	}
	v.drawn = len(trials)
	_, _ = io.WriteString(v.w, b.String())
}

// close leaves the last picture, and a line between it and what follows.
func (v *view) close() {
	if v.drawn > 0 {
		fmt.Fprintln(v.w)
	}
}

func cut(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width {
		return line
	}
	return string(runes[:width-1]) + "…"
}

const barWidth = 20

func bar(percent int) string {
	full := min(barWidth, max(0, percent*barWidth/100))
	return "▕" + strings.Repeat("█", full) + strings.Repeat("░", barWidth-full) + "▏"
}

// clock is a duration as on a stopwatch: " 1:05".
func clock(d time.Duration) string {
	seconds := int(d.Seconds())
	return fmt.Sprintf("%2d:%02d", seconds/60, seconds%60)
}
