package render

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// recordsOf are the rows of a document.
func recordsOf(source any) (rows []record) {
	switch s := source.(type) {
	case report.Documents:
		for _, r := range s.Reports {
			rows = append(rows, testRecords(r)...)
		}
		for _, suite := range s.Suites {
			rows = append(rows, suiteRecords(suite)...)
		}
	case *report.Table:
		rows = append(rows, record{"record": "table"}.lines(s.Answer))
		for _, c := range arranged(s) {
			rows = append(rows, cellRecord(record{}, c))
			rows = append(rows, baseRecord(c.Product, c.Loadtest).gaps("missing", c.Missing)...)
			rows = append(rows, baseRecord(c.Product, c.Loadtest).gaps("repeated", c.Repeated)...)
		}
	case *report.Comparison:
		rows = append(rows, record{"record": "comparison"}.lines(s.Answer))
		for _, row := range s.Rows {
			for i, side := range row.Sides {
				row := baseRecord(row.Product, row.Loadtest)
				if i < len(s.Sides) {
					row.text("side", s.Sides[i])
				}
				rows = append(rows, row.compared(side)...)
			}
		}
	case *report.Trend:
		rows = append(rows, record{"record": "trend"}.lines(s.Answer))
		for i := range s.Series {
			rows = append(rows, seriesRecords(&s.Series[i])...)
		}
	case *report.RFC2544:
		rows = rfc2544Records(s)
	case *report.Heatmap:
		rows = heatRecords(s)
	case *report.Gate:
		rows = gateRecords(s)
	}
	return rows
}

// baseRecord is what a row is of.
func baseRecord(product, loadtest string) record {
	return record{}.text("product", product).text("loadtest", loadtest)
}

// testRecords are a test's answer, the same for each direction, generator and criterion, and each window in each
// direction, and what observers' series were in it.
func testRecords(r *report.Report) []record {
	h := figures.HeadlineOf(r)
	base := baseRecord(h.Product, h.Loadtest).text("test", h.Name).time("started", r.Started)
	test := base.ofKind("test").time("finished", r.Finished).text("ending", string(r.Ending)).text("verdict",
		string(outcomeOf(r.Verdict))).text("reason", string(r.Answer.Reason)).
		text("summary", answer.Figure(r)+".").text("message", answer.Sentence(r))
	rows := []record{test}
	if h.Measured {
		test.sum(r.Answer.Total, r.Answer.Directions).figures(figures.TableFigures(r)).whole("window",
			int64(r.Answer.Window))
		for _, d := range r.Answer.Directions {
			window := r.Answer.Window
			if d.Limit != nil {
				window = d.Limit.Window
			}
			rows = append(rows, base.ofKind("direction").whole("window", int64(window)).direction(d).yes("lower_bound",
				figures.HeadlineIn(h, r, d).Bound))
		}
		if highest := r.Answer.MaxReceived; highest != nil {
			rows = append(rows, base.ofKind("max_received").sum(highest, r.Answer.Directions))
		}
	}
	for _, g := range r.Answer.Generators {
		rows = append(rows, base.ofKind("generator").text("generator", g.Name).whole("offered_packets_per_second",
			g.OfferedPacketsPerSecond).
			whole("received_packets_per_second", g.ReceivedPacketsPerSecond).seconds("started_after_seconds",
			g.StartSkew))
	}
	rows = append(rows, base.criteria(r.Verdict.Criteria)...)
	for _, f := range figures.Latencies(r, figures.LatencyMetrics...) {
		rows = append(rows, base.ofKind("latency").latencyFigure(f))
	}
	for _, s := range r.Answer.Sections {
		rows = append(rows, sectionRecords(base, r.Answer, s)...)
	}
	for _, w := range r.Windows {
		base := base.ofKind("window").whole("window", int64(w.Number)).text("phase",
			string(w.Phase)).percent("load_percent", w.Load.Percent()).seconds("start_seconds",
			w.Start).seconds("duration_seconds", w.Duration)
		if w.GeneratorCPUPercent >= 0 {
			base["generator_cpu_percent"] = strconv.FormatFloat(w.GeneratorCPUPercent, 'f', -1, 64)
		}
		if w.Decided != nil {
			base.seconds("planned_seconds", w.Decided.Planned)
		}
		for _, d := range w.Directions {
			rows = append(rows, base.ofKind("window").direction(d))
		}
		for _, o := range w.Observed {
			rows = append(rows, base.ofKind("observed").observed(o))
		}
	}
	return rows
}

