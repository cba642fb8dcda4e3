package report

// newCurve draws what came back over what was sent, a mark per window, and where the device saturates; ok is false without windows.
//
//	received
//	│          ╱ all came back
//	│        ╱
//	│      ◎ ◆ ◆ ◆ ◆    the device's limit
//	│    ●
//	│  ●
//	└──────────────── offered
func newCurve(r *Report, t track, narrow bool) (drawing, bool) {
	windows := t.windows(r)
	top := 0.0
	for _, w := range windows {
		top = max(top, float64(w.offered), float64(w.received))
	}
	if top <= 0 {
		return drawing{}, false
	}
	d := drawing{Class: "wide", Width: 600, Height: 400, Title: "Received over offered, " + t.Name}
	left := 64.0
	if narrow {
		d.Class, d.Width, d.Height, left = "narrow", 430, 340, 44
	}
	c := &curve{drawing: d, x: axis{top: top * 1.05, from: left, to: d.Width - 20}, y: axis{top: top * 1.05, from: d.Height - 46, to: 30}}
	c.Desc = "A mark for each of " + counted(len(windows), "window") + ": how much was sent, and how much of it came back."
	c.axes()
	c.line("ideal", c.x.at(0), c.y.at(0), c.x.at(top), c.y.at(top))
	free := top * 0.94 // where the diagonal's name is out of the way
	if _, received, ok := t.result(r); ok && float64(received) > top*0.7 {
		free = top * 0.4
	}
	c.label("end faint", c.x.at(free), c.y.at(free)-8, "all came back")
	for _, w := range windows {
		c.mark(w, c.x.at(float64(w.offered)), c.y.at(float64(w.received)), 4)
	}
	c.answer(r, t)
	return c.drawing, true
}

type curve struct {
	drawing
	x, y axis
}

func (c *curve) axes() {
	name, factor := prefix(c.y.top)
	for _, v := range (axis{top: c.y.top / factor}).ticks(5) {
		c.line("grid", c.x.from, c.y.at(v*factor), c.x.to, c.y.at(v*factor))
		c.label("end", c.x.from-7, c.y.at(v*factor)+4, short(v))
		c.line("tick", c.x.at(v*factor), c.y.from, c.x.at(v*factor), c.y.from+5)
		c.label("mid", c.x.at(v*factor), c.y.from+20, short(v))
	}
	c.label("head", 2, 16, "received, "+name+"pps")
	c.label("end faint", c.x.to, c.Height-6, "offered, "+name+"pps")
}

// answer rings the point that the result reports and names it.
func (c *curve) answer(r *Report, t track) {
	offered, received, ok := t.result(r)
	if !ok {
		return
	}
	x, y := c.x.at(float64(offered)), c.y.at(float64(received))
	c.line("answer", c.x.from, y, x, y)
	c.line("answer", x, c.y.from, x, y)
	c.Marks = append(c.Marks, shape{D: circle(x, y, 9), Class: "ring", Title: standing(r) + ": " + headlineOf(r).bound(pps(received)) + " received of " + pps(offered) + " offered"})
	class, at := "start answer", x+14
	if x > (c.x.from+c.x.to)*0.6 {
		class, at = "end answer", x-14
	}
	c.label(class, at, y+22, headlineOf(r).bound(pps(received)))
}
