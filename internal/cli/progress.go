package cli

import (
	"fmt"
	"io"
	"time"

	"golang.org/x/term"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// quietEvery is how often progress is printed where stderr is no terminal.
const quietEvery = 10 * time.Second

// progressView shows how a run is getting on: on a terminal as one line that is drawn again and again, elsewhere as a line for each
// change of phase, and one every quietEvery between.
type progressView struct {
	out   io.Writer
	name  string
	live  bool
	quiet bool
	width func() int

	phase  report.Phase
	asked  int64
	before string // the three figures of the last load, until there are some of the present load
	figure string // the three figures of the present load
	unread string // what was printed of observers' sources last
	next   time.Duration
	drawn  bool
}

func newProgressView(out io.Writer, name string, quiet bool) *progressView {
	v := &progressView{out: out, name: name, quiet: quiet, width: func() int { return 100 }}
	if f := terminal(out); f != nil {
		v.live = true
		v.width = func() int {
			if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
				return w
			}
			return 100
		}
	}
	return v
}

// show prints or draws the progress.
func (v *progressView) show(p runner.Progress) {
	if p.IntendedPacketsPerSecond != v.asked || p.Phase != v.phase && !v.live {
		// What was last sent and received belongs to the load before this one.
		v.asked, v.before, v.figure = p.IntendedPacketsPerSecond, v.figure, ""
		p.OfferedPacketsPerSecond = 0
	}
	if p.OfferedPacketsPerSecond > 0 {
		v.figure = render.ProgressFigures(p)
	}
	if p.Unread != v.unread && !v.quiet {
		v.unread = p.Unread
		v.close()
		if p.Unread != "" {
			fmt.Fprintf(v.out, "%s: %s\n", v.name, p.Unread)
		}
	}
	switch {
	case v.quiet:
	case v.live:
		v.draw(p)
	case p.Phase != v.phase || p.Elapsed >= v.next:
		v.phase, v.next = p.Phase, p.Elapsed+quietEvery
		fmt.Fprintf(v.out, "%s: %s\n", v.name, render.ProgressSentence(p))
	}
}

func (v *progressView) draw(p runner.Progress) {
	line := []rune(fmt.Sprintf("%s %s %3d %%  %s", v.name, render.ProgressBar(p.Percent), p.Percent, render.ProgressSentence(p)))
	if p.OfferedPacketsPerSecond == 0 && v.before != "" {
		line = append(line, []rune("; before: "+v.before)...)
	}
	if most := v.width() - 1; len(line) > most {
		line = append(line[:most-1], '…')
	}
	fmt.Fprintf(v.out, "\r\x1b[K%s", string(line))
	v.drawn = true
}

// close clears the terminal's line.
func (v *progressView) close() {
	if v.drawn {
		fmt.Fprint(v.out, "\r\x1b[K")
	}
}
