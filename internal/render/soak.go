package render

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// soakWords say what the table of critical loads holds.
const soakWords = "Critical load: where the device loses the loss ratio on average, as curves fitted to all trials have it. It lies between the two ends with at least 95 % for each of the functions. " +

	"Sent and lost are of all trials. ≥: no load that was offered is known to be too much."

// soakAnswerWords say what the figures of an estimate are. They are empty where no direction is estimated, and all
// figures are lower bounds. Where one direction is estimated and another is open above, they name both.
func soakAnswerWords(r *report.Report) string {
	if r.Result.LowerBound() {
		return ""
	}
	open := openDirections(r)
	if len(open) == 0 {
		return "at this load the device loses " + wording.Ratio(report.PlanOf(r).Procedure.MaxLossRatio) +
			" of its frames on average, as far as trials of finite length show."
	}
	var closed []string
	for _, d := range r.Result.Directions {
		if name := wording.Direction(d.From, d.To); !slices.Contains(open, name) {
			closed = append(closed, name)
		}
	}
	return "in " + strings.Join(closed, " and ") + " the device loses " +
		wording.Ratio(report.PlanOf(r).Procedure.MaxLossRatio) +
		" of its frames on average at this load, as far as trials of finite length show; in " +
		strings.Join(open, " and ") + " no load that was offered is known to be too much, and the figure is a lower bound."
}

// openDirections are the directions of a soak whose critical load is bounded from below alone.
func openDirections(r *report.Report) (names []string) {
	for _, d := range r.Result.Directions {
		if l := r.Result.CriticalLoadOf(d); l != nil && l.High == "" {
			names = append(names, wording.Direction(d.From, d.To))
		}
	}
	return names
}

