package render

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// record is a row, by its columns' names.
type record map[string]string

// lines sets the first two lines of a document.
func (r record) lines(l report.Lines) record {
	return r.text("summary", l.Summary).text("message", l.Message)
}

// ofKind is a row of another kind about the same.
func (r record) ofKind(kind string) record {
	copied := record{"record": kind}
	for name, value := range r {
		if name != "record" {
			copied[name] = value
		}
	}
	return copied
}

// text sets a word that people chose or a program said. An apostrophe goes before a word that a spreadsheet would
// take for a formula, which may run programs and read other cells. For a name that begins so, a visible mark is the
// smaller harm. A measured figure is never marked, so a change of -3.02 stays a number.
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

// figure sets a number that is text in the document. Any other text is a text like others.
func (r record) figure(column string, n report.Number) record {
	if _, err := strconv.ParseFloat(string(n), 64); err != nil {
		return r.text(column, string(n))
	}
	r[column] = string(n)
	return r
}

// number sets a number exactly as the Report has it, if there is one.
func (r record) number(column string, v *float64) record {
	if v != nil {
		r[column] = strconv.FormatFloat(*v, 'f', -1, 64)
	}
	return r
}

// time sets a moment, if there was one.
func (r record) time(column string, t time.Time) record {
	if !t.IsZero() {
		r[column] = t.UTC().Format(time.RFC3339)
	}
	return r
}

func (r record) yes(column string, v bool) record {
	r[column] = strconv.FormatBool(v)
	return r
}

// figures sets those of one run, or the medians of several. Missing figures leave all their columns empty, because
// a zero would be a figure.
func (r record) figures(f *report.Figures) record {
	if f == nil {
		return r
	}
	if f.OfTrains() {
		r.whole("picoseconds_per_frame", *f.PicosecondsPerFrame)
	} else if f.OfSessions() {
		r.whole("goodput_bits_per_second", *f.GoodputBitsPerSecond)
	} else {
		r.whole("received_packets_per_second", f.PacketsPerSecond).whole("received_layer1_bits_per_second",
			f.Layer1BitsPerSecond)
		r.percent("line_rate_percent", f.LineRatePercent).percent("line_rate_sum_percent", f.LineRatePercentSum)
	}
	r.whole("runs", int64(f.Runs)).yes("lower_bound", f.LowerBound).whole("unconfirmed_runs", int64(f.Unconfirmed))
	if s := f.Spread; s != nil {
		r.percent("spread_percent", s.Percent).percent("confidence_percent", s.Confidence)
		if s.LowPicosecondsPerFrame != nil && s.HighPicosecondsPerFrame != nil {
			r.whole("low_picoseconds_per_frame", *s.LowPicosecondsPerFrame).whole("high_picoseconds_per_frame",
				*s.HighPicosecondsPerFrame)
		} else if s.LowGoodputBitsPerSecond != nil && s.HighGoodputBitsPerSecond != nil {
			r.whole("low_goodput_bits_per_second", *s.LowGoodputBitsPerSecond).whole("high_goodput_bits_per_second",
				*s.HighGoodputBitsPerSecond)
		} else {
			r.whole("low_packets_per_second", s.LowPacketsPerSecond).whole("high_packets_per_second",
				s.HighPacketsPerSecond)
		}
	}
	return r
}

// flows sets what was asked for, sent and got back.
func (r record) flows(intended, offered, received report.Flow, loss, minLoss units.Ratio, share units.Percent) record {
	return r.offered(intended, offered, loss, minLoss).received(received, share)
}

func (r record) offered(intended, offered report.Flow, loss, minLoss units.Ratio) record {
	r.whole("intended_packets_per_second", intended.PacketsPerSecond).whole("offered_packets_per_second",
		offered.PacketsPerSecond)
	return r.percent("loss_percent", loss.Percent()).percent("loss_at_least_percent", minLoss.Percent())
}

func (r record) received(received report.Flow, share units.Percent) record {
	r.whole("received_packets_per_second", received.PacketsPerSecond).whole("received_layer1_bits_per_second",
		received.Layer1BitsPerSecond).whole("received_layer2_bits_per_second", received.Layer2BitsPerSecond)
	return r.percent("line_rate_percent", share)
}

