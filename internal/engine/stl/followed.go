package stl

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// Followed implements engine.Follower, of the software engine. It reads, so that a start that takes its time
// doesn't make it late.
func (e *Engine) Followed(ctx context.Context, ids []uint32) (map[uint32]engine.Followed, error) {
	byFlow := make(map[uint32]engine.Followed, len(ids))
	if len(ids) == 0 {
		return byFlow, nil // a request without ids would mean all of them
	}
	answer, err := e.reader.Followed(ctx, ids...)
	if err != nil {
		return nil, e.explain(ctx, err)
	}
	for id, one := range answer {
		byFlow[id] = followed(one)
	}
	return byFlow, nil
}

func followed(f trex.Followed) engine.Followed {
	converted := engine.Followed{Received: int64(f.Received), Duplicates: int64(f.Duplicate), Late: int64(f.Late),
		Stale: int64(f.Stale), Merged: int64(f.Merged), Uncounted: int64(f.Uncounted), Varied: time.Duration(f.Varied),
		Changes: int64(f.Changes)}
	for shortest, frames := range f.Transits {
		converted.Transits.Add(transit.Index(shortest), uint64(max(frames, 0)))
	}
	return converted
}
