package render

import (
	"math"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// sectionTable is the table of a result's section, with what the result may claim of it.
func sectionTable(r *report.Report, s report.Section) *table {
	t := newTable(1, s.Table.Columns...)
	for _, row := range s.Table.Rows {
		cells := make([]string, len(t.columns))
		for i := range min(len(row), len(cells)) {
			cells[i] = r.Answer.CellText(row[i])
		}
		t.add(cells...)
	}
	return t
}

// addSections adds the tables that the procedure lays out, and what their columns are.
func (s *section) addSections(r *report.Report) {
	for _, part := range allSections(r) {
		if part.Table == nil || len(part.Table.Rows) == 0 {
			continue
		}
		tables, caveats := &s.tables, &s.caveats
		if part.Evidence {
			tables, caveats = &s.evidence.tables, &s.evidence.caveats
		}
		*tables, *caveats = append(*tables, sectionTable(r, part)), append(*caveats, part.Legend...)
	}
}

// sectionView is a section on the page. Its plot is drawn at two widths.
type sectionView struct {
	Title    string
	Legend   []string
	Folded   bool
	Table    grid
	Plot     *report.Plot
	Drawings []drawing
}

// sectionViews are the sections of a result on the page.
func sectionViews(r *report.Report, id string) (views []sectionView) {
	for i, s := range allSections(r) {
		v := sectionView{Title: s.Title, Legend: s.Legend, Folded: s.Evidence, Plot: s.Plot}
		switch {
		case s.Table != nil && len(s.Table.Rows) > 0:
			v.Table = gridOf(sectionTable(r, s))
		case s.Plot != nil && len(s.Plot.Points) > 0, isOfLines(s.Plot):
			for _, narrow := range []bool{false, true} {
				draw := newPlotDrawing
				switch {
				case isOfLines(s.Plot):
					draw = newLineDrawing
				case s.Plot.Ordered:
					draw = newOrderedDrawing
				}
				v.Drawings = append(v.Drawings, draw(r, s, id+"s"+strconv.Itoa(i), narrow))
			}
		default:
			continue
		}
		views = append(views, v)
	}
	return views
}

// plotDrawing draws a section's plot.
type plotDrawing struct {
	drawing
	plot report.Plot
	x    axis
	base float64 // the load at the left edge
	y    lossAxis
}

func newPlotDrawing(r *report.Report, s report.Section, id string, narrow bool) drawing {
	d := &plotDrawing{drawing: drawing{Class: "wide", Width: 1040, Height: 340, Title: s.Title}, plot: *s.Plot}
	if len(r.Answer.NearGenerators) > 0 {
		d.plot.Intervals = slices.Clone(d.plot.Intervals)
		for i := range d.plot.Intervals {
			d.plot.Intervals[i].High = ""
		}
	}
	left := 64.0
	if narrow {
		d.Class, d.Width, left = "narrow", 430, 48
	}
	d.ID = id + "-" + d.Class
	d.Desc = "A mark for each of " + wording.Counted(len(d.plot.Points), "trial") + ": what it lost, at which load"
	if len(d.plot.Curves) > 0 {
		d.Desc += "; with the curve of each function that fits all of them best"
	}
	d.Desc += "."
	low, high := d.reach()
	d.base, d.x = low, axis{top: high - low, from: left, end: d.Width - 16}
	d.y = lossAxisFor(sharesOf(d.plot), 30, d.Height-46)
	d.axes()
	for i, c := range d.plot.Curves {
		d.curve(c, i)
	}
	for _, p := range d.plot.Points {
		if d.isDrawn(p) {
			d.point(p)
		}
	}
	return d.drawing
}

// sharesOf are the shares that a plot's loss axis has to show.
func sharesOf(p report.Plot) (shares []float64) {
	for _, l := range p.Limits {
		shares = append(shares, l.Y.Float())
	}
	for _, p := range p.Points {
		shares = append(shares, p.Y.Float())
	}
	return shares
}

// limits marks a plot's limits across it.
func (d *drawing) limits(p report.Plot, y lossAxis, left, right float64) {
	for _, l := range p.Limits {
		if height := y.position(l.Y.Float()); l.Y.Float() > 0 {
			d.line("limit", left, height, right, height)
			d.label("end limit", right, height-4, l.Title)
		}
	}
}

// reach is from where to where the x axis goes.
func (d *plotDrawing) reach() (low, high float64) {
	low, high = math.Inf(1), 0.0
	for _, p := range d.plot.Points {
		low, high = min(low, p.X.Float()), max(high, p.X.Float())
	}
	if d.plot.X.Low != "" {
		low = d.plot.X.Low.Float()
	}
	if d.plot.X.High != "" {
		high = d.plot.X.High.Float()
	}
	return low, high
}

func (d *plotDrawing) isDrawn(p report.PlotPoint) bool {
	x := p.X.Float()
	return x >= d.base && x <= d.base+d.x.top
}

func (d *plotDrawing) position(x float64) float64 { return d.x.position(x - d.base) }

func (d *plotDrawing) point(p report.PlotPoint) {
	s := shape{D: mark(p.Sign, d.position(p.X.Float()), d.y.position(p.Y.Float()), 4), Class: signClass(p.Sign)}
	if d.Class == "wide" {
		s.Title = p.Text
	}
	d.Marks = append(d.Marks, s)
}

func (d *plotDrawing) axes() {
	for _, i := range d.plot.Intervals {
		if i.Low == "" {
			continue
		}
		start, end := d.position(i.Low.Float()), d.x.end
		if i.High != "" {
			end = d.position(i.High.Float())
		}
		d.band("chosen", start, d.y.top, max(1, end-start), d.y.zero-d.y.top, i.Title)
	}
	d.lossGrid(d.y, d.x.from, d.x.end)
	d.label("head", 2, 16, d.plot.Y.Title)
	name, factor := prefix(d.base + d.x.top)
	for _, v := range d.ticks() {
		d.line("tick", d.position(v), d.y.zero+6, d.position(v), d.y.zero+11)
		d.label("mid", d.position(v), d.y.zero+26, strconv.FormatFloat(v/factor, 'g', 6, 64))
	}
	beyond := 0
	for _, p := range d.plot.Points {
		if !d.isDrawn(p) {
			beyond++
		}
	}
	text := d.plot.X.Title + ", " + name + unitText(d.plot.X.Unit)
	if beyond > 0 {
		text += "; " + wording.Counted(beyond, "trial") + " at other loads not drawn"
	}
	d.label("end faint", d.x.end, d.Height-4, text)
	d.limits(d.plot, d.y, d.x.from, d.x.end)
}

// ticks are about six round values of the x axis.
func (d *plotDrawing) ticks() (values []float64) {
	const most = 8
	step := niceStep(d.x.top / 6)
	for v := math.Ceil(d.base/step) * step; v <= d.base+d.x.top && len(values) < most; v += step {
		values = append(values, v)
	}
	return values
}

// unitText is a figure's unit behind an SI prefix.
func unitText(unit string) string {
	if unit == "packets/s" {
		return "pps"
	}
	return unit
}

// curve draws the n-th curve, as far as its shares are on the axis.
func (d *plotDrawing) curve(c report.PlotCurve, n int) {
	var p pen
	smallest := math.Pow(10, -float64(d.y.decades))
	command := "M"
	for _, v := range c.Points {
		if share := v.Y.Float(); share >= smallest {
			p.to(command, d.position(v.X.Float()), d.y.position(share))
			command = "L"
		}
	}
	if command == "L" {
		d.Paths = append(d.Paths, shape{D: p.String(), Class: "fit c" + strconv.Itoa(n%2), Title: c.Name})
	}
}
