package render

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The timeline of sessions has panels of its own, for goodput and for what senders sent again. Nothing in it is a
// count of frames.
//
//	┌ Mb/s of goodput ────────────────┐
//	│  ▁▟█▙●▟██●███●██   ● a window   │
//	├ retransmits per second ─────────┤
//	├ what observers saw ─────────────┤
//	└ 0:00 ──── 0:10 ──── 0:20 ───────┘

const (
	goodputTop, goodputBottom         = ratesTop, ratesBottom
	retransmitsTop, retransmitsBottom = 390, 470
)

// sessionTracks are the graphs of sessions, all directions together first, and each where there are several.
func sessionTracks(directions []plan.Direction) []track {
	var tracks []track
	for i, d := range directions {
		tracks = append(tracks, track{Name: wording.Direction(d.From, d.To), index: i, sessions: true})
	}
	if len(tracks) == 1 {
		return tracks
	}
	return append([]track{{Name: "all directions", index: -1, sessions: true}}, tracks...)
}

// sessionReadings are the samples as rates of the track, from each to the next that is drawn, and over how many
// samples each is averaged. Where there are no samples, as in a thinned Report, the windows serve.
func (t track) sessionReadings(r *report.Report) ([]reading, int) {
	if len(r.Samples) < 2 {
		return t.sessionWindowReadings(r), 1
	}
	stride := max(1, (len(r.Samples)+maxPoints-1)/maxPoints)
	var readings []reading
	earlier := r.Samples[0]
	for i, later := range r.Samples[1:] {
		if i%stride != stride-1 && i != len(r.Samples)-2 {
			continue
		}
		g := reading{start: earlier.Time.Std().Seconds(), end: later.Time.Std().Seconds(), cpu: -1, phase: later.Phase}
		g.goodput, g.retransmits = t.between(earlier, later)
		readings = append(readings, g)
		earlier = later
	}
	return readings, stride
}

// between is what the track's connections did between two samples, per second, or -1 where an end doesn't say it.
func (t track) between(earlier, later report.Sample) (goodput, retransmits float64) {
	for i := range later.Directions {
		if t.index >= 0 && t.index != i || i >= len(earlier.Directions) {
			continue
		}
		a, b := earlier.Directions[i].Sessions, later.Directions[i].Sessions
		if a == nil || b == nil || b.RetransmittedSegments < a.RetransmittedSegments {
			return -1, -1
		}
		bits, ok := b.GoodputSince(*a)
		if !ok {
			return -1, -1
		}
		goodput += float64(bits)
		// of which one is always 0
		missing := b.RetransmittedSegments - a.RetransmittedSegments + max(0, b.LostDatagrams-a.LostDatagrams)
		retransmits += float64(missing) / (later.Time - earlier.Time).Std().Seconds()
	}
	return goodput, retransmits
}

func (t track) sessionWindowReadings(r *report.Report) []reading {
	var readings []reading
	for _, w := range t.windows(r) {
		g := reading{start: w.start, end: w.end, cpu: -1, phase: w.phase, goodput: -1, retransmits: -1}
		if s := w.sessions; s != nil && w.end > w.start {
			g.goodput, g.retransmits = float64(s.GoodputBitsPerSecond), float64(missingOf(s))/(w.end-w.start)
		}
		readings = append(readings, g)
	}
	return readings
}

// sessionsIn is what the track's connections did in a window. It is nil where nobody knows it of one of them.
func (t track) sessionsIn(w report.Window) *report.Sessions {
	sum := &report.Sessions{}
	for i, d := range w.Directions {
		switch {
		case t.index >= 0 && t.index != i:
		case d.Sessions == nil:
			return nil
		default:
			sum.GoodputBitsPerSecond += d.Sessions.GoodputBitsPerSecond
			sum.RetransmittedSegments += d.Sessions.RetransmittedSegments
			if u := d.Sessions.Datagrams; u != nil {
				sum.Datagrams = cmp.Or(sum.Datagrams, &report.Datagrams{})
				sum.Datagrams.Lost += u.Lost
			}
		}
	}
	return sum
}

// missingOf is how many segments were sent again, or how many datagrams were lost.
func missingOf(s *report.Sessions) int64 {
	if s.Datagrams != nil {
		return max(0, s.Datagrams.Lost)
	}
	return s.RetransmittedSegments
}

