package render

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// benchmarkPage is an RFC2544 as the page's template writes it.
type benchmarkPage struct{ Products []benchmarkView }

type benchmarkView struct {
	Title, Statement string
	Throughput, Loss benchmarkGraph
	ZoomedLoss       benchmarkGraph // of frame loss, where all of it is close to nothing of what the media carries
	Rates, Losses    grid
	Facts            []fact
	Remarks          []remark
}

// benchmarkGraph is a graph with the key of its lines.
type benchmarkGraph struct {
	Drawings []drawing
	Keys     []benchmarkKey
}

type benchmarkKey struct{ Class, Text string }

func newBenchmarkPage(v *view, b *report.RFC2544) *benchmarkPage {
	p := new(benchmarkPage)
	for i, s := range v.sections {
		id := "b" + strconv.Itoa(i+1)
		shown := benchmarkView{Title: s.title, Statement: s.summary, Facts: s.facts, Remarks: s.remarks,
			Throughput: throughputGraph(b, s.title, id+"t")}
		shown.Loss, shown.ZoomedLoss = lossGraphs(b, s.title, id+"l")
		if t := throughputTable(b, s.title); t != nil {
			shown.Rates = t.grid(combined, nil)
		}
		if t := frameLossTable(b, s.title); t != nil {
			shown.Losses = t.grid(combined, nil)
		}
		p.Products = append(p.Products, shown)
	}
	return p
}

// benchmarkLine is one line of a graph, with its name, and its points from left to right.
type benchmarkLine struct {
	name   string
	points []benchmarkPoint
}

type benchmarkPoint struct {
	x, y  float64
	title string
}

// addTo puts a point on the line of a name, which it makes where there is none yet.
func addTo(lines []benchmarkLine, name string, p benchmarkPoint) []benchmarkLine {
	i := slices.IndexFunc(lines, func(l benchmarkLine) bool { return l.name == name })
	if i < 0 {
		i, lines = len(lines), append(lines, benchmarkLine{name: name})
	}
	lines[i].points = append(lines[i].points, p)
	return lines
}

// lineColors is how many lines have a colour of their own.
const lineColors = 6

func lineClass(i int) string {
	class := "line" + strconv.Itoa(i%lineColors)
	if i/lineColors%2 == 1 {
		class += " dashed"
	}
	return class
}

func keysOf(lines []benchmarkLine) (keys []benchmarkKey) {
	for i, l := range lines {
		keys = append(keys, benchmarkKey{lineClass(i), l.name})
	}
	return keys
}

// benchmarkGraphOf draws lines in both widths. Without lines there is no graph.
func benchmarkGraphOf(lines []benchmarkLine, draw func(narrow bool) drawing, extra ...benchmarkKey) benchmarkGraph {
	if len(lines) == 0 {
		return benchmarkGraph{}
	}
	return benchmarkGraph{Drawings: []drawing{draw(false), draw(true)}, Keys: append(keysOf(lines), extra...)}
}

// throughputGraph is section 26.1's, the frame rate over the frame size, beside what the media carries. Of a Report
// whose search has several goals it draws the one that allows least loss.
func throughputGraph(b *report.RFC2544, product, id string) benchmarkGraph {
	var lines []benchmarkLine
	media := map[string]report.Stream{}
	for _, p := range b.Throughput {
		stricter := slices.ContainsFunc(b.Throughput,
			func(o report.ThroughputPoint) bool { return o.Stream == p.Stream && o.LossAllowed < p.LossAllowed })
		if p.Stream.Product != product || stricter || p.Stream.FrameBytes == "" {
			continue
		}
		if p.Stream.TheoreticalPacketsPerSecond > 0 {
			media[mediaText(p.Stream)] = p.Stream
		}
		lines = addTo(lines, p.Stream.Direction, benchmarkPoint{p.Stream.FrameBytes.Float(),
			float64(p.Received.PacketsPerSecond),
			p.Stream.Direction + ", " + frameText(p.Stream) + " bytes: " + pointSign(p) +
				wording.Count(p.Received.PacketsPerSecond) + " frames/s of " + theoryText(p.Stream)})
	}
	var extra []benchmarkKey
	if len(media) > 0 {
		extra = append(extra, benchmarkKey{"theory", "theoretical"})
	}
	return benchmarkGraphOf(lines, func(narrow bool) drawing {
		return throughputDrawing(lines, media, product, id,
			narrow)
	}, extra...)
}

// newBenchmarkDrawing has a title and its place on the page.
func newBenchmarkDrawing(title, desc, id string, narrow bool) (d drawing, left float64) {
	d, left = drawing{Class: "wide", Width: 1040, Height: 400, Title: title, Desc: desc}, 76
	if narrow {
		d.Class, d.Width, d.Height, left = "narrow", 430, 320, 56
	}
	d.ID = id + "-" + d.Class
	return d, left
}

