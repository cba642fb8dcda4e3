package render

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

// csvFormat is for spreadsheets and data frames: each figure of a document, and each window, exactly and with its unit in the column's name. It reads the documents
// themselves: a view's tables are rounded, signed and set side by side, for people.
//
// The columns are the same whatever the document, so that files can be put one after the other, and what a row has no answer for is empty. Lines end as Unix's
// do; the rest is RFC 4180.
func csvFormat() format {
	return format{name: "csv", write: func(w io.Writer, d Document, _ TextOptions) error {
		var out bytes.Buffer
		rows, columns := csv.NewWriter(&out), csvColumns()
		err := rows.Write(columns)
		for _, r := range recordsOf(d.source) {
			row := make([]string, len(columns))
			for i, name := range columns {
				row[i] = r[name]
			}
			err = cmp.Or(err, rows.Write(row))
		}
		rows.Flush()
		if err = cmp.Or(err, rows.Error()); err != nil {
			return fmt.Errorf("write csv: %w", err)
		}
		return writeAll(w, "csv", &out)
	}}
}

// csvColumns are all columns in their order; docs/cli.md says what each holds.
func csvColumns() []string {
	return []string{
		// what the row is of
		"record", "suite", "cell", "side", "product", "loadtest", "test", "repetition", "retry", "criterion", "generator", "window", "phase", "from", "to", "started", "finished",
		// what is thought of it
		"verdict", "judgement", "quality", "ending", "reason", "counts", "outlier", "lower_bound", "unconfirmed_runs",
		// figures
		"received_packets_per_second", "received_layer1_bits_per_second", "received_layer2_bits_per_second", "intended_packets_per_second", "offered_packets_per_second",
		"loss_percent", "loss_at_least_percent", "line_rate_percent", "line_rate_sum_percent",
		"runs", "spread_percent", "low_packets_per_second", "high_packets_per_second", "confidence_percent",
		"change_percent", "change_low_percent", "change_high_percent", "change_confidence_percent",
		// how a window or a generator came to them
		"load_percent", "start_seconds", "duration_seconds", "sent_packets", "returned_packets", "receive_error_packets", "generator_cpu_percent", "started_after_seconds",
		"message",
		// of sessions; at the end, so that the others stay in their places
		"goodput_bits_per_second", "low_goodput_bits_per_second", "high_goodput_bits_per_second", "connections", "received_bytes", "retransmitted_segments", "retransmit_percent", "round_trip_microseconds",
		// of observers, whose units differ from row to row
		"observer", "series", "of", "observed_mean", "observed_least", "observed_most", "observed_unit", "observed_over_seconds",
		// of a trial that was ended before its time
		"planned_seconds",
		// of RFC 2544's forms
		"frame_bytes", "theoretical_packets_per_second", "loss_allowed_percent",
		// of sessions over UDP
		"datagrams_sent", "datagrams_received", "datagrams_lost", "datagrams_late", "datagram_loss_percent", "jitter_microseconds",
	}
}

// record is a row, by its columns' names.
type record map[string]string

// with is a row of another kind about the same.
func (r record) with(kind string) record {
	out := record{"record": kind}
	for name, value := range r {
		if name != "record" {
			out[name] = value
		}
	}
	return out
}

// text sets what people chose or a program said. Where a spreadsheet would take it for a formula, which may run programs and read other cells, an apostrophe goes
// before it: for a name that begins so, a visible mark is the smaller harm. What is measured is never marked: a change of -3.02 stays a number.
func (r record) text(column, s string) record {
	s = wording.Printable(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s))
	if strings.IndexAny(strings.TrimLeft(s, " "), "=+-@") == 0 {
		s = "'" + s
	}
	r[column] = s
	return r
}

func (r record) whole(column string, v int64) record {
	r[column] = strconv.FormatInt(v, 10)
	return r
}

func (r record) percent(column string, p units.Percent) record {
	r[column] = p.String()
	return r
}

