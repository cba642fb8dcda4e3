package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// HeadlineOf is a report's line in a table of many, with its names, and its answer's figures.
func HeadlineOf(r *report.Report) report.Headline {
	h := report.NamedHeadline(r)
	if h.Measured = report.HasFigure(r); !h.Measured {
		return h
	}
	for _, f := range answerFigures(r, headlineMetrics) {
		switch {
		case f.Direction != report.AllDirections:
			if f.Metric == LineRatePercent {
				h.PercentSum += percentOf(f)
			}
		case f.Metric == GoodputBitsPerSecond:
			h.OfSessions, h.GoodputBitsPerSecond = true, int64(math.Round(f.Low.Float()))
			h.Bound, h.Unconfirmed = f.High == "", false
		case f.Metric == PacketsPerSecond:
			h.PacketsPerSecond = int64(math.Round(f.Low.Float()))
			h.Bound = r.Result.LowerBound() // also where it is bounded from above, but far from there
			h.Unconfirmed = !h.Bound && r.Unconfirmed()
		case f.Metric == Layer1BitsPerSecond:
			h.Layer1BitsPerSecond = int64(math.Round(f.Low.Float()))
		case f.Metric == LineRatePercent:
			h.Percent = percentOf(f)
		}
	}
	if report.PlanOf(r).Procedure.Each != nil { // the directions' own figures are of different moments
		h.PercentSum = 0
		for _, d := range directionsOfTotal(r) {
			h.PercentSum += d.LineRatePercent
		}
	}
	return h
}

// HeadlineIn is a report's line as it holds for one of its directions, which may be a lower bound, or not
// confirmed. A search may have found the direction's own limit while another direction set the load, and one direction
// may be estimated where another is bounded.
func HeadlineIn(h report.Headline, r *report.Report, d report.Direction) report.Headline {
	switch l := r.Result.EstimateOf(d); {
	case l != nil:
		h.Bound = l.Low != "" && l.High == ""
		h.Unconfirmed = !h.Bound && (l.Low == "" || l.Extrapolated)
	case d.Limit != nil:
		h.Bound = resultOf(r.Result, d).LowerBound()
		h.Unconfirmed = !h.Bound && r.LacksConfirmation(d.Limit.Confirmed)
	}
	return h
}

// headlineMetrics are the metrics that a line in a table has.
var headlineMetrics = slices.DeleteFunc(slices.Clone(Metrics), func(m Metric) bool {
	return m.Name != PacketsPerSecond && m.Name != Layer1BitsPerSecond && m.Name != LineRatePercent &&
		m.Name != GoodputBitsPerSecond
})

// percentOf is a share of a line rate, or 0 where the line rate is unknown.
func percentOf(f report.Figure) units.Percent {
	v := f.Low.Rat()
	if v == nil {
		return 0
	}
	return units.Percent(scaled(v, int64(units.Hundred)/100))
}

// TableFigures are the figures of a Report in a table of many runs, or nil where it has none.
func TableFigures(r *report.Report) *report.Figures {
	h := HeadlineOf(r)
	if !h.Measured {
		return nil
	}
	f := &report.Figures{Runs: 1, PacketsPerSecond: h.PacketsPerSecond, Layer1BitsPerSecond: h.Layer1BitsPerSecond,
		LineRatePercent: h.Percent, LineRatePercentSum: h.PercentSum, LowerBound: h.Bound}
	if h.OfSessions {
		f.GoodputBitsPerSecond = &h.GoodputBitsPerSecond
	}
	if h.Unconfirmed {
		f.Unconfirmed = 1
	}
	return f
}

// TableFiguresByGoal are the figures of each goal of a Report whose search has several, or nil where it has not.
func TableFiguresByGoal(r *report.Report) (rows []report.GoalFigures) {
	if len(r.Result.Goals) < 2 {
		return nil
	}
	for _, g := range r.Result.Goals {
		goalReport, _ := r.ForGoal(g.Name)
		rows = append(rows, report.GoalFigures{Goal: g.Name, Figures: TableFigures(goalReport)})
	}
	return rows
}

