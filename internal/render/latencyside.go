package render

import (
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// besideWords say what latency of several runs is.
const besideWords = "Latency is the median of the runs that tell it, at shares of the rate that each found; less is better. Each row is judged for itself. JSON and CSV have all percentiles and the jitter."

// shownMetrics are the metrics of latency that tables of several runs show.
var shownMetrics = []report.Metric{figures.LatencyP50, figures.LatencyP99, figures.LatencyP999}

// latencyHead begins a table of latency, whose rows are a load, a direction, a frame size and a percentile.
func latencyHead() *table { return newTable(1, "latency at load") }

func latencyName(m report.LatencyMedian) string {
	f := report.Figure{Metric: m.Metric, Direction: m.Direction, LatencyLoad: &m.LatencyLoad, FrameSize: m.FrameSize}
	return figures.DirectionText(f) + ", " + figures.StatisticText(m.Metric)
}

// medianText is a median in a cell, such as "20.1 µs ±0.31% (5)".
func medianText(m report.LatencyMedian) string {
	if m.Runs == 0 {
		return "unknown"
	}
	text := wording.Nanoseconds(m.Nanoseconds)
	if m.Open {
		text = "over " + text
	}
	if m.Runs > 1 {
		text += " ±" + m.SpreadPercent.FormatFixed() + "%"
	}
	return text + " (" + strconv.Itoa(m.Runs) + ")"
}

// latencyBeside sets the latency of a comparison's row side by side. It is nil where no side has any.
func latencyBeside(c *report.Comparison, r report.ComparisonRow) *table {
	t := latencyHead()
	for i, side := range c.Sides {
		t.columns = append(t.columns, column{head: side})
		if i > 0 {
			t.columns = append(t.columns, column{head: "change"}, column{})
		}
	}
	var rows []report.LatencyMedian
	for _, s := range r.Sides {
		for _, l := range s.Latency {
			if slices.Contains(shownMetrics, l.Metric) && !slices.ContainsFunc(rows, l.Same) {
				rows = append(rows, l)
			}
		}
	}
	for _, median := range rows {
		row := []string{latencyName(median)}
		for i, s := range r.Sides {
			row = append(row, latencyCells(s, median, i == 0)...)
		}
		t.add(row...)
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

func latencyCells(s report.Compared, median report.LatencyMedian, first bool) []string {
	l := report.LatencyMedian{Judgement: report.NotComparable}
	if i := slices.IndexFunc(s.Latency, median.Same); i >= 0 {
		l = s.Latency[i]
	}
	if first {
		return []string{medianText(l)}
	}
	compared := report.Compared{Change: l.Change, Judgement: l.Judgement}
	return []string{medianText(l), sideChange(compared), judgedWords(compared)}
}

// latencySections are the latency of each row of a comparison that has any.
func latencySections(c *report.Comparison) (sections []section) {
	for _, r := range c.Rows {
		if t := latencyBeside(c, r); t != nil {
			sections = append(sections, section{title: titleOf(r.Product, r.Loadtest), summary: "latency",
				tables: []*table{t}, unfolded: true})
		}
	}
	return sections
}

// latencyNow is the latency of a series' latest run beside the medians of its stretch. It is nil where the run has
// none.
func latencyNow(s *report.Series) *table {
	point, stretch := s.Latest()
	if point == nil || stretch == nil {
		return nil
	}
	t := latencyHead()
	for _, head := range []string{"latest", "of median", "median"} {
		t.columns = append(t.columns, column{head: head})
	}
	for _, f := range point.Latency {
		wanted := report.LatencyMedian{Metric: f.Metric, Direction: f.Direction, LatencyLoad: *f.LatencyLoad,
			FrameSize: f.FrameSize, Runs: 1, Open: f.High == ""}
		i := slices.IndexFunc(stretch.Latency, wanted.Same)
		if i < 0 || !slices.Contains(shownMetrics, f.Metric) {
			continue
		}
		median, away := stretch.Latency[i], "-"
		if f.High != "" && !median.Open && median.Nanoseconds > 0 {
			share := f.High.Float()/float64(median.Nanoseconds) - 1
			away = changeText(&report.Change{Percent: units.PercentOfShare(share)})
		}
		t.add(latencyName(wanted), latencyText(f), away, medianText(median))
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

func latencyText(f report.Figure) string {
	if f.High == "" {
		return "over " + wording.Nanoseconds(int64(f.Low.Float()))
	}
	return wording.Nanoseconds(int64(f.High.Float()))
}
