package datapath

import (
	"strings"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// receiver counts what an interface receives, and passes on the few frames that the engine itself must see.
type receiver interface {
	// mark marks a moment, without waiting; the function that it returns then waits for a bounded time, and returns what had arrived by that moment since the receiver was opened.
	mark() (settle func() tallied)
	// last says whether the receiver is the last to get the frames, so that everything that the interface dropped did not reach the receiver.
	last() bool
	// flows are the marked frames received per flow id, without latency streams'.
	flows(visit func(id uint32, received units.Traffic))
	// follower follows stamped frames; nil: the receiver gives them to its sink, which does.
	follower() follower
	// look says which frames to count and to pass on.
	look(w wanted) error
	close() error
}

// openReceiver counts frames by eBPF in the kernel or, where that is forbidden, from a packet ring: by says which, and why it is no better one.
func openReceiver(p *port) (r receiver, by string, err error) {
	var reasons []string
	for _, w := range p.options.receivers() {
		if r, err = w.open(p); err == nil {
			by = w.name
			break
		}
		reasons = append(reasons, "no "+w.name+": "+brief(err))
	}
	if len(reasons) > 0 {
		by += " (" + strings.Join(reasons, "; ") + ")"
	}
	return r, by, err
}

// wayToReceive is a kind of receiver, with its name for people.
type wayToReceive struct {
	name string
	open func(p *port) (receiver, error)
}

// receivers are the kinds to try, in turn.
func (o Options) receivers() []wayToReceive {
	express, control, packets := wayToReceive{"XDP", openXDPReceiver}, wayToReceive{"eBPF", openTCReceiver}, wayToReceive{"AF_PACKET", openRing}
	switch {
	case o.Plain:
		return []wayToReceive{packets}
	case o.Receive == ReceiveXDP:
		return []wayToReceive{express, control, packets}
	}
	return []wayToReceive{control, packets}
}

func openRing(p *port) (receiver, error) {
	return openPacketReceiver(p.name, p.index, p.options.ReceiveRing, p.inbox)
}

// tallied is what a receiver has received since it was opened; its counters never decrease.
type tallied struct {
	received, strays units.Traffic // strays are part of received
	missed           int64         // frames that it dropped uncounted, or had not read in time
}

// wanted says which frames a receiver must pass on.
type wanted struct {
	promiscuous bool
	all         bool // pass on every frame counted
	neighbours  bool // pass on ARP and neighbour solicitations
}

// sink gets what a receiver passes on; one goroutine calls it.
type sink interface {
	// frame takes a frame as it was on the wire, VLAN tag included, without FCS; the sink may keep the bytes.
	frame(at time.Duration, bytes []byte)
	// stamped takes the stamp of a latency stream's frame and the frame's length on the wire.
	stamped(at time.Duration, s stamp, length int64)
}

// inbox is a port's sink: latency, answers and captures.
type inbox struct {
	port  *port
	mutex sync.Mutex
	late  map[uint32]*arrivals
	seen  map[uint32]units.Traffic // latency streams' frames
}

func newInbox(p *port) *inbox {
	return &inbox{port: p, late: map[uint32]*arrivals{}, seen: map[uint32]units.Traffic{}}
}

func (b *inbox) frame(at time.Duration, bytes []byte) {
	b.port.answer(bytes)
	b.port.captures.offer(Frame{At: at, Bytes: bytes})
}

func (b *inbox) stamped(at time.Duration, s stamp, length int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	id := uint32(s.id)
	if b.late[id] == nil {
		b.late[id] = &arrivals{}
	}
	b.late[id].record(s, at)
	b.seen[id] = b.seen[id].Add(units.Traffic{Packets: 1, Bytes: length})
}

func (b *inbox) latency() map[uint32]Latency {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	out := make(map[uint32]Latency, len(b.late))
	for id, a := range b.late {
		out[id] = a.snapshot()
	}
	return out
}

func (b *inbox) visit(each func(id uint32, received units.Traffic)) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for id, traffic := range b.seen {
		each(id, traffic)
	}
}

func (b *inbox) transits() map[uint32]transit.Histogram {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	out := make(map[uint32]transit.Histogram, len(b.late))
	for id, a := range b.late {
		out[id] = a.transits.Clone()
	}
	return out
}

func (b *inbox) forget(id uint32) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.late, id)
	delete(b.seen, id)
	return nil
}