func (r record) seconds(column string, d plan.Duration) record {
	r[column] = strconv.FormatFloat(d.Std().Seconds(), 'f', -1, 64)
	return r
}

// number sets a number exactly as the Report has it, if there is one.
func (r record) number(column string, v *float64) record {
	if v != nil {
		r[column] = strconv.FormatFloat(*v, 'f', -1, 64)
	}
	return r
}

// at sets a moment, if there was one.
func (r record) at(column string, t time.Time) record {
	if !t.IsZero() {
		r[column] = t.UTC().Format(time.RFC3339)
	}
	return r
}

func (r record) yes(column string, v bool) record {
	r[column] = strconv.FormatBool(v)
	return r
}

// figures sets those of one run, or the medians of several; none leave all their columns empty, for a zero would be a figure.
func (r record) figures(f *report.Figures) record {
	if f == nil {
		return r
	}
	if f.OfSessions() {
		r.whole("goodput_bits_per_second", *f.GoodputBitsPerSecond)
	} else {
		r.whole("received_packets_per_second", f.PacketsPerSecond).whole("received_layer1_bits_per_second", f.Layer1BitsPerSecond)
		r.percent("line_rate_percent", f.LineRatePercent).percent("line_rate_sum_percent", f.LineRatePercentSum)
	}
	r.whole("runs", int64(f.Runs)).yes("lower_bound", f.LowerBound).whole("unconfirmed_runs", int64(f.Unconfirmed))
	if s := f.Spread; s != nil {
		r.percent("spread_percent", s.Percent).percent("confidence_percent", s.Confidence)
		if s.LowGoodputBitsPerSecond != nil && s.HighGoodputBitsPerSecond != nil {
			r.whole("low_goodput_bits_per_second", *s.LowGoodputBitsPerSecond).whole("high_goodput_bits_per_second", *s.HighGoodputBitsPerSecond)
		} else {
			r.whole("low_packets_per_second", s.LowPacketsPerSecond).whole("high_packets_per_second", s.HighPacketsPerSecond)
		}
	}
	return r
}

// flows sets what was asked for, sent and got back.
func (r record) flows(intended, offered, received report.Flow, loss, least units.Ratio, share units.Percent) record {
	return r.offered(intended, offered, loss, least).received(received, share)
}

func (r record) offered(intended, offered report.Flow, loss, least units.Ratio) record {
	r.whole("intended_packets_per_second", intended.PacketsPerSecond).whole("offered_packets_per_second", offered.PacketsPerSecond)
	return r.percent("loss_percent", loss.Percent()).percent("loss_at_least_percent", least.Percent())
}

func (r record) received(received report.Flow, share units.Percent) record {
	r.whole("received_packets_per_second", received.PacketsPerSecond).whole("received_layer1_bits_per_second", received.Layer1BitsPerSecond).whole("received_layer2_bits_per_second", received.Layer2BitsPerSecond)
	return r.percent("line_rate_percent", share)
}

// sum sets what all of these directions had together.
func (r record) sum(s *report.Sum, directions []report.Measured) record {
	if s.Sessions != nil {
		return r.whole("window", int64(s.Window)).sessions(s.Sessions, directions...)
	}
	return r.whole("window", int64(s.Window)).flows(s.Intended, s.Offered, s.Received, s.LossRatio, s.LossRatioMin, s.LineRatePercent)
}

// observed sets what a series of an observer was in a window; one that is missing has the reason and no number.
func (r record) observed(o report.Observed) record {
	r.text("observer", o.Observer).text("series", o.Series).text("of", o.Of).text("observed_unit", o.Unit).text("reason", o.Missing)
	if o.Missing == "" {
		r.number("observed_mean", o.Mean).number("observed_least", o.Min).number("observed_most", o.Max).seconds("observed_over_seconds", o.Over)
	}
	return r
}

