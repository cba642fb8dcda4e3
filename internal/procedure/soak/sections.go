package soak

import (
	"math"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// tableLegend says what the table of critical loads holds.
const tableLegend = "Critical load: where the device loses the loss ratio on average, as curves fitted to all trials " +
	"have it. It lies between the two ends with at least 95 % for each of the functions. Sent and lost are of all " +
	"trials. ≥: no load that was offered is known to be too much."

// sections are a table with the critical load of each direction, and a plot of each direction's trials with the curves
// that fit them.
func (s Soak) sections(history []report.Window, directions []direction, loads []*criticalLoad) []report.Section {
	table := &report.SectionTable{
		Columns: []string{"critical load", "loss ratio", "estimate", "deviation", "from", "to"}}
	for _, shape := range losscurve.Shapes {
		table.Columns = append(table.Columns, string(shape))
	}
	table.Columns = append(table.Columns, "trials", "sent", "lost")
	sections := []report.Section{{Title: "Critical load", Legend: []string{tableLegend}, Table: table}}
	for i, l := range loads {
		d := directions[i]
		table.Rows = append(table.Rows, d.row(l))
		sections = append(sections, report.Section{Title: "Loss ratio over load, " + d.atHighest.Name(),
			Plot: d.plot(l, history, i)})
	}
	return sections
}

// none is a cell without a number.
const none = "–"

// row is a direction's row of the table of critical loads.
func (d direction) row(l *criticalLoad) []report.SectionCell {
	number := func(text string, n report.Number, unit, near string) report.SectionCell {
		if n == "" {
			text, near = none, ""
		}
		return report.SectionCell{Text: text, Number: n, Unit: unit, NearGenerators: near}
	}
	rate := func(n report.Number, near string) report.SectionCell {
		return number(wording.RoundedPacketRate(n.Float()), n, "packets/s", near)
	}
	count := func(n int64, unit string) report.SectionCell {
		return number(wording.Count(n), report.Number(strconv.FormatInt(n, 10)), unit, "")
	}
	low := rate(l.Low, "")
	if l.Low != "" {
		open := "≥" + low.Text
		if low.NearGenerators = open; l.High == "" {
			low.Text, low.NearGenerators = open, ""
		}
	}
	ratio := l.LossRatio.String()
	row := []report.SectionCell{{Text: wording.Direction(d.atHighest.From, d.atHighest.To)},
		number(ratio, report.Number(ratio), report.UnitRatio, ""), rate(l.PacketsPerSecond, none),
		rate(l.Deviation, none), low,
		rate(l.High, none)}
	for _, shape := range losscurve.Shapes {
		row = append(row, rate(l.estimateOf(shape), none))
	}
	return append(row, count(int64(l.Trials), "trials"), count(l.Sent, "frames"), count(l.Lost, "frames"))
}

// estimateOf is a shape's estimate. It is empty where an end of the interval is open, as each shape's estimate is then.
func (l *criticalLoad) estimateOf(shape losscurve.Shape) report.Number {
	for _, s := range l.Shapes {
		if s.Shape == shape && l.PacketsPerSecond != "" {
			return s.PacketsPerSecond
		}
	}
	return ""
}

// Where the plot ends, and how fine its curves are.
const (
	// reach is how many times as far from the interval's middle as its ends the plot goes. Further away there is
	// nothing more to see.
	reach = 12
	// curvePoints is into how many parts the points of a curve divide the plot.
	curvePoints = 120
	// leastShare is the least share lost that a curve is drawn down to.
	leastShare = 1e-9
)

// plot draws what each trial of the direction lost over its load, trials that do not count included. It draws the curve
// of each function that fits best, and where the critical load lies.
func (d direction) plot(l *criticalLoad, history []report.Window, index int) *report.Plot {
	p := &report.Plot{Y: report.PlotAxis{Title: "loss per trial", Unit: report.UnitRatio},
		Limits: []report.PlotLimit{{Title: "loss ratio " + l.LossRatio.String(), Y: report.Number(l.LossRatio.String())}}}
	for _, w := range history {
		if w.Phase != report.Trial || index >= len(w.Directions) {
			continue
		}
		if m := w.Directions[index]; m.Sent.Packets > m.GeneratorDrops() {
			p.Points = append(p.Points, pointOf(w, m))
		}
	}
	low, high := d.plotted(l)
	p.X = report.PlotAxis{Title: "offered", Unit: "packets/s", Low: sixDigits(low), High: sixDigits(high)}
	if l.Low != "" {
		p.Intervals = []report.PlotInterval{{Title: "critical load, 95 %", Low: l.Low, High: l.High}}
	}
	for _, s := range l.Shapes {
		if c := s.curve(low, high); len(c.Points) > 0 {
			p.Curves = append(p.Curves, c)
		}
	}
	return p
}

// pointOf is a trial of a direction in the plot. However little the trial lost, it is one with loss.
func pointOf(w report.Window, m report.Direction) report.PlotPoint {
	sent := m.Sent.Packets - m.GeneratorDrops()
	lost := min(sent, max(0, sent-m.Returned.Packets))
	p := report.PlotPoint{Window: w.Number, X: report.Number(strconv.FormatInt(m.Offered.PacketsPerSecond, 10)),
		Y: sixDigits(float64(lost) / float64(sent)), Sign: report.PlotSign(report.Good),
		Text: "window " + strconv.Itoa(w.Number) + ": " + wording.PacketRate(m.Offered.PacketsPerSecond) +
			" offered, " + wording.Count(lost) + " of " + wording.Count(sent) + " lost"}
	switch {
	case m.Quality == report.Invalid:
		p.Sign = report.PlotSign(report.Invalid)
	case lost > 0:
		p.Sign = report.PlotSign(report.Lossy)
	}
	return p
}

// plotted is from which load to which the plot goes, around the interval, as far as there are trials.
func (d direction) plotted(l *criticalLoad) (low, high float64) {
	low, high = math.Inf(1), 0.0
	for _, t := range d.worst {
		low, high = min(low, t.Load), max(high, t.Load)
	}
	if l.Low != "" && l.High != "" {
		start, end := l.Low.Float(), l.High.Float()
		offset := reach * max(end-start, end/1e4) / 2
		low, high = max(low, (start+end)/2-offset), min(high, (start+end)/2+offset)
		low, high = min(low, start), max(high, end)
	}
	margin := max((high-low)/20, high/1e4)
	return max(0, low-margin), high + margin
}

// curve is the function that fits best, between two loads.
func (s shapeLoad) curve(low, high float64) report.PlotCurve {
	c := losscurve.Curve{Shape: s.Shape, Capacity: s.Capacity.Float(), Spread: s.Spread.Float()}
	drawn := report.PlotCurve{Name: string(s.Shape) + " function"}
	if c.Capacity <= 0 || c.Spread <= 0 {
		return drawn
	}
	for i := range curvePoints + 1 {
		load := low + (high-low)*float64(i)/curvePoints
		if share := math.Exp(c.LogLossRatio(load)); load > 0 && share >= leastShare {
			drawn.Points = append(drawn.Points, report.CurveValue{X: sixDigits(load), Y: sixDigits(share)})
		}
	}
	return drawn
}
