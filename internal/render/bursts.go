package render

import (
	"math"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// burstsWords say what the table of bursts holds.
const burstsWords = "Bursts: a burst of average length loses no frame; what the device held of it at its end is its buffer, and the time is how long these frames take to come, at the rate at which bursts were sent " +
	"(RFC 9004's corrected buffer time). ≥: the longest burst there was to be lost none."

// burstsTable has the longest bursts without loss of each direction, and what the device held. It is nil where
// there is none.
func burstsTable(r *report.Report) *table {
	t := newTable(1, "bursts", "average", "least", "most", "deviation", "searches", "sent at", "forwarded at", "buffer",
		"buffer time")
	for _, d := range r.Result.Directions {
		if b := d.BackToBack; b != nil {
			t.add(burstCells(d, *b)...)
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

func burstCells(d report.Direction, b report.BackToBackFrames) []string {
	fewest, highest, sign := int64(math.MaxInt64), int64(0), ""
	for _, s := range b.Searches {
		fewest, highest = min(fewest, s.Clean), max(highest, s.Clean)
	}
	if b.Frames.High == "" {
		sign = "≥"
	}
	buffer, lasts := "unknown", "unknown"
	if b.Buffer.Low != "" {
		buffer, lasts = sign+roundedText(b.Buffer.Low), sign+
			wording.Microseconds(int64(math.Round(b.BufferMicroseconds.Low.Float())))
	}
	forwarded := "unknown"
	if b.ForwardedPacketsPerSecond != "" {
		forwarded = wording.RoundedPacketRate(b.ForwardedPacketsPerSecond.Float())
	}
	deviation := "–"
	if b.Deviation != "" {
		deviation = roundedText(b.Deviation)
	}
	return []string{wording.Direction(d.From, d.To), sign + roundedText(b.Frames.Low), wording.Count(fewest),
		wording.Count(highest), deviation, wording.Count(int64(len(b.Searches))),
		wording.RoundedPacketRate(b.OfferedPacketsPerSecond.Float()), forwarded, buffer, lasts}
}

func roundedText(n report.Number) string { return wording.Count(int64(math.Round(n.Float()))) }
