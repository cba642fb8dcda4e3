package figures

import (
	"cmp"
	"math/big"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// limitOf is what limited the sessions of these directions. Where they differ, it is the limit that claims least.
func limitOf(directions ...report.Direction) (limit measure.SessionLimit) {
	for i, d := range directions {
		if d.Sessions == nil {
			return measure.SessionLimit{}
		}
		l := measure.LimitOfSessions(*d.Sessions)
		heldByEnds, doubt, carried := max(limit.HeldByEnds, l.HeldByEnds), cmp.Or(limit.PathDoubt, l.PathDoubt),
			limit.Carried || l.Carried
		jitter := cmp.Or(limit.JitterDoubt, l.JitterDoubt)
		device, byDevice := limit.ByDevice(), l.ByDevice()
		if i == 0 || device && (limit.Cause != measure.ByServer || l.Cause != measure.ByPath) ||
			limit.Cause == measure.ByLoad && !byDevice || l.Cause == measure.ByEnds {
			limit = l
		}
		limit.HeldByEnds, limit.PathDoubt, limit.JitterDoubt, limit.Carried = heldByEnds, doubt, jitter, carried
	}
	return limit
}

// PathDoubt says why the retransmits, the loss and the round trips of these directions together may not be the
// path's. Then RetransmitRatio, DatagramLossRatio and RoundTripMicroseconds are Missing. Output that shows a
// result's sessions without their figures, such as a status or a table, leaves out the same. It is empty where they
// are the path's, or the directions are of frames.
func PathDoubt(directions ...report.Direction) string { return limitOf(directions...).PathDoubt }

// JitterDoubt says the same of the jitter of datagrams, JitterMicroseconds, which may be the ends' own where
// nothing else is.
func JitterDoubt(directions ...report.Direction) string {
	return limitOf(directions...).JitterDoubt
}

// pathDoubt is why a metric of sessions has no figure. It is empty where it has one, or the ends cannot spoil the
// metric.
func pathDoubt(metric Metric, limit measure.SessionLimit) string {
	switch {
	case !metric.Sessions || metric.Name == GoodputBitsPerSecond:
		return ""
	case limit.PathDoubt != "":
		return "it may not be the path's: " + limit.PathDoubt
	case metric.Name == JitterMicroseconds && limit.JitterDoubt != "":
		return "it may not be the path's: " + limit.JitterDoubt
	}
	return ""
}

// upperEndOfSessions is the upper end of a figure of sessions. It is empty where the figure is missing, or the path
// did not limit the sessions. Then the device may carry more, and would lose and delay more at that load, as less
// load makes shorter queues.
func upperEndOfSessions(f report.Figure, m measured) report.Number {
	limit, highest := m.limit, f.Low
	if f.Missing == "" && f.Metric == DatagramLossRatio { // what the receiver told nothing of may be lost
		highest = report.Number(m.sessions.Datagrams.MostLossRatio().String())
	}
	switch {
	case f.Missing == "" && limit.Cause == measure.ByLoad && f.Metric != GoodputBitsPerSecond: // it is of the load that was asked for
		return highest
	case f.Missing != "", !limit.ByDevice(), limit.Carried && f.Metric == GoodputBitsPerSecond:
		return ""
	case f.Metric != GoodputBitsPerSecond:
		return highest
	}
	// In the time in which an end held them back, as much again might have come.
	return report.NumberOf(new(big.Rat).Quo(f.Low.Rat(), big.NewRat(int64(units.One-limit.HeldByEnds),
		int64(units.One))))
}
