package render

// This file says in words how a run is getting on, the same on one machine and in a cluster.

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

const progressBarWidth = 20

// ProgressBar draws how much is done. Its width is the same at each percent.
func ProgressBar(percent int) string {
	full := min(progressBarWidth, max(0, percent*progressBarWidth/100))
	return "▕" + strings.Repeat("█", full) + strings.Repeat("░", progressBarWidth-full) + "▏"
}

// ProgressSentence is the progress in words, which says what is being done, and the figures where there are any.
func ProgressSentence(p runner.Progress) string {
	var b strings.Builder
	b.WriteString(phaseWord(p.Phase))
	if p.Varied != "" && !p.Phase.AfterTraffic() {
		b.WriteString(" " + p.Varied)
	}
	if p.Phase == runner.Ended || p.Phase == runner.Draining {
		return b.String()
	}
	if p.Steps > 0 && p.Phase == report.Ramping {
		fmt.Fprintf(&b, " %d/%d", p.Step, p.Steps)
	}
	if p.GoodputBitsPerSecond != nil {
		b.WriteString(": " + wording.BitRate(*p.GoodputBitsPerSecond) + " goodput")
		if p.Remaining > 0 {
			fmt.Fprintf(&b, ", about %v left", p.Remaining.Round(time.Second))
		}
		return b.String()
	}
	if p.IntendedPacketsPerSecond == 0 {
		if p.Message != "" {
			fmt.Fprintf(&b, ": %s", p.Message)
		}
		return b.String()
	}
	if p.OfferedPacketsPerSecond > 0 {
		b.WriteString(": " + ProgressFigures(p))
	} else {
		b.WriteString(": asked " + wording.PacketRate(p.IntendedPacketsPerSecond))
	}
	if p.Remaining > 0 {
		fmt.Fprintf(&b, ", about %v left", p.Remaining.Round(time.Second))
	}
	return b.String()
}

// ProgressFigures are those of one load, which are asked, sent, received and lost.
func ProgressFigures(p runner.Progress) string {
	return fmt.Sprintf("asked %s, sent %s, received %s, lost %s", wording.PacketRate(p.IntendedPacketsPerSecond),
		wording.PacketRate(p.OfferedPacketsPerSecond),
		wording.PacketRate(p.ReceivedPacketsPerSecond), lossPercent(p.LossRatio))
}

// phaseWords are the phases that are shown by other words than their names.
var phaseWords = map[report.Phase]string{
	runner.Preparing: "preparing",
	runner.Proving:   "proving the path",
	runner.Listening: "listening",
	report.WarmUp:    "warming up",
	report.Ramping:   "ramping",
	report.Refine:    "refining",
	report.Confirm:   "confirming",
	report.Hold:      "holding",
	report.AllAtOnce: "holding all at once",
	report.Trial:     "trial",
	report.Bursting:  "bursts",
	report.InTrains:  "trains",
	report.AtLoad:    "measuring latency",
	report.Profiled:  "sampling the device",
	runner.Draining:  "draining",
	runner.Ended:     "done",
}

func phaseWord(p report.Phase) string {
	return cmp.Or(phaseWords[p], strings.ToLower(string(p)))
}

func lossPercent(r units.Ratio) string {
	return fmt.Sprintf("%.2f %%", r.Float()*100)
}
