package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// viewOfReports has a line for each test in one table, and each test's evidence, which is the answer, its figures
// per direction, the verdict and every reason to doubt it.
func viewOfReports(reports []*report.Report) view {
	var shown []report.Headline
	for _, r := range reports {
		shown = append(shown, figures.HeadlineOf(r))
	}
	kind := trafficOf(shown)
	t := &table{columns: append([]column{
		{head: "product", left: true}, {head: "loadtest", left: true}, {head: "answer", left: true,
			shownIn: tableAlone},
		{head: "verdict", left: true, shownIn: tableAlone, verdict: true},
	}, throughputColumns(kind)...)}
	v := view{source: reports}
	if len(reports) != 1 { // a single test begins with its own lines
		v.table = t
	}
	loose := ""
	for i, r := range reports {
		h := shown[i]
		if h.Unconfirmed {
			loose = " " + looseWords
		}
		t.add(append([]string{h.Product, h.Loadtest, answer.Standing(r), string(outcomeOf(r.Verdict))},
			throughputCells(kind, h)...)...)
		v.sections = append(v.sections, evidenceOf(r, h, reports))
	}
	if v.table == nil {
		v.legend = always(signWords(shown)...)
		return v
	}
	v.legend = throughputLegend(kind)
	v.legend.summed = append(v.legend.summed, signWords(shown)...)
	v.legend.combined = []string{strings.TrimSuffix(strings.Join(v.legend.combined, " "), ".") +
		"; ≥ is a lower bound, not a limit." + loose}
	return v
}

// outcomeOf is the verdict's. It is empty where there are no criteria.
func outcomeOf(v report.Verdict) report.Outcome {
	if len(v.Criteria) == 0 {
		return ""
	}
	return cmp.Or(v.Outcome, report.Undecided)
}

// evidenceOf is a test's section, in a document of all these.
func evidenceOf(r *report.Report, h report.Headline, reports []*report.Report) section {
	s := section{title: h.Title(), name: h.Name, summary: answer.Figure(r), standing: answer.Standing(r),
		tone: standingTone(r), answer: answer.Sentence(r), verdict: &r.Verdict, remarks: warningsOf("", warnings(r)),
		findings: findingRemarks(r),
		evidence: evidence{rows: r.Answer.Evidence, doubts: doubts(r), facts: environmentFacts(r)}}
	switch {
	case report.HasFigure(r) && h.OfSessions:
		s.tables = append(s.tables, sessionsTable(r))
		if words := strings.TrimSpace(pathDoubtWords(r.Answer.Directions)); words != "" {
			s.caveats = append(s.caveats, words)
		}
	case report.HasFigure(r) && h.OfTrains: // whose sections say all
	case report.HasFigure(r):
		s.ofFrames(r)
	}
	if goals := goalsTable(r); goals != nil {
		s.tables = append(s.tables, goals)
	}
	s.addSections(r)
	if latency := atLoadTable(r, reports); latency != nil {
		s.tables, s.caveats = append(s.tables, latency), append(s.caveats, atLoadWordsOf(r))
	}
	if latency := latencyTable(r, reports); latency != nil {
		s.tables, s.caveats = append(s.tables, latency), append(s.caveats, latencyWords)
	}
	if vitals := vitalsTable(r); vitals != nil {
		s.tables, s.caveats = append(s.tables, vitals), append(s.caveats, vitals.takeReasons()...)
	}
	s.facts = append(s.facts, surroundingFacts(r)...)
	if r.Device != nil {
		for _, c := range r.Device.Containers {
			s.facts = append(s.facts, fact{Term: "device", Text: c.Name + " ran " + c.Short(), Exact: c.String()})
		}
	}
	return s
}

// surroundingFacts are what the author says of the device, and what was collected from it.
func surroundingFacts(r *report.Report) (facts []fact) {
	dut := report.PlanOf(r).DUT
	for _, f := range []fact{{Term: "price", Text: dut.Price}, {Term: "disclosure", Text: dut.Disclosure},
		{Term: "notes", Text: dut.Notes}} {
		if f.Text != "" {
			facts = append(facts, f)
		}
	}
	for _, c := range r.Collected {
		facts = append(facts, fact{Term: "collected " + c.Name, Text: c.String(), Exact: c.SHA256})
	}
	return facts
}

// ofFrames adds what was measured of frames.
func (s *section) ofFrames(r *report.Report) {
	s.tables = append(s.tables, directionTable(r))
	if curve := curveTable(r); curve != nil {
		s.tables = append(s.tables, curve)
	}
	if len(r.Answer.Generators) > 1 {
		s.tables = append(s.tables, generatorTable(r))
	}
	if negativeLoss(r) {
		s.caveats = append(s.caveats, "Negative loss: more came back in this window than was sent in it; those frames were on their way when it began.")
	}
	if text := resolutionText(r); text != "" {
		s.facts = append(s.facts, fact{Term: "resolution", Text: text})
	}
	if m := r.Answer.MaxReceived; m != nil {
		s.evidence.facts = append(s.evidence.facts, fact{Term: "max received, apart from the result",
			Text: mostReceived(m)})
	}
}

