package fakeport

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units"
)

// Cable is the cable between two ports, the same in both directions.
type Cable struct {
	// Limit is how many packets per second get through, 0 for all.
	Limit float64
	// Loss is the share of the rest that is lost.
	Loss float64
	// Latency is the latency that a latency stream measures.
	Latency time.Duration
}

// Options are one port's.
type Options struct {
	Name  string
	MAC   [6]byte
	Speed units.BitRate
	// Capacity is how many packets per second the port can send, 0 for any number. Packets that it could not send are
	// Behind.
	Capacity float64
	// ReceiveLoss is the share of arriving packets that the port drops and counts as ReceiveErrors.
	ReceiveLoss float64
	// Uncertainty is the uncertainty that its readings report.
	Uncertainty time.Duration
}

// Port is a port in memory. Its methods are safe for concurrent use.
type Port struct {
	clock   Clock
	options Options
	cable   Cable
	peer    *Port
	mu      *sync.Mutex // of both ports of the cable

	closed, unplugged bool
	flaps             int64
	promiscuous       bool
	base              datapath.Counters // of runs that ended and of injected frames
	run               *run
	failure           error // of a run that ended
	flows             map[uint32]datapath.FlowCounters
	delays            map[uint32]int64 // packets received by latency flow
	captures          map[int]func(datapath.Frame)
	captureID         int
	local             []netip.Addr
	ended             chan struct{} // of trains
	sendings          []time.Duration
	trains            *trainRecord // of trains that arrive; nil while none are recorded
}

var _ datapath.Port = (*Port)(nil)

// NewPair makes two ports with a cable between them.
func NewPair(clock Clock, a, b Options, cable Cable) (west, east *Port) {
	mu := &sync.Mutex{}
	west, east = newPort(clock, a, cable, mu), newPort(clock, b, cable, mu)
	west.peer, east.peer = east, west
	return west, east
}

func newPort(clock Clock, o Options, cable Cable, mu *sync.Mutex) *Port {
	return &Port{
		clock: clock, options: o, cable: cable, mu: mu,
		flows: map[uint32]datapath.FlowCounters{}, delays: map[uint32]int64{}, captures: map[int]func(datapath.Frame){},
	}
}

// SetLink plugs the cable in or out. Only Info shows it, and traffic goes on.
func (p *Port) SetLink(plugged bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unplugged == plugged {
		p.unplugged = !plugged
		p.flaps++
	}
}

// Info implements datapath.Port.
func (p *Port) Info() datapath.Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	return datapath.Info{
		Interface: p.options.Name, Driver: "fake", Path: "memory", MAC: p.options.MAC, MTU: 9216,
		Speed:  p.options.Speed,
		LinkUp: !p.unplugged, LinkFlaps: p.flaps, ReceiveDrops: "counted", PauseFrames: "none",
	}
}

// SetPromiscuous implements datapath.Port.
func (p *Port) SetPromiscuous(enabled bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.promiscuous = enabled
	return p.checkOpen()
}

// Answer implements datapath.Port, for ARP without a tag.
func (p *Port) Answer(local []netip.Addr, vlan uint16) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if vlan != 0 && len(local) > 0 {
		return fmt.Errorf("answer under VLAN %d: a fake port answers untagged only", vlan)
	}
	p.local = local
	return p.checkOpen()
}

// Close implements datapath.Port. It ends a run.
func (p *Port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
	p.closed = true
	return nil
}

func (p *Port) checkOpen() error {
	if p.closed {
		return errors.New("port is closed")
	}
	return nil
}
