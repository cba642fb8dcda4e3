package render

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// trialsDrawing draws a search's trials, with what each lost, at which load. Loads stand side by side in ascending
// order, each as wide as it has trials, as most are close to the bounds. A line leads from trial to trial as they
// were made. Above it are each goal's two bounds.
//
//	NDR      ├──────┤
//	PDR             ├──────┤
//	100 % ┤                   ◆ 2
//	  1 % ┤            ▪ 7  ◆ 5
//	  0 % ┤ ● 3│ ● 6 ● 8 │   │
//	      └────┴──────┴───┴────── load
type trialsDrawing struct {
	drawing
	trials []trial // by load, and at one load in order of time
	loads  []loadColumn
	left   float64
	slot   float64 // of one trial
	y      lossAxis
}

// loadColumn are the trials at one load.
type loadColumn struct {
	load       units.Ratio
	rate       int64
	start, end float64
}

// How tall the drawing's parts are.
const (
	trialsHead   = 26
	trialsGoal   = 20
	trialsHeight = 230
	trialsFoot   = 46
)

// newTrialsDrawing draws the trials in which one direction varied, or with "" all of them. ok is false where there
// are none.
func newTrialsDrawing(r *report.Report, id, varied string, narrow bool) (drawing, bool) {
	trials := trialsOf(r, varied)
	if len(trials) == 0 {
		return drawing{}, false
	}
	d := &trialsDrawing{drawing: drawing{Class: "wide", Width: 1040, Title: "Loss of each trial, by load"},
		trials: trials, left: 64}
	if narrow {
		d.Class, d.Width, d.left = "narrow", 430, 48
	}
	d.ID = id + "-" + d.Class
	if varied != "" {
		d.Title += ", " + varied
	}
	d.Desc = "A mark for each of " + wording.Counted(len(trials), "trial") +
		", loads in ascending order and not to scale: what its worst direction lost."
	goals := goalsIn(r, varied)
	top := trialsHead + float64(len(goals))*trialsGoal + 10
	d.Height = top + trialsHeight + trialsFoot
	ratios := []float64{}
	for _, g := range report.PlanOf(r).Procedure.Search.Goals {
		ratios = append(ratios, g.LossRatio.Float())
	}
	for _, t := range trials {
		ratios = append(ratios, t.loss)
	}
	d.y = lossAxisFor(ratios, top, top+trialsHeight)
	d.order()
	d.axes(r, top)
	d.walk()
	for i, g := range goals {
		d.goal(g, trialsHead+float64(i)*trialsGoal)
	}
	d.marks()
	return d.drawing, true
}

// order puts the trials side by side, by load.
func (d *trialsDrawing) order() {
	slices.SortStableFunc(d.trials, func(a, b trial) int {
		return cmp.Or(cmp.Compare(a.window.Load, b.window.Load), cmp.Compare(a.window.Number, b.window.Number))
	})
	d.slot = (d.Width - 16 - d.left) / float64(len(d.trials))
	for i, t := range d.trials {
		if n := len(d.loads); n == 0 || d.loads[n-1].load != t.window.Load {
			d.loads = append(d.loads, loadColumn{load: t.window.Load, rate: t.rate, start: d.left + float64(i)*d.slot})
		}
		d.loads[len(d.loads)-1].end = d.left + float64(i+1)*d.slot
	}
}

// position is where the trial of a place in the order is drawn.
func (d *trialsDrawing) position(i int) (x, y float64) {
	return d.left + (float64(i)+0.5)*d.slot, d.y.position(d.trials[i].loss)
}

func (d *trialsDrawing) axes(r *report.Report, top float64) {
	right := d.Width - 16
	d.lossGrid(d.y, d.left, right)
	d.label("head", 2, 16, "loss per trial")
	name, factor := prefix(float64(d.loads[len(d.loads)-1].rate))
	free := d.left - 30
	for i, c := range d.loads {
		if i > 0 {
			d.line("grid", c.start, top, c.start, d.y.zero+6)
		}
		if middle := (c.start + c.end) / 2; middle-22 >= free {
			d.label("mid", middle, d.y.zero+22, strconv.FormatFloat(float64(c.rate)/factor, 'g', 4, 64))
			free = middle + 22
		}
	}
	d.label("end faint", right, d.y.zero+40, "load, "+name+"pps asked for (in order, not to scale)")
	for _, g := range report.PlanOf(r).Procedure.Search.Goals {
		if lossY := d.y.position(g.LossRatio.Float()); g.LossRatio > 0 {
			d.line("limit", d.left, lossY, right, lossY)
			d.label("end limit", right, lossY-4, g.Name+" "+wording.Ratio(g.LossRatio))
		}
	}
}

