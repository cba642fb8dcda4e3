// Package figures says what a Report claims: its figures, each an interval that the truth lies in. It is pure. All that judges a Report reads these, whatever
// procedure measured them, so that a new metric is a row of the table here, and a new procedure none.
package figures

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
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

	// Of bursts.
	BackToBackFrames   report.Metric = "BackToBackFrames"
	BufferFrames       report.Metric = "BufferFrames"
	BufferMicroseconds report.Metric = "BufferMicroseconds"

	// Of sessions over UDP.
	DatagramLossRatio  report.Metric = "DatagramLossRatio"
	JitterMicroseconds report.Metric = "JitterMicroseconds"
)

// Metric is what there is to know of a metric.
type Metric struct {
	Name report.Metric
	Unit string
	// Means is what it is a number of.
	Means string
	// LessIsBetter is of what a device should have little of.
	LessIsBetter bool
	// Sessions says that it is of sessions; other metrics are of frames. Of those of sessions some are of one protocol only.
	Sessions bool
	Protocol string
	// burst is set of those of bursts, which are of each direction: their interval.
	burst func(report.BackToBackFrames) report.BurstFigure
	// of is its number in a direction, or in all together.
	of func(m measured) (report.Number, string)
	// latency is its number of frames whose latency was measured, where it is one of latency, and of is nil.
	latency func(l report.Latency) (low, high report.Number, missing string)
}

// Metrics are all metrics of an answer; LatencyMetrics are the others.
var Metrics = []Metric{
	{Name: PacketsPerSecond, Unit: "packets/s", Means: "frames that came back", of: func(m measured) (report.Number, string) { return whole(m.received.PacketsPerSecond), "" }},
	{Name: Layer1BitsPerSecond, Unit: "bit/s", Means: "layer-1 bits that came back: frames with preamble and gap", of: func(m measured) (report.Number, string) { return whole(m.received.Layer1BitsPerSecond), "" }},
	{Name: Layer2BitsPerSecond, Unit: "bit/s", Means: "layer-2 bits that came back: frames with FCS", of: func(m measured) (report.Number, string) { return whole(m.received.Layer2BitsPerSecond), "" }},
	{Name: LineRatePercent, Unit: "%", Means: "layer-1 bits that came back, of what the links carry", of: func(m measured) (report.Number, string) {
		if !m.lineRateKnown {
			return "", "the line rate is unknown: set the link's lineRate"
		}
		return report.Number(m.percent.String()), ""
	}},
	{Name: LossRatio, Unit: "ratio", Means: "frames that did not come back, of those sent", LessIsBetter: true, of: func(m measured) (report.Number, string) { return report.Number(m.mostLoss.String()), "" }},
	{Name: OfferedPacketsPerSecond, Unit: "packets/s", Means: "frames that the generators sent: their own limit, where they were asked for more", of: func(m measured) (report.Number, string) { return whole(m.offered.PacketsPerSecond), "" }},
	{Name: GoodputBitsPerSecond, Unit: "bit/s", Means: "payload that receiving programs read", Sessions: true, of: func(m measured) (report.Number, string) { return whole(m.sessions.GoodputBitsPerSecond), "" }},
	{Name: RetransmitRatio, Unit: "ratio", Means: "segments that were sent again, of all segments", LessIsBetter: true, Sessions: true, Protocol: plan.TCP, of: func(m measured) (report.Number, string) {
		return report.Number(m.sessions.RetransmitRatio.String()), ""
	}},
	{Name: RoundTripMicroseconds, Unit: "µs", Means: "mean of the senders' smoothed round trips", LessIsBetter: true, Sessions: true, Protocol: plan.TCP, of: func(m measured) (report.Number, string) {
		if m.sessions.RoundTrip == nil {
			return "", "no connection had a sample of its round trip"
		}
		return whole(m.sessions.RoundTrip.MeanMicroseconds), ""
	}},
	{Name: DatagramLossRatio, Unit: "ratio", Means: "datagrams that did not come, of those that should have", LessIsBetter: true, Sessions: true, Protocol: plan.UDP, of: func(m measured) (report.Number, string) {
		return report.Number(max(0, m.sessions.Datagrams.LossRatio).String()), ""
	}},
	{Name: JitterMicroseconds, Unit: "µs", Means: "mean of the receivers' smoothed jitter", LessIsBetter: true, Sessions: true, Protocol: plan.UDP, of: func(m measured) (report.Number, string) {
		return whole(m.sessions.Datagrams.JitterMicroseconds), ""
	}},
	{Name: BackToBackFrames, Unit: "frames", Means: "the longest burst without loss, on average of all searches", burst: func(b report.BackToBackFrames) report.BurstFigure { return b.Frames }},
	{Name: BufferFrames, Unit: "frames", Means: "frames of the longest burst without loss that the device held at its end", burst: func(b report.BackToBackFrames) report.BurstFigure { return b.Buffer }},
	{Name: BufferMicroseconds, Unit: "µs", Means: "in what time a burst brings the frames that the device held: RFC 9004's corrected buffer time", burst: func(b report.BackToBackFrames) report.BurstFigure { return b.BufferMicroseconds }},
}

