package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/wording"
)

// vitalsTable has what each series of the Plan's observers was in the result's window, and idle before and after the traffic; nil: there were no observers.
func vitalsTable(r *report.Report) *table {
	if len(r.Observations) == 0 {
		return nil
	}
	at := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == r.Result.Window })
	t := newTable(3, "observer", "series", "of", "idle before", "in the result's window", "idle after")
	for _, o := range r.Observations {
		if len(o.Series) == 0 {
			t.rows = append(t.rows, []string{o.Observer, wording.NotMeasured + ": " + o.Missing, "", "", "", ""})
		}
		for _, s := range o.Series {
			in := wording.NotMeasured
			if at >= 0 {
				in = vitalIn(r.Windows[at], o.Observer, s)
			}
			t.rows = append(t.rows, []string{o.Observer, s.Name, s.Of, vital(s.IdleBefore, s), in, vital(s.IdleAfter, s)})
		}
	}
	return t
}

// vitalIn is what a series was in a window.
func vitalIn(w report.Window, observer string, s report.VitalSign) string {
	for _, o := range w.Observed {
		if o.Observer == observer && o.Series == s.Name && o.Of == s.Of {
			return cmp.Or(map[bool]string{true: wording.NotMeasured + ": " + o.Missing}[o.Missing != ""], vital(o.Mean, s))
		}
	}
	return wording.NotMeasured
}

// vital is a value of a series for people: processor time by time is a share of a processor.
func vital(v *float64, s report.VitalSign) string {
	switch {
	case v == nil:
		return wording.NotMeasured
	case s.Kind == report.Counter && s.Unit == "s":
		return strconv.FormatFloat(100**v, 'f', 1, 64) + " %"
	case s.Kind == report.Counter:
		return strconv.FormatFloat(*v, 'f', 0, 64) + " " + s.Unit + "/s"
	}
	return strconv.FormatFloat(*v, 'g', 6, 64) + " " + s.Unit
}

// vitalTrack is a series of an observer, as the timeline draws it.
type vitalTrack struct {
	name     string
	unit     string
	readings []reading // only from, to, and the value as cpu
	top      float64
}

// leastRated is the shortest time, in seconds, over which a counter's rate is drawn: when a sample was taken is known to some milliseconds, and on a busy machine to some ten.
const leastRated = 0.5

// mostVitals is how many series are drawn; the table has all.
const mostVitals = 6

// vitalTracks are the series to draw: those of all processors together where there are such, else each.
func vitalTracks(r *report.Report) []vitalTrack {
	var all []vitalTrack
	for _, o := range r.Observations {
		for _, s := range o.Series {
			if o.Type == "Processors" && !s.OfAll() || len(s.Samples) < 2 {
				continue
			}
			all = append(all, vitalTrackOf(o.Observer, s))
		}
	}
	return all[:min(mostVitals, len(all))]
}

func vitalTrackOf(observer string, s report.VitalSign) vitalTrack {
	t := vitalTrack{name: fmt.Sprintf("%s: %s, %s", observer, s.Name, s.Of), unit: s.Unit}
	factor := 1.0
	if s.Kind == report.Counter {
		t.unit += "/s"
		if s.Unit == "s" {
			t.unit, factor = "% of a processor", 100
		}
	}
	stride := max(1, (len(s.Samples)+maxPoints-1)/maxPoints)
	before := s.Samples[0]
	for i, now := range s.Samples[1:] {
		if i%stride != stride-1 && i != len(s.Samples)-2 {
			continue
		}
		took := (now.At - before.At).Std().Seconds()
		if s.Kind == report.Counter && took < leastRated {
			continue // together with the next
		}
		v := now.Value
		if s.Kind == report.Counter {
			v = -1 // it went back: a gap
			if took > 0 && now.Value >= before.Value {
				v = factor * (now.Value - before.Value) / took
			}
		}
		t.readings = append(t.readings, reading{from: before.At.Std().Seconds(), to: now.At.Std().Seconds(), cpu: v})
		t.top = max(t.top, v)
		before = now
	}
	t.top = niceStep(max(t.top, map[bool]float64{true: 100, false: 1}[factor == 100]))
	return t
}

// The heights of a vital sign's panel, and of what is between two.
const (
	vitalHeight = 50
	vitalGap    = 40
)

// vitals draws a panel for each vital sign, below those of the traffic.
func (tl *timeline) vitals(tracks []vitalTrack) {
	top := tl.own + vitalGap
	for _, t := range tracks {
		y := axis{top: t.top, from: top + vitalHeight, to: top}
		for _, v := range []float64{0, t.top} {
			tl.line("grid", tl.x.from, y.at(v), tl.x.to, y.at(v))
			tl.label("end", tl.x.from-7, y.at(v)+4, short(v))
		}
		tl.label("head", 2, top-10, t.name+", "+t.unit)
		tl.Paths = append(tl.Paths, shape{D: stairs(t.readings, func(g reading) float64 { return g.cpu }, tl.x, y), Class: "cpu"})
		top += vitalHeight + vitalGap
	}
}
