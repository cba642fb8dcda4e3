package trex

import (
	"context"
	"encoding/json"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// Trains are an order to send trains of one kind of frame, which only the software engine carries out. The stream's
// mode, rate and flow statistics mean nothing.
type Trains struct {
	Port, Receiver int
	Stream         stream.Stream
	Trains, Frames int
	Pause          time.Duration
}

// TrainArrivals is a portion of what became of trains. The numbers count the frames of all trains, from 0.
type TrainArrivals struct {
	Sending bool `json:"sending"`
	// Arrived is how many frames have arrived, which Frames and Instants list from the requested one on, as many as
	// the server gives at a time.
	Arrived  int             `json:"arrived"`
	Frames   []int           `json:"frames"`
	Instants []time.Duration `json:"instants"`
	// Took is how long each train took that has left, in the portion from 0 on after the end of sending.
	Took []time.Duration `json:"took"`
}

// SendTrains begins to send trains out of an owned port that isn't sending (send_trains).
func (t *Traffic) SendTrains(ctx context.Context, o Trains) error {
	if o.Stream.VM.Instructions == nil {
		o.Stream.VM.Instructions = []stream.Instruction{} // null is refused
	}
	body, err := json.Marshal(o.Stream)
	if err != nil {
		return err
	}
	return t.session.owned(ctx, o.Port, "send_trains", params{"receiver": o.Receiver, "stream": json.RawMessage(body),
		"trains": o.Trains, "frames": o.Frames, "pause": o.Pause.Nanoseconds()}, nil)
}

// TrainArrivals reads the arrivals of a port's trains from this one on (get_trains).
func (t *Traffic) TrainArrivals(ctx context.Context, port, first int) (TrainArrivals, error) {
	var portion TrainArrivals
	err := t.session.owned(ctx, port, "get_trains", params{"from": first}, &portion)
	return portion, err
}

// RemoveTrains stops a port's trains, and has the server forget them (remove_trains).
func (t *Traffic) RemoveTrains(ctx context.Context, port int) error {
	return t.session.owned(ctx, port, "remove_trains", nil, nil)
}
