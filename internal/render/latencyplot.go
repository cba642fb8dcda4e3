package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// distribution is how long all frames of a direction took at a load, whatever their size.
type distribution struct {
	Load    units.Ratio
	Frames  transit.Histogram
	reading transit.Reading
}

// distributionsOf are those of a direction at each load, in the order of the figures. Loads without a latency, and
// frames without a distribution in the Report, are left out.
func distributionsOf(r *report.Report, direction string) (distributions []distribution) {
	for _, l := range trialsAtLoads(r) {
		for _, d := range l.Directions {
			if d.Name() == direction {
				distributions = appendWhole(distributions, l.load, d)
			}
		}
	}
	return distributions
}

func appendWhole(distributions []distribution, load units.Ratio, d report.Direction) []distribution {
	whole, missing := distribution{Load: load}, int64(0)
	for _, l := range d.Latency {
		if missing += l.Came() - l.Timed(); l.Timed() <= 0 {
			continue // there is no distribution of nothing
		}
		h, err := transit.Decode(l.Histogram)
		if err != nil {
			return distributions
		}
		whole.Frames.Merge(h)
	}
	if whole.Frames.Frames() == 0 {
		return distributions
	}
	whole.reading = whole.Frames.Read(uint64(max(missing, 0)))
	return append(distributions, whole)
}

// latencyPlot is what is drawn of a direction's latency, at two widths each.
type latencyPlot struct {
	Name                string
	ByLoad, Percentiles []drawing
}

// latencyPlots draw each direction's latency by load, and its distribution at each load.
func latencyPlots(r *report.Report, reports []*report.Report, id string) (plots []latencyPlot) {
	for i, d := range report.PlanOf(r).Directions {
		distributions := distributionsOf(r, d.Name())
		if len(distributions) == 0 {
			continue
		}
		var cables []distribution
		for _, loop := range loopbacksOf(r, reports) {
			cables = append(cables, distributionsOf(loop, d.Name())...)
		}
		plot := latencyPlot{Name: d.Name()}
		for _, narrow := range []bool{false, true} {
			byLoad, tails := newByLoad(distributions, d.Name(), narrow), newTails(distributions, cables, d.Name(),
				narrow)
			byLoad.ID, tails.ID = fmt.Sprintf("%sa%d-%s", id, i, byLoad.Class), fmt.Sprintf("%st%d-%s", id, i,
				tails.Class)
			plot.ByLoad, plot.Percentiles = append(plot.ByLoad, byLoad), append(plot.Percentiles, tails)
		}
		plots = append(plots, plot)
	}
	return plots
}

// timeAxis maps times to a drawing by their logarithm.
type timeAxis struct {
	low, high  float64 // in nanoseconds, powers of ten
	start, end float64 // where these are drawn
}

// timeAxisOf reaches from the decade below the shortest of these times to the one above the longest.
func timeAxisOf(distributions []distribution, start, end float64) timeAxis {
	a := timeAxis{math.Inf(1), 10, start, end}
	for _, d := range distributions {
		shortest, _ := d.Frames.Percentile(0)
		longest, _ := d.Frames.Percentile(transit.Whole)
		a.low, a.high = min(a.low, decade(shortest, math.Floor)), max(a.high, decade(longest, math.Ceil))
	}
	if a.low >= a.high {
		a.high = 10 * a.low
	}
	return a
}

func decade(d time.Duration, round func(float64) float64) float64 {
	return math.Pow(10, round(math.Log10(float64(max(d, 1)))))
}

func (a timeAxis) position(d time.Duration) float64 {
	share := math.Log10(float64(d)/a.low) / math.Log10(a.high/a.low)
	return a.start + min(max(share, 0), 1)*(a.end-a.start)
}

// plotSize is a drawing of latency with room for its axes, and how far the plot reaches.
func plotSize(narrow bool) (d drawing, start, end float64) {
	if narrow {
		return drawing{Class: "narrow", Width: 430, Height: 320}, 58, 430 - 78
	}
	return drawing{Class: "wide", Width: 640, Height: 340}, 64, 640 - 110
}

// top and bottom of a plot of latency.
const (
	plotTop    = 28
	plotBottom = 46 // from below
)

func (d *drawing) timeGrid(a timeAxis, start, end float64) {
	for v := a.low; v <= a.high*1.001; v *= 10 {
		y := a.position(time.Duration(v))
		d.line("grid", start, y, end, y)
		d.label("end", start-7, y+4, wording.Nanoseconds(int64(math.Round(v))))
	}
	d.label("head", 2, 16, "latency")
}

