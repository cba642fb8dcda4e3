package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Sessions count no frames. A table of sessions alone has one column of goodput instead of those of frames. Where
// both stand in one table, sessions have a dash in the columns of frames, and goodput where bits do, with its name.

const noFrames = "-"

// goodputHead is the head of a column of goodput whose cells have no unit.
const goodputHead = "goodput b/s"

const goodputWords = "Goodput is the payload that receiving programs read, without headers and what was sent again, summed over all directions of one moment."

// traffic is what figures that stand together are of.
type traffic int

const (
	ofFrames traffic = iota // also where there are no figures at all
	ofSessions
	ofBoth
)

// trafficOf is what these figures are of, and nothing where nothing was measured.
func trafficOf(list []report.Headline) traffic {
	frames, sessions := false, false
	for _, h := range list {
		frames, sessions = frames || h.Measured && !h.OfSessions, sessions || h.OfSessions
	}
	switch {
	case frames && sessions:
		return ofBoth
	case sessions:
		return ofSessions
	}
	return ofFrames
}

// throughputColumns are the columns of a table's figures, and throughputCells what stands in them.
func throughputColumns(t traffic) []column {
	if t == ofSessions {
		return []column{{head: goodputHead}}
	}
	return []column{{head: "throughput pps"}, {head: "throughput b/s"}, {head: sumHead, shownIn: summed},
		{head: togetherHead, shownIn: combined}}
}

func throughputCells(t traffic, h report.Headline) []string {
	switch {
	case !h.Measured:
		return slices.Repeat([]string{wording.NotMeasured}, len(throughputColumns(t)))
	case t == ofSessions:
		return []string{h.Signed(wording.Bare(wording.BitRate(h.GoodputBitsPerSecond), "b/s"))}
	}
	return []string{packetsText(h), bitsText(h), shareText(h, h.PercentSum), shareText(h, h.Percent)}
}

// rateWords say what the rates of a document are that has no other figures.
func rateWords(t traffic) string {
	const packets = "Packets per second that were received, summed over all directions of one moment"
	switch t {
	case ofSessions:
		return strings.TrimSuffix(goodputWords, ".")
	case ofBoth:
		return packets + "; of sessions goodput, the payload that receiving programs read"
	default:
		return packets
	}
}

// throughputLegend says what the figures of a table are.
func throughputLegend(t traffic) legend {
	switch t {
	case ofSessions:
		return always(goodputWords)
	case ofBoth:
		return legend{[]string{sumWords, goodputWords}, []string{togetherWords, goodputWords}}
	default:
		return legend{[]string{sumWords}, []string{togetherWords}}
	}
}

// packetsText is a line's packet rate without its unit.
func packetsText(h report.Headline) string {
	if h.OfTrains {
		return figures.TimeText(h)
	}
	if h.OfSessions {
		return noFrames
	}
	return h.Signed(wording.Bare(wording.PacketRate(h.PacketsPerSecond), "pps"))
}

// bitsText is a line's bits at layer 1 without their unit, or its goodput.
func bitsText(h report.Headline) string {
	if h.OfTrains {
		return noFrames
	}
	if h.OfSessions {
		return h.Signed(wording.Bare(wording.BitRate(h.GoodputBitsPerSecond), "b/s")) + " goodput"
	}
	return h.Signed(wording.Bare(wording.BitRate(h.Layer1BitsPerSecond), "b/s"))
}

// shareText is a line's share of line rates.
func shareText(h report.Headline, share units.Percent) string {
	if h.OfSessions || h.OfTrains {
		return noFrames
	}
	return h.Signed(share.FormatFixed())
}

// trendRate is what a column of packet rates has of a run.
func trendRate(h report.Headline) string {
	if h.OfSessions {
		return goodputText(h)
	}
	return packetsText(h)
}

func goodputText(h report.Headline) string {
	return h.Signed(wording.BitRate(h.GoodputBitsPerSecond)) + " goodput"
}