// soakTable has the critical load of each direction. It is nil where there is none.
func soakTable(r *report.Report) *table {
	t := newTable(1, "critical load", "loss ratio", "estimate", "deviation", "from", "to", "stretch", "erf", "trials",
		"sent", "lost")
	for _, d := range r.Result.Directions {
		if l := r.Result.CriticalLoadOf(d); l != nil {
			t.add(soakCells(d, *l)...)
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

func soakCells(d report.Direction, l report.CriticalLoad) []string {
	text := func(n report.Number) string {
		if n == "" {
			return "–"
		}
		return wording.RoundedPacketRate(n.Float())
	}
	models := map[string]string{string(losscurve.Stretch): "–", string(losscurve.Erf): "–"}
	for _, s := range l.Shapes {
		if l.PacketsPerSecond != "" { // else an end is open, and so is each function's estimate
			models[s.Shape] = text(s.PacketsPerSecond)
		}
	}
	low := text(l.Low)
	if l.Low != "" && l.High == "" {
		low = "≥" + low
	}
	return []string{wording.Direction(d.From, d.To), l.LossRatio.String(), text(l.PacketsPerSecond), text(l.Deviation),
		low, text(l.High), models[string(losscurve.Stretch)], models[string(losscurve.Erf)],
		wording.Count(int64(l.Trials)), wording.Count(l.Sent), wording.Count(l.Lost)}
}

// soakView is a direction's trials with the curves that fit them, drawn at two widths.
type soakView struct {
	Name     string
	Drawings []drawing
}

func soakViews(r *report.Report, id string) (views []soakView) {
	for i, d := range r.Result.Directions {
		if d.CriticalLoad == nil {
			continue
		}
		v := soakView{Name: d.Name()}
		for _, narrow := range []bool{false, true} {
			if drawn, ok := newSoakDrawing(r, i, id+"s"+strconv.Itoa(i), narrow); ok {
				v.Drawings = append(v.Drawings, drawn)
			}
		}
		if len(v.Drawings) > 0 {
			views = append(views, v)
		}
	}
	return views
}

// soakDrawing draws what each trial of a soak lost over its load, the curve of each function that fits best, and
// where the critical load lies.
//
//	100 % ┤          ◆ ─
//	  1 % ┤       ▒◆/
//	ratio ┤╌╌╌╌╌╌╌▒/╌╌╌╌
//	  0 % ┤ ●  ●  ▒
//	      └────────────── load
type soakDrawing struct {
	drawing
	load report.CriticalLoad
	x    axis
	base float64 // the load at the left edge
	y    lossAxis
}

// near is how many times as far from the interval's middle as its ends the drawing reaches. Further away there is
// nothing more to see.
const margin = 12

// newSoakDrawing draws a direction. ok is false where there was no trial.
func newSoakDrawing(r *report.Report, direction int, id string, narrow bool) (drawing, bool) {
	m := r.Result.Directions[direction]
	trials := soakTrials(r, direction)
	if len(trials) == 0 {
		return drawing{}, false
	}
	d := &soakDrawing{drawing: drawing{Class: "wide", Width: 1040, Height: 340, Title: "Loss ratio over load, " +
		m.Name()}, load: *r.Result.CriticalLoadOf(m)}
	left := 64.0
	if narrow {
		d.Class, d.Width, left = "narrow", 430, 48
	}
	d.ID = id + "-" + d.Class
	d.Desc = "A mark for each of " + wording.Counted(len(trials), "trial") +
		": what it lost, at which load; with the curve of each function that fits all of them best, and the interval of the critical load."
	low, high := d.reach(trials)
	d.base, d.x = low, axis{top: high - low, from: left, end: d.Width - 16}
	ratios := []float64{d.load.LossRatio.Float()}
	for _, t := range trials {
		ratios = append(ratios, t.lost)
	}
	d.y = lossAxisFor(ratios, 30, d.Height-46)
	d.axes(trials)
	for _, s := range d.load.Shapes {
		d.fitted(s)
	}
	for _, t := range trials {
		if t.load < low || t.load > high {
			continue
		}
		s := shape{D: mark(t.quality(), d.position(t.load), d.y.position(t.lost), 4), Class: qualityClass(t.quality())}
		if d.Class == "wide" {
			s.Title = "window " + strconv.Itoa(t.number) + ": " + wording.PacketRate(int64(math.Round(t.load))) +
				" offered, " + wording.Count(t.frames) + " of " + wording.Count(t.sent) + " lost"
		}
		d.Marks = append(d.Marks, s)
	}
	return d.drawing, true
}

// soakTrial is a trial of a direction.
type soakTrial struct {
	number       int
	load, lost   float64
	frames, sent int64
	invalid      bool
}

// quality is as its sign is drawn. However little a trial lost, it is one with loss.
func (t soakTrial) quality() report.Quality {
	switch {
	case t.invalid:
		return report.Invalid
	case t.frames > 0:
		return report.Lossy
	}
	return report.Good
}

func soakTrials(r *report.Report, direction int) (trials []soakTrial) {
	for _, w := range r.Windows {
		if w.Phase != report.Trial || direction >= len(w.Directions) {
			continue
		}
		m := w.Directions[direction]
		sent := m.Sent.Packets - m.GeneratorDrops()
		if sent <= 0 {
			continue
		}
		lost := min(sent, max(0, sent-m.Returned.Packets))
		trials = append(trials, soakTrial{w.Number, float64(m.Offered.PacketsPerSecond), float64(lost) / float64(sent),
			lost, sent, m.Quality == report.Invalid})
	}
	return trials
}

// reach is from which load to which the drawing goes, around the interval, as far as there are trials.
func (d *soakDrawing) reach(trials []soakTrial) (low, high float64) {
	low, high = math.Inf(1), 0.0
	for _, t := range trials {
		low, high = min(low, t.load), max(high, t.load)
	}
	if d.load.Low != "" && d.load.High != "" {
		start, end := d.load.Low.Float(), d.load.High.Float()
		offset := margin * max(end-start, end/1e4) / 2
		low, high = max(low, (start+end)/2-offset), min(high, (start+end)/2+offset)
		low, high = min(low, start), max(high, end)
	}
	margin := max((high-low)/20, high/1e4)
	return max(0, low-margin), high + margin
}

func (d *soakDrawing) position(load float64) float64 { return d.x.position(load - d.base) }

func (d *soakDrawing) axes(trials []soakTrial) {
	if d.load.Low != "" {
		start, end := d.position(d.load.Low.Float()), d.x.end
		if d.load.High != "" {
			end = d.position(d.load.High.Float())
		}
		d.band("chosen", start, d.y.top, max(1, end-start), d.y.zero-d.y.top, "critical load, with at least 95 %")
	}
	d.lossGrid(d.y, d.x.from, d.x.end)
	d.label("head", 2, 16, "loss per trial")
	name, factor := prefix(d.base + d.x.top)
	step := niceStep(d.x.top / 6)
	for v := math.Ceil(d.base/step) * step; v <= d.base+d.x.top; v += step {
		d.line("tick", d.position(v), d.y.zero+6, d.position(v), d.y.zero+11)
		d.label("mid", d.position(v), d.y.zero+26, strconv.FormatFloat(v/factor, 'g', 6, 64))
	}
	beyond := 0
	for _, t := range trials {
		if t.load < d.base || t.load > d.base+d.x.top {
			beyond++
		}
	}
	text := "offered, " + name + "pps"
	if beyond > 0 {
		text += "; " + wording.Counted(beyond, "trial") + " at other loads not drawn"
	}
	d.label("end faint", d.x.end, d.Height-4, text)
	lossY := d.y.position(d.load.LossRatio.Float())
	d.line("limit", d.x.from, lossY, d.x.end, lossY)
	d.label("end limit", d.x.end, lossY-4, "loss ratio "+d.load.LossRatio.String())
}

// fitted draws the curve of a function that fits best.
func (d *soakDrawing) fitted(s report.CriticalLoadOfShape) {
	c := losscurve.Curve{Shape: losscurve.Shape(s.Shape), Capacity: s.Capacity.Float(), Spread: s.Spread.Float()}
	if c.Capacity <= 0 || c.Spread <= 0 {
		return
	}
	var p pen
	smallest := math.Pow(10, -float64(d.y.decades))
	drawn := false
	const parts = 240
	for i := range parts + 1 {
		load := d.base + d.x.top*float64(i)/parts
		ratio := math.Exp(c.LogLossRatio(load))
		if load <= 0 || ratio < smallest || math.IsNaN(ratio) {
			continue
		}
		p.to(map[bool]string{true: "L", false: "M"}[drawn], d.position(load), d.y.position(ratio))
		drawn = true
	}
	if drawn {
		d.Paths = append(d.Paths, shape{D: p.String(), Class: "fit " + s.Shape, Title: s.Shape})
	}
}
