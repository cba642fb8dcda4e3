package render

import (
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// isOfLines says that a plot has curves alone, and no axis of shares.
func isOfLines(p *report.Plot) bool {
	return p != nil && len(p.Points) == 0 && len(p.Curves) > 0 && p.Y.Unit != report.UnitRatio
}

// newLineDrawing draws a section's curves over linear axes from 0, with a legend at their ends.
//
//	µs │          ─┘
//	   │      ┌──┘
//	   │  ┌──┘
//	   └────────────── frame
func newLineDrawing(_ *report.Report, s report.Section, id string, narrow bool) drawing {
	d := drawing{Class: "wide", Width: 1040, Height: 340, Title: s.Title}
	left := 64.0
	if narrow {
		d.Class, d.Width, left = "narrow", 430, 48
	}
	d.ID = id + "-" + d.Class
	d.Desc = wording.Counted(len(s.Plot.Curves), "line") + ": " + s.Plot.Y.Title + " over " + s.Plot.X.Title + "."
	x, y := axis{from: left, end: d.Width - 16}, axis{from: d.Height - 46, end: 30}
	for _, c := range s.Plot.Curves {
		for _, v := range c.Points {
			x.top, y.top = max(x.top, v.X.Float()), max(y.top, v.Y.Float())
		}
	}
	for _, v := range y.ticks(5) {
		d.line("grid", x.from, y.position(v), x.end, y.position(v))
		d.label("end", x.from-7, y.position(v)+4, short(v))
	}
	d.label("head", 2, 16, s.Plot.Y.Title+", "+s.Plot.Y.Unit)
	for _, v := range x.ticks(6) {
		d.line("tick", x.position(v), y.from, x.position(v), y.from+5)
		d.label("mid", x.position(v), y.from+20, short(v))
	}
	d.label("end faint", x.end, d.Height-4, s.Plot.X.Title)
	for i, c := range s.Plot.Curves {
		var p pen
		for n, v := range c.Points {
			command := "L"
			if n == 0 {
				command = "M"
			}
			p.to(command, x.position(v.X.Float()), y.position(v.Y.Float()))
		}
		d.Paths = append(d.Paths, shape{D: p.String(), Class: "fit c" + strconv.Itoa(i%2), Title: c.Name})
		if len(c.Points) > 0 {
			end := c.Points[len(c.Points)-1]
			d.label("end faint", x.position(end.X.Float())-8, y.position(end.Y.Float())+14, c.Name)
		}
	}
	return d
}