// whatIsMissing is what missingOf counts.
func whatIsMissing(p *plan.Plan) string {
	if p.Sessions != nil && p.Sessions.Protocol == plan.UDP {
		return "lost datagram"
	}
	return "retransmit"
}

// goodputResult is the track's part of the result.
func (t track) goodputResult(r *report.Report) (bitsPerSecond int64, ok bool) {
	if !report.HasFigure(r) || t.index >= len(r.Answer.Directions) {
		return 0, false
	}
	s := r.Answer.Total.Sessions
	if t.index >= 0 {
		s = r.Answer.Directions[t.index].Sessions
	}
	if s == nil {
		return 0, false
	}
	return s.GoodputBitsPerSecond, true
}

// goodputText is the result as it stands at its line, with a sign where it is a lower bound.
func (t track) goodputText(r *report.Report) (text string, ok bool) {
	v, ok := t.goodputResult(r)
	return figures.HeadlineOf(r).Signed(wording.BitRate(v)) + " goodput", ok
}

// goodput draws the upper panel, with the goodput, a mark for each window, and the result.
func (tl *timeline) goodput() {
	top := 1.0
	for _, g := range tl.readings {
		top = max(top, g.goodput)
	}
	for _, w := range tl.windows {
		if w.sessions != nil {
			top = max(top, float64(w.sessions.GoodputBitsPerSecond))
		}
	}
	y := axis{top: top * 1.12, from: goodputBottom, end: goodputTop} // room for the result's words above its line
	name, factor := prefix(y.top)
	for _, v := range (axis{top: y.top / factor}).ticks(6) {
		tl.line("grid", tl.x.from, y.position(v*factor), tl.x.end, y.position(v*factor))
		tl.label("end", tl.x.from-7, y.position(v*factor)+4, short(v))
	}
	tl.label("head", 2, goodputTop-30, "goodput, "+name+"b/s")
	tl.Paths = append(tl.Paths, shape{D: stairs(tl.readings, func(g reading) float64 { return g.goodput }, tl.x, y),
		Class: "received"})
	if v, ok := tl.t.goodputResult(tl.r); ok {
		text, _ := tl.t.goodputText(tl.r)
		tickY := y.position(float64(v))
		tl.line("answer", tl.x.from, tickY, tl.x.end, tickY)
		tl.label("answer", tl.x.from+6, tickY-8, text)
	}
	size := tl.markSize()
	for _, w := range tl.windows {
		v := 0.0
		if w.sessions != nil {
			v = float64(w.sessions.GoodputBitsPerSecond)
		}
		tl.mark(w, tl.x.position((w.start+w.end)/2), y.position(v), size)
	}
}

// retransmits draws the lower panel.
func (tl *timeline) retransmits() {
	highest := 0.0
	for _, g := range tl.readings {
		highest = max(highest, g.retransmits)
	}
	y := axis{top: niceStep(max(highest, 1)), from: retransmitsBottom, end: retransmitsTop}
	for _, v := range []float64{0, y.top / 2, y.top} {
		tl.line("grid", tl.x.from, y.position(v), tl.x.end, y.position(v))
		tl.label("end", tl.x.from-7, y.position(v)+4, short(v))
	}
	tl.label("head", 2, retransmitsTop-10, whatIsMissing(report.PlanOf(tl.r))+"s per second")
	tl.Paths = append(tl.Paths, shape{D: stairs(tl.readings, func(g reading) float64 { return g.retransmits }, tl.x, y),
		Class: "retransmits"})
}

// sessionsTitle describes a window in words, under the pointer at its mark.
func (w judgedWindow) sessionsTitle() string {
	text := "goodput " + wording.NotMeasured
	if s := w.sessions; s != nil {
		text = wording.BitRate(s.GoodputBitsPerSecond) + " goodput, "
		if s.Datagrams != nil {
			text += wording.Counted(int(missingOf(s)), "lost datagram")
		} else {
			text += wording.Counted(int(missingOf(s)), "retransmit")
		}
	}
	return "window " + strconv.Itoa(w.number) + ", " + phaseText(w.phase) + ": " + text + ". " + string(w.quality) +
		": " + w.reason
}

// resultWindows are the windows that the result is of, as the track sees them.
func resultWindows(r *report.Report, windows []judgedWindow) []judgedWindow {
	of := r.ResultWindows()
	if !report.HasFigure(r) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(windows), func(w judgedWindow) bool {
		return !slices.ContainsFunc(of, func(o report.Window) bool { return o.Number == w.number })
	})
}