// standingTone is how good an answer is.
func standingTone(r *report.Report) tone {
	switch {
	case !report.HasFigure(r):
		return toneFailed
	case r.Answer.Saturated && r.Unconfirmed() || r.Answer.LowerBound():
		return toneUndecided
	}
	return tonePassed
}

// negativeLoss says that a direction of the result got back more than it sent.
func negativeLoss(r *report.Report) bool {
	return slices.ContainsFunc(r.Answer.Directions, func(d report.Direction) bool { return d.LossRatio < 0 })
}

// directionTable has the three figures per direction and summed, with loss and share of line rate. The sign says of
// each whether it is a limit or a bound.
func directionTable(r *report.Report) *table {
	h := figures.HeadlineOf(r)
	t := newTable(1, "direction", "intended", "offered", "received", "layer 1", "layer 2", "loss", "line rate")
	for _, d := range r.Answer.Directions {
		t.rows = append(t.rows, flowRow(figures.HeadlineIn(h, r, d), wording.Direction(d.From, d.To), d.Intended,
			d.Offered, d.Received, lossText(r, d.LossRatio, d.LossRatioMin, figures.MostLost(r, d)),
			wording.Percent(d.LineRatePercent)))
	}
	if len(r.Answer.Directions) > 1 {
		sum := r.Answer.Total
		t.rows = append(t.rows, flowRow(h, allName(r), sum.Intended, sum.Offered, sum.Received,
			lossText(r, sum.LossRatio, sum.LossRatioMin, figures.MostLostTogether(r)),
			wording.Percent(sum.LineRatePercent)))
	}
	return t
}

// lossText is what was lost in a cell of a table. It is one number, but an interval where one would read as within
// the Report's limit while nobody knows that it is.
func lossText(r *report.Report, loss, low, high units.Ratio) string {
	if report.LossLeftOpen(low, high, report.PlanOf(r).Procedure.MaxLossRatio) {
		return wording.LossBetween(low, high)
	}
	return wording.Loss(loss)
}

// allName is what all directions together are called beside their own figures. Of directions that were found one
// after another the figures don't add up to it.
func allName(r *report.Report) string {
	switch {
	case r.Answer.HeldAtOnce():
		return "all at once"
	case r.Answer.FoundApart():
		return "all at one time"
	}
	return "all"
}

// curveTable has what all directions together carried and lost at each load of a curve. It is nil where there is none.
func curveTable(r *report.Report) *table {
	t := newTable(0, "load", "offered", "received", "loss")
	for _, point := range figures.PointsByLoad(r.Answer.Figures) {
		row := []string{point[0].Load.Percent().FormatFixed() + "%", "", "", ""}
		for _, f := range point {
			switch f.Metric {
			case figures.OfferedPacketsPerSecond:
				row[1] = figures.Text(f)
			case figures.PacketsPerSecond:
				row[2] = figures.Text(f)
			case figures.LossRatio:
				low, high := units.RatioOfShare(f.Low.Float()), units.RatioOfShare(f.High.Float())
				row[3] = lossText(r, high, low, high)
			}
		}
		t.add(row...)
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t
}

// generatorTable has what each of several generators sent and got, and how well they started together.
func generatorTable(r *report.Report) *table {
	t := newTable(1, "generator", "offered", "received", "started after")
	for _, s := range r.Answer.Generators {
		t.add(s.Name, wording.PacketRate(s.OfferedPacketsPerSecond), wording.PacketRate(s.ReceivedPacketsPerSecond),
			skewText(s))
	}
	return t
}

// skewText is how much later than the first a generator began. A generator that sends nothing never did.
func skewText(s report.GeneratorShare) string {
	if s.OfferedPacketsPerSecond == 0 {
		return "sends nothing"
	}
	return s.StartSkew.Std().Round(10 * time.Microsecond).String()
}

func flowRow(h report.Headline, name string, intended, offered, received report.Flow, loss, percent string) []string {
	return slices.Concat([]string{name, wording.PacketRate(intended.PacketsPerSecond),
		wording.PacketRate(offered.PacketsPerSecond)},
		[]string{h.Signed(wording.PacketRate(received.PacketsPerSecond)),
			h.Signed(wording.BitRate(received.Layer1BitsPerSecond)),
			h.Signed(wording.BitRate(received.Layer2BitsPerSecond)), loss, h.Signed(percent)})
}