// mainFigures are a page's large figures, which are packets, bits and share of line rate. Of sessions the first is
// the goodput, and the others are dashes.
func mainFigures(h report.Headline) (packets, bits, percent figure) {
	if h.OfTrains {
		time := strings.TrimSuffix(figures.TimeText(report.Headline{Measured: true,
			PicosecondsPerFrame: h.PicosecondsPerFrame}), " a frame")
		return split(h, time, exact(h.PicosecondsPerFrame, "picoseconds per frame")), figure{Number: noFrames},
			figure{Number: noFrames}
	}
	if h.OfSessions {
		goodput := split(h, wording.BitRate(h.GoodputBitsPerSecond), exact(h.GoodputBitsPerSecond,
			"bits of payload per second"))
		goodput.Unit += " goodput"
		return goodput, figure{Number: noFrames}, figure{Number: noFrames}
	}
	return split(h, wording.PacketRate(h.PacketsPerSecond), exact(h.PacketsPerSecond, "packets per second")),
		split(h, wording.BitRate(h.Layer1BitsPerSecond), exact(h.Layer1BitsPerSecond, "bits per second")),
		percentFigure(h, h.Percent)
}

// sessionsTable has what the connections of each direction did, and of all together. It has dashes for the share
// that was sent again and for round trips where they are no figures, and for round trips that nobody saw.
func sessionsTable(r *report.Report) *table {
	if s := report.PlanOf(r).Sessions; s != nil && s.Protocol == plan.UDP {
		return datagramsTable(r)
	}
	t := newTable(1, "direction", "connections", "goodput", "retransmits", "of segments", "rtt least", "mean", "most")
	row := func(name, sign string, s *report.Sessions, directions ...report.Direction) {
		cells := []string{name, wording.Count(int64(s.Connections)), sign + wording.BitRate(s.GoodputBitsPerSecond),
			wording.Count(s.RetransmittedSegments), "-", "-", "-", "-"}
		figure := figures.PathDoubt(directions...) == ""
		if sentByServer(s) {
			cells[3] = "-"
		} else if figure {
			cells[4] = wording.Loss(s.RetransmitRatio)
		}
		if rtt := s.RoundTrip; rtt != nil && figure {
			cells[5], cells[6], cells[7] = wording.Microseconds(rtt.MinMicroseconds),
				wording.Microseconds(rtt.MeanMicroseconds), wording.Microseconds(rtt.MaxMicroseconds)
		}
		t.add(cells...)
	}
	for _, d := range r.Answer.Directions {
		if d.Sessions == nil {
			continue
		}
		row(wording.Direction(d.From, d.To), goodputSign(r, wording.Direction(d.From, d.To)), d.Sessions, d)
		for i, c := range connections(d) {
			retransmits := "-"
			if c.Retransmits != nil {
				retransmits = wording.Count(*c.Retransmits)
			}
			t.add(connectionName(d, i), "1", goodputOf(d, c), retransmits, "-", "-", "-", "-")
		}
	}
	if sum := r.Answer.Total; sum.Sessions != nil && len(r.Answer.Directions) > 1 {
		row("all", goodputSign(r, report.AllDirections), sum.Sessions, r.Answer.Directions...)
	}
	return t
}

// sentByServer says that a server sent, which alone knows what it sent again.
func sentByServer(s *report.Sessions) bool {
	return s.Device != nil && s.Device.Server != "" && s.Device.Role == report.Sender
}

// connections are a direction's, where there are several. They add up to the direction's row.
func connections(d report.Direction) []report.Connection {
	if len(d.Sessions.Each) < 2 {
		return nil
	}
	return d.Sessions.Each
}

// connectionName numbers a connection as iperf does.
func connectionName(d report.Direction, i int) string {
	return fmt.Sprintf("%s [%d]", wording.Direction(d.From, d.To), i+1)
}

// goodputOf is a connection's goodput, in the time of all.
func goodputOf(d report.Direction, c report.Connection) string {
	share := float64(c.ReceivedBytes) / float64(max(1, d.Sessions.ReceivedBytes))
	return wording.BitRate(int64(math.Round(share * float64(d.Sessions.GoodputBitsPerSecond))))
}