// OfBursts says that it is of bursts of frames, of which only the procedure BackToBack tells.
func (m Metric) OfBursts() bool { return m.burst != nil }

// MetricOf is the metric of a name; false: there is none.
func MetricOf(name report.Metric) (Metric, bool) {
	for _, m := range slices.Concat(Metrics, LatencyMetrics) {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// ThroughputOf is the metric that a Report's run is told and compared by: frames that came back, or the goodput of sessions, where the Report has sessions or its Plan
// asked for them.
func ThroughputOf(r *report.Report) report.Metric {
	if t := r.Result.Total; t != nil && t.Sessions != nil || t == nil && r.Plan != nil && r.Plan.Sessions != nil {
		return GoodputBitsPerSecond
	}
	return PacketsPerSecond
}

// measured is a direction, or all together, as a window or a result has it.
type measured struct {
	direction         string
	offered, received report.Flow
	leastLoss         units.Ratio
	mostLoss          units.Ratio // with all that edges and frames of others may hide
	percent           units.Percent
	lineRateKnown     bool
	lossy             bool
	// searched are the directions that the figure is of, where a search found what each of them can do by itself; nil: what the result says holds for all.
	searched []report.Measured
	// disturbed is how many frames more may have come back but for others on the machine, as a share of those that did.
	disturbed *big.Rat
	// ofBursts says that the procedure sends bursts, and bursts is what they show of the direction; nil: nothing. severalBursts: the figures are of several directions together.
	bursts                  *report.BackToBackFrames
	ofBursts, severalBursts bool
	// ofSoak says that the procedure estimates a critical load, and critical is that; nil: nothing is known of it.
	ofSoak   bool
	critical *report.CriticalLoad
	// sessions is set where traffic is sessions, and held is what limited those, over all directions that the figure is of.
	sessions *report.Sessions
	limit    measure.SessionLimit
}

func whole(v int64) report.Number { return report.Number(strconv.FormatInt(v, 10)) }

// Of are the figures that a Report claims, first those of its answer: each direction's in the Plan's order, then those of all together. Where nothing was
// measured because even the lowest load lost frames, that load is what the device can't do. None: nothing can be claimed.
func Of(r *report.Report) []report.Figure {
	if len(r.Result.Goals) > 0 {
		return append(ofGoals(r), Latencies(r, LatencyMetrics...)...)
	}
	all := answers(r, Metrics)
	if r.Result.Measured {
		all = append(all, r.Result.Curve...)
	}
	return append(all, Latencies(r, LatencyMetrics...)...)
}

// ofGoals are the figures of each goal of a search, the first one's first.
func ofGoals(r *report.Report) (all []report.Figure) {
	for _, g := range r.Result.Goals {
		of, _ := r.ForGoal(g.Name)
		claimed := answers(of, Metrics)
		for i := range claimed {
			claimed[i].Goal = g.Name
		}
		all = append(all, claimed...)
	}
	return all
}

// OfAnswer are those of one metric, of the answer alone; none where the metric isn't known.
func OfAnswer(r *report.Report, metric report.Metric) []report.Figure {
	m, known := MetricOf(metric)
	if !known || m.Latency() {
		return nil
	}
	return answers(r, []Metric{m})
}

// answers are the answer's figures of these metrics.
func answers(r *report.Report, metrics []Metric) []report.Figure {
	if r.Result.Measured {
		return answered(r, metrics)
	}
	lowest := r.LowestLossy()
	if len(r.Result.Goals) > 0 {
		lowest = lossyAtLeast(r)
	}
	if lowest != nil {
		return beyond(r, lowest, metrics)
	}
	return nil
}

// lossyAtLeast is, of a search whose first goal not even the lowest load met, a trial at that load, judged by that goal; nil: it isn't so. A single trial that lost frames is nothing that the
// device can't do: the goal says of how many that is believed.
func lossyAtLeast(r *report.Report) *report.Window {
	g := r.Result.Goals[0]
	if g.Result.Reason != report.NoCleanWindow || g.Upper == nil {
		return nil
	}
	i := slices.IndexFunc(r.Windows, func(w report.Window) bool {
		return slices.Contains(g.Upper.Windows, w.Number) && slices.ContainsFunc(w.Directions, func(d report.Measured) bool { return d.LossRatioMin > r.Plan.Procedure.MaxLossRatio })
	})
	if i < 0 {
		return nil
	}
	w := r.Windows[i]
	w.Directions = slices.Clone(w.Directions)
	for d := range w.Directions {
		if w.Directions[d].Quality = report.Good; w.Directions[d].LossRatioMin > r.Plan.Procedure.MaxLossRatio {
			w.Directions[d].Quality = report.Lossy
		}
	}
	return &w
}

// answered are the figures of a measured result.
func answered(r *report.Report, metrics []Metric) []report.Figure {
	var all []report.Figure
	rates, ofBursts := r.RateOfEachLink(), report.PlanOf(r).Procedure.Type == plan.TypeBackToBack
	for _, d := range r.Result.Directions {
		all = append(all, claims(metrics, resultOf(r.Result, d), measured{ofBursts: ofBursts, bursts: d.BackToBack, ofSoak: ofSoaks(r), critical: r.Result.CriticalLoadOf(d), direction: d.Name(), offered: d.Offered, received: d.Received, leastLoss: d.LossRatioMin, mostLoss: d.MostLost(),
			percent: d.LineRatePercent, lineRateKnown: r.Plan != nil && rates[d.To] > 0, searched: searched(d), disturbed: disturbed(d), sessions: d.Sessions, limit: limitOf(d)})...)
	}
	if t := r.Result.Total; t != nil {
		var bursts *report.BackToBackFrames
		if len(r.Result.Directions) == 1 {
			bursts = r.Result.Directions[0].BackToBack
		}
		all = append(all, claims(metrics, r.Result, measured{ofSoak: ofSoaks(r), critical: criticalTogether(r), ofBursts: ofBursts, bursts: bursts, severalBursts: len(r.Result.Directions) > 1, direction: report.AllDirections, offered: t.Offered, received: t.Received, leastLoss: t.LossRatioMin, mostLoss: t.MostLost(),
			percent: t.LineRatePercent, lineRateKnown: r.Plan != nil && everyLineRateKnown(r, rates), searched: searchedTogether(r), disturbed: disturbed(together(r)...), sessions: t.Sessions, limit: limitOf(r.Result.Directions...)})...)
	}
	return all
}

// disturbed is how many frames more may have come back of these directions together, as a share of those that did; nil: none.
func disturbed(directions ...report.Measured) *big.Rat {
	var more, came int64
	for _, d := range directions {
		more, came = more+d.DisturbedFrames, came+d.Returned.Packets
	}
	if more <= 0 || came <= 0 {
		return nil
	}
	return big.NewRat(more, came)
}

// limitOf is what limited the sessions of these directions: where they differ, that which claims least.
func limitOf(directions ...report.Measured) (limit measure.SessionLimit) {
	for i, d := range directions {
		if d.Sessions == nil {
			return measure.SessionLimit{}
		}
		l := measure.LimitOfSessions(*d.Sessions)
		held, doubt, carried := max(limit.HeldByEnds, l.HeldByEnds), cmp.Or(limit.NotThePaths, l.NotThePaths), limit.Carried || l.Carried
		jitter := cmp.Or(limit.JitterNotThePaths, l.JitterNotThePaths)
		if i == 0 || limit.By == measure.ByPath || limit.By == measure.ByLoad && l.By != measure.ByPath || l.By == measure.ByEnds {
			limit = l
		}
		limit.HeldByEnds, limit.NotThePaths, limit.JitterNotThePaths, limit.Carried = held, doubt, jitter, carried
	}
	return limit
}

// NotThePaths says why what was sent again in these directions together, and how long answers took, are no figures, as they may not be the path's: RetransmitRatio and RoundTripMicroseconds are Missing
// then. Whatever shows a result's sessions without their figures, as a status or a table does, leaves out the same by it. Empty: they are the path's, or the directions are of frames.
func NotThePaths(directions ...report.Measured) string { return limitOf(directions...).NotThePaths }

// JitterNotThePaths says the same of the jitter of datagrams, JitterMicroseconds: it may be the ends' own where nothing else is.
func JitterNotThePaths(directions ...report.Measured) string {
	return limitOf(directions...).JitterNotThePaths
}

// ofALoad are the metrics of each load of a curve.
var ofALoad = slices.DeleteFunc(slices.Clone(Metrics), func(m Metric) bool {
	return m.Name != PacketsPerSecond && m.Name != LossRatio && m.Name != OfferedPacketsPerSecond
})

// At are the figures of one window for its own sake: what was sent, what came back and what was lost at its load, in each direction and in all together.
func At(r *report.Report, w report.Window) []report.Figure {
	result := report.Result{Confirmed: true, Reason: report.CurveMeasured, Directions: w.Directions}
	total := measure.Sum(w.Directions, r.RateOfEachLink())
	result.Total = &total
	all := answered(&report.Report{Plan: r.Plan, LineRates: r.LineRates, Result: result}, ofALoad)
	for i := range all {
		all[i].Load = w.Load
	}
	return all
}

// Points parts a curve's figures of all directions together by their loads, in the curve's order.
func Points(curve []report.Figure) (points [][]report.Figure) {
	for _, f := range curve {
		if f.Direction != report.AllDirections {
			continue
		}
		if last := len(points) - 1; last >= 0 && points[last][0].Load == f.Load {
			points[last] = append(points[last], f)
		} else {
			points = append(points, []report.Figure{f})
		}
	}
	return points
}

// everyLineRateKnown says that all directions have a line rate to take a percentage of.
func everyLineRateKnown(r *report.Report, rates map[string]units.BitRate) bool {
	for _, d := range r.Plan.Directions {
		if rates[d.To] == 0 {
			return false
		}
	}
	return true
}

// claims are the figures of one direction, or of all together, of a measured result.
func claims(metrics []Metric, result report.Result, m measured) []report.Figure {
	all := make([]report.Figure, 0, len(metrics))
	for _, metric := range metrics {
		if metric.Sessions != (m.sessions != nil) {
			continue // sessions don't pretend to be frames
		}
		if metric.OfBursts() {
			if m.ofBursts {
				all = append(all, ofBursts(metric, result, m))
			}
			continue
		}
		if m.ofSoak {
			all = append(all, ofSoak(metric, result, m))
			continue
		}
		if metric.Protocol != "" && (metric.Protocol == plan.UDP) != (m.sessions.Datagrams != nil) {
			continue
		}
		f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Confirmed: result.Confirmed, Reason: result.Reason}
		f.Low, f.Missing = metric.of(m)
		near := len(result.NearGenerators) > 0
		switch {
		case f.Missing == "" && notThePaths(metric, m.limit) != "":
			f.Low, f.Missing, f.Reason = "", notThePaths(metric, m.limit), m.limit.Reason()
		case metric.Sessions:
			f.Reason = m.limit.Reason()
			f.High = highOfSessions(f, m)
		case f.Missing != "":
		case metric.Name == LossRatio:
			f.Low, f.High = report.Number(m.leastLoss.String()), f.Low
			if near { // all of it may be theirs
				f.Low = whole(0)
			}
		case metric.Name == OfferedPacketsPerSecond:
			f.High = f.Low
		default:
			if f.High = highOf(f, result, m); near {
				f.Reason = report.NearGenerators
			}
		}
		all = append(all, f)
	}
	return all
}

// ofBursts is a figure of bursts: it has no upper end where the longest burst there was to be lost no frame, and where the generators may have lost those of longer ones.
func ofBursts(metric Metric, result report.Result, m measured) report.Figure {
	f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Confirmed: result.Confirmed, Reason: result.Reason}
	switch {
	case m.severalBursts:
		f.Missing = "bursts show what each direction by itself buffers: use direction Each"
		return f
	case m.bursts == nil:
		f.Missing = "no burst of this direction shows it"
		return f
	}
	of, near := metric.burst(*m.bursts), len(result.NearGenerators) > 0
	if near {
		f.Reason = report.NearGenerators
	}
	switch {
	case near && metric.Name != BackToBackFrames:
		f.Missing = "frames may have been lost by the generators, whose own limit is near"
	case of.Low == "" && m.bursts.ForwardedPacketsPerSecond == "":
		f.Missing = "how many frames the device held can't be told"
	case of.Low == "":
		f.Missing = "the device forwards as fast as bursts were sent"
	case near: // a longer burst may be lost by them
		f.Low = of.Low
	default:
		f.Low, f.High = of.Low, of.High
	}
	return f
}

