package measure

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// enough is the share of the intended load that must be offered: below it a window is Short.
const enough = units.One * 99 / 100

// judge is the quality of one direction whose readings are sound, by the first rule that applies. Loss is an interval: from what is
// surely the device's (neither the generator's own drops nor what the edges may have cut) up to all that did not come back.
//
//	0          surely lost      did not come back
//	├───────────────┼──────────────────┼────────────▶ share of what was sent
//	                limit here: Lossy  │
//	                     limit between: Invalid
//	                                   limit here: Good (or Short)
func (f *figures) judge(limit units.Ratio) (report.Quality, string) {
	short := f.mostOffered < f.intended.Mul(enough)
	strayed, misdelivered := f.misdelivered(limit)
	switch {
	case f.sent.Packets <= 0:
		return report.Invalid, fmt.Sprintf("the generator sent nothing of the %s asked for", f.intended.FormatSI())
	case exceeds(-f.lost()-f.edges-f.foreign(), f.sent.Packets, limit):
		return report.Invalid, fmt.Sprintf("%d frames more came back than the %d sent: somebody else's traffic, duplicates, or frames that waited in the device since an earlier load",
			-f.lost(), f.sent.Packets)
	case exceeds(f.surelyLost(), f.sent.Packets, limit):
		return report.Lossy, f.lossSentence(limit) + f.shortSentence(short)
	case exceeds(f.lost(), f.sent.Packets, limit):
		return report.Invalid, f.unclearSentence(limit)
	case f.hidden() > f.edges && exceeds(f.lost()+f.hidden(), f.sent.Packets, limit):
		return report.Invalid, fmt.Sprintf("background traffic of %s on %s may hide more loss than the limit of %s",
			f.direction.Background.FormatSI(), f.direction.To, percent(limit))
	case misdelivered:
		return report.Invalid, fmt.Sprintf("%d frames more came back to generator %s than the %d it sent: flows of another replica; check that the device routes each replica's networks to that replica",
			strayed.returned-strayed.sent, f.setup.name(strayed.pair.Receiver), strayed.sent)
	case short:
		return report.Short, "no loss above the limit" + f.shortSentence(short)
	}
	return report.Good, f.lossSentence(limit)
}

// exceeds says that part ÷ whole is above the limit, compared exactly: a ratio's rounding never decides.
func exceeds(part, whole int64, limit units.Ratio) bool {
	return part > 0 && part > whole-scale(whole, int64(units.One-limit), int64(units.One))
}

func (f *figures) lossSentence(limit units.Ratio) string {
	if f.lost() <= 0 {
		return fmt.Sprintf("all %d frames came back", f.sent.Packets)
	}
	return fmt.Sprintf("%d of %d frames did not come back: %s lost, limit %s", f.lost(), f.sent.Packets,
		percent(units.RatioOf(f.lost(), f.sent.Packets)), percent(limit))
}

func (f *figures) unclearSentence(limit units.Ratio) string {
	why := fmt.Sprintf("the window's edges alone may account for %d", f.edges)
	if f.receiveErrors > 0 {
		why = fmt.Sprintf("the generator itself dropped %d of those that reached it, and %s", f.receiveErrors, why)
	}
	return f.lossSentence(limit) + "; " + why
}

func (f *figures) shortSentence(short bool) string {
	if !short {
		return ""
	}
	return fmt.Sprintf("; the generator offered %s of %s asked for", f.offered.packets.FormatSI(), f.intended.FormatSI())
}

// percent is a ratio for people, to a ten-thousandth of a percent.
func percent(r units.Ratio) string {
	const step = units.One / 1_000_000
	rounded := (r + step/2) / step * step
	if r > 0 && rounded == 0 {
		return "under 0.0001 %"
	}
	return rounded.Percent().String() + " %"
}

// stretched says that a window lasted so much longer or shorter than planned that something stood still.
func stretched(took, planned time.Duration) bool {
	return planned > 0 && (took > planned+planned/10 || took < planned-planned/10)
}
