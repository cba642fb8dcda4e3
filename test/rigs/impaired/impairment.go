package impaired

import (
	"errors"
	"math"
	"time"
)

// Impairment is what becomes of frames that enter a port. The zero Impairment forwards all of them, in order and at
// once. Its parts happen in this order:
//
//	came ─▶ work ─▶ one in N lost ─▶ knee ─▶ limit, or queue ─▶ delay ─▶ one in N of a flow behind the next
//	─▶ one in N twice ─▶ left
type Impairment struct {
	// Work is the processor time that each frame costs, sending included, for a device without a limit but its
	// processor. Room frames wait for it, and a frame that comes when Room frames wait is dropped. 0 means none.
	Work time.Duration `json:"work,omitempty"`
	// Room is how many frames may wait for the processor. 0 with Work means 256, the size of a virtual cable's ring.
	Room int `json:"room,omitempty"`

	// LoseOneIn N loses the Nth, the 2 Nth and so on of all frames that came. 0 loses none.
	LoseOneIn int64 `json:"loseOneIn,omitempty"`

	// Limit is how many packets/s the device forwards. What comes above it is dropped, or queued. 0 means no limit.
	Limit int64 `json:"limit,omitempty"`
	// Saves is the time for which the device saves up what it didn't forward, without a queue. 0 means 2 ms.
	Saves time.Duration `json:"saves,omitempty"`
	// Queue is how long a frame may wait for the limit. With 0 frames never wait.
	Queue time.Duration `json:"queue,omitempty"`
	// Wasted is the share of a forwarded frame's cost that a dropped frame costs, too. A device that wastes w
	// forwards (limit − w × load) ÷ (1 − w) of a load above its limit, down to nothing at limit ÷ w (receive
	// livelock, Mogul and Ramakrishnan, 1996). With 0 a dropped frame costs nothing. Wasted excludes Queue.
	Wasted float64 `json:"wasted,omitempty"`
	// Knee makes the limit a soft one. nil means a sharp one.
	Knee *Knee `json:"knee,omitempty"`
	// Cold makes the device worse at first. nil means that it is as good at once. Cold excludes Queue.
	Cold *Cold `json:"cold,omitempty"`

	// Delay is how long each frame stays in the device. With 0 it leaves at once.
	Delay time.Duration `json:"delay,omitempty"`
	// ReorderOneIn N lets the Nth, the 2 Nth frame and so on of each flow (addresses, protocol and ports) leave
	// behind the next one of that flow, at most 20 ms later if there is none. Each flow begins to count elsewhere, so
	// that not all flows are reordered at once. With 0 all frames stay in order.
	ReorderOneIn int64 `json:"reorderOneIn,omitempty"`
	// DuplicateOneIn N sends the Nth, the 2 Nth and so on of all forwarded frames twice. 0 duplicates none.
	DuplicateOneIn int64 `json:"duplicateOneIn,omitempty"`
}

// Knee is loss that begins before the limit and grows evenly with the load, from nothing at From × limit to
// Loss at the limit.
type Knee struct {
	Begin float64 `json:"from"` // a share of the limit, such as 0.95
	Loss  float64 `json:"loss"` // a share of the frames, such as 0.02
}

// Cold is a lower limit at first, Share × limit from the begin until Duration after the hundredth frame. So what a
// tester sends before its load doesn't warm the device.
type Cold struct {
	Duration time.Duration `json:"for"`
	Share    float64       `json:"share"`
}

const (
	defaultSaves = 2 * time.Millisecond
	defaultRoom  = 256
	// reorderTimeout is how long a frame waits for the next one of its flow.
	reorderTimeout = 20 * time.Millisecond
	// coldFrames is how many frames a device has had when its time begins to count.
	coldFrames = 100
)

// Check says what of an Impairment contradicts itself.
func (i Impairment) Check() error {
	var errs []error
	for _, rule := range []struct {
		broken  bool
		message string
	}{
		{i.Limit == 0 && i.shapes(), "saves, queue, wasted, knee and cold are of a limit: set limit"},
		{i.Queue != 0 && i.shapesMoreThanAQueue(),
			"a queue saves and wastes nothing, and isn't cold: leave those out, or the queue"},
		{i.Wasted < 0 || i.Wasted >= 1, "wasted is a share from 0 to below 1"},
		{i.Knee != nil && (!inside(i.Knee.Begin) || !inside(i.Knee.Loss)),
			"a knee's from and loss are shares between 0 and 1"},
		{i.Cold != nil && (i.Cold.Duration <= 0 || !inside(i.Cold.Share)),
			"cold is for a time, at a share between 0 and 1"},
		{i.Room != 0 && i.Work == 0, "room is of frames that wait for work: set work"},
		{min(i.Work, i.Saves, i.Queue, i.Delay) < 0 || min(i.LoseOneIn, i.Limit, i.ReorderOneIn, i.DuplicateOneIn,
			int64(i.Room)) < 0, "nothing may be negative"},
		{i.LoseOneIn == 1, "a device that loses every frame forwards nothing: leave the port out of the traffic"},
	} {
		if rule.broken {
			errs = append(errs, errors.New(rule.message))
		}
	}
	return errors.Join(errs...)
}

// shapes says whether anything is set that is of a limit.
func (i Impairment) shapes() bool {
	return i.Queue != 0 || i.Knee != nil || i.shapesMoreThanAQueue()
}

func (i Impairment) shapesMoreThanAQueue() bool {
	return i.Saves != 0 || i.Wasted != 0 || i.Cold != nil
}

// inside says whether a share is neither nothing nor all.
func inside(share float64) bool { return share > 0 && share < 1 }

// Forwards is how many packets/s of a load that lasts leave the device, each counted once, when it is warm.
// With Work it is what a processor of its own forwards.
func (i Impairment) Forwards(load float64) float64 {
	if i.Work > 0 {
		load = min(load, float64(time.Second)/float64(i.Work))
	}
	if i.LoseOneIn > 0 {
		load *= 1 - 1/float64(i.LoseOneIn)
	}
	if i.Limit == 0 {
		return load
	}
	limit := float64(i.Limit)
	if i.Knee != nil {
		load *= 1 - i.Knee.loss(load/limit)
	}
	if load <= limit {
		return load
	}
	return max(0, (limit-i.Wasted*load)/(1-i.Wasted))
}

// loss is the share that a knee takes of a load, which is given as a share of the limit.
func (k Knee) loss(load float64) float64 {
	return k.Loss * min(1, max(0, (load-k.Begin)/(1-k.Begin)))
}

// MaxLoad is the highest load, in packets/s, of which the device loses no more than lossAllowed, as of each load
// below. It is 0 if the device loses more of any load, and +Inf if it loses more of none. A search for the limit has
// to find MaxLoad.
func (i Impairment) MaxLoad(lossAllowed float64) float64 {
	loses := func(load float64) bool { return i.Forwards(load) < load*(1-lossAllowed)*(1-1e-12) }
	low, high := 1.0, 1e9
	if loses(low) {
		return 0
	}
	if !loses(high) {
		return math.Inf(1)
	}
	for high-low > 1e-3 {
		if middle := (low + high) / 2; loses(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}
