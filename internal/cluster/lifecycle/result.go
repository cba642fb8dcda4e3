package lifecycle

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// resultOf is a Report's result in the form of the status, with whole numbers whose names have the unit, and ratios as
// text. It keeps the schema's bounds, since the API server would refuse a larger status.
func resultOf(r *report.Report) *v1alpha1.Result {
	result := &v1alpha1.Result{
		Saturated:   r.Result.Saturated,
		Confirmed:   r.Result.Confirmed,
		Reason:      wording.Limited(string(r.Result.Reason), 64),
		Message:     wording.Limited(r.Result.Message, 1024),
		Total:       totalOf(r.Result.Total, r.Result.Directions),
		MaxReceived: totalOf(r.Result.MaxReceived, r.Result.Directions),
	}
	if r.Result.Resolution > 0 {
		result.Resolution = r.Result.Resolution.String()
	}
	for _, s := range r.Result.SharedPorts[:min(len(r.Result.SharedPorts), maxSharedPorts)] {
		result.SharedPorts = append(result.SharedPorts, wording.Limited(s, 1024))
	}
	for _, d := range r.Result.Directions {
		result.Directions = append(result.Directions, v1alpha1.DirectionResult{From: d.From, To: d.To,
			Limit: directionLimit(d.Limit), Figures: directionFigures(&d)})
	}
	for _, direction := range r.Result.SetBy[:min(len(r.Result.SetBy), maxDirections)] {
		result.SetBy = append(result.SetBy, wording.Limited(direction, 40))
	}
	result.Latency = wording.Limited(figures.LatencySummary(r), 128)
	result.Figures = slices.Concat(curveOf(r.Result.Curve), goalsOf(r), burstsOf(r))
	result.Figures = append(result.Figures, latencyOf(r, maxFigures-len(result.Figures))...)
	for _, g := range r.Result.Generators {
		result.Generators = append(result.Generators, v1alpha1.GeneratorResult{
			Name:                     wording.Limited(g.Name, 63),
			OfferedPacketsPerSecond:  g.OfferedPacketsPerSecond,
			ReceivedPacketsPerSecond: g.ReceivedPacketsPerSecond,
			StartSkewMicroseconds:    g.StartSkew.Std().Microseconds(),
		})
	}
	return result
}

// maxFigures is how many figures the status has, figuresOfALoad how many there are of one load of a curve.
const (
	maxFigures     = 64
	figuresOfALoad = 3
)

// curveOf is what all directions together were offered, forwarded and lost at each load. If there are more loads than
// fit, it takes some at even distances, the first and the last included. The Report has all loads, and each direction.
func curveOf(curve []report.Figure) []v1alpha1.Figure {
	points := figures.PointsByLoad(curve)
	const limit = maxFigures / figuresOfALoad
	var loads []v1alpha1.Figure
	for i := range min(len(points), limit) {
		index := i
		if len(points) > limit {
			index = i * (len(points) - 1) / (limit - 1)
		}
		for _, f := range points[index][:min(len(points[index]), figuresOfALoad)] {
			loads = append(loads, v1alpha1.Figure{Metric: string(f.Metric), Load: f.Load.String(), Low: string(f.Low),
				High: string(f.High)})
		}
	}
	return loads
}

// goalMetrics are the metrics of each goal of a search that the status has.
var goalMetrics = []report.Metric{figures.PacketsPerSecond, figures.Layer1BitsPerSecond, figures.LineRatePercent}

// goalsOf is what all directions together carried by each goal of a search. The schema allows few enough goals
// for all of them to fit.
func goalsOf(r *report.Report) (goals []v1alpha1.Figure) {
	if len(r.Result.Goals) == 0 {
		return nil
	}
	for _, f := range figures.Of(r) {
		if f.Direction == report.AllDirections && slices.Contains(goalMetrics, f.Metric) && f.Missing == "" &&
			len(goals) < maxFigures {
			goals = append(goals, v1alpha1.Figure{Metric: string(f.Metric), Goal: wording.Limited(f.Goal, 20),
				Low:  string(f.Low),
				High: string(f.High)})
		}
	}
	return goals
}

