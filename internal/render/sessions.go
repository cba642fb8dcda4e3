package render

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

// Sessions count no frames: where a table has a column of these, a dash stands in it, and goodput stands where bits do, with its name.

const noFrames = "-"

// packetsText is a line's packet rate without its unit.
func packetsText(h report.Headline) string {
	if h.OfSessions {
		return noFrames
	}
	return h.Signed(wording.Bare(wording.PacketRate(h.PacketsPerSecond), "pps"))
}

// bitsText is a line's bits at layer 1 without their unit, or its goodput.
func bitsText(h report.Headline) string {
	if h.OfSessions {
		return h.Signed(wording.Bare(wording.BitRate(h.GoodputBitsPerSecond), "bps")) + " goodput"
	}
	return h.Signed(wording.Bare(wording.BitRate(h.Layer1BitsPerSecond), "bps"))
}

// shareText is a line's share of line rates.
func shareText(h report.Headline, share units.Percent) string {
	if h.OfSessions {
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

// mainFigures are a page's large figures: packets, bits and share of line rate; of sessions the first is the goodput, and the others are dashes.
func mainFigures(h report.Headline) (packets, bits, percent figure) {
	if h.OfSessions {
		goodput := split(h, wording.BitRate(h.GoodputBitsPerSecond), exact(h.GoodputBitsPerSecond, "bits of payload per second"))
		goodput.Unit += " goodput"
		return goodput, figure{Number: noFrames}, figure{Number: noFrames}
	}
	return split(h, wording.PacketRate(h.PacketsPerSecond), exact(h.PacketsPerSecond, "packets per second")),
		split(h, wording.BitRate(h.Layer1BitsPerSecond), exact(h.Layer1BitsPerSecond, "bits per second")), percentFigure(h, h.Percent)
}

// sessionsTable has what the connections of each direction did, and of all together.
func sessionsTable(r *report.Report) *table {
	t := newTable(1, "direction", "connections", "goodput", "retransmits", "of segments", "rtt least", "mean", "most")
	row := func(name, sign string, s *report.Sessions) {
		cells := []string{name, wording.Count(int64(s.Connections)), sign + wording.BitRate(s.GoodputBitsPerSecond), wording.Count(s.RetransmittedSegments), wording.Loss(s.RetransmitRatio), "-", "-", "-"}
		if rtt := s.RoundTrip; rtt != nil {
			cells[5], cells[6], cells[7] = wording.Microseconds(rtt.MinMicroseconds), wording.Microseconds(rtt.MeanMicroseconds), wording.Microseconds(rtt.MaxMicroseconds)
		}
		t.add(cells...)
	}
	for _, d := range r.Result.Directions {
		if d.Sessions == nil {
			continue
		}
		row(wording.Direction(d.From, d.To), goodputSign(r, wording.Direction(d.From, d.To)), d.Sessions)
	}
	if sum := r.Result.Total; sum.Sessions != nil && len(r.Result.Directions) > 1 {
		row("all", goodputSign(r, report.AllDirections), sum.Sessions)
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
	said := []string{fmt.Sprintf("%s of %s per direction", wording.Counted(s.Parallel, "connection"), s.Protocol), fmt.Sprintf("messages of %s bytes", wording.Count(s.MessageBytes))}
	if s.WindowBytes > 0 {
		said = append(said, fmt.Sprintf("windows of %s bytes", wording.Count(s.WindowBytes)))
	}
	if s.CongestionControl != "" {
		said = append(said, "congestion control "+s.CongestionControl)
	}
	return strings.Join(said, ", ")
}

// sessionsLimitWords say what a goodput says of the device.
func sessionsLimitWords(r *report.Report) string {
	switch r.Result.Reason {
	case report.PathLimited:
		return "this is what came through the device, which held the connections back."
	case report.GeneratorLimited:
		return "an end of the connections could not send or receive more, so as much comes through the device, or more."
	default:
		return "what held the connections back is not known, so as much comes through the device, or more."
	}
}

// sessions sets what connections did.
func (r record) sessions(s *report.Sessions) record {
	r.whole("goodput_bits_per_second", s.GoodputBitsPerSecond).whole("connections", int64(s.Connections)).whole("received_bytes", s.ReceivedBytes)
	r.whole("retransmitted_segments", s.RetransmittedSegments).percent("retransmit_percent", s.RetransmitRatio.Percent())
	if s.RoundTrip != nil {
		r.whole("round_trip_microseconds", s.RoundTrip.MeanMicroseconds)
	}
	return r
}
