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

// atLoadWords say what the table of latency by load is.
const atLoadWords = "Latency by load is of a trial at each load, after the result: a load is a share of the rate that the procedure found or held, 0 % single frames, and lost frames have no latency. It is from the stamp in each frame, right before it is sent, " +
	"to the receiving port; each time is at most 1 % too long. Jitter is the mean difference between two frames that followed each other. The generator's own part is in it and is never subtracted: " +
	"give the Report of the same test with a Loopback beside this one, and it stands below each row."

func atLoadWordsOf(r *report.Report) string {
	if sample := sampleWords(r); sample != "" {
		return sample + " " + atLoadWords
	}
	return atLoadWords
}

// sampleWords say which frames latency is of where not every frame is timed. They are empty where every frame is.
func sampleWords(r *report.Report) string {
	for _, l := range trialsAtLoads(r) {
		for _, d := range l.Directions {
			for _, s := range d.Latency {
				if s.Sample != nil {
					return fmt.Sprintf("Latency is a sample here: of a latency stream of each frame size beside the load, %s of one flow in each direction, and not of every frame. The generator tells its times in steps of %s, each rounded up.",
						wording.PacketRate(s.Sample.PacketsPerSecond),
						wording.Nanoseconds(s.Sample.ResolutionNanoseconds))
				}
			}
		}
	}
	return ""
}

// atLoadTable has how long frames were under way at each load, by direction and frame size. Below each row is what
// a Loopback in the same document had at the same share of its own rate. It is nil where nobody measured it.
func atLoadTable(r *report.Report, reports []*report.Report) *table {
	heads := []string{"latency at load", "frames"}
	for _, s := range shares {
		heads = append(heads, headOf(s))
	}
	t := newTable(1, append(heads, "jitter", "lost")...)
	for _, l := range trialsAtLoads(r) {
		for _, d := range l.Directions {
			for _, s := range d.Latency {
				t.rows = append(t.rows, rowAtLoad(wording.Share(l.load)+" "+wording.Direction(d.From, d.To)+", "+
					sizeText(s), d, s))
				for _, loop := range loopbacksOf(r, reports) {
					if loopback, size, found := sameFrames(loop, l.load, d, s.FrameSize); found {
						t.rows = append(t.rows, rowAtLoad("· a cable, at "+
							wording.PacketRate(loopback.Offered.PacketsPerSecond), loopback, size))
					}
				}
			}
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t.withoutEmptyColumns()
}

// headOf is a column's head. The whole is the longest time.
func headOf(share string) string {
	if share == "all" {
		return "longest"
	}
	return share
}

func rowAtLoad(name string, d report.Direction, l report.Latency) []string {
	row := []string{name, timedOf(l)}
	for _, share := range shares {
		row = append(row, percentileText(l, share))
	}
	jitter, lost := "", ""
	if l.JitterNanoseconds != nil {
		jitter = wording.Nanoseconds(*l.JitterNanoseconds)
	}
	if d.LossRatio != 0 {
		lost = wording.Loss(d.LossRatio)
	}
	return append(row, jitter, lost)
}

// atLoadWarnings tell at which loads latency was to be measured and wasn't, and why.
func atLoadWarnings(r *report.Report) (warnings []string) {
	for _, l := range trialsAtLoads(r) {
		for _, m := range l.missing {
			warnings = append(warnings,
				fmt.Sprintf("latency%s at %s was not measured: %s", m.suffix, wording.Share(l.load), m.reason))
		}
	}
	return warnings
}

// trialAtLoad is the trial of latency at one load, with the directions that have one.
type trialAtLoad struct {
	report.Window

	load    units.Ratio
	missing []missingLatency
}

// missingLatency is why a trial, or one direction of it, has no latency.
type missingLatency struct{ suffix, reason string }

// trialsAtLoads are the trials of latency, in the order of the figures.
func trialsAtLoads(r *report.Report) (trials []trialAtLoad) {
	for _, f := range r.Answer.Figures {
		if f.LatencyLoad == nil || len(trials) > 0 && trials[len(trials)-1].load == *f.LatencyLoad {
			continue
		}
		t := trialAtLoad{load: *f.LatencyLoad}
		if i := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == f.Window }); i >= 0 {
			t.Window = r.Windows[i]
		} else {
			t.missing = append(t.missing, missingLatency{"", f.Missing})
		}
		t.Directions = slices.DeleteFunc(slices.Clone(t.Directions), func(d report.Direction) bool {
			reason := whyNoLatency(r, t.load, d.Name())
			if reason != "" {
				t.missing = append(t.missing, missingLatency{" of " + wording.Direction(d.From, d.To), reason})
			}
			return reason != ""
		})
		trials = append(trials, t)
	}
	return trials
}

// whyNoLatency is the reason that all figures of a direction at a load are missing for. It is empty where some figure
// is there, or they have several reasons.
func whyNoLatency(r *report.Report, at units.Ratio, direction string) (reason string) {
	for _, f := range r.Answer.Figures {
		if f.LatencyLoad == nil || *f.LatencyLoad != at || f.Direction != direction {
			continue
		}
		if f.Missing == "" || reason != "" && f.Missing != reason {
			return ""
		}
		reason = f.Missing
	}
	return reason
}

