package backtoback

import (
	"math"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// tableLegend says what the table of bursts holds.
const tableLegend = "Bursts: a burst of average length loses no frame; what the device held of it at its end is its " +
	"buffer, and the time is how long these frames take to come, at the rate at which bursts were sent (RFC 9004's " +
	"corrected buffer time). ≥: the longest burst there was to be lost none."

// sections are the longest bursts without loss of each direction, with what the device held, and each search. There are
// none where bursts show nothing.
func sections(sides []side, found []*bursts) []report.Section {
	summary := &report.SectionTable{Columns: []string{"bursts", "average", "least", "most", "deviation", "searches",
		"sent at", "forwarded at", "buffer", "buffer time"}}
	searched := &report.SectionTable{Columns: []string{"searches", "frames without loss", "with loss", "bursts"}}
	for i, f := range found {
		if f == nil {
			continue
		}
		name := wording.Direction(sides[i].trial.From, sides[i].trial.To)
		summary.Rows = append(summary.Rows, append([]report.SectionCell{{Text: name}}, f.cells()...))
		for n, s := range f.Searches {
			searched.Rows = append(searched.Rows, []report.SectionCell{{Text: name + ", " + strconv.Itoa(n+1)},
				count(s.Clean), count(s.Lossy), count(int64(s.Bursts))})
		}
	}
	if len(summary.Rows) == 0 {
		return nil
	}
	return []report.Section{{Title: "Bursts", Legend: []string{tableLegend}, Table: summary},
		{Title: "Each search for the longest burst without loss", Evidence: true, Table: searched}}
}

// cells are what bursts show of a direction.
func (f *bursts) cells() []report.SectionCell {
	fewest, most, sign := int64(math.MaxInt64), int64(0), ""
	for _, s := range f.Searches {
		fewest, most = min(fewest, s.Clean), max(most, s.Clean)
	}
	if f.Frames.High == "" {
		sign = "≥"
	}
	deviation := report.SectionCell{Text: "–"}
	if f.Deviation != "" {
		deviation = report.SectionCell{Text: rounded(f.Deviation), Number: f.Deviation, Unit: "frames"}
	}
	forwarded, buffer, lasts := unknown, unknown, unknown
	if f.ForwardedPacketsPerSecond != "" {
		forwarded = rate(f.ForwardedPacketsPerSecond)
	}
	if f.Buffer.Low != "" {
		buffer = report.SectionCell{Text: sign + rounded(f.Buffer.Low), Number: f.Buffer.Low, Unit: "frames"}
		lasts = report.SectionCell{Text: sign + microsecondsText(f.BufferMicroseconds.Low),
			Number: f.BufferMicroseconds.Low, Unit: "µs"}
	}
	return []report.SectionCell{{Text: sign + rounded(f.Frames.Low), Number: f.Frames.Low, Unit: "frames"},
		count(fewest), count(most), deviation, count(int64(len(f.Searches))), rate(f.OfferedPacketsPerSecond),
		forwarded, buffer, lasts}
}

// unknown is a cell of what bursts don't show.
var unknown = report.SectionCell{Text: "unknown"}

func count(n int64) report.SectionCell {
	return report.SectionCell{Text: wording.Count(n), Number: report.Number(strconv.FormatInt(n, 10))}
}

func rate(n report.Number) report.SectionCell {
	return report.SectionCell{Text: wording.RoundedPacketRate(n.Float()), Number: n, Unit: "packets/s"}
}
