package figures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The metrics of latency, which is measured at loads of its own once a procedure has its result.
const (
	LatencyP50    report.Metric = "LatencyP50"
	LatencyP90    report.Metric = "LatencyP90"
	LatencyP99    report.Metric = "LatencyP99"
	LatencyP999   report.Metric = "LatencyP99.9"
	LatencyP9999  report.Metric = "LatencyP99.99"
	LatencyP99999 report.Metric = "LatencyP99.999"
	LatencyMax    report.Metric = "LatencyMax"
	LatencyJitter report.Metric = "LatencyJitter"
)

// ofLatency is a metric of latency. It is a percentile with the share that Reports have it by, or "" for jitter.
func ofLatency(name report.Metric, means, share string) Metric {
	return Metric{Name: name, Unit: "ns", Means: means, LessIsBetter: true, latency: func(l report.Latency) (low,
		high report.Number, missing string) {
		if share == "" {
			switch {
			case l.Sample != nil:
				return "", "", "latency streams do not measure it"
			case l.JitterNanoseconds != nil && l.Timed() < l.Came():
				return "", "", untimed(l)
			case l.JitterNanoseconds == nil:
				return "", "", "no two frames followed each other, or their times were not compared"
			}
			return whole(*l.JitterNanoseconds), whole(*l.JitterNanoseconds), ""
		}
		p, ok := l.Of(share)
		switch {
		case !ok && l.Timed() < l.Came():
			return "", "", untimed(l)
		case !ok:
			return "", "", fmt.Sprintf("fewer than ten of %s frames lie above it: make trials longer",
				wording.Count(l.Came()))
		case p.Open:
			return whole(p.Nanoseconds), "", ""
		}
		// a percentile is the end of its bucket
		shortest, _ := transit.Bounds(transit.Index(time.Duration(p.Nanoseconds)))
		shortestNs := shortest.Nanoseconds()
		if l.Sample != nil {
			shortestNs = max(0, shortestNs-max(l.Sample.ResolutionNanoseconds,
				transit.Coarse(time.Duration(p.Nanoseconds)).Nanoseconds()))
		}
		return whole(shortestNs), whole(p.Nanoseconds), ""
	}}
}

func untimed(l report.Latency) string {
	return fmt.Sprintf("%s of %s frames have no time, and could change it", wording.Count(l.Came()-l.Timed()),
		wording.Count(l.Came()))
}

// Latency says that a metric is one of latency.
func (m Metric) Latency() bool { return m.latency != nil }

// LatencyMetrics are all metrics of latency.
var LatencyMetrics = []Metric{
	ofLatency(LatencyP50, "time within which half of the frames came back", "p50"),
	ofLatency(LatencyP90, "time within which 90 % of the frames came back", "p90"),
	ofLatency(LatencyP99, "time within which 99 % of the frames came back", "p99"),
	ofLatency(LatencyP999, "time within which 99.9 % of the frames came back", "p99.9"),
	ofLatency(LatencyP9999, "time within which 99.99 % of the frames came back", "p99.99"),
	ofLatency(LatencyP99999, "time within which 99.999 % of the frames came back", "p99.999"),
	ofLatency(LatencyMax, "the longest time that a frame took", "all"),
	ofLatency(LatencyJitter, "mean difference between the times of two frames of a stream that followed each other",
		""),
}

// Latencies are the figures of latency, with each of these metrics at each load, in each direction and frame size.
func Latencies(r *report.Report, metrics ...Metric) (list []report.Figure) {
	return slices.DeleteFunc(slices.Clone(r.Answer.Figures), func(f report.Figure) bool {
		return f.LatencyLoad == nil || !slices.ContainsFunc(metrics, func(m Metric) bool { return m.Name == f.Metric })
	})
}

// OfLoads are the figures of the trials that a procedure made at loads beside its answer's.
func OfLoads(r *report.Report, trials []procedure.LoadTrial, answer report.Answer) (list []report.Figure) {
	for _, t := range trials {
		switch {
		case t.LatencyLoad != nil:
			list = append(list, latenciesOf(r, t, trials)...)
		case answer.Measured:
			list = append(list, OfWindow(r, r.Windows[t.Window], answer)...)
		}
	}
	return list
}

// latenciesOf are the figures of the latency that a trial measured.
func latenciesOf(r *report.Report, t procedure.LoadTrial, trials []procedure.LoadTrial) (list []report.Figure) {
	var w report.Window
	missing := ""
	switch {
	case t.Window != procedure.NoWindow:
		w = r.Windows[t.Window]
	case t.Void == procedure.NoWindow:
		missing = "the run ended before the trial"
	default:
		missing = fmt.Sprintf("no trial could be judged; the last is window %d: %s", r.Windows[t.Void].Number,
			r.Windows[t.Void].Reason)
	}
	for i, d := range report.PlanOf(r).Directions {
		untimed := missing
		if i < len(w.Directions) {
			untimed = whyUntimed(r, w, w.Directions[i])
		}
		for _, s := range sizesOf(r, w, i, trials) {
			for _, m := range LatencyMetrics {
				f := report.Figure{Metric: m.Name, Direction: d.Name(), LatencyLoad: t.LatencyLoad,
					FrameSize: s.FrameSize, Window: w.Number, Unit: m.Unit, Confirmed: true, Reason: report.LoadHeld}
				if f.Missing = untimed; f.Missing == "" {
					f.Low, f.High, f.Missing = m.latency(s)
				}
				list = append(list, f)
			}
		}
	}
	return list
}