// Summary is the answer in one line, as a status or a list shows it, such as "654.40 kpps 2.00 Gb/s 99.95% of line
// rate". Packets and bits (layer 1) are those received, summed over the directions. The percentage is the share of
// what all directions can carry together. A lower bound has "≥" before each figure, and an unconfirmed figure "~".
// A figure of ends that shared a physical port says so, as does one whose load a single direction set. Without a
// figure it is "not measured". Of sessions it says what each direction's did, as in "west→east: 47.69 Mb/s goodput,
// 14 retransmits, rtt 44.1 ms", without the round trip where it may not be the path's.
func Summary(r *report.Report) string {
	if len(r.Result.Goals) > 0 {
		return summaryOfGoals(r)
	}
	h := HeadlineOf(r)
	if !h.Measured {
		return wording.NotMeasured
	}
	if h.OfSessions {
		return summaryOfSessions(r)
	}
	if r.Result.Estimated() {
		return summaryOfEstimates(r)
	}
	line := h.Signed(wording.PacketRate(h.PacketsPerSecond)) + "  " + h.Signed(wording.BitRate(h.Layer1BitsPerSecond)) +
		"  " + h.Signed(wording.Percent(h.Percent)) + " of line rate"
	if len(r.Result.SharedPorts) > 0 {
		line += "  (shared port)"
	}
	if set := r.Result.SetBy; r.Result.Reason == report.OtherDirection && len(set) == 1 {
		line += "  (" + set[0] + " set the load)"
	}
	if sum := r.Result.Together; sum != nil && sum.Quality == report.Lossy {
		line += "  (all limits at once, frames lost)"
	}
	return line
}

// summaryOfGoals is each goal's answer, as in "NDR 39.70 kpps (2.67% of line rate); PDR 39.90 kpps (2.68% of line
// rate)".
func summaryOfGoals(r *report.Report) string {
	var sentences []string
	for _, g := range r.Result.Goals {
		goalReport, _ := r.ForGoal(g.Name)
		switch h := HeadlineOf(goalReport); {
		case h.Measured:
			sentences = append(sentences, fmt.Sprintf("%s %s (%s of line rate)", g.Name,
				h.Signed(wording.PacketRate(h.PacketsPerSecond)), wording.Percent(h.Percent)))
		case g.Result.Reason == report.NoCleanLoad:
			sentences = append(sentences, g.Name+" not met at any load")
		default:
			sentences = append(sentences, g.Name+" "+wording.NotMeasured)
		}
	}
	line := strings.Join(sentences, "; ")
	if len(r.Result.SharedPorts) > 0 {
		line += "  (shared port)"
	}
	return line
}

// mostDirectionsShown is how many directions of sessions a summary lists one by one.
const mostDirectionsShown = 2

func summaryOfSessions(r *report.Report) string {
	var sentences []string
	for _, d := range r.Result.Directions {
		if d.Sessions == nil {
			continue
		}
		sign, limit := "", limitOf(d)
		if limit.Cause != measure.ByPath {
			sign = "≥"
		}
		sentences = append(sentences, wording.Direction(d.From, d.To)+": "+sign+measure.SessionsSentence(*d.Sessions,
			limit))
	}
	if len(sentences) > mostDirectionsShown && r.Result.Total.Sessions != nil {
		sentences = []string{HeadlineOf(r).Sign() + measure.SessionsSentence(*r.Result.Total.Sessions,
			limitOf(r.Result.Directions...)) + " in " + wording.Counted(len(sentences), "direction")}
	}
	line := strings.Join(sentences, "; ")
	if len(r.Result.SharedPorts) > 0 {
		line += "  (shared port)"
	}
	return line
}