// notThePaths is why a metric of sessions is no figure; empty: it is one, or the metric is none that ends may spoil.
func notThePaths(metric Metric, limit measure.SessionLimit) string {
	switch {
	case !metric.Sessions || metric.Name == GoodputBitsPerSecond:
		return ""
	case limit.NotThePaths != "":
		return "nothing can be said of the path: " + limit.NotThePaths
	case metric.Name == JitterMicroseconds && limit.JitterNotThePaths != "":
		return "nothing can be said of the path's jitter: " + limit.JitterNotThePaths
	}
	return ""
}

// beyond are the figures where even the lowest load lost frames: in directions that lost them less than was offered then, in others nothing is known.
func beyond(r *report.Report, lowest *report.Window, metrics []Metric) []report.Figure {
	rates := r.RateOfEachLink()
	var all []report.Figure
	for _, d := range lowest.Directions {
		all = append(all, less(metrics, measured{direction: d.Name(), offered: d.Offered, received: d.Offered, leastLoss: d.LossRatioMin, mostLoss: d.MostLost(),
			percent: units.PercentOf(d.Offered.Layer1BitsPerSecond, int64(rates[d.To])), lineRateKnown: r.Plan != nil && rates[d.To] > 0, lossy: d.Quality == report.Lossy})...)
	}
	offered := slices.Clone(lowest.Directions)
	for i := range offered {
		offered[i].Received = offered[i].Offered
	}
	t := measure.Sum(offered, rates)
	return append(all, less(metrics, measured{direction: report.AllDirections, offered: t.Offered, received: t.Received, leastLoss: t.LossRatioMin, mostLoss: t.MostLost(),
		percent: t.LineRatePercent, lineRateKnown: r.Plan != nil && everyLineRateKnown(r, rates), lossy: lowest.Varied == ""})...) // where one direction alone varied, nothing is known of all
}

