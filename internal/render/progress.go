package render

// This file says in words how a run is getting on, the same on one machine and in a cluster.

import (
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
	case report.AllAtOnce:
		return "holding all at once"
	case report.Trial:
		return "trial"
	case report.Bursting:
		return "bursts"
	case report.InTrains:
		return "trains"
	case report.AtLoad:
		return "measuring latency"
	case report.Profiled:
		return "sampling the device"
	case runner.Draining:
		return "draining"
	case runner.Ended:
		return "done"
	}
	return strings.ToLower(string(p))
}

func lossPercent(r units.Ratio) string {
	return fmt.Sprintf("%.2f %%", r.Float()*100)
}
