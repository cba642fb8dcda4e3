package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// printInterval is how often progress is printed where stderr is no terminal.
const printInterval = 10 * time.Second

// progressView shows the progress of a run. A terminal has one line, which is drawn again and again. Elsewhere
// the view prints a line for each phase, and one every printInterval between.
type progressView struct {
	stderr io.Writer
	name   string
	live   bool
	quiet  bool
	width  func() int

	phase           report.Phase
	intended        int64  // packets per second
	figures         string // sent, received and lost of the present load
	previousFigures string // the same of the load before
	unread          string // the last message about observers' sources
	nextPrint       time.Duration
	drawn           bool
}

func newProgressView(stderr io.Writer, name string, quiet bool) *progressView {
	f := terminal(stderr)
	return &progressView{
		stderr: stderr, name: name, quiet: quiet, live: f != nil,
		width: func() int { return sidebyside.TerminalWidth(f) },
	}
}

// show prints or draws the progress.
func (v *progressView) show(p runner.Progress) {
	if p.IntendedPacketsPerSecond != v.intended || p.Phase != v.phase && !v.live {
		// The figures are still those of the load before this one.
		v.intended, v.previousFigures, v.figures = p.IntendedPacketsPerSecond, v.figures, ""
		p.OfferedPacketsPerSecond = 0
	}
	if p.OfferedPacketsPerSecond > 0 {
		v.figures = render.ProgressFigures(p)
	}
	if p.Unread != v.unread && !v.quiet {
		v.unread = p.Unread
		v.close()
		if p.Unread != "" {
			fmt.Fprintf(v.stderr, "%s: %s\n", v.name, p.Unread)
		}
	}
	switch {
	case v.quiet:
	case v.live:
		v.draw(p)
	case p.Phase != v.phase || p.Elapsed >= v.nextPrint:
		v.phase, v.nextPrint = p.Phase, p.Elapsed+printInterval
		fmt.Fprintf(v.stderr, "%s: %s\n", v.name, render.ProgressSentence(p))
	}
}

func (v *progressView) draw(p runner.Progress) {
	line := []rune(fmt.Sprintf("%s %s %3d %%  %s", v.name, render.ProgressBar(p.Percent), p.Percent,
		render.ProgressSentence(p)))
	if p.OfferedPacketsPerSecond == 0 && v.previousFigures != "" {
		line = append(line, []rune("; before: "+v.previousFigures)...)
	}
	if width := v.width() - 1; len(line) > width {
		line = append(line[:width-1], '…')
	}
	fmt.Fprintf(v.stderr, "\r\x1b[K%s", string(line))
	v.drawn = true
}

// close clears the terminal's line.
func (v *progressView) close() {
	if v.drawn {
		fmt.Fprint(v.stderr, "\r\x1b[K")
	}
}
