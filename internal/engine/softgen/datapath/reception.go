package datapath

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// reception handles the frames that a port receives. The receiver counts them, and passes some of them on to the inbox.
type reception struct {
	receiver  receiver
	inbox     *inbox
	captures  captures
	addresses atomic.Pointer[neighbours] // nil while the port answers for no address
	replies   *injector

	mutex       sync.Mutex // guards the fields below
	promiscuous bool
	capturing   bool
}

func (r *reception) Answer(local []netip.Addr, vlan uint16) error {
	n := &neighbours{mac: r.replies.device.mac, local: append([]netip.Addr(nil), local...), vlan: vlan}
	if len(local) == 0 {
		n = nil
	}
	r.addresses.Store(n)
	if err := r.updateSelection(); err != nil || n == nil {
		return err
	}
	for _, f := range n.announcements() {
		if err := r.replies.emit(f); err != nil {
			return fmt.Errorf("announce addresses on %s: %w", r.replies.device.name, err)
		}
	}
	return nil
}

// answer replies to a request for one of the port's addresses.
func (r *reception) answer(frame []byte) {
	if n := r.addresses.Load(); n != nil {
		if reply := n.reply(frame); reply != nil {
			_ = r.replies.emit(reply) // the neighbour will repeat its request
		}
	}
}

func (r *reception) Capture(fn func(Frame)) (stop func(), err error) { return r.captures.add(fn) }

func (r *reception) captureChanged(capturing bool) error {
	r.mutex.Lock()
	r.capturing = capturing
	r.mutex.Unlock()
	return r.updateSelection()
}

func (r *reception) SetPromiscuous(enabled bool) error {
	r.mutex.Lock()
	r.promiscuous = enabled
	r.mutex.Unlock()
	return r.updateSelection()
}

// updateSelection gives the receiver the present selection of frames.
func (r *reception) updateSelection() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.receiver.selectFrames(frameSelection{promiscuous: r.promiscuous, passAll: r.capturing,
		neighbours: r.addresses.Load() != nil})
}

// follower returns the part of this port that follows stamped frames.
func (r *reception) follower() follower {
	if f := r.receiver.follower(); f != nil {
		return f
	}
	return r.inbox
}

func (r *reception) Latency() map[uint32]Latency { return r.follower().latency() }

func (r *reception) Transits() map[uint32]transit.Histogram { return r.follower().transits() }

// inbox is a port's sink. It measures latency, answers requests and feeds captures.
type inbox struct {
	reception *reception
	mutex     sync.Mutex
	arrivals  map[uint32]*arrivals
	counted   map[uint32]units.Traffic // latency streams' frames
}

func newInbox(r *reception) *inbox {
	return &inbox{reception: r, arrivals: map[uint32]*arrivals{}, counted: map[uint32]units.Traffic{}}
}

func (b *inbox) frame(arrival time.Duration, bytes []byte) {
	b.reception.answer(bytes)
	b.reception.captures.offer(Frame{Time: arrival, Bytes: bytes})
}

func (b *inbox) stamped(arrival time.Duration, s stamp, length int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	id := uint32(s.id)
	if b.arrivals[id] == nil {
		b.arrivals[id] = &arrivals{}
	}
	b.arrivals[id].record(s, arrival)
	b.counted[id] = b.counted[id].Add(units.Traffic{Packets: 1, Bytes: length})
}

func (b *inbox) latency() map[uint32]Latency {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	latencies := make(map[uint32]Latency, len(b.arrivals))
	for id, a := range b.arrivals {
		latencies[id] = a.snapshot()
	}
	return latencies
}

func (b *inbox) visit(add func(id uint32, received units.Traffic)) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for id, traffic := range b.counted {
		add(id, traffic)
	}
}

func (b *inbox) transits() map[uint32]transit.Histogram {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	transits := make(map[uint32]transit.Histogram, len(b.arrivals))
	for id, a := range b.arrivals {
		transits[id] = a.transits.Clone()
	}
	return transits
}

func (b *inbox) forget(id uint32) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.arrivals, id)
	delete(b.counted, id)
	return nil
}