// whyUntimed says why a direction of a window has no latency. It is empty where there is one.
func whyUntimed(r *report.Report, w report.Window, d report.Direction) string {
	untimed := slices.IndexFunc(r.Untimed, func(u report.Untimed) bool { return u.From == d.From && u.To == d.To })
	switch {
	case d.UnderOffered():
		return fmt.Sprintf("the generator offered %s of %s", wording.PacketRate(d.Offered.PacketsPerSecond),
			wording.PacketRate(d.Intended.PacketsPerSecond))
	case len(d.Latency) > 0:
		return ""
	case untimed >= 0:
		return r.Untimed[untimed].Reason
	}
	return fmt.Sprintf("the frames of window %d were not timed", w.Number)
}

// LatencyOf are the figures of a latency metric at a load, for frames of a size, or of each size where it is 0.
// There are none where nothing was to be measured at that load, or there are no such frames.
func LatencyOf(r *report.Report, metric report.Metric, load units.Ratio, size int64) []report.Figure {
	m, ok := MetricOf(metric)
	if !ok || !m.Latency() {
		return nil
	}
	return slices.DeleteFunc(Latencies(r, m),
		func(f report.Figure) bool { return *f.LatencyLoad != load || size > 0 && f.FrameSize != size })
}

// sizesOf are a direction's frames by size. Where nothing is known of them, they are those of another load, so that
// runs have the same figures in the same places.
func sizesOf(r *report.Report, w report.Window, direction int, trials []procedure.LoadTrial) []report.Latency {
	windows := []report.Window{w}
	for _, t := range trials {
		if t.LatencyLoad != nil && t.Window != procedure.NoWindow {
			windows = append(windows, r.Windows[t.Window])
		}
	}
	for _, w := range windows {
		if direction < len(w.Directions) && len(w.Directions[direction].Latency) > 0 {
			return w.Directions[direction].Latency
		}
	}
	return []report.Latency{{}}
}

// ofWhichFrames says which frames a latency is of, as in ", 64 bytes at 50 %".
func ofWhichFrames(f report.Figure) string {
	size := ""
	if f.FrameSize > 0 {
		size = ", " + strconv.FormatInt(f.FrameSize, 10) + " bytes"
	}
	return size + " at " + AtText(*f.LatencyLoad)
}

// AtText is a load of latency in words, such as "50 %". It explains 0 %.
func AtText(load units.Ratio) string {
	if load == 0 {
		return "0 % (single frames)"
	}
	return wording.Share(load)
}

// StatisticText is a metric of latency in words, such as "p99.9", "jitter" or "longest".
func StatisticText(metric report.Metric) string {
	switch metric {
	case LatencyMax:
		return "longest"
	case LatencyJitter:
		return "jitter"
	}
	return "p" + strings.TrimPrefix(string(metric), "LatencyP")
}

// SlowestSizes are the figures of a latency metric for the frame size that took longest, at each load in each
// direction. It leaves out sizes without a figure.
func SlowestSizes(r *report.Report, metric report.Metric) (list []report.Figure) {
	m, _ := MetricOf(metric)
	for _, f := range Latencies(r, m) {
		if f.Missing != "" {
			continue
		}
		i := slices.IndexFunc(list, func(o report.Figure) bool {
			return o.Direction == f.Direction && *o.LatencyLoad == *f.LatencyLoad
		})
		switch {
		case i < 0:
			list = append(list, f)
		case mayBeLonger(f, list[i]):
			list[i] = f
		}
	}
	return list
}

// mayBeLonger says that a latency may be longer than another, as one without an upper end may.
func mayBeLonger(a, b report.Figure) bool {
	if a.High == "" || b.High == "" {
		return b.High != ""
	}
	return a.High.Float() > b.High.Float()
}

// LatencySummary is latency in one line, for a status, with the longest p99 of all directions and frame sizes at
// each load, such as "p99 24 µs at 50 %, 101 µs at 90 %". It is empty where there is none.
func LatencySummary(r *report.Report) string {
	var loads []report.Figure
	for _, f := range SlowestSizes(r, LatencyP99) {
		i := slices.IndexFunc(loads, func(o report.Figure) bool { return *o.LatencyLoad == *f.LatencyLoad })
		switch {
		case i < 0:
			loads = append(loads, f)
		case mayBeLonger(f, loads[i]):
			loads[i] = f
		}
	}
	var sentences []string
	for _, f := range loads {
		time := f.High
		if time == "" {
			time = f.Low
		}
		text := wording.Nanoseconds(int64(time.Float())) + " at " + wording.Share(*f.LatencyLoad)
		if f.High == "" {
			text = "over " + text
		}
		sentences = append(sentences, text)
	}
	if len(sentences) == 0 {
		return ""
	}
	return StatisticText(LatencyP99) + " " + strings.Join(sentences, ", ")
}
