package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// Trains is how a generator's trains go through the device.
type Trains struct {
	// Service is how long the device works on a frame, in each direction, in the world's order. Only the world knows
	// it.
	Service []time.Duration
	// Sending is how long the generator takes to send a frame.
	Sending time.Duration
	// Ring is how many frames wait before the device, 0 for any number. What finds no room is lost.
	Ring int
	// Late is how much longer than its service each frame of a train takes, for the nth train of the run, from 0 on.
	Late func(n int) time.Duration
	// Untimed means that the generator doesn't say how long it sent. Swaps lets two frames of each nth train change
	// places, 0 of none.
	Untimed bool
	Swaps   int

	sent int
}

// poll is how many frames the device passes on at a time.
const poll = 64

func (e *Engine) ring() int {
	if e.Trains == nil {
		return 0
	}
	return e.Trains.Ring
}

// SendTrains implements engine.TrainSender.
func (e *Engine) SendTrains(ctx context.Context, order engine.TrainOrder) (list []engine.Train, err error) {
	if err := e.ready(ctx, order.From); err != nil {
		return nil, err
	}
	if e.Trains == nil {
		return nil, fmt.Errorf("port %d sends no trains: %w", order.From, engine.ErrRefused)
	}
	direction := -1
	for i, d := range e.world.cfg.Directions {
		if d.From == order.From && d.To == order.To {
			direction = i
		}
	}
	if direction < 0 || order.Trains*order.Frames > engine.MaxTrainFrames {
		return nil, fmt.Errorf("trains from port %d to port %d: %w", order.From, order.To, engine.ErrRefused)
	}
	unlock := e.lock()
	clock := e.world.computed
	unlock()
	began := clock
	for range order.Trains {
		var train engine.Train
		train, clock = e.Trains.pass(direction, order.Frames, clock)
		list = append(list, train)
		clock += order.Pause
	}
	return list, bounded.Pause(ctx, clock-began)
}

// pass is what becomes of a train that is sent from a moment on, and when its last frame has left the device.
//
//	waiting  1 2 3 … ring │ lost
//	device   works on one, and passes on 64 together
func (t *Trains) pass(direction, frames int, begin time.Duration) (train engine.Train, end time.Duration) {
	service := t.Service[direction]
	if t.Late != nil {
		service += t.Late(t.sent)
	}
	t.sent++
	if !t.Untimed {
		train.Sending = time.Duration(frames-1) * t.Sending
	}
	var done []time.Duration // when the device has worked on each frame that it took
	free, gone := begin, 0
	for n := range frames {
		came := begin + time.Duration(n)*t.Sending
		for gone < len(done) && done[gone] <= came {
			gone++
		}
		if t.Ring > 0 && len(done)-gone > t.Ring {
			continue
		}
		free = max(free, came) + service
		done = append(done, free)
		train.Arrivals = append(train.Arrivals, engine.Arrival{Frame: n})
	}
	for i := range train.Arrivals {
		last := min(len(done), (i/poll+1)*poll) - 1
		train.Arrivals[i].Instant = done[last] + time.Duration(i%poll)
	}
	if t.Swaps > 0 && t.sent%t.Swaps == 0 && len(train.Arrivals) > 1 {
		train.Arrivals[0].Frame, train.Arrivals[1].Frame = train.Arrivals[1].Frame, train.Arrivals[0].Frame
	}
	return train, free
}