// direction sets what one direction had of a window.
func (r record) direction(d report.Measured) record {
	r.text("from", d.From).text("to", d.To)
	if d.Sessions != nil {
		return r.sessions(d.Sessions, d).text("quality", string(d.Quality)).text("reason", d.Reason)
	}
	r.offered(d.Intended, d.Offered, d.LossRatio, d.LossRatioMin)
	if d.Burst == nil { // which has no rate at which it came back
		r.received(d.Received, d.LineRatePercent)
	}
	r.whole("sent_packets", d.Sent.Packets).whole("returned_packets", d.Returned.Packets).whole("receive_error_packets", d.ReceiveErrors)
	return r.text("quality", string(d.Quality)).text("reason", d.Reason)
}

func (r record) change(c *report.Change) record {
	if c == nil {
		return r
	}
	r.percent("change_percent", c.Percent)
	if c.LowPercent != nil {
		r.percent("change_low_percent", *c.LowPercent)
	}
	if c.HighPercent != nil {
		r.percent("change_high_percent", *c.HighPercent)
	}
	if c.Confidence != 0 {
		r.percent("change_confidence_percent", c.Confidence)
	}
	return r
}

// criteria are a row for each criterion of what the row is of.
func (r record) criteria(all []report.CriterionResult) (rows []record) {
	for _, c := range all {
		rows = append(rows, r.with("criterion").text("criterion", c.Name).text("verdict", string(c.Outcome)).text("message", c.Message))
	}
	return rows
}

