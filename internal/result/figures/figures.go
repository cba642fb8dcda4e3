package figures

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// measured is a direction, or all together, as a window or a result has it.
type measured struct {
	direction         string
	offered, received report.Flow
	leastLoss         units.Ratio
	mostLoss          units.Ratio // with all that edges and frames of others may hide
	percent           units.Percent
	lineRateKnown     bool
	lossy             bool
	// searched are the directions that the figure is of, where a search found what each of them can do by itself.
	// It is nil where the result holds for all.
	searched []report.Direction
	// shownFor is for how long the device was seen to do so, where a bucket may have helped it. It is 0 for as long
	// as one likes.
	shownFor plan.Duration
	// disturbed is how many frames more may have come back but for others on the machine and bursts of the
	// generators, as a share of those that did.
	disturbed *big.Rat
	// lostToSending is the share of those sent that were lost while generators sent in bursts, or nobody saw how.
	lostToSending units.Ratio
	// own are the figures that the procedure finds beside the rates. several says that the figures are of several
	// directions together.
	own     []report.OwnFigure
	several bool
	// trains says that the figures are of trains, which have no rates.
	trains bool
	// estimate is the estimated load. It is nil where the procedure estimates none.
	estimate *report.Estimate
	// sessions is set where traffic is sessions, and limit is what limited those, over all directions that the
	// figure is of.
	sessions *report.Sessions
	limit    measure.SessionLimit
}

func whole(v int64) report.Number { return report.Number(strconv.FormatInt(v, 10)) }

// Of are the figures that a Report claims, those of its answer first, each direction's in the Plan's order, then
// those of all together. Where nothing was measured because even the lowest load lost frames, they say that the
// device can do less than that load. There are none where nothing can be claimed.
func Of(r *report.Report) []report.Figure {
	if len(r.Answer.Goals) > 0 {
		return append(ofGoals(r), r.Answer.Figures...)
	}
	return append(answerFigures(r, Metrics), r.Answer.Figures...)
}

// ofGoals are the figures of each goal of a search, the first one's first.
func ofGoals(r *report.Report) (list []report.Figure) {
	for _, g := range r.Answer.Goals {
		goalReport, _ := r.ForGoal(g.Name)
		claimed := answerFigures(goalReport, Metrics)
		for i := range claimed {
			claimed[i].Goal = g.Name
		}
		list = append(list, claimed...)
	}
	return list
}

// OfAnswer are the figures of one metric, of the answer alone. There are none where the metric is unknown.
func OfAnswer(r *report.Report, metric report.Metric) []report.Figure {
	m, ok := MetricOf(metric)
	if !ok || m.Latency() {
		return nil
	}
	return answerFigures(r, []Metric{m})
}

// answerFigures are the answer's figures of these metrics.
func answerFigures(r *report.Report, metrics []Metric) []report.Figure {
	if r.Answer.Measured {
		return measuredFigures(r, metrics)
	}
	lowest := r.LowestLossy()
	if len(r.Answer.Goals) > 0 {
		lowest = lossyTrialAtLowestLoad(r)
	}
	if lowest != nil && r.Answer.NotHeld == "" { // else the device may have been away
		return figuresBelowLowestLoad(r, lowest, metrics)
	}
	return nil
}

// measuredFigures are the figures of a measured result.
func measuredFigures(r *report.Report, metrics []Metric) []report.Figure {
	var list []report.Figure
	rates := r.RateOfEachLink()
	for _, d := range r.Answer.Directions {
		list = append(list, figuresOf(metrics, resultOf(r.Answer, d), measured{own: d.Own, trains: d.Trains != nil,
			estimate: r.Answer.EstimateOf(d), direction: d.Name(), offered: d.Offered,
			received: d.Received, leastLoss: d.LossRatioMin, mostLoss: MostLost(r, d),
			percent: d.LineRatePercent, lineRateKnown: r.Plan != nil && rates[d.To] > 0, searched: withOwnLimits(d),
			shownFor: shownFor(r, d), disturbed: disturbed(d), lostToSending: lostToSending(d),
			sessions: d.Sessions, limit: limitOf(d)})...)
	}
	if t := r.Answer.Total; t != nil {
		own := ownTogether(r.Answer.Directions)
		list = append(list, figuresOf(metrics, r.Answer, measured{estimate: estimateTogether(r),
			own: own, several: len(r.Answer.Directions) > 1, trains: measure.OfTrains(r.Answer.Directions),
			direction: report.AllDirections, offered: t.Offered, received: t.Received, leastLoss: t.LossRatioMin,
			mostLoss: MostLostTogether(r),
			percent:  t.LineRatePercent, lineRateKnown: r.Plan != nil && everyLineRateKnown(r, rates),
			searched: withOwnLimitsAtOnce(r), shownFor: r.Answer.ShownFor,
			disturbed: disturbed(directionsOfTotal(r)...), lostToSending: lostToSending(r.Answer.Directions...),
			sessions: t.Sessions, limit: limitOf(r.Answer.Directions...)})...)
	}
	return list
}

// shownFor is for how long a direction was seen to do what the result says. It is 0 where the result is limited in
// time for another direction's sake, and this one's own limit holds for as long as one likes.
func shownFor(r *report.Report, d report.Direction) plan.Duration {
	contradicted := slices.ContainsFunc(r.Contradictions, func(c report.Contradiction) bool { return c.Limits(d) })
	if d.Limit != nil && d.Limit.Saturated && d.Limit.Confirmed && !r.Answer.Saturated && !contradicted {
		return 0
	}
	return r.Answer.ShownFor
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

// has says that the metric is one of what was measured. Sessions don't pretend to be frames, datagrams aren't TCP, and
// trains have no rate.
func (m measured) has(metric Metric) bool {
	return metric.Sessions == (m.sessions != nil) && (metric.Own || !m.trains) &&
		(metric.Protocol == "" || (metric.Protocol == plan.UDP) == (m.sessions.Datagrams != nil))
}

// figuresOf are the figures of one direction, or of all together, of a measured result.
func figuresOf(metrics []Metric, result report.Answer, m measured) []report.Figure {
	list := make([]report.Figure, 0, len(metrics))
	for _, metric := range metrics {
		if !m.has(metric) {
			continue
		}
		if metric.Own {
			if i := slices.IndexFunc(m.own,
				func(f report.OwnFigure) bool { return f.Metric == metric.Name }); i >= 0 {
				list = append(list, ofOwn(metric, result, m, m.own[i]))
			}
			continue
		}
		if m.estimate != nil {
			list = append(list, ofEstimate(metric, result, m))
			continue
		}
		f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Confirmed: result.Confirmed,
			Reason: result.Reason}
		f.Low, f.Missing = metric.value(m)
		bounded := len(result.NearGenerators) > 0
		switch {
		case f.Missing == "" && pathDoubt(metric, m.limit) != "":
			f.Low, f.Missing, f.Reason = "", pathDoubt(metric, m.limit), m.limit.Reason()
		case metric.Sessions:
			f.Reason = m.limit.Reason()
			f.High = upperEndOfSessions(f, m)
		case f.Missing != "":
		case metric.Name == LossRatio:
			f.Low, f.High = report.Number(max(0, m.leastLoss-m.lostToSending).String()), f.Low
			if bounded { // all of it may be theirs
				f.Low = whole(0)
			}
		case metric.Name == OfferedPacketsPerSecond:
			f.High = f.Low
		default:
			f.ShownFor = m.shownFor
			if f.High = upperEnd(f, result, m); bounded {
				f.Reason = report.NearGenerators
			}
		}
		list = append(list, f)
	}
	return list
}
