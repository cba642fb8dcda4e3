package render

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// orderedDrawing draws a plot whose points stand side by side in ascending order of their loads, each load as wide as
// it has points, as most are close to the bounds. A line leads from trial to trial as they were made. Above the points
// are the intervals.
//
//	NDR      ├──────┤
//	PDR             ├──────┤
//	100 % ┤                   ◆ 2
//	  1 % ┤            ▪ 7  ◆ 5
//	  0 % ┤ ● 3│ ● 6 ● 8 │   │
//	      └────┴──────┴───┴────── load
type orderedDrawing struct {
	drawing
	plot    report.Plot
	points  []report.PlotPoint // by load, and at one load in order of time
	columns []loadColumn
	left    float64
	slot    float64 // of one point
	y       lossAxis
}

// loadColumn are the points at one load.
type loadColumn struct {
	load       report.Number
	start, end float64
}

// How tall the drawing's parts are.
const (
	orderedHead     = 26
	orderedInterval = 20
	orderedHeight   = 230
	orderedFoot     = 46
)

func newOrderedDrawing(_ *report.Report, s report.Section, id string, narrow bool) drawing {
	d := &orderedDrawing{drawing: drawing{Class: "wide", Width: 1040, Title: s.Title}, plot: *s.Plot,
		points: slices.Clone(s.Plot.Points), left: 64}
	if narrow {
		d.Class, d.Width, d.left = "narrow", 430, 48
	}
	d.ID = id + "-" + d.Class
	d.Desc = "A mark for each of " + wording.Counted(len(d.points), "trial") +
		", loads in ascending order and not to scale: what its worst direction lost."
	top := orderedHead + float64(len(d.plot.Intervals))*orderedInterval + 10
	d.Height = top + orderedHeight + orderedFoot
	d.y = lossAxisFor(sharesOf(d.plot), top, top+orderedHeight)
	d.order()
	d.axes(top)
	d.walk()
	for n, i := range d.plot.Intervals {
		d.interval(i, orderedHead+float64(n)*orderedInterval)
	}
	d.marks()
	return d.drawing
}

// order puts the points side by side, by load.
func (d *orderedDrawing) order() {
	slices.SortStableFunc(d.points, func(a, b report.PlotPoint) int {
		return cmp.Or(cmp.Compare(a.X.Float(), b.X.Float()), cmp.Compare(a.Window, b.Window))
	})
	d.slot = (d.Width - 16 - d.left) / float64(len(d.points))
	for i, p := range d.points {
		if n := len(d.columns); n == 0 || d.columns[n-1].load != p.X {
			d.columns = append(d.columns, loadColumn{load: p.X, start: d.left + float64(i)*d.slot})
		}
		d.columns[len(d.columns)-1].end = d.left + float64(i+1)*d.slot
	}
}

// position is where the point of a place in the order is drawn.
func (d *orderedDrawing) position(i int) (x, y float64) {
	return d.left + (float64(i)+0.5)*d.slot, d.y.position(d.points[i].Y.Float())
}

func (d *orderedDrawing) axes(top float64) {
	right := d.Width - 16
	d.lossGrid(d.y, d.left, right)
	d.label("head", 2, 16, d.plot.Y.Title)
	name, factor := prefix(d.columns[len(d.columns)-1].load.Float())
	free := d.left - 30
	for i, c := range d.columns {
		if i > 0 {
			d.line("grid", c.start, top, c.start, d.y.zero+6)
		}
		if middle := (c.start + c.end) / 2; middle-22 >= free {
			d.label("mid", middle, d.y.zero+22, strconv.FormatFloat(c.load.Float()/factor, 'g', 4, 64))
			free = middle + 22
		}
	}
	d.label("end faint", right, d.y.zero+40, d.plot.X.Title+", "+name+unitText(d.plot.X.Unit)+
		" (in order, not to scale)")
	d.limits(d.plot, d.y, d.left, right)
}

// walk leads from trial to trial as they were made.
func (d *orderedDrawing) walk() {
	places := make([]int, len(d.points))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return d.points[a].Window - d.points[b].Window })
	var p pen
	for n, i := range places {
		x, y := d.position(i)
		p.to(map[bool]string{true: "M", false: "L"}[n == 0], x, y)
	}
	d.Paths = append(d.Paths, shape{D: p.String(), Class: "walk"})
}

// interval draws an interval from the middle of one load to that of another. Where there is only one, an arrow leads
// away from it.
func (d *orderedDrawing) interval(i report.PlotInterval, y float64) {
	middle := func(load report.Number) (float64, bool) {
		n := slices.IndexFunc(d.columns, func(c loadColumn) bool { return load != "" && c.load == load })
		if n < 0 {
			return 0, false
		}
		return (d.columns[n].start + d.columns[n].end) / 2, true
	}
	start, hasLower := middle(i.Low)
	end, hasUpper := middle(i.High)
	text := i.Title
	switch {
	case hasLower && hasUpper:
		d.band("chosen", start, y+10, end-start, d.y.zero-y-10, i.Title+": between its lower and its upper bound")
	case hasLower:
		end = d.Width - 16
		text += ": met here, and nothing above is known not to"
	case hasUpper:
		start, text = d.left, text+": not met here, and nothing below is known to"
	default:
		d.label("start answer", d.left, y+14, text+": no bound")
		return
	}
	d.line("span", start, y+10, end, y+10)
	if hasLower {
		d.line("span", start, y+5, start, y+15)
	}
	if hasUpper {
		d.line("span", end, y+5, end, y+15)
	}
	class, x := "end answer", start-8
	if start-8-float64(8*len(text)) < d.left {
		class, x = "start answer", min(end+8, d.Width-16)
		if x+float64(8*len(text)) > d.Width {
			class, x = "end answer", d.Width-16
		}
	}
	d.label(class, x, y+14, text)
}

func (d *orderedDrawing) marks() {
	size := min(5, max(1.8, d.slot/3))
	for i, p := range d.points {
		x, y := d.position(i)
		s := shape{D: mark(p.Sign, x, y, size), Class: signClass(p.Sign)}
		if d.Class == "wide" {
			s.Title = p.Text
		}
		d.Marks = append(d.Marks, s)
		if d.slot >= 18 {
			d.label("mid small", x, y-9, strconv.Itoa(p.Window))
		}
	}
}
