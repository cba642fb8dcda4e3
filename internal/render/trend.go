package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// viewOfTrend has a table of each series, oldest first.
func viewOfTrend(t *report.Trend) view {
	var list []report.Headline
	for i := range t.Series {
		list = append(list, seriesHeadlines(&t.Series[i])...)
	}
	v, latency := view{source: t, title: t.Title, answer: &t.Answer, notes: t.Notes}, ""
	for i := range t.Series {
		s := &t.Series[i]
		part := section{title: titleOf(s.Product, s.Loadtest), summary: seriesNow(s), tables: []*table{seriesTable(s)}}
		if t := latencyNow(s); t != nil {
			part.tables, latency = append(part.tables, t), besideWords
		}
		for i := range s.Points {
			part.remarks = append(part.remarks, warningsOf(pointWhen(&s.Points[i]), pointChanges(&s.Points[i]))...)
		}
		v.sections = append(v.sections, part)
	}
	words := []string{rateWords(trafficOf(list)) + ". " + trendWords}
	if slices.ContainsFunc(t.Series, environmentChanges) {
		words = append(words, environmentWords)
	}
	if latency != "" {
		words = append(words, latency)
	}
	v.legend = always(words...)
	return v
}

// environmentChanges says that a series was measured in more than one environment.
func environmentChanges(s report.Series) bool {
	return slices.ContainsFunc(s.Points, func(p report.Point) bool { return len(p.EnvironmentChange) > 0 })
}

const environmentWords = "A change of generator, network card, driver or machine begins a new median, too, unless --allow-different names what changed."

const trendWords = "The median is over all runs since the plan, or what it says of the device, changed last: figures of different plans can't be compared. " +
	boundWords + " " + looseWords

// seriesHeadlines are those of a series' runs that were measured.
func seriesHeadlines(s *report.Series) []report.Headline {
	var figures []*report.Figures
	for i := range s.Points {
		figures = append(figures, s.Points[i].Figures)
	}
	return headlines(figures)
}

// seriesNow is how it stands.
func seriesNow(s *report.Series) string {
	point, stretch := s.Latest()
	if point == nil {
		return "never measured in " + wording.Counted(len(s.Points), "run")
	}
	text := "latest " + pointRate(point)
	if stretch != nil && stretch.Figures != nil && stretch.Figures.Runs > 1 {
		text += ", "
		if against := fromMedianText(point, stretch.Figures); against != "-" {
			text += against + " "
		}
		text += "against the median of " + wording.Counted(stretch.Figures.Runs, "run") + " of the same plan, " +
			rateText(stretch.Figures)
		if spread := stretch.Figures.Spread; spread != nil {
			text += " ±" + spread.Percent.FormatFixed() + "%"
		}
	}
	switch n := unmeasuredSince(s, point); n {
	case 0:
		return text
	case 1:
		return text + "; the run since then was not measured"
	default:
		return fmt.Sprintf("%s; the %d runs since then were not measured", text, n)
	}
}

// unmeasuredSince is how many runs there are after a point, the last one that was measured.
func unmeasuredSince(s *report.Series, latest *report.Point) int {
	return len(s.Points) - 1 - slices.IndexFunc(s.Points,
		func(p report.Point) bool { return p.StartTime.Equal(latest.StartTime) && p.Name == latest.Name })
}

func pointRate(p *report.Point) string {
	if p.Figures == nil {
		return wording.NotMeasured
	}
	return rateText(p.Figures)
}

// rateText is the figures' packet rate with its sign, or goodput.
func rateText(f *report.Figures) string {
	switch h := f.Headline(); {
	case h.OfTrains:
		return figures.TimeText(h)
	case h.OfSessions:
		return goodputText(h)
	}
	return f.Headline().Signed(wording.PacketRate(f.PacketsPerSecond))
}

// pointWhen is a point's time, for people.
func pointWhen(p *report.Point) string { return p.StartTime.UTC().Format("2006-01-02 15:04") }

// fromMedianText is a point's distance from its stretch's median, such as "-3.02%". A lower bound is so far away or
// more, and from a median that is one, a figure is so far away or less.
func fromMedianText(p *report.Point, median *report.Figures) string {
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

// seriesTable is a series for people.
func seriesTable(s *report.Series) *table {
	kind := trafficOf(seriesHeadlines(s))
	heads := []string{"pps", togetherHead}
	if kind == ofSessions {
		heads = []string{goodputHead}
	}
	t := newTable(3, slices.Concat([]string{"began (UTC)", "test", "remarks"}, heads, []string{"of median"})...)
	for i := range s.Points {
		p := &s.Points[i]
		row := []string{pointWhen(p), p.Test, strings.Join(pointRemarks(p), ", ")}
		if f := p.Figures; f != nil {
			h := f.Headline()
			var median *report.Figures
			if stretch := s.StretchOf(i); stretch != nil {
				median = stretch.Figures
			}
			if kind == ofSessions {
				row = append(row, throughputCells(kind, h)...)
			} else {
				row = append(row, trendRate(h), shareText(h, f.LineRatePercent))
			}
			row = append(row, fromMedianText(p, median))
		} else {
			row = append(row, wording.NotMeasured)
			row = append(row, slices.Repeat([]string{"-"}, len(heads))...)
		}
		t.add(row...)
	}
	return t
}

// pointRemarks are a point's marks in a word or two each.
func pointRemarks(p *report.Point) []string {
	var lines []string
	if p.Missing != nil {
		lines = append(lines, p.Missing.Reason)
	}
	if p.SharedPort {
		lines = append(lines, "shared port")
	}
	if p.Outlier {
		lines = append(lines, "outlier")
	}
	if len(p.PlanChange) > 0 {
		lines = append(lines, "plan changed")
	}
	if len(p.DeviceChange) > 0 {
		lines = append(lines, "device changed")
	}
	if len(p.ImageChange) > 0 {
		lines = append(lines, "image changed")
	}
	if len(p.EnvironmentChange) > 0 {
		lines = append(lines, "environment changed")
	}
	return lines
}

// whatChanged names it in two words.
func whatChanged(p *report.Point) string {
	if len(p.PlanChange) > 0 {
		return "plan changed"
	}
	if len(p.DeviceChange) > 0 {
		return "device changed"
	}
	return "environment changed"
}

// pointChanges are what changed at a point, as sentences.
func pointChanges(p *report.Point) []string {
	var lines []string
	if len(p.PlanChange) > 0 {
		lines = append(lines, "the plan changed: "+strings.Join(p.PlanChange, "; "))
	}
	if len(p.DeviceChange) > 0 {
		lines = append(lines, "the device changed: "+strings.Join(p.DeviceChange, "; "))
	}
	if len(p.ImageChange) > 0 {
		lines = append(lines, "the device's image changed: "+strings.Join(p.ImageChange, "; "))
	}
	if len(p.EnvironmentChange) > 0 {
		words := make([]string, len(p.EnvironmentChange))
		for i, d := range p.EnvironmentChange {
			words[i] = d.String()
		}
		lines = append(lines, "the environment changed: "+strings.Join(words, "; "))
	}
	if p.Missing != nil && p.Missing.Message != "" {
		lines = append(lines, p.Test+" was not measured: "+missingWords(*p.Missing))
	}
	return lines
}