// sum sets what all of these directions had together.
func (r record) sum(s *report.Sum, directions []report.Direction) record {
	if s.Sessions != nil {
		return r.whole("window", int64(s.Window)).sessions(s.Sessions, directions...)
	}
	if slices.ContainsFunc(directions, func(d report.Direction) bool { return d.Trains != nil }) {
		return r.whole("window", int64(s.Window))
	}
	return r.whole("window", int64(s.Window)).flows(s.Intended, s.Offered, s.Received, s.LossRatio, s.LossRatioMin,
		s.LineRatePercent)
}

// observed sets what a series of an observer was in a window. A missing one has the reason and no number.
func (r record) observed(o report.Observed) record {
	r.text("observer", o.Observer).text("series", o.Series).text("of", o.Subject).text("observed_unit",
		o.Unit).text("reason", o.Missing)
	if o.Missing == "" {
		r.number("observed_mean", o.Mean).number("observed_least", o.Min).number("observed_most",
			o.Max).seconds("observed_over_seconds", o.Over)
	}
	return r
}

// direction sets what one direction had of a window.
func (r record) direction(d report.Direction) record {
	r.text("from", d.From).text("to", d.To)
	if d.Trains != nil {
		return r.text("quality", string(d.Quality)).text("reason", d.Reason)
	}
	if d.Sessions != nil {
		return r.sessions(d.Sessions, d).text("quality", string(d.Quality)).text("reason", d.Reason)
	}
	r.offered(d.Intended, d.Offered, d.LossRatio, d.LossRatioMin)
	if d.Burst == nil { // which has no rate at which it came back
		r.received(d.Received, d.LineRatePercent)
	}
	r.whole("sent_packets", d.Sent.Packets).whole("returned_packets", d.Returned.Packets).whole("receive_error_packets",
		d.ReceiveErrors)
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

// latency sets which figure of latency it is.
func (r record) latency(metric report.Metric, direction string, load units.Ratio, frameSize int64) record {
	source, target, _ := strings.Cut(direction, "→")
	r.text("from", source).text("to", target).text("series", string(metric)).percent("load_percent",
		load.Percent()).text("observed_unit", "ns")
	if frameSize > 0 {
		r.whole("frame_bytes", frameSize)
	}
	return r
}

// medianLatency sets a figure of latency of several runs.
func (r record) medianLatency(m report.LatencyMedian) record {
	r.latency(m.Metric, m.Direction, m.LatencyLoad, m.FrameSize).whole("runs", int64(m.Runs))
	if m.Runs > 0 {
		r.whole("observed_mean", m.Nanoseconds).yes("lower_bound", m.Open)
	}
	if m.Runs > 1 {
		r.whole("observed_least", m.LowNanoseconds).whole("observed_most",
			m.HighNanoseconds).percent("confidence_percent", m.Confidence).percent("spread_percent", m.SpreadPercent)
	}
	return r
}

// latencyFigure sets a figure of latency of one run, which lies between two numbers.
func (r record) latencyFigure(f report.Figure) record {
	r.latency(f.Metric, f.Direction, *f.LatencyLoad, f.FrameSize).text("reason", f.Missing)
	return r.figure("observed_least", f.Low).figure("observed_most", f.High)
}

// sessions sets what the connections of these directions did. Retransmits are a count, while their share and the
// round trip are figures, and only where they are the path's.
func (r record) sessions(s *report.Sessions, directions ...report.Direction) record {
	r.whole("goodput_bits_per_second", s.GoodputBitsPerSecond).whole("connections",
		int64(s.Connections)).whole("received_bytes", s.ReceivedBytes)
	if d := s.Datagrams; d != nil {
		r.whole("datagrams_sent", d.Sent).whole("datagrams_received", d.Received).whole("datagrams_lost",
			d.Lost).whole("datagrams_late", d.OutOfOrder)
		if figures.PathDoubt(directions...) == "" {
			r.percent("datagram_loss_percent", d.MostLossRatio().Percent())
		}
		if figures.JitterDoubt(directions...) == "" {
			r.whole("jitter_microseconds", d.JitterMicroseconds)
		}
		return r
	}
	r.whole("retransmitted_segments", s.RetransmittedSegments)
	if figures.PathDoubt(directions...) != "" {
		return r
	}
	r.percent("retransmit_percent", s.RetransmitRatio.Percent())
	if s.RoundTrip != nil {
		r.whole("round_trip_microseconds", s.RoundTrip.MeanMicroseconds)
	}
	return r
}
