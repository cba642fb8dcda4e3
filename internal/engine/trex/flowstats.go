package trex

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// FlowStats is get_pgid_stats' answer, by flow id (pg_id).
type FlowStats struct {
	// Flows counts what "stats" and "latency" streams sent and what came back of it.
	Flows map[uint32]FlowCounters
	// Latency is what receivers of "latency" streams saw.
	Latency map[uint32]Latency
}

// FlowCounters are a flow's counters by port. Bytes include the FCS. The counters outlive stop and start, until the
// stream is removed.
type FlowCounters struct {
	SentPackets     PortCounts `json:"tp"`
	SentBytes       PortCounts `json:"tb"`
	ReceivedPackets PortCounts `json:"rp"`
	ReceivedBytes   PortCounts `json:"rb"` // absent where a port can't count bytes
}

// PortCounts is a counter of each port.
type PortCounts map[int]wire.Count

// Total sums over ports.
func (p PortCounts) Total() (total int64) {
	for _, v := range p {
		total += int64(v)
	}
	return total
}

// Latency is what a latency stream's receiver saw. Times come in whole microseconds.
type Latency struct {
	// Average is the server's low-pass of the averages of half seconds, not a mean.
	Min, Average, Max, Jitter time.Duration
	// Histogram counts packets by the lower bound of their bucket. Buckets are log-decades (10, 20 … 90, 100, 200 …
	// µs), and 0 holds all below 10 µs. TRex v3.08 carries bucket 0 over when a removed flow id is used again, so
	// only a fresh id's bucket 0 is right.
	Histogram map[time.Duration]int64
	// HDR is the distribution in whole microseconds, as HdrHistogram encodes it (V2, compressed, base64). It is empty
	// when the server was started without --hdrh, or nothing came yet.
	HDR    string
	Errors LatencyErrors
}

// LatencyErrors count breaks in a latency stream's sequence numbers.
type LatencyErrors struct {
	Dropped         wire.Count `json:"drp"`
	OutOfOrder      wire.Count `json:"ooo"`
	Duplicate       wire.Count `json:"dup"`
	SequenceTooHigh wire.Count `json:"sth"`
	SequenceTooLow  wire.Count `json:"stl"`
}

// UnmarshalJSON reads the wire's "lat" and "er", of which either or any member may be absent.
func (l *Latency) UnmarshalJSON(b []byte) error {
	var w struct {
		Lat *struct {
			Min       wire.Float           `json:"total_min"`
			Average   wire.Float           `json:"average"`
			Max       wire.Float           `json:"total_max"`
			Jitter    wire.Float           `json:"jit"`
			Histogram map[int64]wire.Count `json:"histogram"`
			HDR       string               `json:"hdrh"`
		} `json:"lat"`
		Errors LatencyErrors `json:"er"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*l = Latency{Errors: w.Errors, Histogram: map[time.Duration]int64{}}
	if w.Lat == nil {
		return nil
	}
	l.Min, l.Average, l.Max = micros(w.Lat.Min), micros(w.Lat.Average), micros(w.Lat.Max)
	l.Jitter, l.HDR = micros(w.Lat.Jitter), w.Lat.HDR
	for bound, count := range w.Lat.Histogram {
		l.Histogram[time.Duration(bound)*time.Microsecond] = int64(count)
	}
	return nil
}

func micros(v wire.Float) time.Duration { return inUnits(float64(v), time.Microsecond) }

// UnmarshalJSON sorts out a mapping in which flow ids stand beside "g" (general errors), and in which each
// section may be null or absent.
func (s *FlowStats) UnmarshalJSON(b []byte) error {
	var sections struct {
		Flows   map[string]json.RawMessage `json:"flow_stats"`
		Latency map[string]json.RawMessage `json:"latency"`
	}
	err := json.Unmarshal(b, &sections)
	if err != nil {
		return err
	}
	if s.Flows, err = byFlow[FlowCounters](sections.Flows); err != nil {
		return fmt.Errorf("flow_stats: %w", err)
	}
	if s.Latency, err = byFlow[Latency](sections.Latency); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	return nil
}

// byFlow reads the members whose names are flow ids.
func byFlow[T any](section map[string]json.RawMessage) (map[uint32]T, error) {
	flows := make(map[uint32]T, len(section))
	for name, text := range section {
		id, err := strconv.ParseUint(name, 10, 32)
		if err != nil {
			continue // "g": errors that belong to no flow
		}
		var v T
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("flow %d: %w", id, err)
		}
		flows[uint32(id)] = v
	}
	return flows, nil
}

// FlowStats reads the counters of the flow ids (get_pgid_stats), or of all flows if no id is given.
func (c Counters) FlowStats(ctx context.Context, ids ...uint32) (FlowStats, error) {
	var stats FlowStats
	err := c.connection.invoke(ctx, call{method: "get_pgid_stats", port: -1,
		params: params{"pgids": append([]uint32{}, ids...)}, result: &stats})
	return stats, err
}