func throughputDrawing(lines []benchmarkLine, media map[string]report.Stream, product, id string, narrow bool) drawing {
	d, left := newBenchmarkDrawing("Throughput over frame size, "+product,
		"Frames per second over bytes per frame; a line for each direction, and what the media carries in theory.", id,
		narrow)
	largest, top, lowest := 1518.0, 1.0, math.Inf(1)
	for _, l := range lines {
		for _, p := range l.points {
			largest, top = max(largest, p.x), max(top, p.y)
			if p.y > 0 {
				lowest = min(lowest, p.y)
			}
		}
	}
	const smallest = 64
	theory := func(s report.Stream, bytes float64) float64 { return float64(s.LineRate) / (8 * (bytes + 20)) }
	for _, s := range media {
		top, lowest = max(top, theory(s, smallest)), min(lowest, theory(s, largest))
	}
	x := axis{top: largest * 1.03, from: left, end: d.Width - 20}
	y, log := rateAxis{axis: axis{top: top * 1.08, from: d.Height - 46, end: 30}}, ""
	if lowest < top/50 { // else the device's line lies on the axis
		y.decade, log = math.Pow(10, math.Floor(math.Log10(lowest))), ", logarithmic"
	}
	name, factor := prefix(top)
	for _, v := range y.ticks(factor) {
		d.line("grid", x.from, y.position(v), x.end, y.position(v))
		d.label("end", x.from-7, y.position(v)+4, short(v/factor))
	}
	d.label("head", 2, 16, "throughput, "+name+"frames/s"+log)
	previous := math.Inf(-1)
	for _, size := range slices.Concat(ethernetSizes(), []float64{4096, 9216}) {
		if tickX := x.position(size); size <= largest && tickX-previous >= 34 {
			d.line("tick", tickX, y.from, tickX, y.from+5)
			d.label("mid", tickX, y.from+20, short(size))
			previous = tickX
		}
	}
	d.label("end faint", x.end, d.Height-6, "frame size, bytes with FCS")
	for _, name := range slices.Sorted(maps.Keys(media)) {
		var p pen
		for i := range 120 {
			bytes := smallest * math.Pow(largest/smallest, float64(i)/119)
			p.to(map[bool]string{true: "M", false: "L"}[i == 0], x.position(bytes),
				y.position(theory(media[name], bytes)))
		}
		d.Paths = append(d.Paths, shape{D: p.String(), Class: "theory"})
	}
	d.drawLines(lines, x.position, y.position)
	return d
}

// rateAxis is an axis of rates. It is linear, or, with a decade at its bottom, logarithmic.
type rateAxis struct {
	axis
	decade float64
}

func (a rateAxis) position(v float64) float64 {
	if a.decade <= 0 {
		return a.axis.position(v)
	}
	span := math.Log10(a.top / a.decade)
	return a.from + min(max(math.Log10(max(v, a.decade)/a.decade), 0), span)/span*(a.end-a.from)
}

func (a rateAxis) ticks(factor float64) (ticks []float64) {
	if a.decade > 0 {
		for v := a.decade; v <= a.top && len(ticks) < 16; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	for _, v := range (axis{top: a.top / factor}).ticks(6) {
		ticks = append(ticks, v*factor)
	}
	return ticks
}

// nearPercent is the input rate below which a device's frame loss is drawn once more, magnified. From 0 to 100 % it
// is one point.
const nearPercent = 25

// lossGraphs are section 26.3's. They are the percent lost over the input as a percent of what the media carries,
// both from 0 to 100, and the part of that where there are points, if it is small.
func lossGraphs(b *report.RFC2544, product, id string) (whole, zoomed benchmarkGraph) {
	var lines []benchmarkLine
	highest := 0.0
	for _, p := range b.Loss {
		if p.Stream.Product != product || p.Stream.TheoreticalPacketsPerSecond == 0 {
			continue
		}
		x, y := p.InputPercent.Ratio().Float()*100, p.LossRatio.Float()*100
		highest = max(highest, x)
		lines = addTo(lines, frameText(p.Stream)+" bytes, "+p.Stream.Direction,
			benchmarkPoint{x, y, p.Stream.Direction + ", " + frameText(p.Stream) + " bytes: " +
				short(rounded(y, 10_000)) + " % lost of an input of " + p.InputPercent.FormatFixed() + " %"})
	}
	whole = benchmarkGraphOf(lines, func(narrow bool) drawing { return lossDrawing(lines, product, id, 100, narrow) })
	if highest > 0 && highest < nearPercent {
		zoomed = benchmarkGraphOf(lines, func(narrow bool) drawing {
			return lossDrawing(lines, product, id+"n",
				highest*1.05, narrow)
		})
	}
	return whole, zoomed
}

func lossDrawing(lines []benchmarkLine, product, id string, highest float64, narrow bool) drawing {
	d, left := newBenchmarkDrawing("Frame loss rate over input rate, "+product,
		"Percent of frames lost over the input rate, as a percent of what the media carries at that frame size; a line for each frame size and direction.", id, narrow)
	x, y := axis{top: highest, from: left, end: d.Width - 20}, axis{top: 100, from: d.Height - 46, end: 30}
	for _, v := range y.ticks(5) {
		d.line("grid", x.from, y.position(v), x.end, y.position(v))
		d.label("end", x.from-7, y.position(v)+4, short(v))
	}
	for _, v := range x.ticks(5) {
		d.line("tick", x.position(v), y.from, x.position(v), y.from+5)
		d.label("mid", x.position(v), y.from+20, short(v))
	}
	d.label("head", 2, 16, "frames lost, %")
	d.label("end faint", x.end, d.Height-6, "input rate, % of what the media carries")
	d.drawLines(lines, x.position, y.position)
	return d
}

// drawLines draws lines with a mark at each point.
func (d *drawing) drawLines(lines []benchmarkLine, x, y func(float64) float64) {
	for i, l := range lines {
		slices.SortStableFunc(l.points, func(a, b benchmarkPoint) int { return cmp.Compare(a.x, b.x) })
		var p pen
		for n, point := range l.points {
			p.to(map[bool]string{true: "M", false: "L"}[n == 0], x(point.x), y(point.y))
			size := 5.5 // of lines on one another the first is seen around the second
			if i%2 == 1 {
				size = 3.2
			}
			s := shape{D: circle(x(point.x), y(point.y), size), Class: "dot " + lineClass(i)}
			if d.Class == "wide" {
				s.Title = point.title
			}
			d.Marks = append(d.Marks, s)
		}
		d.Paths = append(d.Paths, shape{D: p.String(), Class: lineClass(i)})
	}
}
