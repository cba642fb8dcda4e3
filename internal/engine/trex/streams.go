package trex

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// batchBytes is the size up to which calls go into one batch, well below wire.MaxRequest.
const batchBytes = 500_000

// envelopeBytes is an upper bound for the size of a call without its stream.
const envelopeBytes = 300

// AddStreams adds streams to an owned port that isn't sending. A stream's number is its position, from 1, also in a
// chain's NextStreamID. Existing streams stay, so Reset comes first.
func (t *Traffic) AddStreams(ctx context.Context, port int, streams []stream.Stream) error {
	var batch []*call
	size := 0
	for i, s := range streams {
		k, weight, err := t.addCall(port, i+1, s)
		if err != nil {
			return fmt.Errorf("stream %d of port %d: %w", i+1, port, err)
		}
		if len(batch) > 0 && size+weight > batchBytes {
			if err := t.addBatch(ctx, port, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
		batch, size = append(batch, k), size+weight
	}
	return t.addBatch(ctx, port, batch)
}

func (t *Traffic) addCall(port, id int, s stream.Stream) (k *call, weight int, err error) {
	if err := CheckStream(s); err != nil {
		return nil, 0, err
	}
	if s.VM.Instructions == nil {
		s.VM.Instructions = []stream.Instruction{} // null is refused
	}
	body, err := json.Marshal(s)
	if err != nil {
		return nil, 0, err
	}
	k, err = t.session.ownedCall(port, "add_stream", params{"profile_id": defaultProfile, "stream_id": id,
		"stream": json.RawMessage(body)}, nil)
	return k, len(body) + envelopeBytes, err
}

func (t *Traffic) addBatch(ctx context.Context, port int, batch []*call) error {
	if len(batch) == 0 {
		return nil
	}
	if err := t.session.invokeBatch(ctx, batch...); err != nil {
		return err
	}
	for _, k := range batch {
		if k.err != nil {
			return fmt.Errorf("stream %v: %w", k.params["stream_id"], t.session.addNewOwner(ctx, k.err))
		}
	}
	t.setLoaded(port)
	return nil
}

// Validation is what a server computed of a port's streams at factor 1.
type Validation struct {
	// Max is the highest load at any time, Min the part of latency streams, which no multiplier changes.
	Max, Min Load
	// Duration is the time in microseconds after which the streams end by themselves, -1 for never.
	Duration wire.Float
}

// Load is a rate in the three ways to state it. Bits of layer 2 include the FCS, those of layer 1 also preamble
// and gap.
type Load struct{ PacketsPerSecond, L1BitsPerSecond, L2BitsPerSecond wire.Float }

// Validate makes the server compile a port's streams as for a start, and returns the server's refusal of them.
func (t *Traffic) Validate(ctx context.Context, port int) (Validation, error) {
	if err := t.requireProfile(ctx, port, "validate"); err != nil {
		return Validation{}, err
	}
	var result struct {
		Rate  map[string]wire.Float `json:"rate"`
		Graph struct {
			Duration wire.Float `json:"expected_duration"`
		} `json:"graph"`
	}
	err := t.session.owned(ctx, port, "validate", params{"profile_id": defaultProfile}, &result)
	return Validation{Max: load(result.Rate, "max"), Min: load(result.Rate, "min"), Duration: result.Graph.Duration},
		err
}

func load(rate map[string]wire.Float, prefix string) Load {
	return Load{
		PacketsPerSecond: rate[prefix+"_pps"],
		L1BitsPerSecond:  rate[prefix+"_bps_l1"],
		L2BitsPerSecond:  rate[prefix+"_bps_l2"],
	}
}