// sectionRecords are the numbers of a section's table, a row for each that the result may claim.
func sectionRecords(base record, result report.Answer, s report.Section) (rows []record) {
	if s.Table == nil {
		return nil
	}
	for _, cells := range s.Table.Rows {
		for i, c := range cells {
			if i == 0 || i >= len(s.Table.Columns) || c.Number == "" || result.CellText(c) != c.Text {
				continue
			}
			rows = append(rows, base.ofKind("section").text("observer", s.Title).text("of", cells[0].Text).
				text("series", s.Table.Columns[i]).figure("observed_mean", c.Number).text("observed_unit", c.Unit))
		}
	}
	return rows
}

// rfc2544Records are the points of RFC 2544's forms.
func rfc2544Records(b *report.RFC2544) (rows []record) {
	stream := func(kind string, s report.Stream) record {
		source, target, _ := strings.Cut(s.Direction, "→")
		return baseRecord(s.Product, s.Loadtest).ofKind(kind).text("test", s.Test).text("from", source).text("to",
			target).text("frame_bytes", string(s.FrameBytes)).
			whole("theoretical_packets_per_second", s.TheoreticalPacketsPerSecond).seconds("planned_seconds",
			s.TrialDuration)
	}
	for _, p := range b.Throughput {
		rows = append(rows, stream("throughput", p.Stream).text("criterion", p.Goal).percent("loss_allowed_percent",
			p.LossAllowed.Percent()).percent("loss_percent", p.LossRatio.Percent()).
			whole("offered_packets_per_second", p.Offered.PacketsPerSecond).whole("received_packets_per_second",
			p.Received.PacketsPerSecond).whole("received_layer1_bits_per_second", p.Received.Layer1BitsPerSecond).
			whole("received_layer2_bits_per_second", p.Received.Layer2BitsPerSecond).percent("line_rate_percent",
			p.TheoreticalPercent).yes("lower_bound", p.LowerBound).text("reason", string(p.Reason)))
	}
	for _, p := range b.Loss {
		row := stream("frame_loss", p.Stream).percent("load_percent", p.InputPercent).text("offered_packets_per_second",
			string(p.Offered)).text("received_packets_per_second", string(p.Received))
		row["loss_percent"], row["loss_at_least_percent"] = hundredfold(p.LossRatio), hundredfold(p.LossRatioMin)
		rows = append(rows, row)
	}
	return append(rows, record{}.gaps("missing", b.Missing)...)
}

// hundredfold is a ratio in percent, or empty for none.
func hundredfold(n report.Number) string {
	v := n.Rat()
	if v == nil {
		return ""
	}
	return string(report.NumberOf(v.Mul(v, big.NewRat(100, 1))))
}

// cellRecord is a row of a table.
func cellRecord(base record, c report.Cell) record {
	return base.ofKind("cell").text("product", c.Product).text("loadtest",
		c.Loadtest).figures(c.Figures).text("verdict", string(c.Verdict)).text("message", c.Message)
}

// suiteRecords are a suite's cells, each with its criteria and runs.
func suiteRecords(s *report.Suite) (rows []record) {
	rows = append(rows, record{"record": "suite"}.text("suite", s.Name).lines(answer.OfTable(s.Table())))
	for i := range s.Cells {
		c := &s.Cells[i]
		base := baseRecord(c.Product, c.Loadtest).text("suite", s.Name).text("cell", c.Name)
		for _, shown := range c.Rows() {
			rows = append(rows, cellRecord(base, shown))
		}
		if c.Verdict != nil {
			rows = append(rows, base.criteria(c.Verdict.Criteria)...)
		}
		for _, r := range c.Runs {
			rows = append(rows, base.ofKind("run").text("test", r.Test).whole("repetition",
				int64(r.Repetition)).whole("retry", int64(r.Retry)).time("started", r.Started).time("finished",
				r.Finished).
				figures(r.Figures).yes("counts", r.Counts()).text("reason", r.Reason).text("message",
				cmp.Or(r.Repeated, r.Message)))
		}
	}
	return rows
}

// criteria are a row for each criterion of what the row is of.
func (r record) criteria(results []report.CriterionResult) (rows []record) {
	for _, c := range results {
		rows = append(rows, r.ofKind("criterion").text("criterion", c.Name).text("verdict",
			string(c.Outcome)).text("message", c.Message))
	}
	return rows
}

