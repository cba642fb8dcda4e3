package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// quietEvery is how often a run that isn't watched says where it is.
const quietEvery = 10 * time.Second

// progressView shows how a run is getting on: on a terminal as one line that is drawn again and again, elsewhere as a line for each
// change of phase and now and then one between.
type progressView struct {
	out   io.Writer
	name  string
	live  bool
	quiet bool
	width func() int

	phase  report.Phase
	asked  int64
	before string // the three figures of the last load, while those of the present one are not there yet
	figure string // those of the present one
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

// show draws the progress.
func (v *progressView) show(p runner.Progress) {
	if p.IntendedPacketsPerSecond != v.asked || p.Phase != v.phase && !v.live {
		// What was last sent and received belongs to another load than what is asked for now.
		v.asked, v.before, v.figure = p.IntendedPacketsPerSecond, v.figure, ""
		p.OfferedPacketsPerSecond = 0
	}
	if p.OfferedPacketsPerSecond > 0 {
		v.figure = figures(p)
	}
	switch {
	case v.quiet:
	case v.live:
		v.draw(p)
	case p.Phase != v.phase || p.Elapsed >= v.next:
		v.phase, v.next = p.Phase, p.Elapsed+quietEvery
		fmt.Fprintf(v.out, "%s: %s\n", v.name, sentence(p))
	}
}

func (v *progressView) draw(p runner.Progress) {
	line := []rune(fmt.Sprintf("%s %s %3d %%  %s", v.name, bar(p.Percent), p.Percent, sentence(p)))
	if p.OfferedPacketsPerSecond == 0 && v.before != "" {
		line = append(line, []rune("; before: "+v.before)...)
	}
	if most := v.width() - 1; len(line) > most {
		line = append(line[:most-1], '…')
	}
	fmt.Fprintf(v.out, "\r\x1b[K%s", string(line))
	v.drawn = true
}

// close leaves the terminal's line as if nothing had been there.
func (v *progressView) close() {
	if v.drawn {
		fmt.Fprint(v.out, "\r\x1b[K")
	}
}

const barWidth = 20

func bar(percent int) string {
	full := min(barWidth, max(0, percent*barWidth/100))
	return "▕" + strings.Repeat("█", full) + strings.Repeat("░", barWidth-full) + "▏"
}

// sentence is the progress in words: what is being done, and the three figures where there are any.
func sentence(p runner.Progress) string {
	var b strings.Builder
	b.WriteString(phaseWord(p.Phase))
	if p.Phase == runner.Ended || p.Phase == runner.Draining {
		return b.String()
	}
	if p.Steps > 0 && p.Phase == report.Ramping {
		fmt.Fprintf(&b, " %d/%d", p.Step, p.Steps)
	}
	if p.IntendedPacketsPerSecond == 0 {
		if p.Message != "" {
			fmt.Fprintf(&b, ": %s", p.Message)
		}
		return b.String()
	}
	if p.OfferedPacketsPerSecond > 0 {
		b.WriteString(": " + figures(p))
	} else {
		b.WriteString(": asked " + rate(p.IntendedPacketsPerSecond))
	}
	if p.Remaining > 0 {
		fmt.Fprintf(&b, ", about %v left", p.Remaining.Round(time.Second))
	}
	return b.String()
}

// figures are the three of one load: asked, sent, received.
func figures(p runner.Progress) string {
	return fmt.Sprintf("asked %s, sent %s, received %s, lost %s", rate(p.IntendedPacketsPerSecond), rate(p.OfferedPacketsPerSecond),
		rate(p.ReceivedPacketsPerSecond), lossPercent(p.LossRatio))
}

func phaseWord(p report.Phase) string {
	switch p {
	case runner.Preparing:
		return "preparing"
	case runner.Proving:
		return "proving the path"
	case runner.Listening:
		return "listening"
	case report.WarmUp:
		return "warming up"
	case report.Ramping:
		return "ramping"
	case report.Refine:
		return "refining"
	case report.Confirm:
		return "confirming"
	case report.Hold:
		return "holding"
	case runner.Draining:
		return "draining"
	case runner.Ended:
		return "done"
	}
	return strings.ToLower(string(p))
}

func rate(packetsPerSecond int64) string {
	return (units.PacketRate(packetsPerSecond) * units.PacketPerSecond).FormatSI()
}

func lossPercent(r units.Ratio) string {
	return fmt.Sprintf("%.2f %%", float64(r)/float64(units.One)*100)
}
