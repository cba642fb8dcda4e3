package render

import (
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// drawing is a picture in SVG, as the page's template writes it. Its shapes have classes, whose looks are the style
// sheet's.
type drawing struct {
	ID            string
	Class         string // wide, narrow
	Title, Desc   string
	Width, Height float64
	Bands         []box
	Lines         []stroke
	Paths         []shape
	Marks         []shape
	Labels        []label
	Plot          *box    // where a pointer reads values, over all panels
	End           float64 // seconds at the plot's right edge
}

type box struct {
	X, Y, W, H float64
	Class      string
	Title      string
}

type stroke struct {
	X1, Y1, X2, Y2 float64
	Class          string
}

type shape struct {
	D     string
	Class string
	Title string
}

type label struct {
	X, Y  float64
	Class string
	Text  string
}

// r1 rounds to a tenth, as a drawing needs no more.
func r1(v float64) float64 { return rounded(v, 10) }

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.Lines = append(d.Lines, stroke{r1(x1), r1(y1), r1(x2), r1(y2), class})
}

func (d *drawing) label(class string, x, y float64, text string) {
	d.Labels = append(d.Labels, label{r1(x), r1(y), class, text})
}

func (d *drawing) band(class string, x, y, w, h float64, title string) {
	d.Bands = append(d.Bands, box{r1(x), r1(y), r1(max(w, 0)), r1(max(h, 0)), class, title})
}

// mark puts a window's sign. A pointer over the sign shows the window, for which only the wide drawing has room.
func (d *drawing) mark(w judgedWindow, x, y, size float64) {
	s := shape{D: mark(report.PlotSign(w.quality), x, y, size), Class: qualityClass(w.quality)}
	if d.Class == "wide" {
		s.Title = w.title()
	}
	d.Marks = append(d.Marks, s)
}

// num writes a coordinate.
func num(v float64) string { return strconv.FormatFloat(r1(v), 'f', -1, 64) }

// pen writes a path's commands.
type pen struct{ strings.Builder }

func (p *pen) to(command string, coordinates ...float64) {
	p.WriteString(command)
	for i, c := range coordinates {
		if i > 0 {
			p.WriteByte(' ')
		}
		p.WriteString(num(c))
	}
}

// stairs draws each reading's value over the time that it covers. A value below 0 is unknown and leaves a gap.
func stairs(readings []reading, value func(reading) float64, x, y axis) string {
	var p pen
	open := false
	previous := 0.0
	for _, g := range readings {
		v := value(g)
		if v < 0 {
			open = false
			continue
		}
		valueY := r1(y.position(v))
		switch {
		case !open:
			p.to("M", x.position(g.start), valueY)
		case valueY != previous:
			p.to("H", x.position(g.start))
			p.to("V", valueY)
		}
		p.to("H", x.position(g.end))
		open, previous = true, valueY
	}
	return p.String()
}

// between fills what lies between two values of each reading, where the first is above the second.
func between(readings []reading, upper, lower func(reading) float64, x, y axis) string {
	var p pen
	for _, g := range readings {
		top, bottom := y.position(upper(g)), y.position(lower(g))
		if bottom-top < 0.5 {
			continue
		}
		p.to("M", x.position(g.start), top)
		p.to("H", x.position(g.end))
		p.to("V", bottom)
		p.to("H", x.position(g.start))
		p.WriteByte('Z')
	}
	return p.String()
}

// mark is a trial's sign, which its form distinguishes as well as its colour.
func mark(sign report.PlotSign, x, y, size float64) string {
	if sign == report.SignMixed {
		return square(x, y, size)
	}
	var p pen
	switch report.Quality(sign) {
	case report.Short: // a triangle
		p.to("M", x, y-size*1.2)
		p.to("L", x+size*1.1, y+size*0.8)
		p.to("L", x-size*1.1, y+size*0.8)
		p.WriteByte('Z')
	case report.Lossy: // a diamond
		p.to("M", x, y-size*1.25)
		p.to("L", x+size*1.25, y)
		p.to("L", x, y+size*1.25)
		p.to("L", x-size*1.25, y)
		p.WriteByte('Z')
	case report.Invalid: // a cross
		p.to("M", x-size, y-size)
		p.to("L", x+size, y+size)
		p.to("M", x+size, y-size)
		p.to("L", x-size, y+size)
	case report.Good, report.Unjudged:
		return circle(x, y, size)
	default:
		return circle(x, y, size)
	}
	return p.String()
}

func square(x, y, size float64) string {
	var p pen
	p.to("M", x-size, y-size)
	p.to("H", x+size)
	p.to("V", y+size)
	p.to("H", x-size)
	p.WriteByte('Z')
	return p.String()
}

func circle(x, y, size float64) string {
	var p pen
	p.to("M", x-size, y)
	p.to("a", size, size, 0, 1, 0, 2*size, 0)
	p.to("a", size, size, 0, 1, 0, -2*size, 0)
	p.WriteByte('Z')
	return p.String()
}

// signClass is the style sheet's name for a trial's sign.
func signClass(sign report.PlotSign) string {
	if sign == report.SignMixed {
		return "mixed"
	}
	return qualityClass(report.Quality(sign))
}

// qualityClass is the style sheet's name for a quality.
func qualityClass(q report.Quality) string {
	switch q {
	case report.Good, report.Short, report.Lossy, report.Invalid, report.Unjudged:
		return strings.ToLower(string(q))
	}
	return "invalid"
}

// Bottom is the box's lower edge.
func (b box) Bottom() float64 { return b.Y + b.H }