// gaps are a row for each run that has no figure that counts.
func (r record) gaps(kind string, gaps []report.Missing) (rows []record) {
	for _, m := range gaps {
		row := r.ofKind(kind).text("test", m.Test).text("reason", m.Reason).text("message", m.Message)
		switch {
		case m.GoodputLowerBound != nil:
			row.whole("goodput_bits_per_second", *m.GoodputLowerBound).yes("lower_bound", true)
		case m.LowerBound > 0:
			row.whole("received_packets_per_second", m.LowerBound).yes("lower_bound", true)
		}
		rows = append(rows, row)
	}
	return rows
}

// compared are a side of a row, and its runs without a figure that counts.
func (r record) compared(c report.Compared) []record {
	side := r.ofKind("side").figures(c.Figures).change(c.Change).text("judgement", string(c.Judgement)).text("verdict",
		string(c.Verdict)).text("message", c.Message)
	rows := append([]record{side}, r.gaps("missing", c.Missing)...)
	rows = append(append(rows, r.gaps("repeated", c.Repeated)...), r.gaps("set_aside", c.SetAside)...)
	for _, l := range c.Latency {
		rows = append(rows, r.ofKind("latency").medianLatency(l).change(l.Change).text("judgement",
			string(l.Judgement)).text("message", l.Message))
	}
	return rows
}

// seriesRecords are the points of a series, and the median of each stretch of it behind its last point.
func seriesRecords(s *report.Series) (rows []record) {
	base := baseRecord(s.Product, s.Loadtest)
	for i := range s.Points {
		p := &s.Points[i]
		row := base.ofKind("point").text("test", p.Test).time("started",
			p.StartTime).figures(p.Figures).change(p.FromMedian).yes("outlier", p.Outlier)
		if m := p.Missing; m != nil {
			row.text("reason", m.Reason)
		}
		row.text("message", strings.Join(pointChanges(p), "; "))
		rows = append(rows, row)
		for _, f := range p.Latency {
			rows = append(rows,
				base.ofKind("latency").text("test", p.Test).time("started", p.StartTime).latencyFigure(f))
		}
		if t := s.StretchOf(i); t != nil && t.Last == i && t.Figures != nil {
			rows = append(rows, base.ofKind("median").time("started", s.Points[t.First].StartTime).figures(t.Figures))
			for _, m := range t.Latency {
				rows = append(rows, base.ofKind("median").time("started", s.Points[t.First].StartTime).medianLatency(m))
			}
		}
	}
	return rows
}

// gateRecords are the judgement, each row's sides and criteria, and the suites behind them.
func gateRecords(g *report.Gate) []record {
	rows := []record{record{"record": "gate"}.text("verdict", string(g.Outcome)).lines(g.Answer)}
	for _, r := range g.Rows {
		base := baseRecord(r.Product, r.Loadtest).text("suite", r.Suite).text("cell", r.Cell).text("test", r.Test)
		candidate := r.Candidate
		candidate.Verdict, candidate.Message = r.Outcome, r.Words()
		rows = append(rows, base.ofKind("").text("side", "candidate").compared(candidate)...)
		if r.Baseline != nil {
			rows = append(rows, base.ofKind("").text("side", "baseline").compared(*r.Baseline)...)
		}
		rows = append(rows, base.criteria(r.Criteria)...)
	}
	for _, s := range g.Suites {
		rows = append(rows, suiteRecords(s)...)
	}
	return rows
}

// heatRecords are the spots of all maps.
func heatRecords(h *report.Heatmap) (rows []record) {
	for i := range h.Maps {
		g := &h.Maps[i]
		for _, s := range g.Spots {
			row := baseRecord(g.Subject, nameAt(g.Columns, s.Column)).ofKind("spot").text("series",
				g.RowTitle).text("of", nameAt(g.Rows, s.Row))
			switch g.Metric {
			case figures.LossRatio:
				row["loss_percent"] = hundredfold(s.Value)
				row["loss_at_least_percent"] = hundredfold(s.Least)
			case figures.GoodputBitsPerSecond:
				row.text("goodput_bits_per_second", string(s.Value)).yes("lower_bound", s.LowerBound)
			default:
				row.text("received_packets_per_second", string(s.Value)).yes("lower_bound", s.LowerBound)
			}
			rows = append(rows, row)
		}
	}
	return append(rows, record{}.gaps("missing", h.Missing)...)
}
