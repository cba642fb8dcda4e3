package trex

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// Followed says what became of the frames of a stream in which each frame carries a number and the time at
// which it was sent (stream.Flow.Stamped). Only the software engine has it.
type Followed struct {
	// Received are frames whose numbers and times were followed. Duplicate
	// came again, Late those that came after a later one.
	Received  wire.Count `json:"received"`
	Duplicate wire.Count `json:"duplicate"`
	Late      wire.Count `json:"late"`
	// Stale frames came so late that they may have come before. Merged frames came in buffers in which the kernel
	// keeps one stamp of several, and are not among Received.
	Stale  wire.Count `json:"stale"`
	Merged wire.Count `json:"merged"`
	// Uncounted are among Received, and in no bucket of Transits.
	Uncounted wire.Count `json:"uncounted"`
	// Varied is the sum of the differences between successive frames' times, in nanoseconds. Changes is the number of
	// these differences.
	Varied  wire.Count `json:"varied"`
	Changes wire.Count `json:"changes"`
	// Transits counts frames by the shortest time of their bucket. The buckets are those of package transit.
	Transits map[time.Duration]int64 `json:"-"`
}

// Followed reads what became of the frames with stamps of these flow ids (get_pgid_stats with the parameter transits).
func (c Counters) Followed(ctx context.Context, ids ...uint32) (map[uint32]Followed, error) {
	var sections struct {
		Followed map[string]json.RawMessage `json:"followed"`
		Transits map[string]json.RawMessage `json:"transits"`
	}
	if err := c.connection.invoke(ctx, call{method: "get_pgid_stats", port: -1,
		params: params{"pgids": append([]uint32{}, ids...), "transits": true}, result: &sections}); err != nil {
		return nil, err
	}
	flows, err := byFlow[Followed](sections.Followed)
	if err != nil {
		return nil, fmt.Errorf("followed: %w", err)
	}
	transits, err := byFlow[map[int64]wire.Count](sections.Transits)
	if err != nil {
		return nil, fmt.Errorf("transits: %w", err)
	}
	for id, one := range flows {
		one.Transits = make(map[time.Duration]int64, len(transits[id]))
		for ns, frames := range transits[id] {
			one.Transits[time.Duration(ns)] = int64(frames)
		}
		flows[id] = one
	}
	return flows, nil
}
