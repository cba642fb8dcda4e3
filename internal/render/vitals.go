package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// vitalsTable has what each series of the Plan's observers was in the windows that the result's figures are of,
// which criteria are judged by, and idle before and after the traffic. It is nil where there were no observers.
func vitalsTable(r *report.Report) *table {
	if len(r.Observations) == 0 {
		return nil
	}
	head, observed := observedInResult(r)
	t := newTable(3, "observer", "series", "of", "idle before", head, "idle after")
	for _, o := range r.Observations {
		if len(o.Series) == 0 {
			t.rows = append(t.rows, []string{o.Observer, wording.NotMeasured + ": " + o.Missing, "", "", "", ""})
		}
		for _, s := range o.Series {
			t.rows = append(t.rows, []string{o.Observer, s.Name, s.Subject, vital(s.IdleBefore, s),
				vitalIn(observed, o.Observer, s), vital(s.IdleAfter, s)})
		}
		for _, s := range derived(observed, o) { // without traffic it is nothing
			t.rows = append(t.rows, []string{o.Observer, s.Name, s.Subject, "", vitalIn(observed, o.Observer, s), ""})
		}
	}
	return t
}

// takeReasons leaves in a cell that nothing was measured, and gives the reasons, which stand below the table. A reason
// in a cell made tables wider than any terminal.
func (t *table) takeReasons() (reasons []string) {
	for _, row := range t.rows {
		for i, cell := range row {
			reason, found := strings.CutPrefix(cell, wording.NotMeasured+": ")
			if !found {
				continue
			}
			row[i] = wording.NotMeasured
			series := strings.TrimSpace(strings.Join(row[:min(3, i)], " "))
			if text := series + ": " + reason + "."; !slices.Contains(reasons, text) {
				reasons = append(reasons, text)
			}
		}
	}
	return reasons
}

// derived are the series that windows alone have, which are an observer's power per traffic, and a packet's costs
// in VPP's nodes.
func derived(observed []report.Observed, vital report.Observation) (signs []report.VitalSign) {
	for _, o := range observed {
		if o.Observer == vital.Observer && slices.Contains([]string{plan.WattsPerGbps, plan.JoulesPerPacket,
			plan.ClocksPerPacket, plan.VectorsPerCall}, o.Series) {
			signs = append(signs, report.VitalSign{Name: o.Series, Subject: o.Subject, Unit: o.Unit,
				Kind: report.Gauge})
		}
	}
	return signs
}

// observedInResult is what observers saw in the windows that the result is of, and which these are, as a column's
// head.
func observedInResult(r *report.Report) (head string, list []report.Observed) {
	windows := r.ResultWindows()
	switch {
	case len(r.Answer.Observed) == 0:
		return "result", nil
	case len(windows) != 1 && (r.Thinned != nil || len(windows) == 0):
		return "result, several windows", r.Answer.Observed // some of them may be gone
	}
	return "result, " + windowNumbers(windows), r.Answer.Observed
}

// windowNumbers names windows, of which there is one at least, such as "window 5" or "windows 2 to 4, 6".
func windowNumbers(windows []report.Window) string {
	if len(windows) == 1 {
		return fmt.Sprintf("window %d", windows[0].Number)
	}
	var parts []string
	for i := 0; i < len(windows); {
		final := i
		for final+1 < len(windows) && windows[final+1].Number == windows[final].Number+1 {
			final++
		}
		switch final - i {
		case 0:
			parts = append(parts, strconv.Itoa(windows[i].Number))
		case 1:
			parts = append(parts, strconv.Itoa(windows[i].Number), strconv.Itoa(windows[final].Number))
		default:
			parts = append(parts, fmt.Sprintf("%d to %d", windows[i].Number, windows[final].Number))
		}
		i = final + 1
	}
	return "windows " + strings.Join(parts, ", ")
}

// vitalIn is what a series was in these windows, as its mean, and the most where the Report has it, since a
// criterion may be of either.
func vitalIn(list []report.Observed, observer string, s report.VitalSign) string {
	reason := ""
	for _, o := range list {
		switch {
		case o.Observer != observer:
		case o.Series == s.Name && o.Subject == s.Subject && o.Missing != "":
			return wording.NotMeasured + ": " + o.Missing
		case o.Series == s.Name && o.Subject == s.Subject && o.Mean != nil && o.Max != nil &&
			vital(o.Max, s) != vital(o.Mean, s):
			return vital(o.Mean, s) + ", at most " + vital(o.Max, s)
		case o.Series == s.Name && o.Subject == s.Subject:
			return vital(o.Mean, s)
		case o.Series == "":
			reason = o.Missing
		}
	}
	if reason != "" {
		return wording.NotMeasured + ": " + reason
	}
	return wording.NotMeasured
}

// vital is a value of a series for people. Processor time by time is a share of a processor.
func vital(v *float64, s report.VitalSign) string {
	switch {
	case v == nil:
		return wording.NotMeasured
	case s.Kind == report.Counter && s.Unit == "s":
		return strconv.FormatFloat(100**v, 'f', 1, 64) + " %"
	case s.Kind == report.Counter:
		return strconv.FormatFloat(*v, 'f', 0, 64) + " " + s.Unit + "/s"
	}
	factor, unit := scaled(*v, s.Unit)
	return strconv.FormatFloat(factor**v, 'g', 4, 64) + " " + unit
}

