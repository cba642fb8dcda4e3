package render

import (
	"cmp"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// timeline draws what happened against time, with the three rates, the loss of each window, and the generator's
// CPU, one above the other. goodput.go has the panels of sessions.
//
//	┌ kpps ───────────────────────────┐ % of line rate
//	│        intended ╌╌╌             │
//	│    ▄▄▟██ offered, received      │
//	├ loss per window ────────────────┤
//	├ generator CPU ──────────────────┤
//	├ what observers saw ─────────────┤
//	└ 0:00 ──── 0:10 ──── 0:20 ───────┘
type timeline struct {
	drawing
	r             *report.Report
	t             track
	readings      []reading
	windows       []judgedWindow
	x             axis
	narrow        bool
	trafficBottom float64 // the bottom of the traffic's panels, which those of observers follow
	bottom        float64 // of the last panel
}

// panels are where the three parts begin and end.
const (
	ratesTop, ratesBottom = 54, 344
	lossTop, lossBottom   = 390, 520
	cpuTop, cpuBottom     = 562, 622
)

// timeHeight is what the common axis takes below the last panel.
const timeHeight = 44

// timelineCaption is what a timeline shows.
func timelineCaption(r *report.Report, sessions bool) string {
	if sessions {
		return "Goodput and " + whatIsMissing(report.PlanOf(r)) + "s against time"
	}
	return "Rates, loss and generator CPU against time"
}

// newTimeline draws a track. ok is false where there is nothing to draw.
func newTimeline(r *report.Report, t track, narrow bool) (drawing, bool) {
	readings, stride := t.readings(r)
	tl := &timeline{r: r, t: t, readings: readings, windows: t.windows(r), narrow: narrow}
	tl.Width, tl.trafficBottom, tl.Class = 1040, cpuBottom, "wide"
	if t.sessions {
		tl.trafficBottom = retransmitsBottom
	}
	left, right := 64.0, 54.0
	if narrow {
		tl.Width, tl.Class, left, right = 430, "narrow", 44, 44
	}
	vitals := vitalTracks(r)
	tl.bottom = tl.trafficBottom + float64(len(vitals)*(vitalHeight+vitalGap))
	tl.Height = tl.bottom + timeHeight
	end := tl.end()
	if end <= 0 {
		return drawing{}, false
	}
	tl.x = axis{top: end, from: left, end: tl.Width - right}
	tl.Title = timelineCaption(r, t.sessions) + ", " + t.Name
	tl.Desc = tl.describe(stride)
	tl.phases()
	tl.time()
	if t.sessions {
		tl.goodput()
		tl.retransmits()
	} else {
		tl.rates()
		tl.loss()
		tl.cpu()
	}
	tl.vitals(vitals)
	tl.End = end
	tl.Plot = &box{X: tl.x.from, Y: ratesTop, W: tl.x.end - tl.x.from, H: tl.bottom - ratesTop}
	return tl.drawing, true
}

// end is the last moment known, in seconds.
func (tl *timeline) end() float64 {
	end := 0.0
	for _, g := range tl.readings {
		end = max(end, g.end)
	}
	for _, w := range tl.windows {
		end = max(end, w.end)
	}
	return end
}

func (tl *timeline) describe(stride int) string {
	s := wording.Counted(len(tl.readings), "reading") + " and " + wording.Counted(len(tl.windows), "window") +
		" over " + clockText(tl.x.top) + " (minutes:seconds)."
	if stride > 1 {
		s += " Each reading drawn is the average of " + wording.Counted(stride, "sample") + "."
	}
	if tl.t.sessions {
		if text, ok := tl.t.goodputText(tl.r); ok {
			s += " The result is " + text + "."
		}
		return s
	}
	if _, received, ok := tl.t.result(tl.r); ok {
		s += " The result is " + tl.t.headline(tl.r).Signed(wording.PacketRate(received)) + "."
	}
	return s
}

// phases shades the run's parts and the windows that the result comes from.
func (tl *timeline) phases() {
	for i, s := range stretches(tl.readings) {
		x, w := tl.x.position(s.start), tl.x.position(s.end)-tl.x.position(s.start)
		class := "phase"
		if i%2 == 1 {
			class = "phase odd"
		}
		tl.band(class, x, ratesTop, w, tl.bottom-ratesTop, phaseText(s.phase))
		if name := phaseText(s.phase); w > float64(7*len(name)) {
			tl.label("mid faint", x+w/2, ratesTop-8, name)
		}
	}
	windows, class, title := resultWindows(tl.r, tl.windows), "chosen", "the result comes from this window, "
	if len(windows) > 1 {
		class, title = "chosen several", "the result comes from "+wording.Counted(len(windows), "window")+
			", of which this is one: "
	}
	for i, w := range windows {
		x, end := tl.x.position(w.start), tl.x.position(w.end)
		if i+1 < len(windows) && windows[i+1].start-w.end < edgeToEdge {
			end = tl.x.position(windows[i+1].start) // one follows the other, without a gap in the shade
		}
		tl.band(class, x, ratesTop, max(end-x, 2), tl.bottom-ratesTop, title+w.title())
	}
}

// edgeToEdge is how soon after a window the next begins, in seconds, where nothing but the reading of counters lies
// between them.
const edgeToEdge = 0.5

// time draws the common axis below.
func (tl *timeline) time() {
	n := 12
	if tl.narrow {
		n = 5
	}
	for _, s := range tl.x.timeTicks(n) {
		x := tl.x.position(s)
		tl.line("tick", x, tl.bottom, x, tl.bottom+5)
		tl.label("mid", x, tl.bottom+20, clockText(s))
	}
	tl.label("end faint", tl.x.end, tl.Height-2, "time since the start, minutes:seconds")
}

// rates draws the upper panel, with three figures, what was lost between two of them, and the result.
func (tl *timeline) rates() {
	y := axis{top: tl.topRate() * 1.06, from: ratesBottom, end: ratesTop}
	name, factor := prefix(y.top)
	for _, v := range (axis{top: y.top / factor}).ticks(6) {
		tl.line("grid", tl.x.from, y.position(v*factor), tl.x.end, y.position(v*factor))
		tl.label("end", tl.x.from-7, y.position(v*factor)+4, short(v))
	}
	tl.label("head", 2, ratesTop-30, name+"pps")
	tl.percentAxis(y)
	intended, offered := func(g reading) float64 { return g.intended }, func(g reading) float64 { return g.offered }
	received := func(g reading) float64 { return g.received }
	tl.Paths = append(tl.Paths,
		shape{D: between(tl.readings, offered, received, tl.x, y), Class: "lost"},
		shape{D: stairs(tl.readings, offered, tl.x, y), Class: "offered"},
		shape{D: stairs(tl.readings, intended, tl.x, y), Class: "intended"},
		shape{D: stairs(tl.readings, received, tl.x, y), Class: "received"})
	if _, v, ok := tl.t.result(tl.r); ok {
		tickY := y.position(float64(v))
		tl.line("answer", tl.x.from, tickY, tl.x.end, tickY)
		tl.label("answer", tl.x.from+6, tickY-6, tl.t.headline(tl.r).Signed(wording.PacketRate(v)))
	}
}

// percentAxis is the second axis, with the same heights as shares of what the line can carry.
func (tl *timeline) percentAxis(y axis) {
	if tl.t.capacity <= 0 {
		return
	}
	for _, p := range (axis{top: y.top / tl.t.capacity * 100}).ticks(6) {
		if p > 100.0001 {
			break
		}
		tickY := y.position(p / 100 * tl.t.capacity)
		tl.line("tick", tl.x.end, tickY, tl.x.end+5, tickY)
		tl.label("start", tl.x.end+8, tickY+4, short(p)+"%")
	}
	tl.label("end head", tl.Width-1, ratesTop-30, "% of line rate")
}

func (tl *timeline) topRate() float64 {
	top := 1.0
	for _, g := range tl.readings {
		top = max(top, g.intended, g.offered, g.received)
	}
	return top
}

// loss draws the middle panel, with a mark per window on a logarithmic scale, and the limit.
func (tl *timeline) loss() {
	limit := report.PlanOf(tl.r).Procedure.MaxLossRatio
	ratios := []float64{limit.Float()}
	for _, w := range tl.windows {
		ratios = append(ratios, w.loss)
	}
	y := lossAxisFor(ratios, lossTop, lossBottom)
	tl.lossGrid(y, tl.x.from, tl.x.end)
	tl.label("head", 2, lossTop-10, "loss per window")
	if limit > 0 {
		lossY := y.position(ratios[0])
		tl.line("limit", tl.x.from, lossY, tl.x.end, lossY)
		tl.label("start limit", tl.x.end+4, lossY+4, "limit")
	}
	tl.lossMarks(y)
}

// lossGrid draws an axis of loss ratios, from one edge of the plot to the other.
func (d *drawing) lossGrid(y lossAxis, start, end float64) {
	step := (y.decades + 3) / 4
	for k, ratio := 0, units.One; k <= y.decades; k, ratio = k+1, ratio/10 {
		tickY := y.position(ratio.Float())
		if (y.decades-k)%step == 0 || k == 0 {
			d.line("grid", start, tickY, end, tickY)
			d.label("end", start-7, tickY+4, wording.Ratio(ratio))
		}
	}
	d.line("grid", start, y.zero, end, y.zero)
	d.label("end", start-7, y.zero+4, "0%")
}

func (tl *timeline) lossMarks(y lossAxis) {
	size := tl.markSize()
	for _, w := range tl.windows {
		x, lossY := tl.x.position((w.start+w.end)/2), y.position(w.loss)
		if w.loss > 0 {
			tl.line("stem "+qualityClass(w.quality), x, y.zero, x, lossY)
		}
		tl.mark(w, x, lossY, size)
	}
}

// markSize is how large a window's mark may be beside the others.
func (tl *timeline) markSize() float64 {
	return min(4.5, max(1.6, (tl.x.end-tl.x.from)/float64(max(len(tl.windows), 1))/2.4))
}

// cpu draws the lower panel.
func (tl *timeline) cpu() {
	y := axis{top: 100, from: cpuBottom, end: cpuTop}
	for _, v := range []float64{0, 50, 100} {
		tl.line("grid", tl.x.from, y.position(v), tl.x.end, y.position(v))
		tl.label("end", tl.x.from-7, y.position(v)+4, short(v)+"%")
	}
	d := stairs(tl.readings, func(g reading) float64 { return g.cpu }, tl.x, y)
	tl.label("head", 2, cpuTop-10, cmp.Or(map[bool]string{true: "generator CPU: " + wording.NotMeasured}[d == ""],
		"generator CPU"))
	tl.Paths = append(tl.Paths, shape{D: d, Class: "cpu"})
}
