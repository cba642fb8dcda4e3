package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
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
	for _, l := range r.Result.Latency {
		for _, d := range latencyDirections(r, l) {
			for _, s := range sizesOf(r, d) {
				for _, m := range metrics {
					f := report.Figure{Metric: m.Name, Direction: d.Name(), At: &l.At, FrameSize: s.FrameSize,
						Unit: m.Unit, Confirmed: true, Reason: report.LoadHeld}
					if f.Missing = cmp.Or(l.Missing, d.Missing); f.Missing == "" {
						f.Low, f.High, f.Missing = m.latency(s)
					}
					list = append(list, f)
				}
			}
		}
	}
	return list
}

// LatencyOf are the figures of a latency metric at a load, for frames of a size, or of each size where it is 0.
// There are none where nothing was to be measured at that load, or there are no such frames.
func LatencyOf(r *report.Report, metric report.Metric, load units.Ratio, size int64) []report.Figure {
	m, ok := MetricOf(metric)
	if !ok || !m.Latency() {
		return nil
	}
	return slices.DeleteFunc(Latencies(r, m),
		func(f report.Figure) bool { return *f.At != load || size > 0 && f.FrameSize != size })
}

// latencyDirections are the directions of a load. Where no trial of the load counts, they are the Plan's.
func latencyDirections(r *report.Report, l report.LatencyAt) []report.LatencyOfDirection {
	if len(l.Directions) > 0 {
		return l.Directions
	}
	var directions []report.LatencyOfDirection
	for _, d := range report.PlanOf(r).Directions {
		directions = append(directions, report.LatencyOfDirection{From: d.From, To: d.To})
	}
	return directions
}

// sizesOf are a direction's frames by size. Where nothing is known of them, they are those of another load, so that
// runs have the same figures in the same places.
func sizesOf(r *report.Report, d report.LatencyOfDirection) []report.Latency {
	if len(d.Sizes) > 0 {
		return d.Sizes
	}
	for _, l := range r.Result.Latency {
		for _, second := range l.Directions {
			if second.Name() == d.Name() && len(second.Sizes) > 0 {
				return second.Sizes
			}
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
	return size + " at " + AtText(*f.At)
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
		i := slices.IndexFunc(list, func(o report.Figure) bool { return o.Direction == f.Direction && *o.At == *f.At })
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
		i := slices.IndexFunc(loads, func(o report.Figure) bool { return *o.At == *f.At })
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
		text := wording.Nanoseconds(int64(time.Float())) + " at " + wording.Share(*f.At)
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