// percentileText is a percentile of frames for people, or empty for none.
func percentileText(l report.Latency, share string) string {
	p, ok := l.Of(share)
	switch {
	case !ok:
		return ""
	case p.Open:
		return "over " + wording.Nanoseconds(p.Nanoseconds)
	}
	return wording.Nanoseconds(p.Nanoseconds)
}

// sameFrames are those of another Report at the same share of its rate, in the same direction and of the same size.
func sameFrames(r *report.Report, load units.Ratio, template report.Direction,
	size int64) (d report.Direction, l report.Latency, found bool) {
	for _, candidate := range trialsAtLoads(r) {
		for _, d := range candidate.Directions {
			for _, l := range d.Latency {
				if candidate.load == load && d.Name() == template.Name() && l.FrameSize == size {
					return d, l, true
				}
			}
		}
	}
	return d, l, false
}

// distribution is how long all frames of a direction took at a load, whatever their size.
type distribution struct {
	At      units.Ratio
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
	whole, missing := distribution{At: load}, int64(0)
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
	low, high float64 // in nanoseconds, powers of ten
	from, end float64 // where these are drawn
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
	return a.from + min(max(share, 0), 1)*(a.end-a.from)
}

// plotSize is a drawing of latency with room for its axes, and how far the plot reaches.
func plotSize(narrow bool) (d drawing, left, right float64) {
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

func (d *drawing) timeGrid(a timeAxis, left, right float64) {
	for v := a.low; v <= a.high*1.001; v *= 10 {
		y := a.position(time.Duration(v))
		d.line("grid", left, y, right, y)
		d.label("end", left-7, y+4, wording.Nanoseconds(int64(math.Round(v))))
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
	d, left, right := plotSize(narrow)
	d.Title, d.Desc = "Latency by load, "+name, "Percentiles of all frames of the direction, at "+
		wording.Counted(len(distributions), "load")+"."
	y, x := timeAxisOf(distributions, d.Height-plotBottom, plotTop), axis{top: 1, from: left, end: right}
	d.timeGrid(y, left, right)
	for _, one := range distributions {
		d.line("tick", x.position(one.At.Float()), y.from, x.position(one.At.Float()), y.from+5)
		d.label("mid", x.position(one.At.Float()), y.from+20, wording.Share(one.At))
	}
	d.label("end faint", right, d.Height-6, "load, as a share of the rate")
	lowest := math.Inf(1) // where the last name is
	for k, s := range []transit.Share{transit.P50, transit.P99, transit.P999, transit.P99999, transit.Whole} {
		class := "series s" + strconv.Itoa(k)
		var p pen
		previous := math.NaN()
		for _, byLoad := range slices.SortedFunc(slices.Values(distributions),
			func(a, b distribution) int { return cmp.Compare(a.At, b.At) }) {
			arrival, ok := arrivalOf(byLoad, s)
			if !ok {
				continue
			}
			previous = y.position(arrival)
			command := "L"
			if p.Len() == 0 {
				command = "M"
			}
			p.to(command, x.position(byLoad.At.Float()), previous)
			d.Marks = append(d.Marks, shape{D: circle(x.position(byLoad.At.Float()), previous, 3), Class: class,
				Title: fmt.Sprintf("%s at %s: %s", headOf(s.String()), figures.AtText(byLoad.At),
					wording.Nanoseconds(arrival.Nanoseconds()))})
		}
		if p.Len() == 0 {
			continue
		}
		d.Paths = append(d.Paths, shape{D: p.String(), Class: class})
		lowest = min(lowest-13, previous)
		d.label("start", right+6, lowest+4, headOf(s.String()))
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
	d, left, right := plotSize(narrow)
	d.Title, d.Desc = "Distribution of latency, "+name,
		"Within which time which share of the frames came, a line for each load."
	drawn := slices.Concat(distributions, cables)
	y := timeAxisOf(drawn, d.Height-plotBottom, plotTop)
	nines := 1.0
	for _, member := range drawn {
		nines = max(nines, math.Log10(float64(member.Frames.Frames())))
	}
	x := axis{top: math.Ceil(nines), from: left, end: right}
	d.timeGrid(y, left, right)
	for n := 0.0; n <= x.top; n++ {
		d.line("tick", x.position(n), y.from, x.position(n), y.from+5)
		text := strconv.FormatFloat(100*(1-math.Pow(10, -n)), 'f', max(0, int(n)-2), 64)
		if n < 5 || !narrow {
			d.label("mid", x.position(n), y.from+20, text)
		}
	}
	d.label("end faint", right, d.Height-6, "percent of the frames")
	for _, c := range cables {
		path, _ := tail(c, x, y)
		d.Paths = append(d.Paths, shape{D: path, Class: "cable"})
	}
	if len(cables) > 0 {
		d.label("start faint", left+8, plotTop+10, "dashed: a cable")
	}
	lowest := math.Inf(1)
	for k, member := range distributions {
		path, end := tail(member, x, y)
		d.Paths = append(d.Paths, shape{D: path, Class: "series s" + strconv.Itoa(k%5)})
		lowest = min(lowest-13, end)
		d.label("start", right+6, lowest+4, wording.Share(member.At))
	}
	return d
}

// tail is a distribution as a path, up to the last frame but one. The last frame is all of them, which no axis of
// nines has. end is where the path ends.
func tail(d distribution, x axis, y timeAxis) (path string, end float64) {
	var p pen
	frames, counted := float64(d.Frames.Frames()), 0.0
	end = y.from
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
