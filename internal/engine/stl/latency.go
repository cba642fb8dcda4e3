package stl

import (
	"context"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/trex"
)

// Latency reads the statistics of the latency streams that were loaded.
func (e *Engine) Latency(ctx context.Context) (map[uint32]engine.LatencyStats, error) {
	var ids []uint32
	for _, load := range e.loads {
		ids = append(ids, load.latency...)
	}
	stats := make(map[uint32]engine.LatencyStats, len(ids))
	if len(ids) == 0 {
		return stats, nil // no ids would mean everybody's
	}
	slices.Sort(ids)
	flows, err := e.control.FlowStats(ctx, ids...)
	if err != nil {
		return nil, e.explain(ctx, err)
	}
	for _, id := range ids {
		if seen, ok := flows.Latency[id]; ok {
			stats[id] = latencyStats(flows.Flows[id], seen)
		}
	}
	return stats, nil
}

func latencyStats(f trex.FlowCounters, l trex.Latency) engine.LatencyStats {
	return engine.LatencyStats{
		Sent: f.SentPackets.Total(), Received: f.ReceivedPackets.Total(),
		Min: l.Min, Average: l.Average, Max: l.Max, Jitter: l.Jitter,
		Histogram: maps.Clone(l.Histogram),
		Dropped:   int64(l.Errors.Dropped), OutOfOrder: int64(l.Errors.OutOfOrder), Duplicate: int64(l.Errors.Duplicate),
		SequenceTooHigh: int64(l.Errors.SequenceTooHigh), SequenceTooLow: int64(l.Errors.SequenceTooLow),
	}
}