// newByLoad draws percentiles over the load, with a line for each percentile that all loads tell.
//
//	latency
//	│              ╱ longest
//	│  ───────────╱  p99.9
//	│  ─────────── p50
//	└───────────── load
func newByLoad(distributions []distribution, name string, narrow bool) drawing {
	d, start, end := plotSize(narrow)
	d.Title, d.Desc = "Latency by load, "+name, "Percentiles of all frames of the direction, at "+
		wording.Counted(len(distributions), "load")+"."
	y, x := timeAxisOf(distributions, d.Height-plotBottom, plotTop), axis{top: 1, from: start, end: end}
	d.timeGrid(y, start, end)
	for _, loaded := range distributions {
		d.line("tick", x.position(loaded.Load.Float()), y.start, x.position(loaded.Load.Float()), y.start+5)
		d.label("mid", x.position(loaded.Load.Float()), y.start+20, wording.Share(loaded.Load))
	}
	d.label("end faint", end, d.Height-6, "load, as a share of the rate")
	lowest := math.Inf(1) // where the last name is
	for k, s := range []transit.Share{transit.P50, transit.P99, transit.P999, transit.P99999, transit.Whole} {
		class := "series s" + strconv.Itoa(k)
		var p pen
		previous := math.NaN()
		for _, byLoad := range slices.SortedFunc(slices.Values(distributions),
			func(a, b distribution) int { return cmp.Compare(a.Load, b.Load) }) {
			arrival, ok := arrivalOf(byLoad, s)
			if !ok {
				continue
			}
			previous = y.position(arrival)
			command := "L"
			if p.Len() == 0 {
				command = "M"
			}
			p.to(command, x.position(byLoad.Load.Float()), previous)
			d.Marks = append(d.Marks, shape{D: circle(x.position(byLoad.Load.Float()), previous, 3), Class: class,
				Title: fmt.Sprintf("%s at %s: %s", headOf(s.String()), figures.AtText(byLoad.Load),
					wording.Nanoseconds(arrival.Nanoseconds()))})
		}
		if p.Len() == 0 {
			continue
		}
		d.Paths = append(d.Paths, shape{D: p.String(), Class: class})
		lowest = min(lowest-13, previous)
		d.label("start", end+6, lowest+4, headOf(s.String()))
	}
	return d
}

// arrivalOf is the time within which a share of the frames came, or false where that is unknown.
func arrivalOf(d distribution, s transit.Share) (arrival time.Duration, ok bool) {
	for _, a := range d.reading.Shares {
		if a.Share == s {
			return a.Time, true
		}
	}
	return 0, false
}

// newTails draws each load's whole distribution as HdrHistogram's plots have it, where each nine more of the frames
// takes as much room as the last.
//
//	latency
//	│                   ┌── 90 %
//	│        ┌──────────┘┌─ 10 %
//	│ ───────┴───────────┘
//	└─┬──────┬─────┬─────┬─
//	  0     90 %  99 %  99.9 %  of the frames
func newTails(distributions, cables []distribution, name string, narrow bool) drawing {
	d, start, right := plotSize(narrow)
	d.Title, d.Desc = "Distribution of latency, "+name,
		"Within which time which share of the frames came, a line for each load."
	drawn := slices.Concat(distributions, cables)
	y := timeAxisOf(drawn, d.Height-plotBottom, plotTop)
	nines := 1.0
	for _, member := range drawn {
		nines = max(nines, math.Log10(float64(member.Frames.Frames())))
	}
	x := axis{top: math.Ceil(nines), from: start, end: right}
	d.timeGrid(y, start, right)
	for n := 0.0; n <= x.top; n++ {
		d.line("tick", x.position(n), y.start, x.position(n), y.start+5)
		text := strconv.FormatFloat(100*(1-math.Pow(10, -n)), 'f', max(0, int(n)-2), 64)
		if n < 5 || !narrow {
			d.label("mid", x.position(n), y.start+20, text)
		}
	}
	d.label("end faint", right, d.Height-6, "percent of the frames")
	for _, c := range cables {
		path, _ := tail(c, x, y)
		d.Paths = append(d.Paths, shape{D: path, Class: "cable"})
	}
	if len(cables) > 0 {
		d.label("start faint", start+8, plotTop+10, "dashed: a cable")
	}
	lowest := math.Inf(1)
	for k, member := range distributions {
		path, end := tail(member, x, y)
		d.Paths = append(d.Paths, shape{D: path, Class: "series s" + strconv.Itoa(k%5)})
		lowest = min(lowest-13, end)
		d.label("start", right+6, lowest+4, wording.Share(member.Load))
	}
	return d
}

// tail is a distribution as a path, up to the last frame but one. The last frame is all of them, which no axis of
// nines has. end is where the path ends.
func tail(d distribution, x axis, y timeAxis) (path string, end float64) {
	var p pen
	frames, counted := float64(d.Frames.Frames()), 0.0
	end = y.start
	for i, n := range d.Frames.All() {
		_, longest := transit.Bounds(i)
		height := y.position(min(longest, transit.Limit))
		if p.Len() == 0 {
			p.to("M", x.position(0), height)
		}
		if r1(height) != r1(end) {
			p.to("V", height)
		}
		counted += float64(n)
		p.to("H", x.position(-math.Log10(max(1-counted/frames, 1/frames))))
		end = height
	}
	return p.String(), end
}
