package figures

import (
	"cmp"
	"math/big"

	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// limitOf is what limited the sessions of these directions: where they differ, that which claims least.
func limitOf(directions ...report.Direction) (limit measure.SessionLimit) {
	for i, d := range directions {
		if d.Sessions == nil {
			return measure.SessionLimit{}
		}
		l := measure.LimitOfSessions(*d.Sessions)
		held, doubt, carried := max(limit.HeldByEnds, l.HeldByEnds), cmp.Or(limit.PathDoubt, l.PathDoubt), limit.Carried || l.Carried
		jitter := cmp.Or(limit.JitterDoubt, l.JitterDoubt)
		if i == 0 || limit.By == measure.ByPath || limit.By == measure.ByLoad && l.By != measure.ByPath || l.By == measure.ByEnds {
			limit = l
		}
		limit.HeldByEnds, limit.PathDoubt, limit.JitterDoubt, limit.Carried = held, doubt, jitter, carried
	}
	return limit
}

// PathDoubt says why what was sent again in these directions together, and how long answers took, are no figures, as they may not be the path's: RetransmitRatio and RoundTripMicroseconds are Missing
// then. Whatever shows a result's sessions without their figures, as a status or a table does, leaves out the same by it. Empty: they are the path's, or the directions are of frames.
func PathDoubt(directions ...report.Direction) string { return limitOf(directions...).PathDoubt }

// JitterDoubt says the same of the jitter of datagrams, JitterMicroseconds: it may be the ends' own where nothing else is.
func JitterDoubt(directions ...report.Direction) string {
	return limitOf(directions...).JitterDoubt
}

// pathDoubt is why a metric of sessions is no figure; empty: it is one, or the metric is none that ends may spoil.
func pathDoubt(metric Metric, limit measure.SessionLimit) string {
	switch {
	case !metric.Sessions || metric.Name == GoodputBitsPerSecond:
		return ""
	case limit.PathDoubt != "":
		return "nothing can be said of the path: " + limit.PathDoubt
	case metric.Name == JitterMicroseconds && limit.JitterDoubt != "":
		return "nothing can be said of the path's jitter: " + limit.JitterDoubt
	}
	return ""
}

// highOfSessions is how much a figure of sessions may be at most; none: it is missing, or the path wasn't what limited them: the device may carry more, and would lose and delay more at what
// it can carry, as less load makes shorter queues.
func highOfSessions(f report.Figure, m measured) report.Number {
	limit, most := m.limit, f.Low
	if f.Missing == "" && f.Metric == DatagramLossRatio { // what the receiver told nothing of may be lost
		most = report.Number(m.sessions.Datagrams.MostLossRatio().String())
	}
	switch {
	case f.Missing == "" && limit.By == measure.ByLoad && f.Metric != GoodputBitsPerSecond: // it is of the load that was asked for
		return most
	case f.Missing != "", limit.By != measure.ByPath, limit.Carried && f.Metric == GoodputBitsPerSecond:
		return ""
	case f.Metric != GoodputBitsPerSecond:
		return most
	}
	// In the time in which an end held them back, as much again might have come.
	return report.NumberOf(new(big.Rat).Quo(f.Low.Rat(), big.NewRat(int64(units.One-limit.HeldByEnds), int64(units.One))))
}
