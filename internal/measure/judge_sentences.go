package measure

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// surplusSentence says how many frames more came back than were sent, with what may explain it, the likeliest
// first. Frames of others are among that only where some were heard while nothing was sent.
func (d direction) surplusSentence() string {
	causes := []string{"the two ports' counters were read apart",
		"frames had waited in the device since an earlier load", "the device sent frames twice"}
	if len(d.window.Bursts) > 0 {
		causes[0] += ", beside a burst of the generator's"
	}
	if d.evidence.Foreign > 0 || d.evidence.Background > 0 {
		causes = append([]string{"others' frames, as were heard before the load"}, causes...)
	}
	return fmt.Sprintf("%d frames more came back than the %d sent: %s", -d.lost(), d.measured.Sent.Packets,
		strings.Join(causes, ", or "))
}

// unjudgedSentence says of a direction beside the varied one how much it lost of what, if anything was sent in it.
func unjudgedSentence(m report.Direction, varied string) string {
	if m.Intended.PacketsPerSecond == 0 && m.Sent.Packets == 0 {
		return "nothing was sent, while " + varied + " varied"
	}
	return "not judged, while " + varied + " varied: " + CameBack(m, 1)
}

func (d direction) lossSentence() string {
	text := CameBack(d.measured, 1)
	if d.lost() <= 0 {
		return text
	}
	return fmt.Sprintf("%s, limit %s", text, Percent(d.limit))
}

// CameBack says in words how many of a direction's frames came back in so many windows, what share is lost, and how
// many may be lost where edges or frames of others leave that open.
func CameBack(m report.Direction, windows int) string {
	lost, sent, atMost := m.Sent.Packets-m.Returned.Packets, m.Sent.Packets, mostLost(m)
	edges := "the window's edges"
	if windows > 1 {
		edges = "the windows' edges"
	}
	switch {
	case lost <= 0 && atMost <= 0:
		return fmt.Sprintf("all %d frames came back", sent)
	case lost <= 0 && m.EdgeFrames == 0:
		return fmt.Sprintf("all %d frames came back, but frames of others may have taken the place of %d", sent, atMost)
	case lost <= 0:
		return fmt.Sprintf("all %d frames came back, as far as %s show: at most %d may be lost", sent, edges, atMost)
	case atMost > lost && edgesAlone(m) && m.LossRatioMin <= 0:
		// of windows together, one may surely have lost what the edges of all could explain
		return fmt.Sprintf("%d of %d frames did not come back, and %s alone may account for them: at most %d may be lost", lost, sent, edges, atMost)
	}
	text := fmt.Sprintf("%d of %d frames did not come back: %s lost", lost, sent, Percent(units.RatioOf(lost, sent)))
	if m.DamagedFrames > 0 {
		text += fmt.Sprintf(" (%d came back damaged)", m.DamagedFrames)
	}
	return text
}

func (d direction) unclearSentence() string {
	var reasons []string
	if d.measured.SendDrops > 0 {
		reasons = append(reasons, fmt.Sprintf("up to %d of those that its port counted as sent never left the generator", d.measured.SendDrops))
	}
	if d.measured.ReceiveErrors > 0 {
		reasons = append(reasons, fmt.Sprintf("the generator itself dropped %d of those that reached it",
			d.measured.ReceiveErrors))
	}
	switch {
	case d.measured.DisturbedFrames > 0:
		reasons = append(reasons, disturbedSentence(d.window, d.measured))
	case d.measured.EdgeFrames > 0 || len(reasons) == 0:
		reasons = append(reasons, fmt.Sprintf("the window's edges alone may account for %d", d.measured.EdgeFrames))
	}
	return d.lossSentence() + "; " + strings.Join(reasons, ", and ")
}

func (d direction) shortSentence(short bool) string {
	if !short {
		return ""
	}
	text := fmt.Sprintf("; the generator offered %s of %s asked for", d.evidence.Offered.FormatSI(),
		d.evidence.Intended.FormatSI())
	if late := lateSentence(d.window); late != "" {
		text += late + "; " + ownProcessors
	}
	return text
}

// Percent is a ratio for people, to a ten-thousandth of a percent.
func Percent(r units.Ratio) string {
	const step = units.One / 1_000_000
	rounded := (r + step/2) / step * step
	if r > 0 && rounded == 0 {
		return "under 0.0001 %"
	}
	return rounded.Percent().String() + " %"
}