// walk leads from trial to trial as they were made.
func (d *trialsDrawing) walk() {
	places := make([]int, len(d.trials))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return d.trials[a].window.Number - d.trials[b].window.Number })
	var p pen
	for n, i := range places {
		x, y := d.position(i)
		p.to(map[bool]string{true: "M", false: "L"}[n == 0], x, y)
	}
	d.Paths = append(d.Paths, shape{D: p.String(), Class: "walk"})
}

// goalBounds are the loads that bound a goal, or 0 for none.
type goalBounds struct {
	name, irregular string
	lower, upper    units.Ratio
}

// goalsIn are the goals' bounds, or those of one direction's own search.
func goalsIn(r *report.Report, varied string) (goals []goalBounds) {
	for _, g := range r.Result.Goals {
		b := goalBounds{name: g.Name, irregular: g.Irregular}
		if g.Lower != nil {
			b.lower = g.Lower.Load
		}
		if g.Upper != nil {
			b.upper = g.Upper.Load
		}
		for _, d := range g.Result.Directions {
			if varied == "" || d.Name() != varied || d.Limit == nil {
				continue
			}
			if w := windowNumbered(r, d.Limit.Window); w != nil {
				b.lower = w.Load
			}
			if w := windowNumbered(r, d.Limit.Lossy); w != nil {
				b.upper = w.Load
			}
		}
		goals = append(goals, b)
	}
	return goals
}

// goal draws a goal's bounds from the middle of one load to that of the other. Where there is only one, an arrow
// leads away from it.
func (d *trialsDrawing) goal(g goalBounds, y float64) {
	middle := func(load units.Ratio) (float64, bool) {
		i := slices.IndexFunc(d.loads, func(c loadColumn) bool { return load > 0 && c.load == load })
		if i < 0 {
			return 0, false
		}
		return (d.loads[i].start + d.loads[i].end) / 2, true
	}
	start, hasLower := middle(g.lower)
	end, hasUpper := middle(g.upper)
	text := g.name
	if g.irregular != "" {
		text += ", irregular"
	}
	switch {
	case hasLower && hasUpper:
		d.band("chosen", start, y+10, end-start, d.y.zero-y-10, g.name+": between its lower and its upper bound")
	case hasLower:
		end = d.Width - 16
		text += ": met here, and nothing above is known not to"
	case hasUpper:
		start, text = d.left, text+": not met here, and nothing below is known to"
	default:
		d.label("start answer", d.left, y+14, text+": no bound")
		return
	}
	d.line("span", start, y+10, end, y+10)
	if hasLower {
		d.line("span", start, y+5, start, y+15)
	}
	if hasUpper {
		d.line("span", end, y+5, end, y+15)
	}
	class, x := "end answer", start-8
	if start-8-float64(8*len(text)) < d.left {
		class, x = "start answer", min(end+8, d.Width-16)
		if x+float64(8*len(text)) > d.Width {
			class, x = "end answer", d.Width-16
		}
	}
	d.label(class, x, y+14, text)
}

func (d *trialsDrawing) marks() {
	size := min(5, max(1.8, d.slot/3))
	for i, t := range d.trials {
		x, y := d.position(i)
		s := shape{D: trialMark(t.class, x, y, size), Class: t.class}
		if d.Class == "wide" {
			s.Title = t.title()
		}
		d.Marks = append(d.Marks, s)
		if d.slot >= 18 {
			d.label("mid small", x, y-9, strconv.Itoa(t.window.Number))
		}
	}
}

// trialMark is a trial's sign, which its form distinguishes as well as its colour.
func trialMark(class string, x, y, size float64) string {
	switch class {
	case "lossy":
		return mark(report.Lossy, x, y, size)
	case "invalid":
		return mark(report.Invalid, x, y, size)
	case "some": // a square
		var p pen
		p.to("M", x-size, y-size)
		p.to("H", x+size)
		p.to("V", y+size)
		p.to("H", x-size)
		p.WriteByte('Z')
		return p.String()
	}
	return mark(report.Good, x, y, size)
}
