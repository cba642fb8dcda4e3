package stl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

const (
	// trainPoll is how often the server is asked whether trains have ended, once they may have. Each answer takes
	// processor time, which the device may need. trainBeat is how often it is asked before, as a heartbeat.
	trainPoll = 20 * time.Millisecond
	trainBeat = 500 * time.Millisecond
	// trainSilence is for how long nothing arrives until all frames that are missing count as lost. It is longer than
	// a device keeps a frame.
	trainSilence = 300 * time.Millisecond
)

// untrained is the reason why a port can't send trains, as its server reports it. It is empty where the port can.
func untrained(trains string) string {
	switch trains {
	case "timed":
		return ""
	case "":
		return "its server can't send trains and time each of their frames; linerate's software engine can"
	}
	return trains
}

// SendTrains implements engine.TrainSender, of the software engine.
func (e *Engine) SendTrains(ctx context.Context, o engine.TrainOrder) (_ []engine.Train, err error) {
	if !e.methods["send_trains"] {
		return nil, fmt.Errorf("port %d can't send trains: %s: %w", o.From, untrained(""), engine.ErrRefused)
	}
	if err := checkTrains(o); err != nil {
		return nil, err
	}
	s := o.Stream
	s.Enabled, s.SelfStart, s.NextStreamID, s.FlowStats = true, true, -1, stream.Flow{}
	s.Mode = stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}}
	if err := e.control.SendTrains(ctx, trex.Trains{Port: o.From, Receiver: o.To, Stream: s, Trains: o.Trains,
		Frames: o.Frames, Pause: o.Pause}); err != nil {
		return nil, e.explain(ctx, err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		err = errors.Join(err, e.explain(ctx, e.control.RemoveTrains(ctx, o.From)))
	}()
	if err := e.awaitTrains(ctx, o); err != nil {
		return nil, err
	}
	return e.fetchTrains(ctx, o)
}

// checkTrains refuses what no server should have to.
func checkTrains(o engine.TrainOrder) error {
	if o.Trains <= 0 || o.Frames <= 0 || o.Trains > engine.MaxTrainFrames/o.Frames {
		return fmt.Errorf("%d trains of %d frames: an order has from 1 to %d frames: send fewer trains at a time: %w",
			o.Trains, o.Frames, engine.MaxTrainFrames, engine.ErrRefused)
	}
	return nil
}

// awaitTrains waits until the port has sent all trains, and their frames have arrived or are lost.
func (e *Engine) awaitTrains(ctx context.Context, o engine.TrainOrder) error {
	begin := time.Now()
	for arrived, changed := -1, begin; ; {
		ahead := time.Until(begin.Add(time.Duration(o.Trains) * o.Pause))
		if err := bounded.Pause(ctx, min(max(ahead, trainPoll), trainBeat)); err != nil {
			return fmt.Errorf("wait for the trains of port %d: %w", o.From, err)
		}
		asked := time.Now()
		portion, err := e.control.TrainArrivals(ctx, o.From, engine.MaxTrainFrames*2)
		switch {
		case err != nil:
			return e.explain(ctx, err)
		case portion.Sending || portion.Arrived != arrived:
			arrived, changed = portion.Arrived, asked
		}
		if !portion.Sending && (arrived >= o.Trains*o.Frames || asked.Sub(changed) > trainSilence) {
			return nil
		}
	}
}

// unsentTrainsError says that a port stopped before it had sent all trains.
type unsentTrainsError struct{ port, sent, trains int }

func (e *unsentTrainsError) Error() string {
	return fmt.Sprintf("port %d stopped after %d of %d trains", e.port, e.sent, e.trains)
}

// fetchTrains reads what became of all trains.
func (e *Engine) fetchTrains(ctx context.Context, o engine.TrainOrder) ([]engine.Train, error) {
	trains := make([]engine.Train, o.Trains)
	for first := 0; ; {
		portion, err := e.control.TrainArrivals(ctx, o.From, first)
		if err != nil {
			return nil, e.explain(ctx, err)
		}
		if len(portion.Instants) != len(portion.Frames) {
			return nil, e.explain(ctx, fmt.Errorf("port %d reports %d instants of %d arrivals", o.From,
				len(portion.Instants), len(portion.Frames)))
		}
		if first == 0 && len(portion.Took) != len(trains) {
			return nil, e.explain(ctx, &unsentTrainsError{o.From, len(portion.Took), len(trains)})
		}
		for i, took := range portion.Took {
			trains[i].Sending = took
		}
		for i, number := range portion.Frames {
			if number < 0 || number >= o.Trains*o.Frames {
				return nil, e.explain(ctx, fmt.Errorf("port %d reports the arrival of frame %d of %d", o.From, number,
					o.Trains*o.Frames))
			}
			train := &trains[number/o.Frames]
			train.Arrivals = append(train.Arrivals, engine.Arrival{Frame: number % o.Frames,
				Instant: portion.Instants[i]})
		}
		if first += len(portion.Frames); len(portion.Frames) == 0 || first >= portion.Arrived {
			return trains, nil
		}
	}
}
