package datapath

import (
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// receiver counts the frames that an interface receives, and passes on the few frames that the engine itself must see.
type receiver interface {
	// mark marks a moment without waiting. The function that it returns waits for a bounded time, and returns the
	// counts of frames that had arrived by that moment since the receiver was opened.
	mark() (settle func() receiveCounts)
	// dropsAreMissed says whether no frame that the interface dropped has reached the receiver.
	dropsAreMissed() bool
	// flows visits the received marked frames per flow id, except for latency streams' frames.
	flows(visit func(id uint32, received units.Traffic))
	// follower follows stamped frames. It is nil if the receiver passes stamps to its sink instead.
	follower() follower
	// recordTrains begins to record when the frames of these trains arrive.
	recordTrains(t Trains) (TrainRecord, error)
	// selectFrames sets which frames to count and to pass on.
	selectFrames(w frameSelection) error
	close() error
}

// openReceiver counts frames by eBPF in the kernel or, where that is forbidden, from a packet ring. The name
// says which, and why no better one.
func openReceiver(p *port) (r receiver, name string, err error) {
	var reasons []string
	for _, w := range p.options.receivers() {
		if r, err = w.open(p); err == nil {
			name = w.name
			break
		}
		reasons = append(reasons, "no "+w.name+": "+shortReason(err))
	}
	if len(reasons) > 0 {
		name += " (" + strings.Join(reasons, "; ") + ")"
	}
	return r, name, err
}

// receiverKind is a kind of receiver, with its name for people.
type receiverKind struct {
	name string
	open func(p *port) (receiver, error)
}

// receivers are the kinds of receiver to try, in turn.
func (o Options) receivers() []receiverKind {
	express, control, packets := receiverKind{"XDP", openXDPReceiver}, receiverKind{"eBPF", openTCReceiver},
		receiverKind{"AF_PACKET", openRing}
	switch {
	case o.Plain:
		return []receiverKind{packets}
	case o.Receive == ReceiveXDP:
		return []receiverKind{express, control, packets}
	}
	return []receiverKind{control, packets}
}

func openRing(p *port) (receiver, error) {
	return openPacketReceiver(p.name, p.index, p.options.ReceiveRing, p.inbox)
}

// receiveCounts are a receiver's counts since it was opened. They never decrease.
type receiveCounts struct {
	received, strays units.Traffic // strays are part of received
	missed           int64         // frames that were dropped uncounted, or not read in time
}

// frameSelection says which frames a receiver counts and passes on.
type frameSelection struct {
	promiscuous bool
	passAll     bool // pass on every frame counted
	neighbours  bool // pass on ARP and neighbour solicitations
}

// sink gets the frames and stamps that a receiver passes on. One goroutine calls it.
type sink interface {
	// frame takes a frame as it was on the wire, with its VLAN tag and without FCS. The sink may keep the bytes.
	frame(arrival time.Duration, bytes []byte)
	// stamped takes the stamp of a latency stream's frame and the frame's length on the wire.
	stamped(arrival time.Duration, s stamp, length int64)
}
