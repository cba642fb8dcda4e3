package history

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// RFC2544 sets Reports side by side as RFC 2544, section 26, has it, by product and direction, frame sizes
// ascending. Procedures that find a limit have throughput, and one that measures a curve has frame loss. Others are
// listed as without.
func RFC2544(reports []*report.Report) *report.RFC2544 {
	documents := &report.RFC2544{Reports: reports}
	for _, r := range reports {
		throughput, loss, missing := rfc2544Of(r)
		documents.Throughput, documents.Loss, documents.Missing = append(documents.Throughput, throughput...),
			append(documents.Loss, loss...), append(documents.Missing, missing...)
	}
	slices.SortStableFunc(documents.Throughput,
		func(a, b report.ThroughputPoint) int { return compareStreams(a.Stream, b.Stream) })
	slices.SortStableFunc(documents.Loss, func(a, b report.FrameLossPoint) int {
		return cmp.Or(compareStreams(a.Stream, b.Stream), cmp.Compare(b.InputPercent, a.InputPercent))
	})
	return documents
}

func compareStreams(a, b report.Stream) int {
	return cmp.Or(cmp.Compare(a.Product, b.Product), cmp.Compare(a.FrameBytes.Float(), b.FrameBytes.Float()),
		cmp.Compare(a.Loadtest, b.Loadtest), cmp.Compare(a.Test, b.Test), cmp.Compare(a.Direction, b.Direction))
}

// rfc2544Of are a Report's points. missing says why it, or one of its goals, has none.
func rfc2544Of(
	r *report.Report,
) (throughput []report.ThroughputPoint, loss []report.FrameLossPoint, missing []report.Missing) {
	p := report.PlanOf(r)
	lacks := func(goal string, result report.Answer, reason string) {
		name := report.NamedHeadline(r).Name
		if goal != "" {
			name += ", " + goal
		}
		missing = append(missing, report.Missing{Test: name, Reason: string(result.Reason), Message: reason})
	}
	switch traits := procedures.TraitsOf(p.Procedure); {
	case p.Sessions != nil:
		lacks("", r.Answer, "its traffic is sessions, but RFC 2544 is about frames")
		return nil, nil, missing
	case traits.FindsLossOverLoad:
		if loss = frameLossOf(r); len(loss) == 0 {
			lacks("", r.Answer, "no load of its curve was measured")
		}
		return nil, loss, missing
	case !traits.FindsThroughput:
		lacks("", r.Answer, "its procedure, "+p.Procedure.Type+", finds neither throughput nor frame loss over load")
		return nil, nil, missing
	}
	names := []string{""}
	if len(r.Answer.Goals) > 0 {
		names = nil
		for _, g := range r.Answer.Goals {
			names = append(names, g.Name)
		}
	}
	for _, name := range names {
		goalReport, _ := r.ForGoal(name)
		points := throughputOf(goalReport, name)
		if len(points) == 0 {
			lacks(name, goalReport.Answer, cmp.Or(r.Message, goalReport.Answer.Message,
				"it found no load that came back"))
		}
		throughput = append(throughput, points...)
	}
	return throughput, nil, missing
}

// throughputOf are the directions' points. There are none where there is no figure.
func throughputOf(r *report.Report, goal string) (points []report.ThroughputPoint) {
	if !report.HasFigure(r) {
		return nil
	}
	h := figures.HeadlineOf(r)
	for i, d := range r.Answer.Directions {
		headline := figures.HeadlineIn(h, r, d)
		s := streamOf(r, i)
		points = append(points, report.ThroughputPoint{Stream: s, Goal: goal,
			LossAllowed: report.PlanOf(r).Procedure.MaxLossRatio, Offered: d.Offered, Received: d.Received,
			LossRatio:          d.LossRatio,
			TheoreticalPercent: percentOfTheory(d.Received.PacketsPerSecond, s), LowerBound: headline.Bound,
			Unconfirmed: headline.Unconfirmed, Reason: r.Answer.Reason})
	}
	return points
}