// less are the figures of what the device can't do.
func less(metrics []Metric, m measured) []report.Figure {
	all := make([]report.Figure, 0, len(metrics))
	for _, metric := range metrics {
		if metric.Sessions || metric.OfBursts() {
			continue // whose loads nobody chooses
		}
		f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Reason: report.NoCleanWindow}
		f.High, f.Missing = metric.of(m)
		switch {
		case f.Missing != "":
		case metric.Name == LossRatio:
			f.Low = report.Number(m.leastLoss.String())
		case metric.Name == OfferedPacketsPerSecond:
			f.Low = f.High
		case !m.lossy: // the other direction lost frames, and this one may do any more
			f.Low, f.High = "0", ""
		default:
			f.Low = "0"
		}
		all = append(all, f)
	}
	return all
}

// Text is a figure for people: its number with its unit, or why there is none. Of loss it is what surely was lost to what may have been, of latency the longest that it may be, of what is only known not to be
// reached that bound.
func Text(f report.Figure) string {
	number := f.Low
	if f.Metric == LossRatio || f.Metric == DatagramLossRatio && f.High != "" || f.Reason == report.NoCleanWindow {
		number = f.High
	}
	v := number.Rat()
	if v == nil {
		return f.Missing
	}
	switch {
	case f.At != nil && f.High == "":
		return Statistic(f.Metric) + " over " + wording.Nanoseconds(int64(math.Round(number.Float())))
	case f.At != nil:
		return Format(f.Metric, f.High.Float())
	}
	switch f.Metric {
	case LineRatePercent:
		return units.Percent(scaled(v, int64(units.Hundred)/100)).FormatFixed() + " % of line rate"
	case LossRatio:
		return "loss ratio " + lossInterval(f.Low.Rat(), v)
	case DatagramLossRatio:
		return "datagram loss ratio " + lossInterval(f.Low.Rat(), v)
	case RetransmitRatio:
		return "retransmit ratio " + units.Ratio(scaled(v, int64(units.One))).String()
	}
	return Format(f.Metric, number.Float())
}

