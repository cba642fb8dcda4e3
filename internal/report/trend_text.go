package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Text writes a table of each series, oldest first.
func (t *Trend) Text(w io.Writer, o TextOptions) error {
	p := newPrinter(o)
	if t.Title != "" {
		p.line(p.paint(Printable(t.Title), "1"))
	}
	for i := range t.Series {
		s := &t.Series[i]
		if p.out.Len() > 0 {
			p.line("")
		}
		p.painted(Printable(s.title()), "1", ": "+s.now())
		p.line("")
		p.grid("  ", s.grid(), false)
		var lines []sideLine
		for i := range s.Points {
			for _, words := range s.Points[i].changes() {
				lines = append(lines, sideLine{"warning", s.Points[i].when(), words})
			}
		}
		p.says(lines, nil)
	}
	p.line("")
	p.paragraph("", 0, trendWords)
	for _, n := range t.Notes {
		p.paragraph("  ! ", 4, n)
	}
	return writeAll(w, "text", &p.out)
}

const trendWords = "Packets per second that were received, summed over all directions of one moment. The median is over all runs since the plan, or what it says of the device, changed last: figures of different plans can't be compared. " +
	boundWords + " " + looseWords

// JSON writes the trend as a document, indented.
func (t *Trend) JSON(w io.Writer) error {
	out := *t
	out.Version = TrendVersion
	return writeDocument(w, &out)
}

// now is how it stands.
func (s *Series) now() string {
	point, stretch := s.latest()
	if point == nil {
		return "never measured in " + counted(len(s.Points), "run")
	}
	text := "latest " + point.rate()
	if stretch != nil && stretch.Figures != nil && stretch.Figures.Runs > 1 {
		text += ", "
		if against := point.fromMedianText(stretch.Figures); against != "-" {
			text += against + " "
		}
		text += "against the median of " + counted(stretch.Figures.Runs, "run") + " of the same plan, " + stretch.Figures.rate()
		if spread := stretch.Figures.Spread; spread != nil {
			text += " ±" + spread.Percent.FormatFixed() + "%"
		}
	}
	switch n := s.unmeasuredSince(point); n {
	case 0:
		return text
	case 1:
		return text + "; the run since then was not measured"
	default:
		return fmt.Sprintf("%s; the %d runs since then were not measured", text, n)
	}
}

// unmeasuredSince is how many runs there are after a point, the last one that was measured.
func (s *Series) unmeasuredSince(latest *Point) int {
	return len(s.Points) - 1 - slices.IndexFunc(s.Points, func(p Point) bool { return p.At.Equal(latest.At) && p.Name == latest.Name })
}

func (p *Point) rate() string {
	if p.Figures == nil {
		return notMeasured
	}
	return p.Figures.rate()
}

// rate is the figures' packet rate with its sign.
func (f *Figures) rate() string {
	return f.headline().bound(pps(f.PacketsPerSecond))
}

// when is a point's time, for people.
func (p *Point) when() string { return p.At.UTC().Format("2006-01-02 15:04") }

// fromMedianText is a point's distance from its stretch's median: "-3.02%". A lower bound is so far away or more, and from a median that is one, a figure
// is so far away or less.
func (p *Point) fromMedianText(median *Figures) string {
	sign := ""
	switch {
	case p.FromMedian == nil:
	case p.Figures.Unconfirmed > 0 || median.Unconfirmed > 0:
		sign = "~"
	case p.Figures.LowerBound:
		sign = "≥"
	case median.LowerBound:
		sign = "≤"
	}
	return sign + changeText(p.FromMedian)
}

// grid is a series for people.
func (s *Series) grid() grid {
	g := grid{header: []string{"began (UTC)", "test", "remarks", "pps", togetherHead, "of median"}, left: 3}
	for i := range s.Points {
		p := &s.Points[i]
		row := []string{p.when(), p.Test, strings.Join(p.remarks(), ", ")}
		if f := p.Figures; f != nil {
			h := f.headline()
			var median *Figures
			if stretch := s.stretchOf(i); stretch != nil {
				median = stretch.Figures
			}
			row = append(row, h.bound(bare(pps(f.PacketsPerSecond), "pps")), h.bound(f.LineRatePercent.FormatFixed()), p.fromMedianText(median))
		} else {
			row = append(row, notMeasured, "-", "-")
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// remarks are a point's marks in a word or two each.
func (p *Point) remarks() []string {
	var out []string
	if p.Missing != nil {
		out = append(out, p.Missing.Reason)
	}
	if p.SharedPort {
		out = append(out, "shared port")
	}
	if p.Outlier {
		out = append(out, "outlier")
	}
	if len(p.PlanChange) > 0 {
		out = append(out, "plan changed")
	}
	if len(p.DeviceChange) > 0 {
		out = append(out, "device changed")
	}
	if len(p.ImageChange) > 0 {
		out = append(out, "image changed")
	}
	return out
}

// whatChanged names it in two words.
func (p *Point) whatChanged() string {
	if len(p.PlanChange) > 0 {
		return "plan changed"
	}
	return "device changed"
}

// changes are what changed at a point, as sentences.
func (p *Point) changes() []string {
	var out []string
	if len(p.PlanChange) > 0 {
		out = append(out, "the plan changed: "+strings.Join(p.PlanChange, "; "))
	}
	if len(p.DeviceChange) > 0 {
		out = append(out, "the device changed: "+strings.Join(p.DeviceChange, "; "))
	}
	if len(p.ImageChange) > 0 {
		out = append(out, "the device's image changed: "+strings.Join(p.ImageChange, "; "))
	}
	if p.Missing != nil && p.Missing.Message != "" {
		out = append(out, p.Test+" was not measured: "+p.Missing.words())
	}
	return out
}
