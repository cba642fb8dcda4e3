package stl

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// Latency reads the statistics of the latency streams that were loaded.
func (e *Engine) Latency(ctx context.Context) (map[uint32]engine.LatencyStats, error) {
	var ids []uint32
	for _, load := range e.traffic.loads {
		ids = append(ids, load.latency...)
	}
	stats := make(map[uint32]engine.LatencyStats, len(ids))
	if len(ids) == 0 {
		return stats, nil // a request without ids would mean all of them
	}
	slices.Sort(ids)
	flows, err := e.control.FlowStats(ctx, ids...)
	if err != nil {
		return nil, e.explain(ctx, err)
	}
	for _, id := range ids {
		if latency, ok := flows.Latency[id]; ok {
			stats[id] = latencyStats(flows.Flows[id], latency)
		}
	}
	return stats, nil
}

func latencyStats(f trex.FlowCounters, l trex.Latency) engine.LatencyStats {
	return engine.LatencyStats{
		Sent: f.SentPackets.Total(), Received: f.ReceivedPackets.Total(),
		Min: l.Min, Average: l.Average, Max: l.Max, Jitter: l.Jitter,
		Histogram: maps.Clone(l.Histogram),
		Dropped:   int64(l.Errors.Dropped), OutOfOrder: int64(l.Errors.OutOfOrder),
		Duplicate:       int64(l.Errors.Duplicate),
		SequenceTooHigh: int64(l.Errors.SequenceTooHigh), SequenceTooLow: int64(l.Errors.SequenceTooLow),
	}
}

// Sampled implements engine.Sampler. It reads, as Followed does.
func (e *Engine) Sampled(ctx context.Context, ids []uint32) (map[uint32]engine.Followed, error) {
	byFlow := make(map[uint32]engine.Followed, len(ids))
	if len(ids) == 0 {
		return byFlow, nil // a request without ids would mean all of them
	}
	flows, err := e.reader.FlowStats(ctx, ids...)
	if err != nil {
		return nil, e.explain(ctx, err)
	}
	for _, id := range ids {
		f, err := sampled(flows.Flows[id], flows.Latency[id])
		if err != nil {
			return nil, fmt.Errorf("%s, latency stream %d: %w", e.reader.Address(), id, err)
		}
		byFlow[id] = f
	}
	return byFlow, nil
}

// sampled combines a latency stream's histogram with its counters. Frames that are counted but aren't in the
// histogram have no time. TRex reads the histogram and the counters one after the other while frames arrive, so
// either may be some frames ahead.
func sampled(counted trex.FlowCounters, l trex.Latency) (engine.Followed, error) {
	f := engine.Followed{Received: counted.ReceivedPackets.Total(), Duplicates: int64(l.Errors.Duplicate),
		Late: int64(l.Errors.OutOfOrder)}
	if l.HDR == "" {
		// nothing came, or its first frame came between the two
		if timed := slices.Max(append(slices.Collect(maps.Values(l.Histogram)), 0)); timed == 0 || f.Received == 0 {
			f.Uncounted = f.Received
			return f, nil
		}
		return f, fmt.Errorf("%w: it has no histogram of its frames' times (hdrh): start TRex with --hdrh",
			engine.ErrIncompatible)
	}
	times, err := transit.DecodeMicroseconds(l.HDR)
	if err != nil {
		return f, fmt.Errorf("%w: its histogram (hdrh) can't be read: %w", engine.ErrIncompatible, err)
	}
	timed := int64(times.Frames())
	f.Received = max(f.Received, timed)
	f.Transits, f.Uncounted = times, f.Received-timed
	return f, nil
}
