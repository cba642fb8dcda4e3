package softgen

import (
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// recording is one capture of some ports' frames, up to a limit. The data path fills it from its own goroutines.
type recording struct {
	limit             int
	cyclic            bool // at the limit the oldest frame is dropped, and otherwise the new one
	text              string
	matches           filter
	transmit, receive map[int]bool
	start             time.Duration
	active            bool // written under the server's lock
	stops             []func()

	mu      sync.Mutex
	frames  []recorded
	bytes   int
	matched int
}

// recorded is a frame with the port that captured it and its number in the capture.
type recorded struct {
	datapath.Frame
	port, index int
}

func (r *recording) begin(ports []*port) error {
	r.active = true
	for _, port := range ports {
		if !r.receive[port.index] && !r.transmit[port.index] {
			continue
		}
		stop, err := port.path.Capture(func(f datapath.Frame) { r.record(port.index, f) })
		if err != nil {
			r.stop()
			return refused("capture on port %d: %v", port.index, err)
		}
		r.stops = append(r.stops, stop)
	}
	return nil
}

// record keeps the frame if it passes the filter.
func (r *recording) record(port int, f datapath.Frame) {
	side := r.receive
	if f.Sent {
		side = r.transmit
	}
	if !side[port] || !r.matches(f.Bytes) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.frames) >= r.limit {
		if !r.cyclic {
			return
		}
		r.bytes -= len(r.frames[0].Bytes)
		r.frames = r.frames[1:]
	}
	r.matched++
	r.bytes += len(f.Bytes)
	r.frames = append(r.frames, recorded{f, port, r.matched})
}

// fetch removes and returns up to limit frames, and says how many frames are left.
func (r *recording) fetch(limit int) (frames []recorded, pending int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(limit, len(r.frames))
	frames, r.frames = r.frames[:n:n], r.frames[n:]
	for _, f := range frames {
		r.bytes -= len(f.Bytes)
	}
	return frames, len(r.frames)
}

// size returns how many frames and bytes wait to be fetched, and how many frames have matched in all.
func (r *recording) size() (frames, bytes, matched int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.frames), r.bytes, r.matched
}

func (r *recording) stop() {
	for _, stop := range r.stops {
		stop()
	}
	r.stops, r.active = nil, false
}