// burstsOf is what bursts show of each direction. The schema allows few enough directions for all of them to fit.
func burstsOf(r *report.Report) (bursts []v1alpha1.Figure) {
	for _, f := range figures.Of(r) {
		if metric, _ := figures.MetricOf(f.Metric); metric.Own && f.Missing == "" &&
			f.Direction != report.AllDirections {
			bursts = append(bursts, v1alpha1.Figure{Metric: string(f.Metric),
				Direction: wording.Limited(f.Direction, 40),
				Low:       wording.Limited(string(f.Low), 40), High: wording.Limited(string(f.High), 40)})
		}
	}
	return bursts
}

// latencyMetrics are the metrics of latency that the status has.
var latencyMetrics = []report.Metric{figures.LatencyP50, figures.LatencyP99, figures.LatencyP999}

// latencyOf is each direction's latency at each load, of the slowest frame size, as far as room allows.
func latencyOf(r *report.Report, room int) (latencies []v1alpha1.Figure) {
	for _, metric := range latencyMetrics {
		for _, f := range figures.SlowestSizes(r, metric) {
			if len(latencies) < room {
				latencies = append(latencies, v1alpha1.Figure{Metric: string(metric),
					Direction: wording.Limited(f.Direction, 40),
					Load:      f.At.String(), Low: string(f.Low), High: string(f.High)})
			}
		}
	}
	return latencies
}

// maxDirections is how many the status has.
const maxDirections = 8

func directionLimit(l *report.DirectionLimit) *v1alpha1.DirectionLimit {
	if l == nil {
		return nil
	}
	limit := &v1alpha1.DirectionLimit{Saturated: l.Saturated, Reason: wording.Limited(string(l.Reason), 64)}
	if l.Lossy > 0 {
		limit.Resolution = l.Resolution.String()
	}
	return limit
}

// maxSharedPorts is how many the status has.
const maxSharedPorts = 64

func directionFigures(m *report.Direction) v1alpha1.Figures {
	if m.Sessions != nil {
		return v1alpha1.Figures{Sessions: sessionsOf(m.Sessions, *m)}
	}
	return v1alpha1.Figures{
		Intended:        flowOf(m.Intended),
		Offered:         flowOf(m.Offered),
		Received:        flowOf(m.Received),
		LossRatio:       m.LossRatio.String(),
		LineRatePercent: m.LineRatePercent.String(),
	}
}

func totalOf(s *report.Sum, directions []report.Direction) *v1alpha1.TotalResult {
	if s == nil {
		return nil
	}
	if s.Sessions != nil {
		return &v1alpha1.TotalResult{Figures: v1alpha1.Figures{Sessions: sessionsOf(s.Sessions, directions...)}}
	}
	return &v1alpha1.TotalResult{Figures: v1alpha1.Figures{
		Intended:        flowOf(s.Intended),
		Offered:         flowOf(s.Offered),
		Received:        flowOf(s.Received),
		LossRatio:       s.LossRatio.String(),
		LineRatePercent: s.LineRatePercent.String(),
	}}
}

// sessionsOf is what the sessions of these directions did, with a ratio and a round trip only where they are figures,
// since readers of a status take both for the device's.
func sessionsOf(s *report.Sessions, directions ...report.Direction) *v1alpha1.SessionsResult {
	result := &v1alpha1.SessionsResult{GoodputBitsPerSecond: s.GoodputBitsPerSecond,
		RetransmittedSegments: s.RetransmittedSegments}
	if d := s.Datagrams; d != nil {
		result.Datagrams = &v1alpha1.DatagramsResult{Sent: d.Sent, Received: d.Received, Lost: d.Lost}
		if figures.PathDoubt(directions...) == "" {
			result.Datagrams.LossRatio = d.MostLossRatio().String()
		}
		if figures.JitterDoubt(directions...) == "" {
			result.Datagrams.JitterMicroseconds = new(d.JitterMicroseconds)
		}
		return result
	}
	if figures.PathDoubt(directions...) != "" {
		return result
	}
	result.RetransmitRatio = s.RetransmitRatio.String()
	if s.RoundTrip != nil {
		result.RoundTripMicroseconds = s.RoundTrip.MeanMicroseconds
	}
	return result
}

func flowOf(f report.Flow) v1alpha1.FlowRate {
	return v1alpha1.FlowRate{
		PacketsPerSecond:    f.PacketsPerSecond,
		Layer1BitsPerSecond: f.Layer1BitsPerSecond,
		Layer2BitsPerSecond: f.Layer2BitsPerSecond,
	}
}