// frameLossOf are the loads of a curve, in each direction.
func frameLossOf(r *report.Report) (points []report.FrameLossPoint) {
	for i, d := range report.PlanOf(r).Directions {
		s, index := streamOf(r, i), map[units.Ratio]int{}
		for _, f := range r.Answer.Figures {
			if f.Direction != d.Name() || f.LatencyLoad != nil {
				continue
			}
			if _, found := index[f.Load]; !found {
				index[f.Load] = len(points)
				points = append(points, report.FrameLossPoint{Stream: s})
			}
			switch p := &points[index[f.Load]]; f.Metric {
			case figures.OfferedPacketsPerSecond:
				p.Offered, p.InputPercent = f.Low, percentOfTheory(int64(math.Round(f.Low.Float())), s)
			case figures.PacketsPerSecond:
				p.Received = f.Low
			case figures.LossRatio:
				p.LossRatio, p.LossRatioMin = cmp.Or(f.High, f.Low), f.Low
			}
		}
	}
	return points
}

// streamOf is the stream that a direction's figures are of.
func streamOf(r *report.Report, i int) report.Stream {
	h, p := report.NamedHeadline(r), report.PlanOf(r)
	s := report.Stream{Product: h.Product, Loadtest: h.Loadtest, Test: h.Name,
		TrialDuration: plan.Duration(trialDuration(r, i))}
	if i >= len(p.Directions) {
		return s
	}
	d, rates := p.Directions[i], r.RateOfEachLink()
	s.Direction, s.LineRate = d.Name(), rates[d.From]
	if rate := rates[d.To]; rate > 0 && (s.LineRate == 0 || rate < s.LineRate) {
		s.LineRate = rate
	}
	if d.Mix.Packets > 0 {
		s.FrameBytes = report.NumberOf(big.NewRat(d.Mix.Bytes, d.Mix.Packets))
		s.TheoreticalPacketsPerSecond = int64(units.LinePacketRate(d.Mix, s.LineRate).PerSecond())
	}
	var sizes measure.Sizes
	var protocols []string
	for _, g := range p.Generators {
		for _, port := range g.Ports {
			if port.Link != d.From {
				continue
			}
			sizes = measure.SizesOf(port.Streams, sizes)
			for _, stream := range port.Streams {
				if protocol := protocolOf(stream.Packet.Binary); protocol != "" &&
					!slices.Contains(protocols, protocol) {
					protocols = append(protocols, protocol)
				}
			}
		}
	}
	s.Mixed, s.Protocol = sizes.Shortest != sizes.Longest, strings.Join(protocols, ", ")
	return s
}

// protocolOf names the protocol that a frame carries, as in "UDP over IPv4". It is empty where that is unknown.
func protocolOf(frame []byte) string {
	const ethertype, tag = 12, 4
	for offset := ethertype; offset+2 <= len(frame); offset += tag {
		version, next := "", 0
		switch binary.BigEndian.Uint16(frame[offset:]) {
		case 0x8100, 0x88a8: // a VLAN tag, and another type behind it
			continue
		case 0x0800:
			version, next = "IPv4", offset+2+9
		case 0x86dd:
			version, next = "IPv6", offset+2+6
		}
		if next == 0 || next >= len(frame) {
			return ""
		}
		switch frame[next] {
		case 6:
			return "TCP over " + version
		case 17:
			return "UDP over " + version
		}
		return version
	}
	return ""
}

// trialDuration is how long the trials, or windows, last that decide a direction's figures.
func trialDuration(r *report.Report, direction int) time.Duration {
	return cmp.Or(procedures.New(report.PlanOf(r).Procedure).Describe().Trial, rampedFor(r, direction))
}

// rampedFor is how long the window of a ramp was that a direction's figures are of. It is the confirmation if that
// was confirmed.
func rampedFor(r *report.Report, direction int) time.Duration {
	p, number, confirmed := report.PlanOf(r).Procedure, r.Answer.Window, r.Answer.Confirmed
	if direction < len(r.Answer.Directions) && r.Answer.Directions[direction].Limit != nil {
		limit := r.Answer.Directions[direction].Limit
		number, confirmed = limit.Window, limit.Confirmed
	}
	if d := p.Confirmation(); confirmed && d > 0 {
		return d
	}
	if i := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == number }); i >= 0 {
		return r.Windows[i].Duration.Std()
	}
	return p.Ramp.StepDuration.Std() // the Report was thinned
}

func percentOfTheory(packetsPerSecond int64, s report.Stream) units.Percent {
	if s.TheoreticalPacketsPerSecond <= 0 {
		return 0
	}
	return units.PercentOf(packetsPerSecond, s.TheoreticalPacketsPerSecond)
}
