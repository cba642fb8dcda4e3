package trex

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// batchBytes is the size up to which calls go into one batch, well below wire.MaxRequest.
const batchBytes = 500_000

// envelopeBytes is an upper bound for the size of a call without its stream.
const envelopeBytes = 300

// AddStreams adds streams to an owned port that isn't sending, numbered by their position from 1. In a chain NextStreamID counts so too.
// Existing streams stay: Reset or RemoveStreams come first.
func (c *Client) AddStreams(ctx context.Context, port int, streams []stream.Stream) error {
	var batch []*call
	size := 0
	for i, s := range streams {
		k, weight, err := c.addCall(port, i+1, s)
		if err != nil {
			return fmt.Errorf("stream %d of port %d: %w", i+1, port, err)
		}
		if len(batch) > 0 && size+weight > batchBytes {
			if err := c.addBatch(ctx, port, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
		batch, size = append(batch, k), size+weight
	}
	return c.addBatch(ctx, port, batch)
}

func (c *Client) addCall(port, id int, s stream.Stream) (k *call, weight int, err error) {
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
	k, err = c.ownedCall(port, "add_stream", params{"profile_id": defaultProfile, "stream_id": id, "stream": json.RawMessage(body)}, nil)
	return k, len(body) + envelopeBytes, err
}

func (c *Client) addBatch(ctx context.Context, port int, batch []*call) error {
	if len(batch) == 0 {
		return nil
	}
	if err := c.all(ctx, batch...); err != nil {
		return err
	}
	for _, k := range batch {
		if k.err != nil {
			return fmt.Errorf("stream %v: %w", k.params["stream_id"], c.addNewOwner(ctx, k.err))
		}
	}
	c.noteLoaded(port)
	return nil
}

// RemoveStreams removes the streams of the default profile and their receive filters. The port must not be sending.
func (c *Client) RemoveStreams(ctx context.Context, port int) error {
	status, err := c.PortStatus(ctx, port)
	if err != nil {
		return err
	}
	return c.clearProfile(ctx, port, defaultProfile, status.Profiles[defaultProfile])
}

// Streams reads back the streams of a port's default profile by their ids. Members that only TRex's own client knows are dropped.
func (c *Client) Streams(ctx context.Context, port int) (map[int]stream.Stream, error) {
	var result struct {
		Profiles map[string]map[string]stream.Stream `json:"profiles"`
	}
	err := c.one(ctx, call{method: "get_all_streams", port: port, params: params{"port_id": port, "profile_id": allProfiles}, result: &result})
	if err != nil {
		return nil, err
	}
	streams := make(map[int]stream.Stream)
	for text, s := range result.Profiles[defaultProfile] {
		id, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("get_all_streams on port %d: stream id %q", port, text)
		}
		streams[id] = s
	}
	return streams, nil
}

// Validation is what a server computed of a port's streams at factor 1.
type Validation struct {
	// Max is the highest load at any time, Min the part of latency streams, which no multiplier changes.
	Max, Min Load
	// Duration in microseconds after which the streams end by themselves, -1: never.
	Duration wire.Float
}

// Load is a rate in the three ways to state it. Bits of layer 2 include the FCS, those of layer 1 also preamble and gap.
type Load struct{ PacketsPerSecond, L1BitsPerSecond, L2BitsPerSecond wire.Float }

// Validate makes the server compile a port's streams as for a start, and returns what it refuses about them.
func (c *Client) Validate(ctx context.Context, port int) (Validation, error) {
	if err := c.requireProfile(ctx, port, "validate"); err != nil {
		return Validation{}, err
	}
	var result struct {
		Rate  map[string]wire.Float `json:"rate"`
		Graph struct {
			Duration wire.Float `json:"expected_duration"`
		} `json:"graph"`
	}
	err := c.owned(ctx, port, "validate", params{"profile_id": defaultProfile}, &result)
	return Validation{Max: load(result.Rate, "max"), Min: load(result.Rate, "min"), Duration: result.Graph.Duration}, err
}

func load(rate map[string]wire.Float, which string) Load {
	return Load{
		PacketsPerSecond: rate[which+"_pps"],
		L1BitsPerSecond:  rate[which+"_bps_l1"],
		L2BitsPerSecond:  rate[which+"_bps_l2"],
	}
}

// sortedPorts makes outcomes independent of map order.
func sortedPorts[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