// gaps are a row for each run that has no figure that counts.
func (r record) gaps(kind string, all []report.Missing) (rows []record) {
	for _, m := range all {
		row := r.with(kind).text("test", m.Test).text("reason", m.Reason).text("message", m.Message)
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
		for _, c := range arranged(s) {
			rows = append(rows, cellRecord(record{}, c))
			rows = append(rows, about(c.Product, c.Loadtest).gaps("missing", c.Missing)...)
			rows = append(rows, about(c.Product, c.Loadtest).gaps("repeated", c.Repeated)...)
		}
	case *report.Comparison:
		for _, row := range s.Rows {
			for i, side := range row.Sides {
				is := about(row.Product, row.Loadtest)
				if i < len(s.Sides) {
					is.text("side", s.Sides[i])
				}
				rows = append(rows, is.compared(side)...)
			}
		}
	case *report.Trend:
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

// about is what a row is of.
func about(product, loadtest string) record {
	return record{}.text("product", product).text("loadtest", loadtest)
}

// testRecords are a test's answer, the same for each direction, generator and criterion, and each window in each direction, and what
// observers' series were in it.
func testRecords(r *report.Report) []record {
	h := figures.HeadlineOf(r)
	is := about(h.Product, h.Loadtest).text("test", h.Name).at("started", r.Started)
	test := is.with("test").at("finished", r.Finished).text("ending", string(r.Ending)).text("verdict", string(outcomeOf(r.Verdict))).text("reason", string(r.Result.Reason)).text("message", answer(r))
	rows := []record{test}
	if h.Measured {
		test.sum(r.Result.Total, r.Result.Directions).figures(figures.RowOf(r)).whole("window", int64(r.Result.Window))
		for _, d := range r.Result.Directions {
			window := r.Result.Window
			if d.Limit != nil {
				window = d.Limit.Window
			}
			rows = append(rows, is.with("direction").whole("window", int64(window)).direction(d).yes("lower_bound", figures.HeadlineIn(h, r, d).Bound))
		}
		if most := r.Result.MaxReceived; most != nil {
			rows = append(rows, is.with("max_received").sum(most, r.Result.Directions))
		}
	}
	for _, g := range r.Result.Generators {
		rows = append(rows, is.with("generator").text("generator", g.Name).whole("offered_packets_per_second", g.OfferedPacketsPerSecond).
			whole("received_packets_per_second", g.ReceivedPacketsPerSecond).seconds("started_after_seconds", g.StartSkew))
	}
	rows = append(rows, is.criteria(r.Verdict.Criteria)...)
	for _, f := range figures.Latencies(r, figures.LatencyMetrics...) {
		rows = append(rows, is.with("latency").latencyFigure(f))
	}
	for _, w := range r.Windows {
		of := is.with("window").whole("window", int64(w.Number)).text("phase", string(w.Phase)).percent("load_percent", w.Load.Percent()).seconds("start_seconds", w.Start).seconds("duration_seconds", w.Duration)
		if w.GeneratorCPUPercent >= 0 {
			of["generator_cpu_percent"] = strconv.FormatFloat(w.GeneratorCPUPercent, 'f', -1, 64)
		}
		if w.Decided != nil {
			of.seconds("planned_seconds", w.Decided.Planned)
		}
		for _, d := range w.Directions {
			rows = append(rows, of.with("window").direction(d))
		}
		for _, o := range w.Observed {
			rows = append(rows, of.with("observed").observed(o))
		}
	}
	return rows
}

// rfc2544Records are the points of RFC 2544's forms.
func rfc2544Records(b *report.RFC2544) (rows []record) {
	stream := func(kind string, s report.Stream) record {
		from, to, _ := strings.Cut(s.Direction, "→")
		return about(s.Product, s.Loadtest).with(kind).text("test", s.Test).text("from", from).text("to", to).text("frame_bytes", string(s.FrameBytes)).
			whole("theoretical_packets_per_second", s.TheoreticalPacketsPerSecond).seconds("planned_seconds", s.TrialDuration)
	}
	for _, p := range b.Throughput {
		rows = append(rows, stream("throughput", p.Stream).text("criterion", p.Goal).percent("loss_allowed_percent", p.LossAllowed.Percent()).percent("loss_percent", p.LossRatio.Percent()).
			whole("offered_packets_per_second", p.Offered.PacketsPerSecond).whole("received_packets_per_second", p.Received.PacketsPerSecond).whole("received_layer1_bits_per_second", p.Received.Layer1BitsPerSecond).
			whole("received_layer2_bits_per_second", p.Received.Layer2BitsPerSecond).percent("line_rate_percent", p.TheoreticalPercent).yes("lower_bound", p.LowerBound).text("reason", string(p.Reason)))
	}
	for _, p := range b.FrameLoss {
		row := stream("frame_loss", p.Stream).percent("load_percent", p.InputPercent).text("offered_packets_per_second", string(p.Offered)).text("received_packets_per_second", string(p.Received))
		row["loss_percent"], row["loss_at_least_percent"] = hundredfold(p.LossRatio), hundredfold(p.LossRatioMin)
		rows = append(rows, row)
	}
	return append(rows, record{}.gaps("missing", b.Without)...)
}

// hundredfold is a ratio in percent; empty: there is none.
func hundredfold(n report.Number) string {
	v := n.Rat()
	if v == nil {
		return ""
	}
	return string(report.NumberOf(v.Mul(v, big.NewRat(100, 1))))
}

// cellRecord is a row of a table.
func cellRecord(of record, c report.Cell) record {
	return of.with("cell").text("product", c.Product).text("loadtest", c.Loadtest).figures(c.Figures).text("verdict", string(c.Verdict)).text("message", c.Message)
}

// suiteRecords are a suite's cells, each with its criteria and runs.
func suiteRecords(s *report.Suite) (rows []record) {
	for i := range s.Cells {
		c := &s.Cells[i]
		is := about(c.Product, c.Loadtest).text("suite", s.Name).text("cell", c.Name)
		for _, shown := range c.Rows() {
			rows = append(rows, cellRecord(is, shown))
		}
		if c.Verdict != nil {
			rows = append(rows, is.criteria(c.Verdict.Criteria)...)
		}
		for _, r := range c.Runs {
			rows = append(rows, is.with("run").text("test", r.Test).whole("repetition", int64(r.Repetition)).whole("retry", int64(r.Retry)).at("started", r.Started).at("finished", r.Finished).
				figures(r.Figures).yes("counts", r.Counts()).text("reason", r.Reason).text("message", cmp.Or(r.Repeated, r.Message)))
		}
	}
	return rows
}

// compared are a side of a row, and its runs without a figure that counts.
func (r record) compared(c report.Compared) []record {
	side := r.with("side").figures(c.Figures).change(c.Change).text("judgement", string(c.Judgement)).text("verdict", string(c.Verdict)).text("message", c.Message)
	rows := append([]record{side}, r.gaps("missing", c.Missing)...)
	rows = append(append(rows, r.gaps("repeated", c.Repeated)...), r.gaps("set_aside", c.SetAside)...)
	for _, l := range c.Latency {
		rows = append(rows, r.with("latency").medianLatency(l).change(l.Change).text("judgement", string(l.Judgement)).text("message", l.Message))
	}
	return rows
}

// latency sets which figure of latency it is.
func (r record) latency(metric report.Metric, direction string, at units.Ratio, frameSize int64) record {
	from, to, _ := strings.Cut(direction, "→")
	r.text("from", from).text("to", to).text("series", string(metric)).percent("load_percent", at.Percent()).text("observed_unit", "ns")
	if frameSize > 0 {
		r.whole("frame_bytes", frameSize)
	}
	return r
}

// medianLatency sets a figure of latency of several runs.
func (r record) medianLatency(m report.LatencyMedian) record {
	r.latency(m.Metric, m.Direction, m.At, m.FrameSize).whole("runs", int64(m.Runs))
	if m.Runs > 0 {
		r.whole("observed_mean", m.Nanoseconds).yes("lower_bound", m.Open)
	}
	if m.Runs > 1 {
		r.whole("observed_least", m.LowNanoseconds).whole("observed_most", m.HighNanoseconds).percent("confidence_percent", m.Confidence).percent("spread_percent", m.SpreadPercent)
	}
	return r
}

// latencyFigure sets a figure of latency of one run, which lies between two numbers.
func (r record) latencyFigure(f report.Figure) record {
	r.latency(f.Metric, f.Direction, *f.At, f.FrameSize).text("reason", f.Missing)
	r["observed_least"], r["observed_most"] = string(f.Low), string(f.High)
	return r
}

// seriesRecords are the points of a series, and the median of each stretch of it behind its last point.
func seriesRecords(s *report.Series) (rows []record) {
	is := about(s.Product, s.Loadtest)
	for i := range s.Points {
		p := &s.Points[i]
		row := is.with("point").text("test", p.Test).at("started", p.At).figures(p.Figures).change(p.FromMedian).yes("outlier", p.Outlier)
		if m := p.Missing; m != nil {
			row.text("reason", m.Reason)
		}
		row.text("message", strings.Join(pointChanges(p), "; "))
		rows = append(rows, row)
		for _, f := range p.Latency {
			rows = append(rows, is.with("latency").text("test", p.Test).at("started", p.At).latencyFigure(f))
		}
		if t := s.StretchOf(i); t != nil && t.Last == i && t.Figures != nil {
			rows = append(rows, is.with("median").at("started", s.Points[t.First].At).figures(t.Figures))
			for _, m := range t.Latency {
				rows = append(rows, is.with("median").at("started", s.Points[t.First].At).medianLatency(m))
			}
		}
	}
	return rows
}

// gateRecords are the judgement, each row's sides and criteria, and the suites behind them.
func gateRecords(g *report.Gate) []record {
	rows := []record{record{"record": "gate"}.text("verdict", string(g.Outcome)).text("message", g.Message)}
	for _, r := range g.Rows {
		is := about(r.Product, r.Loadtest).text("suite", r.Suite).text("cell", r.Cell).text("test", r.Test)
		candidate := r.Candidate
		candidate.Verdict, candidate.Message = r.Outcome, r.Words()
		rows = append(rows, is.with("").text("side", "candidate").compared(candidate)...)
		if r.Baseline != nil {
			rows = append(rows, is.with("").text("side", "baseline").compared(*r.Baseline)...)
		}
		rows = append(rows, is.criteria(r.Criteria)...)
	}
	for _, s := range g.Suites {
		rows = append(rows, suiteRecords(s)...)
	}
	return rows
}