// scaled is by what a level is multiplied for people, and the unit that it has then.
func scaled(level float64, unit string) (factor float64, scaled string) {
	for of, symbol := range map[string]string{"bytes": "B", "Hz": "Hz", "Celsius": "°C"} {
		switch {
		case of != unit:
		case of != "Celsius" && level >= 1e9:
			return 1e-9, "G" + symbol
		case of != "Celsius" && level >= 1e6:
			return 1e-6, "M" + symbol
		default:
			return 1, symbol
		}
	}
	return 1, unit
}

// vitalTrack is a series of an observer, as the timeline draws it.
type vitalTrack struct {
	name     string
	unit     string
	readings []reading // only from, to, and the value as cpu
	top      float64
}

// leastRated is the shortest time, in seconds, over which a counter's rate is drawn. The time of a sample is known
// to some milliseconds, and on a busy machine to some ten.
const leastRated = 0.5

// percent of one.
const percent = 100

// mostVitals is how many series are drawn, but for the first of each observer, which always is. The table has all.
const mostVitals = 6

// vitalTracks are the series to draw, at least one of each observer. They are those of all processors together
// where there are such, else each.
func vitalTracks(r *report.Report) []vitalTrack {
	drawn := make([][]report.VitalSign, len(r.Observations))
	remaining := mostVitals
	for i, o := range r.Observations {
		drawn[i] = drawnOf(o)
		remaining -= min(1, len(drawn[i]))
	}
	var tracks []vitalTrack
	for i, o := range r.Observations {
		for n, s := range drawn[i] {
			if n > 0 && remaining <= 0 {
				break
			}
			if n > 0 {
				remaining--
			}
			tracks = append(tracks, vitalTrackOf(o.Observer, s))
		}
	}
	return tracks
}

// drawnOf are an observer's series that can be drawn.
func drawnOf(o report.Observation) (signs []report.VitalSign) {
	summed := slices.ContainsFunc(o.Series, report.VitalSign.OfAll)
	for _, s := range o.Series {
		if len(s.Samples) > 1 && (!summed || s.OfAll()) {
			signs = append(signs, s)
		}
	}
	return signs
}

func vitalTrackOf(observer string, s report.VitalSign) vitalTrack {
	t := vitalTrack{name: fmt.Sprintf("%s: %s, %s", observer, s.Name, s.Subject)}
	factor := 1.0
	if s.Kind == report.Gauge {
		highest := slices.MaxFunc(s.Samples, func(a, b report.VitalSample) int { return cmp.Compare(a.Value, b.Value) })
		factor, t.unit = scaled(highest.Value, s.Unit)
	} else {
		t.unit = s.Unit
		t.unit += "/s"
		if s.Unit == "s" {
			t.unit, factor = "% of a processor", percent
		}
	}
	stride := max(1, (len(s.Samples)+maxPoints-1)/maxPoints)
	earlier := s.Samples[0]
	for i, later := range s.Samples[1:] {
		if i%stride != stride-1 && i != len(s.Samples)-2 {
			continue
		}
		took := (later.Time - earlier.Time).Std().Seconds()
		if s.Kind == report.Counter && took < leastRated {
			continue // together with the next
		}
		v := factor * later.Value
		if s.Kind == report.Counter {
			v = -1 // it went back, which makes a gap
			if took > 0 && later.Value >= earlier.Value {
				v = factor * (later.Value - earlier.Value) / took
			}
		}
		t.readings = append(t.readings, reading{start: earlier.Time.Std().Seconds(), end: later.Time.Std().Seconds(),
			cpu: v})
		t.top = max(t.top, v)
		earlier = later
	}
	t.top = niceStep(max(t.top, map[bool]float64{true: 100, false: 1}[factor == percent]))
	return t
}

// The heights of a vital sign's panel, and of what is between two.
const (
	vitalHeight = 50
	vitalGap    = 40
)

// scaleText is a number at a panel's scale, where there is room for a few characters, as bytes may be many.
func scaleText(v float64) string {
	if v >= 1e6 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return short(v)
}

// vitals draws a panel for each vital sign, below those of the traffic.
func (tl *timeline) vitals(tracks []vitalTrack) {
	top := tl.trafficBottom + vitalGap
	for _, t := range tracks {
		y := axis{top: t.top, from: top + vitalHeight, end: top}
		for _, v := range []float64{0, t.top} {
			tl.line("grid", tl.x.from, y.position(v), tl.x.end, y.position(v))
			tl.label("end", tl.x.from-7, y.position(v)+4, scaleText(v))
		}
		tl.label("head", 2, top-10, t.name+", "+t.unit)
		tl.Paths = append(tl.Paths, shape{D: stairs(t.readings, func(g reading) float64 { return g.cpu }, tl.x, y),
			Class: "cpu"})
		top += vitalHeight + vitalGap
	}
}
