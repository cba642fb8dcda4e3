package figures

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// The metrics.
const (
	PacketsPerSecond        report.Metric = "PacketsPerSecond"
	Layer1BitsPerSecond     report.Metric = "Layer1BitsPerSecond"
	Layer2BitsPerSecond     report.Metric = "Layer2BitsPerSecond"
	LineRatePercent         report.Metric = "LineRatePercent"
	LossRatio               report.Metric = "LossRatio"
	OfferedPacketsPerSecond report.Metric = "OfferedPacketsPerSecond"

	// Of sessions.
	GoodputBitsPerSecond  report.Metric = "GoodputBitsPerSecond"
	RetransmitRatio       report.Metric = "RetransmitRatio"
	RoundTripMicroseconds report.Metric = "RoundTripMicroseconds"

	// Of sessions over UDP.
	DatagramLossRatio  report.Metric = "DatagramLossRatio"
	JitterMicroseconds report.Metric = "JitterMicroseconds"
)

// Metric is all that is known of a metric.
type Metric struct {
	Name report.Metric
	Unit string
	// Means is what it is a number of.
	Means string
	// LessIsBetter is of what a device should have little of.
	LessIsBetter bool
	// Sessions says that it is of sessions. Other metrics are of frames. Some metrics of sessions are of one
	// protocol only.
	Sessions bool
	Protocol string
	// Own says that some procedure alone finds it, of each direction by itself. Together is why there is none of
	// several directions together. It is empty where that is the largest direction's.
	Own      bool
	Together string
	// value is its number in a direction, or in all together. It is nil where the metric is Own.
	value func(m measured) (report.Number, string)
	// latency is its number of frames whose latency was measured, where it is one of latency, and of is nil.
	latency func(l report.Latency) (low, high report.Number, missing string)
}

// Metrics are all metrics of an answer. LatencyMetrics are the others.
var Metrics = []Metric{
	{Name: PacketsPerSecond, Unit: "packets/s", Means: "frames that came back", value: func(m measured) (report.Number,
		string) {
		return whole(m.received.PacketsPerSecond), ""
	}},
	{Name: Layer1BitsPerSecond, Unit: "bit/s", Means: "layer-1 bits that came back: frames with preamble and gap",
		value: func(m measured) (report.Number, string) { return whole(m.received.Layer1BitsPerSecond), "" }},
	{Name: Layer2BitsPerSecond, Unit: "bit/s", Means: "layer-2 bits that came back: frames with FCS",
		value: func(m measured) (report.Number, string) { return whole(m.received.Layer2BitsPerSecond), "" }},
	{Name: LineRatePercent, Unit: report.UnitPercent, Means: "layer-1 bits that came back, of what the links carry",
		value: func(m measured) (report.Number, string) {
			if !m.lineRateKnown {
				return "", "the line rate is unknown: set the link's lineRate"
			}
			return report.Number(m.percent.String()), ""
		}},
	{Name: LossRatio, Unit: report.UnitRatio, Means: "frames that did not come back, of those sent", LessIsBetter: true,
		value: func(m measured) (report.Number, string) { return report.Number(m.mostLoss.String()), "" }},
	{Name: OfferedPacketsPerSecond, Unit: "packets/s",
		Means: "frames that the generators sent: their own limit, where they were asked for more",
		value: func(m measured) (report.Number, string) { return whole(m.offered.PacketsPerSecond), "" }},
	{Name: GoodputBitsPerSecond, Unit: "bit/s", Means: "payload that receiving programs read", Sessions: true,
		value: func(m measured) (report.Number, string) { return whole(m.sessions.GoodputBitsPerSecond), "" }},
	{Name: RetransmitRatio, Unit: report.UnitRatio, Means: "segments that were sent again, of all segments",
		LessIsBetter: true,
		Sessions:     true, Protocol: plan.TCP, value: func(m measured) (report.Number, string) {
			if d := m.sessions.Device; d != nil && d.Server != "" && d.Role == report.Sender {
				return "", d.Server + " doesn't report what it sends again"
			}
			return report.Number(m.sessions.RetransmitRatio.String()), ""
		}},
	{Name: RoundTripMicroseconds, Unit: "µs", Means: "mean of the senders' smoothed round trips", LessIsBetter: true,
		Sessions: true, Protocol: plan.TCP, value: func(m measured) (report.Number, string) {
			if m.sessions.RoundTrip == nil {
				return "", "no connection had a sample of its round trip"
			}
			return whole(m.sessions.RoundTrip.MeanMicroseconds), ""
		}},
	{Name: DatagramLossRatio, Unit: report.UnitRatio, Means: "datagrams that did not come, of those that should have",
		LessIsBetter: true, Sessions: true, Protocol: plan.UDP, value: func(m measured) (report.Number, string) {
			return report.Number(max(0, m.sessions.Datagrams.LossRatio).String()), ""
		}},
	{Name: JitterMicroseconds, Unit: "µs", Means: "mean of the receivers' smoothed jitter", LessIsBetter: true,
		Sessions: true, Protocol: plan.UDP, value: func(m measured) (report.Number, string) {
			return whole(m.sessions.Datagrams.JitterMicroseconds), ""
		}},
	{Name: procedure.TimePerFrame, Own: true, Unit: "ns", LessIsBetter: true,
		Means: "how long the device works on a frame, by trains of frames; of several directions the longest"},
	{Name: procedure.BackToBackFrames, Own: true, Together: burstsApart, Unit: "frames",
		Means: "the longest burst without loss, on average of all searches"},
	{Name: procedure.BufferFrames, Own: true, Together: burstsApart, Unit: "frames",
		Means: "frames of the longest burst without loss that the device held at its end"},
	{Name: procedure.BufferMicroseconds, Own: true, Together: burstsApart, Unit: "µs",
		Means: "in what time a burst brings the frames that the device held: RFC 9004's corrected buffer time"},
}

const burstsApart = "bursts show the buffer of each direction by itself: use direction Each"

// MetricOf is the metric of a name, or false for none.
func MetricOf(name report.Metric) (Metric, bool) {
	for _, m := range slices.Concat(Metrics, LatencyMetrics) {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// ThroughputOf is the metric that a Report's run is summarized and compared by. It is the frames that came back, or
// the goodput of sessions, where the Report has sessions or its Plan asked for them, or the time per frame of trains.
func ThroughputOf(r *report.Report) report.Metric {
	if ofTrains(r) {
		return procedure.TimePerFrame
	}
	if t := r.Answer.Total; t != nil && t.Sessions != nil || t == nil && r.Plan != nil && r.Plan.Sessions != nil {
		return GoodputBitsPerSecond
	}
	return PacketsPerSecond
}