// lossInterval is the loss as text: one number where both ends are the same. A lower end below 0 is printed as 0.
func lossInterval(low, high *big.Rat) string {
	upTo := units.Ratio(scaled(high, int64(units.One)))
	if low == nil {
		return upTo.String()
	}
	if from := max(0, units.Ratio(scaled(low, int64(units.One)))); from < upTo {
		return from.String() + " to " + upTo.String()
	}
	return upTo.String()
}

// scaled is a number in parts of which there are so many in one.
func scaled(v *big.Rat, parts int64) int64 {
	product := new(big.Rat).Mul(v, big.NewRat(parts, 1))
	return new(big.Int).Quo(product.Num(), product.Denom()).Int64()
}

// Format writes a number of a metric with its unit.
func Format(metric report.Metric, v float64) string {
	switch metric {
	case PacketsPerSecond, OfferedPacketsPerSecond:
		const most = math.MaxInt64 / int64(units.PacketPerSecond) / 2
		return (units.PacketRate(math.Round(min(max(v, -float64(most)), float64(most)))) * units.PacketPerSecond).FormatSI()
	case Layer1BitsPerSecond, Layer2BitsPerSecond:
		return units.BitRate(math.Round(v)).FormatSI()
	case LineRatePercent:
		return strconv.FormatFloat(v, 'f', 2, 64) + " % of line rate"
	case LossRatio:
		return "loss ratio " + strconv.FormatFloat(v, 'g', 3, 64)
	case GoodputBitsPerSecond:
		return units.BitRate(math.Round(v)).FormatSI() + " goodput"
	case RetransmitRatio:
		return "retransmit ratio " + strconv.FormatFloat(v, 'g', 3, 64)
	case RoundTripMicroseconds:
		return "rtt " + wording.Microseconds(int64(math.Round(v)))
	case DatagramLossRatio:
		return "datagram loss ratio " + strconv.FormatFloat(v, 'g', 3, 64)
	case BackToBackFrames:
		return "bursts of " + wording.Count(int64(math.Round(v))) + " frames"
	case BufferFrames:
		return "buffer of " + wording.Count(int64(math.Round(v))) + " frames"
	case BufferMicroseconds:
		return "buffer of " + wording.Microseconds(int64(math.Round(v)))
	case JitterMicroseconds:
		return "jitter " + wording.Microseconds(int64(math.Round(v)))
	}
	if m, _ := MetricOf(metric); m.Latency() {
		return Statistic(metric) + " " + wording.Nanoseconds(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// Whose is whose a figure is, for people: "west→east", "all directions".
func Whose(f report.Figure) string {
	switch {
	case f.At != nil:
		return f.Direction + ofWhichFrames(f)
	case f.Direction == report.AllDirections:
		return "all directions"
	}
	return f.Direction
}
