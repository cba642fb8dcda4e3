package render

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// curve draws what came back over what was sent, a mark per window, and where the device saturates. Its axes are of
// different lengths, because what comes back stays level where what is sent goes on.
//
//	received
//	│    ╱ all came back
//	│   ╱
//	│  ◎ ◆  ◆  ◆  ◆    the device's limit
//	│ ●
//	│●
//	└──────────────── offered
type curve struct {
	drawing
	x, y axis
}

// newCurve draws a track. ok is false without windows.
func newCurve(r *report.Report, t track, narrow bool) (drawing, bool) {
	windows := t.windows(r)
	sent, returned, beyond := extent(r, t, windows)
	if sent <= 0 {
		return drawing{}, false
	}
	d := drawing{Class: "wide", Width: 600, Height: 400, Title: "Received over offered, " + t.Name}
	left := 64.0
	if narrow {
		d.Class, d.Width, d.Height, left = "narrow", 430, 340, 44
	}
	c := &curve{drawing: d, x: axis{top: sent * 1.04, from: left, end: d.Width - 16},
		y: axis{top: max(returned*1.25, sent/1e6), from: d.Height - 46, end: 30}}
	c.Desc = "A mark for each of " + wording.Counted(len(windows)-beyond, "window") +
		": how much was sent, and how much of it came back."
	c.axes()
	c.ideal(r, t)
	for _, w := range windows {
		if float64(w.offered) <= c.x.top {
			c.mark(w, c.x.position(float64(w.offered)), c.y.position(float64(w.received)), 4)
		}
	}
	if beyond > 0 {
		c.label("end faint", c.x.end, c.y.end+14, wording.Counted(beyond, "window")+" at higher loads not drawn →")
	}
	c.answer(r, t)
	return c.drawing, true
}

// extent is how far the drawing reaches, and how many windows lie beyond. Far above the result there is nothing
// more to see.
func extent(r *report.Report, t track, windows []judgedWindow) (sent, returned float64, beyond int) {
	const reach = 6
	for _, w := range windows {
		sent = max(sent, float64(w.offered))
	}
	if offered, _, ok := t.result(r); ok && offered > 0 {
		sent = min(sent, reach*float64(offered))
	}
	for _, w := range windows {
		if float64(w.offered) > sent {
			beyond++
			continue
		}
		returned = max(returned, float64(w.received))
	}
	return sent, returned, beyond
}

func (c *curve) axes() {
	name, factor := prefix(c.y.top)
	for _, v := range (axis{top: c.y.top / factor}).ticks(5) {
		c.line("grid", c.x.from, c.y.position(v*factor), c.x.end, c.y.position(v*factor))
		c.label("end", c.x.from-7, c.y.position(v*factor)+4, short(v))
	}
	c.label("head", 2, 16, "received, "+name+"pps")
	name, factor = prefix(c.x.top)
	for _, v := range (axis{top: c.x.top / factor}).ticks(5) {
		c.line("tick", c.x.position(v*factor), c.y.from, c.x.position(v*factor), c.y.from+5)
		c.label("mid", c.x.position(v*factor), c.y.from+20, short(v))
	}
	c.label("end faint", c.x.end, c.Height-6, "offered, "+name+"pps")
}

// ideal is the line on which nothing is lost, and its name where the result isn't in the way.
func (c *curve) ideal(r *report.Report, t track) {
	top := min(c.x.top, c.y.top)
	c.line("ideal", c.x.position(0), c.y.position(0), c.x.position(top), c.y.position(top))
	name := top * 0.95
	if offered, _, ok := t.result(r); ok && float64(offered) > c.x.top*0.7 {
		name = top * 0.45
	}
	if x := c.x.position(name); x > c.x.from+90 {
		c.label("end faint", x-8, c.y.position(name), "all came back")
		return
	}
	c.label("start faint", c.x.position(name)+10, c.y.position(name), "all came back")
}

// answer rings the point that the result reports and names it.
func (c *curve) answer(r *report.Report, t track) {
	offered, received, ok := t.result(r)
	if !ok {
		return
	}
	x, y := c.x.position(float64(offered)), c.y.position(float64(received))
	c.line("answer", c.x.from, y, x, y)
	c.line("answer", x, c.y.from, x, y)
	c.Marks = append(c.Marks, shape{D: circle(x, y, 9), Class: "ring", Title: t.standing(r) + ": " +
		t.headline(r).Signed(wording.PacketRate(received)) + " received of " + wording.PacketRate(offered) +
		" offered"})
	class, textX := "start answer", x+14
	if x > (c.x.from+c.x.end)*0.6 {
		class, textX = "end answer", x-14
	}
	c.label(class, textX, y+24, t.headline(r).Signed(wording.PacketRate(received)))
}
