package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// gateStrips is for how many rows of a gate at most each run is drawn where there is no page for all, and stripRuns
// for how many runs of a side. A comment must hold them.
const (
	gateStrips = 8
	stripRuns  = 20
)

// strip draws runs below each other on one scale, so that it is seen at once how far they lie apart, and whether
// one lies far from the rest.
//
//	baseline   night-main-64b-r1   1,780,000 to 1,788,900   ················├─┤·
//	candidate  night-vpp-64b-r1    1,691,000 to 1,699,500   ···├─┤··············
//	candidate  night-vpp-64b-r2    at least 1,702,000       ·····├▶·············
type strip struct {
	runs      []stripRun
	hidden    int // how many runs more there are
	low, high float64
}

// stripRun is a run of a side, with its place on the scale.
type stripRun struct {
	side, test string
	low, high  float64
	bound      bool // nothing is known of its other end
}

// stripOf are the runs of a row, those of the baseline first. It has none where the row has none.
func stripOf(r report.GateRow, limit int) (s strip) {
	s.low, s.high = math.Inf(1), math.Inf(-1)
	add := func(side string, runs []report.ComparedRun) {
		n := min(len(runs), limit)
		s.hidden += len(runs) - n
		for _, run := range runs[:n] {
			drawn := stripRun{side: side, test: run.Test, low: run.Low.Float(), high: run.Low.Float(),
				bound: run.High == ""}
			if !drawn.bound {
				drawn.high = run.High.Float()
			}
			s.runs, s.low, s.high = append(s.runs, drawn), min(s.low, drawn.low), max(s.high, drawn.high)
		}
	}
	if r.Baseline != nil {
		add("baseline", r.Baseline.Each)
	}
	add("candidate", r.Candidate.Each)
	if len(s.runs) > 0 && s.high <= s.low { // all are the same, in the middle of a scale
		s.low, s.high = s.low-1, s.high+1
	}
	return s
}

// text is a run's interval in numbers.
func (r stripRun) text() string {
	low, high := wording.Count(int64(math.Round(r.low))), wording.Count(int64(math.Round(r.high)))
	switch {
	case r.bound:
		return "at least " + low
	case low == high:
		return low
	}
	return low + " to " + high
}

// stripWidth is how many characters the scale of a strip of text has.
const stripWidth = 24

// line draws a run in characters, each a place on the scale.
func (s strip) line(r stripRun) string {
	place := func(v float64) int { return int(math.Round((v - s.low) / (s.high - s.low) * (stripWidth - 1))) }
	line := []rune(strings.Repeat("·", stripWidth))
	start, end := place(r.low), place(r.high)
	switch {
	case r.bound:
		line[start] = '├'
		if start+1 < stripWidth {
			line[start+1] = '▶'
		}
	case start == end:
		line[start] = '●'
	default:
		for i := start + 1; i < end; i++ {
			line[i] = '─'
		}
		line[start], line[end] = '├', '┤'
	}
	return string(line)
}

// section is the strip as evidence of a row, or false for none.
func (s strip) section(r report.GateRow) (section, bool) {
	if len(s.runs) == 0 {
		return section{}, false
	}
	t := newTable(2, "side", "run", unitOfRuns(r), "from the least to the greatest")
	for _, run := range s.runs {
		t.add(run.side, run.test, run.text(), s.line(run))
	}
	view := section{title: titleOf(r.Product, r.Loadtest) + ", run by run", summary: wording.Counted(len(s.runs)+
		s.hidden, "run"), tables: []*table{t}}
	if smallest := smallestWords(r.Candidate); smallest != "" {
		view.summary += "; " + smallest
	}
	if s.hidden > 0 {
		view.caveats = append(view.caveats, moreWords(s.hidden, "run"))
	}
	return view, true
}

// unitOfRuns is the head of a column of runs' figures.
func unitOfRuns(r report.GateRow) string {
	switch f := r.Candidate.Figures; {
	case f != nil && f.OfTrains():
		return "ns per frame"
	case f != nil && f.OfSessions():
		return "bits/s"
	}
	return "packets/s"
}

// smallestWords say which regression runs like these would have shown. They are empty where that isn't known.
func smallestWords(c report.Compared) string {
	if c.SmallestPercent == nil {
		return ""
	}
	return fmt.Sprintf("such runs show a regression from about %s %% on to be more than is allowed, in 95 of 100 cases",
		c.SmallestPercent.FormatFixed())
}

// smallestText is the same in a cell.
func smallestText(c report.Compared) string {
	if c.SmallestPercent == nil {
		return "-"
	}
	return "from " + c.SmallestPercent.FormatFixed() + "%"
}

// newStripDrawing draws the runs of a row for a page, or returns false for none.
func newStripDrawing(r report.GateRow, id string, narrow bool) (drawing, bool) {
	s := stripOf(r, math.MaxInt)
	if len(s.runs) == 0 {
		return drawing{}, false
	}
	const rowHeight, top = 20.0, 12.0
	d := drawing{ID: id + "-wide", Class: "wide", Width: 1040, Title: titleOf(r.Product, r.Loadtest) + ", run by run",
		Desc: fmt.Sprintf("The interval of each of %s, in %s.", wording.Counted(len(s.runs), "run"), unitOfRuns(r))}
	x := axis{top: s.high - s.low, from: 300, end: 1010}
	if narrow {
		d.ID, d.Class, d.Width, x.from, x.end = id+"-narrow", "narrow", 430, 90, 410
	}
	bottom := top + rowHeight*float64(len(s.runs))
	d.Height = bottom + 30
	name, factor := prefix(s.high)
	for _, v := range []float64{s.low, (s.low + s.high) / 2, s.high} {
		d.line("grid", x.position(v-s.low), top, x.position(v-s.low), bottom)
		d.label("mid", x.position(v-s.low), bottom+18, short(v/factor)+" "+name)
	}
	for i, run := range s.runs {
		y := top + rowHeight*(float64(i)+0.5)
		words := run.side
		if !narrow {
			words += " " + run.test
		}
		d.label("end", x.from-14, y+4, words)
		start, end := x.position(run.low-s.low), x.position(run.high-s.low)
		d.line("run "+run.side, start, y, end, y)
		shape := shape{D: circle(start, y, 4), Class: "point", Title: run.test + ": " + run.text()}
		if run.bound {
			shape.Class = "bound"
		}
		d.Marks = append(d.Marks, shape)
	}
	return d, true
}
