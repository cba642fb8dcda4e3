package render

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// trendDrawing draws a series over time. Its axis doesn't begin at 0, as a change of a percent must be seen. It
// says so, and never shows less than a tenth of the figure from top to bottom, so that noise doesn't look like
// news.
//
//	Mpps │      ● ●           ┆ plan changed
//	     │ ●─●─●   ●──◯       ┆    ●──●
//	     │- - - - - - median -┆- - - - - -
//	     │            ×       ┆              × not measured
//	     └────────────────────────────────── time
type trendDrawing struct {
	drawing
	start time.Time
	span  float64 // seconds
	x     axis
	y     axis    // of what is above low
	low   float64 // at the bottom
	kind  traffic
}

// extentOf is the least and the greatest figure of a series, or false for none.
func extentOf(s *report.Series) (low, high float64, ok bool) {
	low, high = math.Inf(1), 0
	for i := range s.Points {
		f := s.Points[i].Figures
		if f == nil {
			continue
		}
		low, high, ok = min(low, float64(f.Throughput())), max(high, float64(f.Throughput())), true
	}
	return low, high, ok
}

func newTrendDrawing(s *report.Series, id string, narrow bool) (drawing, bool) {
	low, high, ok := extentOf(s)
	if !ok {
		return drawing{}, false
	}
	d := &trendDrawing{drawing: drawing{ID: id, Class: "wide", Width: 1040, Height: 300,
		Title: titleOf(s.Product, s.Loadtest) + " over time"}, start: s.Points[0].StartTime}
	left := 64.0
	if narrow {
		d.Class, d.Width, d.Height, left = "narrow", 430, 280, 48
	}
	d.ID += "-" + d.Class
	d.kind = trafficOf(seriesHeadlines(s))
	words := map[traffic]string{ofFrames: "Packets per second", ofSessions: "Goodput in bits per second",
		ofBoth: "Packets per second, or of sessions goodput in bits per second,"}
	d.Desc = fmt.Sprintf("%s of %s.", words[d.kind], wording.Counted(len(s.Points), "run"))
	d.span = max(s.Points[len(s.Points)-1].StartTime.Sub(d.start).Seconds(), 1)
	room := max((high-low)*0.15, high*0.05, 1)
	d.low = max(low-room, 0)
	d.x = axis{top: d.span, from: left + 14, end: d.Width - 18}
	d.y = axis{top: high + room - d.low, from: d.Height - 58, end: 30}
	d.axes()
	d.stretches(s)
	d.points(s)
	return d.drawing, true
}

func (d *trendDrawing) position(p *report.Point) float64 {
	return d.x.position(p.StartTime.Sub(d.start).Seconds())
}
func (d *trendDrawing) height(rate int64) float64 {
	return d.y.position(float64(rate) - d.low)
}

func (d *trendDrawing) axes() {
	name, factor := prefix(d.low + d.y.top)
	step := niceStep(d.y.top / factor / 4)
	for v := math.Ceil(d.low/factor/step) * step; v*factor <= d.low+d.y.top; v += step {
		y := d.y.position(v*factor - d.low)
		d.line("grid", d.x.from-14, y, d.x.end, y)
		d.label("end", d.x.from-20, y+4, short(v))
	}
	head := name + map[traffic]string{ofFrames: "pps received", ofSessions: "b/s goodput",
		ofBoth: "pps received, or b/s goodput"}[d.kind]
	if d.low > 0 {
		head += " (the axis doesn't begin at 0)"
	}
	d.label("head", 2, 16, head)
	layout, labels := "2006-01-02", 6.0
	if d.span < 3*86400 {
		layout = "01-02 15:04"
	}
	if d.Class == "narrow" {
		labels = 3
	}
	previous := ""
	for i := 0.0; i < labels; i++ {
		seconds := d.span * i / (labels - 1)
		label := d.start.Add(time.Duration(seconds * float64(time.Second))).UTC().Format(layout)
		if label == previous { // runs of one minute, or a single one
			continue
		}
		previous = label
		class := "mid"
		if i == labels-1 {
			class = "end"
		}
		d.line("tick", d.x.position(seconds), d.y.from+20, d.x.position(seconds), d.y.from+25)
		d.label(class, d.x.position(seconds), d.y.from+40, label)
	}
}

// stretches draws each stretch's median, and where the plan changed.
func (d *trendDrawing) stretches(s *report.Series) {
	const labelRoom = 100
	free := 0.0
	for i, t := range s.Stretches {
		if t.First < 0 || t.Last >= len(s.Points) || t.First > t.Last {
			continue
		}
		start, end := d.position(&s.Points[t.First]), d.position(&s.Points[t.Last])
		if f := t.Figures; f != nil && f.Runs > 1 {
			d.line("median", start-8, d.height(f.Throughput()), end+8, d.height(f.Throughput()))
		}
		if i == 0 {
			continue
		}
		x := (start + d.position(&s.Points[t.First-1])) / 2
		d.line("change", x, d.y.end-8, x, d.y.from+20)
		if x < free { // the label before is in the way, and the line is enough
			continue
		}
		free = x + labelRoom
		class, textX := "start change", x+5
		if x > d.Width*0.8 {
			class, textX = "end change", x-5
		}
		d.label(class, textX, d.y.end, whatChanged(&s.Points[t.First]))
	}
}

func (d *trendDrawing) points(s *report.Series) {
	var line pen
	stretch := (*report.Stretch)(nil)
	for i := range s.Points {
		p := &s.Points[i]
		x := d.position(p)
		if p.Figures == nil {
			d.Marks = append(d.Marks, shape{D: mark(report.PlotSign(report.Invalid), x, d.y.from+8, 4),
				Class: "gap", Title: d.title(p)})
			continue
		}
		y := d.height(p.Figures.Throughput())
		command := "L"
		if stretchAt := s.StretchOf(i); stretchAt != stretch || line.Len() == 0 {
			command, stretch = "M", stretchAt
		}
		line.to(command, x, y)
		class := "point"
		switch p.Figures.Headline().Sign() {
		case "≥":
			class = "bound"
		case "~":
			class = "loose"
		}
		d.Marks = append(d.Marks, shape{D: circle(x, y, 4), Class: class, Title: d.title(p)})
		if p.Outlier {
			d.Marks = append(d.Marks, shape{D: circle(x, y, 8), Class: "outlier", Title: d.title(p)})
		}
	}
	d.Paths = append(d.Paths, shape{D: line.String(), Class: "trend"})
}

// title is the text under the pointer at a mark. Only the wide drawing has room for it.
func (d *trendDrawing) title(p *report.Point) string {
	if d.Class != "wide" {
		return ""
	}
	text := pointWhen(p) + " " + p.Test + ": " + pointRate(p)
	for _, r := range pointRemarks(p) {
		text += ", " + r
	}
	return text
}
