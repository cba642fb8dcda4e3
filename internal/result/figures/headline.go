package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// HeadlineOf is a report's line in a table of many, with its names, and its answer's figures.
func HeadlineOf(r *report.Report) report.Headline {
	h := report.NamedHeadline(r)
	if h.Measured = report.HasFigure(r); !h.Measured {
		return h
	}
	trains := ofTrains(r)
	for _, f := range answerFigures(r, headlineMetrics) {
		switch {
		case f.Metric == procedure.TimePerFrame && !trains: // it stands beside the answer
		case f.Direction != report.AllDirections:
			if f.Metric == LineRatePercent {
				h.PercentSum += percentOf(f)
			}
		case f.Metric == GoodputBitsPerSecond:
			h.OfSessions, h.GoodputBitsPerSecond = true, int64(math.Round(f.Low.Float()))
			h.Bound, h.Unconfirmed = f.High == "", false
		case f.Metric == procedure.TimePerFrame:
			h.OfTrains, h.Bound = true, f.Low.Float() <= 0
			if h.PicosecondsPerFrame = int64(math.Round(500 * (f.Low.Float() + f.High.Float()))); h.Bound {
				h.PicosecondsPerFrame *= 2
			}
		case f.Metric == PacketsPerSecond:
			h.PacketsPerSecond = int64(math.Round(f.Low.Float()))
			h.Bound = r.Answer.LowerBound() // also where it is bounded from above, but far from there
			h.Unconfirmed = !h.Bound && r.Unconfirmed()
		case f.Metric == Layer1BitsPerSecond:
			h.Layer1BitsPerSecond = int64(math.Round(f.Low.Float()))
		case f.Metric == LineRatePercent:
			h.Percent = percentOf(f)
		}
	}
	if r.Answer.FoundApart() { // the directions' own figures are of different moments
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
	switch l := r.Answer.EstimateOf(d); {
	case l != nil:
		h.Bound = l.Low != "" && l.High == ""
		h.Unconfirmed = !h.Bound && (l.Low == "" || l.Extrapolated)
	case d.Limit != nil:
		h.Bound = resultOf(r.Answer, d).LowerBound()
		h.Unconfirmed = !h.Bound && r.LacksConfirmation(d.Limit.Confirmed)
	}
	return h
}

// headlineMetrics are the metrics that a line in a table has.
var headlineMetrics = slices.DeleteFunc(slices.Clone(Metrics), func(m Metric) bool {
	return m.Name != PacketsPerSecond && m.Name != Layer1BitsPerSecond && m.Name != LineRatePercent &&
		m.Name != GoodputBitsPerSecond && m.Name != procedure.TimePerFrame
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
	if h.OfTrains {
		f.PicosecondsPerFrame = &h.PicosecondsPerFrame
	}
	if h.Unconfirmed {
		f.Unconfirmed = 1
	}
	return f
}

// TableFiguresByGoal are the figures of each goal of a Report whose search has several, or nil where it has not.
func TableFiguresByGoal(r *report.Report) (rows []report.GoalFigures) {
	if len(r.Answer.Goals) < 2 {
		return nil
	}
	for _, g := range r.Answer.Goals {
		goalReport, _ := r.ForGoal(g.Name)
		rows = append(rows, report.GoalFigures{Goal: g.Name, Figures: TableFigures(goalReport)})
	}
	return rows
}

// Summary is the answer in one line, as a status or a list shows it, such as "1.12 Mpps west→east, 64-byte frames
// (75.3 % of 1 Gb/s)". Packets are those received. Of several directions it has the sum, "≥ 49.7 kpps both ways
// together", or each direction's rate where they are not alike, "west→east 4.00 kpps, east→west ≥ 4.00 kpps". A
// lower bound has "≥", and an unconfirmed figure "~". A load that was given, and that lost more than allowed, is
// "offered 345 kpps both ways together, 300 kpps came back (12.9 % lost)". Without a figure it is "not measured". Of
// sessions it says what each direction's did, as in "west→east: 47.7 Mb/s goodput, 14 retransmits, rtt 44.1 ms",
// without the round trip where it may not be the path's.
func Summary(r *report.Report) string { return summary(r, lineShareText) }

// Brief is a Summary for a cell of a table, whose share is of the line rate, as in "654 kpps both ways together
// (99.9 %)".
func Brief(r *report.Report) string { return summary(r, shareText) }

func summary(r *report.Report, share func(*report.Report, report.Headline) string) string {
	h := HeadlineOf(r)
	text := ""
	switch {
	case len(r.Answer.Goals) > 0:
		text = summaryOfGoals(r)
	case !h.Measured:
		return wording.NotMeasured
	case h.OfSessions:
		text = summaryOfSessions(r)
	case ofTrains(r):
		text = summaryOfTrains(r)
	case r.Answer.Estimated():
		text = summaryOfEstimates(r)
	case overloaded(r, h):
		text = summaryOfOverload(r)
	case r.Answer.Reason == report.BurstsMeasured:
		text = burstsText(r) + ", offered at " + ratesText(r, h) + frameSizeText(r) + share(r, h)
	default:
		text = ratesText(r, h) + frameSizeText(r) + share(r, h)
	}
	if len(r.Answer.SharedPorts) > 0 {
		text += ", on a shared port"
	}
	return text
}

// overloaded says that the figure is what came back of a load that was given, and that lost more than allowed.
func overloaded(r *report.Report, h report.Headline) bool {
	given := slices.Contains([]report.Reason{report.LoadHeld, report.CurveMeasured, report.MaximumOffered},
		r.Answer.Reason)
	return given && !unlike(r, h) && r.Answer.Total.MostLost() > report.PlanOf(r).Procedure.MaxLossRatio
}

// summaryOfOverload is what was offered and what came back, as in "offered 345 kpps both ways together, 300 kpps came
// back (12.9 % lost)", which no reader takes for a limit.
func summaryOfOverload(r *report.Report) string {
	total := r.Answer.Total
	frames := ""
	if size := frameSizeText(r); size != "" {
		frames = " of " + strings.TrimPrefix(size, ", ")
	}
	text := fmt.Sprintf("offered %s%s %s, %s came back (%s lost)", wording.ShortPacketRate(
		total.Offered.PacketsPerSecond), frames, WhichDirections(r),
		wording.ShortPacketRate(total.Received.PacketsPerSecond), wording.LostShare(total.LossRatio))
	if r.Answer.Reason == report.CurveMeasured {
		return "highest load: " + text
	}
	return text
}

// ratesText is what was received, and in which directions.
func ratesText(r *report.Report, h report.Headline) string {
	if unlike(r, h) {
		var rates []string
		for _, d := range r.Answer.Directions {
			rates = append(rates, d.Name()+" "+rateText(HeadlineIn(h, r, d), d.Received.PacketsPerSecond))
		}
		return strings.Join(rates, ", ")
	}
	return rateText(h, h.PacketsPerSecond) + " " + WhichDirections(r)
}

// unlike says that two directions have figures which don't say the same, as one is a limit and the other a bound, or
// each was measured by itself.
func unlike(r *report.Report, h report.Headline) bool {
	if len(r.Answer.Directions) != mostDirectionsShown {
		return false
	}
	sign := HeadlineIn(h, r, r.Answer.Directions[0]).Sign()
	return HeadlineIn(h, r, r.Answer.Directions[1]).Sign() != sign ||
		r.Answer.FoundApart() && !r.Answer.HeldAtOnce()
}

// WhichDirections names the only direction of a result, or says of how many the figure is the sum.
func WhichDirections(r *report.Report) string {
	directions := r.Answer.Directions
	switch {
	case len(directions) == 1:
		return directions[0].Name()
	case len(directions) == 2 && directions[0].From == directions[1].To && directions[0].To == directions[1].From:
		return "both ways together"
	}
	return "in " + wording.Counted(len(directions), "direction") + " together"
}

// rateText is a rate with its sign. A lower bound is never rounded up.
func rateText(h report.Headline, packetsPerSecond int64) string {
	sign := h.Sign()
	if h.Bound {
		packetsPerSecond = wording.AtLeast(packetsPerSecond)
	}
	if sign != "" {
		sign += " "
	}
	return sign + wording.ShortPacketRate(packetsPerSecond)
}

// ThroughputText is the rate of a table's row with its sign, as in "≥ 1.78 Mpps" or "47.70 Mb/s goodput".
func ThroughputText(h report.Headline) string {
	switch {
	case !h.Measured:
		return wording.NotMeasured
	case h.OfTrains:
		return TimeText(h)
	case h.OfSessions:
		return h.Signed(Format(GoodputBitsPerSecond, float64(h.GoodputBitsPerSecond)))
	}
	return rateText(h, h.PacketsPerSecond)
}

// TimeText is the time per frame of a table's row with its sign, as in "940.6 ns a frame".
func TimeText(h report.Headline) string {
	return h.Signed(Format(procedure.TimePerFrame, float64(h.PicosecondsPerFrame)/1000))
}

// frameSizeText is the size of all frames, as in ", 64-byte frames". It is empty where sizes differ.
func frameSizeText(r *report.Report) string {
	const fcs = 4 // which streams' packets don't have
	largest := int64(report.PlanOf(r).LargestFrame()) + fcs
	for _, d := range report.PlanOf(r).Directions {
		if d.Mix.Packets <= 0 || d.Mix.Bytes != largest*d.Mix.Packets {
			return ""
		}
	}
	if largest <= fcs {
		return ""
	}
	return fmt.Sprintf(", %d-byte frames", largest)
}

// shareText is the share of what the links carry, as in " (75.3 %)". It is empty where a line rate is unknown, or each
// direction has a figure of its own.
func shareText(r *report.Report, h report.Headline) string {
	if h.Percent <= 0 || unlike(r, h) {
		return ""
	}
	const permille = units.Hundred / 1000
	return " (" + strconv.FormatFloat(float64(h.Percent/permille)/10, 'f', 1, 64) + " %)" // never rounded up
}

// lineShareText is a shareText with the line rate, as in " (75.3 % of 1 Gb/s)" or " (75.3 % of 2 × 1 Gb/s)".
func lineShareText(r *report.Report, h report.Headline) string {
	share := strings.TrimSuffix(shareText(r, h), ")")
	if share == "" {
		return ""
	}
	rates := r.RateOfEachLink()
	line := units.BitRate(0)
	for _, d := range r.Answer.Directions {
		rate := min(rates[d.From], rates[d.To])
		if rate <= 0 || line > 0 && rate != line {
			return share + " of line rate)"
		}
		line = rate
	}
	text := strings.Replace(line.FormatShort(), ".00", "", 1)
	if n := len(r.Answer.Directions); n > 1 {
		text = fmt.Sprintf("%d × %s", n, text)
	}
	return share + " of " + text + ")"
}

// summaryOfGoals is each goal's answer, as in "NDR 39.7 kpps, PDR 39.9 kpps both ways together".
func summaryOfGoals(r *report.Report) string {
	var sentences []string
	measured := false
	for _, g := range r.Answer.Goals {
		goalReport, _ := r.ForGoal(g.Name)
		switch h := HeadlineOf(goalReport); {
		case h.Measured:
			sentences, measured = append(sentences, g.Name+" "+rateText(h, h.PacketsPerSecond)+lossOfGoal(goalReport)), true
		case g.Answer.Reason == report.NoCleanLoad:
			sentences = append(sentences, g.Name+" not met at any load")
		default:
			sentences = append(sentences, g.Name+" "+wording.NotMeasured)
		}
	}
	text := strings.Join(sentences, ", ")
	if measured && len(r.Answer.Directions) > 0 {
		text += " " + WhichDirections(r) + frameSizeText(r)
	}
	return text
}

// burstsText says how long bursts without loss are, as in "longest burst without loss: 1,392 frames
// each way".
func burstsText(r *report.Report) string {
	shortest := ShortestBurst(r)
	if shortest.Low == "" {
		return "bursts"
	}
	text := "longest burst without loss: "
	if shortest.High == "" {
		text += "≥ "
	}
	text += wording.Count(int64(shortest.Low.Float())) + " frames"
	if len(r.Answer.Directions) > 1 {
		text += " each way"
	}
	return text
}

// ShortestBurst is the longest burst without loss, of the direction in which that is the shortest. It is the zero
// Figure where no bursts were sent.
func ShortestBurst(r *report.Report) (shortest report.Figure) {
	if r.Answer.Reason != report.BurstsMeasured {
		return shortest
	}
	seen := map[string]bool{} // the first figure of a direction in frames is its burst
	for _, f := range Of(r) {
		if f.Unit != "frames" || seen[f.Direction] {
			continue
		}
		seen[f.Direction] = true
		if f.Missing == "" && (shortest.Low == "" || f.Low.Float() < shortest.Low.Float()) {
			shortest = f
		}
	}
	return shortest
}

// lossOfGoal is the loss that a goal allows, in brackets.
func lossOfGoal(r *report.Report) string {
	limit := report.PlanOf(r).Procedure.MaxLossRatio
	if limit == 0 {
		return " (no loss)"
	}
	return " (≤ " + wording.Share(limit) + " lost)"
}

// mostDirectionsShown is how many directions a summary lists one by one.
const mostDirectionsShown = 2

func summaryOfSessions(r *report.Report) string {
	var sentences []string
	for _, d := range r.Answer.Directions {
		if d.Sessions == nil {
			continue
		}
		sign, limit := "", limitOf(d)
		if !limit.ByDevice() {
			sign = "≥ "
		}
		sentences = append(sentences, wording.Direction(d.From, d.To)+": "+sign+measure.SessionsSentence(*d.Sessions,
			limit))
	}
	if len(sentences) > mostDirectionsShown && r.Answer.Total.Sessions != nil {
		sign := HeadlineOf(r).Sign()
		if sign != "" {
			sign += " "
		}
		sentences = []string{sign + measure.SessionsSentence(*r.Answer.Total.Sessions,
			limitOf(r.Answer.Directions...)) + " in " + wording.Counted(len(sentences), "direction")}
	}
	return strings.Join(sentences, "; ")
}