// datagramsTable is the same of UDP. It has what was sent by the senders' counts, and what came, and did not, by
// the receivers'.
func datagramsTable(r *report.Report) *table {
	t := newTable(1, "direction", "streams", "asked", "goodput", "datagrams sent", "received", "lost", "loss", "late",
		"jitter")
	row := func(name, sign string, s *report.Sessions, directions ...report.Direction) {
		d := s.Datagrams
		if d == nil {
			return
		}
		cells := []string{name, wording.Count(int64(s.Connections)), wording.BitRate(s.AskedBitsPerSecond), sign +
			wording.BitRate(s.GoodputBitsPerSecond), wording.Count(d.Sent), wording.Count(d.Received),
			wording.Count(d.Lost),
			"-", wording.Count(d.OutOfOrder), "-"}
		if figures.PathDoubt(directions...) == "" {
			maxLoss := d.MostLossRatio()
			if cells[7] = wording.Loss(maxLoss); maxLoss > max(0, d.LossRatio) {
				cells[7] = "≤" + cells[7]
			}
		}
		if figures.JitterDoubt(directions...) == "" {
			cells[9] = wording.Microseconds(d.JitterMicroseconds)
		}
		t.add(cells...)
	}
	for _, d := range r.Answer.Directions {
		if d.Sessions == nil {
			continue
		}
		row(wording.Direction(d.From, d.To), goodputSign(r, wording.Direction(d.From, d.To)), d.Sessions, d)
		for i, c := range connections(d) {
			if g := c.Datagrams; g != nil {
				t.add(connectionName(d, i), "1", "-", goodputOf(d, c), wording.Count(g.Sent), wording.Count(g.Received),
					wording.Count(g.Lost), "-", "-", "-")
			}
		}
	}
	if sum := r.Answer.Total; sum.Sessions != nil && len(r.Answer.Directions) > 1 {
		row("all", goodputSign(r, report.AllDirections), sum.Sessions, r.Answer.Directions...)
	}
	return t
}

// goodputSign goes before a direction's goodput that is a lower bound.
func goodputSign(r *report.Report, direction string) string {
	for _, f := range figures.OfAnswer(r, figures.GoodputBitsPerSecond) {
		if f.Direction == direction && f.High == "" {
			return "≥"
		}
	}
	return ""
}

// sessionsText is what connections are like, for a list of facts.
func sessionsText(s *plan.Sessions) string {
	noun := "connection"
	if s.Protocol == plan.UDP {
		noun = "stream"
	}
	parts := []string{fmt.Sprintf("%s of %s per direction", wording.Counted(s.Parallel, noun), s.Protocol),
		fmt.Sprintf("messages of %s bytes", wording.Count(s.MessageBytes))}
	if s.Application != "" {
		parts = append(parts, "by "+strings.ToLower(s.Application)+"'s protocol")
	}
	if s.WindowBytes > 0 {
		parts = append(parts, fmt.Sprintf("windows of %s bytes", wording.Count(s.WindowBytes)))
	}
	if s.CongestionControl != "" {
		parts = append(parts, "congestion control "+s.CongestionControl)
	}
	return strings.Join(parts, ", ")
}

// pathDoubtWords say why the table has dashes for the share that was sent again and for round trips. They are empty
// where it has none of that kind.
func pathDoubtWords(directions []report.Direction) (words string) {
	for _, d := range directions {
		subject, doubt := "Retransmits and round trips", figures.PathDoubt(d)
		if d.Sessions != nil && d.Sessions.Datagrams != nil {
			subject = "Loss and jitter"
			if jitter := figures.JitterDoubt(d); doubt == "" && jitter != "" {
				words += fmt.Sprintf(" Jitter %s may not be the path's: %s.", wording.Direction(d.From, d.To), jitter)
			}
		}
		if doubt != "" {
			words += fmt.Sprintf(" %s %s may not be the path's: %s.", subject, wording.Direction(d.From, d.To), doubt)
		}
	}
	return words
}

// deviceWords say what the device does with the traffic, after its type.
func deviceWords(d plan.DUT) string {
	if s := d.Server; s != nil {
		return fmt.Sprintf(", by its %s server at %s", strings.ToLower(s.Application), s.Address)
	}
	if d.Endpoint() {
		return ", an end of the sessions: what it received is its own end's count"
	}
	return ", forwards as " + string(d.Forwarding)
}
