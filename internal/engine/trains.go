package engine

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// TrainSender is an Engine that can send trains and time each of their frames where it arrives, on ports whose
// Untrained is empty. A train is a group of frames that enter the device back to back. The spacing in which they
// leave the device is the time that the device takes for a frame, as long as they entered it faster than that.
type TrainSender interface {
	// SendTrains sends trains of one kind of frame out of an idle port, and returns when all their frames have
	// arrived, or are lost. The trains end by themselves if the client dies. The result has order.Trains trains, in
	// the order in which they were sent. The ports' counters count the frames as they count any others.
	SendTrains(ctx context.Context, order TrainOrder) ([]Train, error)
}

// MaxTrainFrames is the most frames that all trains of an order may have together.
const MaxTrainFrames = 1 << 20

// TrainOrder says which trains to send.
type TrainOrder struct {
	// From is the port where the frames leave, To the one where they arrive.
	From, To int
	// Stream is what a frame is like: its packet and its field engine's program. The mode, the rate and the flow
	// statistics are the engine's, which needs 16 bytes of payload at the frame's end for its stamp.
	Stream stream.Stream
	// Trains is how many trains are sent, Frames how many frames each has.
	Trains, Frames int
	// Pause is the least time between a train's last frame and the next train's first. A device that works on the
	// sender's processor has worked before the pause begins.
	Pause time.Duration
}

// Train is what became of one train.
type Train struct {
	// Sending is the time from the first frame's departure to the last one's, by the sending port's clock, 0 if
	// unknown. Where it isn't well below the arrivals' span, the sender was the limit and not the device.
	Sending time.Duration
	// Arrivals are in the order of arrival. Lost frames are missing, and a duplicate is there twice.
	Arrivals []Arrival
}

// Arrival is when a train's frame arrived.
type Arrival struct {
	// Frame is the frame's number within its train, from 0, in the order of sending.
	Frame int
	// Instant is by the receiving port's clock.
	Instant time.Duration
}
